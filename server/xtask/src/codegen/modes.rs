//! The texts that are generated from the table of modes: the modes that VS Code and Neovim offer, and the table in the
//! documentation.

use std::fmt::Write as _;

use protocol::mode::{Edits, Mode, ModeInfo};

use super::COMMAND;

/// The line after which the table begins in the documentation.
pub const BEGIN: &str = "<!-- generated: modes -->";

/// The table of modes by their names in menus.
pub fn document() -> String {
    let mut out = "| mode | meaning |\n| --- | --- |\n".to_owned();
    for ModeInfo { label, words, .. } in Mode::ALL.map(Mode::info) {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| {label} | {words} |");
    }
    out
}

/// The table for the VS Code extension.
pub fn typescript() -> String {
    let mut out = format!(
        "// Generated from the table `protocol::mode` by `{COMMAND}`. Do not edit.\n\n\
         import type {{ Mode }} from './protocol';\n\n\
         /** A mode, as it is shown to the user. */\n\
         export interface ModeInfo {{\n  \
           readonly mode: Mode;\n  \
           /** Its name in a menu. */\n  \
           readonly label: string;\n  \
           /** One line on it, without a capital letter and a full stop. */\n  \
           readonly words: string;\n  \
           /** True if edits are accepted automatically in it. */\n  \
           readonly acceptsEdits: boolean;\n  \
           /** False if nothing is asked in it but what `ask` rules ask. */\n  \
           readonly asks: boolean;\n  \
           /** True if the user has to confirm it. */\n  \
           readonly needsConfirmation: boolean;\n\
         }}\n\n\
         /** Every mode, the one that may do least first. */\n\
         export const modes: Readonly<Record<Mode, ModeInfo>> = {{\n"
    );
    for ModeInfo { wire, label, words, edits, asks, needs_confirmation, .. } in Mode::ALL.map(Mode::info) {
        let accepts = edits == Edits::Accepted;
        let _ = writeln!(
            out,
            "  {wire}: {{\n    mode: '{wire}',\n    label: '{label}',\n    words: '{words}',\n    acceptsEdits: {accepts},\n    \
             asks: {asks},\n    needsConfirmation: {needs_confirmation},\n  }},"
        );
    }
    out.push_str("};\n");
    out
}

/// The table for the Neovim plugin.
pub fn lua() -> String {
    let mut out = format!(
        "-- Generated from the table `protocol::mode` by `{COMMAND}`. Do not edit.\n\n\
         ---A mode, as it is shown to the user.\n\
         ---@class azimuth.ModeInfo\n\
         ---@field mode azimuth.Mode\n\
         ---@field name string The name that people type.\n\
         ---@field words string One line on it.\n\
         ---@field accepts_edits boolean True if edits are accepted automatically in it.\n\
         ---@field asks boolean False if nothing is asked in it but what `ask` rules ask.\n\
         ---@field needs_confirmation boolean True if the user has to confirm it.\n\n\
         ---Every mode, the one that may do least first.\n\
         ---@type azimuth.ModeInfo[]\n\
         return {{\n"
    );
    for ModeInfo { wire, name, words, edits, asks, needs_confirmation, .. } in Mode::ALL.map(Mode::info) {
        let accepts = edits == Edits::Accepted;
        let _ = writeln!(
            out,
            "  {{\n    mode = \"{wire}\",\n    name = \"{name}\",\n    words = \"{words}\",\n    accepts_edits = {accepts},\n    \
             asks = {asks},\n    needs_confirmation = {needs_confirmation},\n  }},"
        );
    }
    out.push_str("}\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_every_mode() {
        for ModeInfo { wire, label, words, name, .. } in Mode::ALL.map(Mode::info) {
            assert!(typescript().contains(&format!("  {wire}: {{\n    mode: '{wire}',\n    label: '{label}',\n")));
            assert!(lua().contains(&format!("    mode = \"{wire}\",\n    name = \"{name}\",\n")));
            assert!(document().contains(&format!("| {label} | {words} |\n")));
            assert!(!words.contains(['\'', '"', '\\']), "it would have to be escaped: {words}");
        }
    }
}
