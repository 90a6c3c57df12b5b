//! The texts that are generated from the data file of vendors: the table in the documentation, and the vendors whose
//! keys VS Code and Neovim ask for.

use std::fmt::Write as _;

use serde::Deserialize;

use super::COMMAND;

/// The line after which the table begins in the documentation.
pub const BEGIN: &str = "<!-- generated: vendors -->";

const FILE: &str = include_str!("../../../crates/providers/src/providers.toml");

/// A vendor, or a server on this machine. The crate `providers` checks the rest of the file.
#[derive(Deserialize)]
struct Vendor {
    name: String,
    title: String,
    #[serde(default)]
    keys: Vec<String>,
    page: Option<String>,
    base_url: String,
    #[serde(default)]
    base_url_env: Vec<String>,
    #[serde(default)]
    sign_in: bool,
    #[serde(default)]
    local: bool,
    signed: Option<String>,
}

fn vendors() -> Result<Vec<Vendor>, &'static str> {
    #[derive(Deserialize)]
    struct File {
        vendor: Vec<Vendor>,
    }
    toml::from_str(FILE).map(|file: File| file.vendor).map_err(|_| "[[vendor]]")
}

/// The table for `docs/configuration.md`.
///
/// # Errors
/// The data file lacks something; names it.
pub fn document() -> Result<String, &'static str> {
    let mut out = "| provider | | key | another address | address |\n| --- | --- | --- | --- | --- |\n".to_owned();
    let names = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    for vendor in vendors()? {
        let key = match &vendor.page {
            Some(page) => format!("{} ([get one]({page}))", names(&vendor.keys)),
            None if vendor.sign_in => format!("`azimuth auth login {}` ([more](accounts.md))", vendor.name),
            None if vendor.signed.as_deref() == Some("google") => {
                "Google's credentials ([more](#vertex-ai))".to_owned()
            }
            None => "none".to_owned(),
        };
        let address = if vendor.base_url.is_empty() { "yours".to_owned() } else { format!("`{}`", vendor.base_url) };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "| `{}` | {} | {key} | {} | {address} |",
            vendor.name,
            vendor.title,
            names(&vendor.base_url_env),
        );
    }
    Ok(out)
}

/// The table for the VS Code extension.
///
/// # Errors
/// The data file lacks something; names it.
pub fn typescript() -> Result<String, &'static str> {
    let mut out = format!(
        "// Generated from the vendors in `server/crates/providers/src/providers.toml` by `{COMMAND}`. Do not edit.\n\n\
         /** A vendor whose key the server reads from an environment variable. */\n\
         export interface Vendor {{\n  readonly name: string;\n  readonly variable: string;\n}}\n\n\
         /** Every such vendor, in the order in which a default model is looked for. */\n\
         export const vendors: readonly Vendor[] = [\n"
    );
    for (title, variable) in with_keys()? {
        let _ = writeln!(out, "  {{ name: '{title}', variable: '{variable}' }},");
    }
    out.push_str("];\n");
    Ok(out)
}

/// The table for the Neovim plugin.
///
/// # Errors
/// The data file lacks something; names it.
pub fn lua() -> Result<String, &'static str> {
    let mut out = format!(
        "-- Generated from the vendors in `server/crates/providers/src/providers.toml` by `{COMMAND}`. Do not edit.\n\n\
         ---A vendor whose key the server reads from an environment variable.\n\
         ---@class azimuth.Vendor\n\
         ---@field name string\n\
         ---@field variable string\n\n\
         ---Every such vendor, in the order in which a default model is looked for.\n\
         ---@type azimuth.Vendor[]\n\
         return {{\n"
    );
    for (title, variable) in with_keys()? {
        let _ = writeln!(out, "  {{ name = \"{title}\", variable = \"{variable}\" }},");
    }
    out.push_str("}\n");
    Ok(out)
}

/// The titles of the vendors with a key, and the first variable of each.
fn with_keys() -> Result<Vec<(String, String)>, &'static str> {
    let pair = |vendor: Vendor| Some((vendor.title, vendor.keys.into_iter().next()?));
    Ok(vendors()?.into_iter().filter(|vendor| !vendor.local).filter_map(pair).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vendor_is_in_the_table_and_in_both_pickers() {
        let (document, typescript, lua) = (document().unwrap(), typescript().unwrap(), lua().unwrap());
        let vendors = vendors().unwrap();
        assert!(vendors.len() > 20);
        for vendor in vendors {
            assert!(document.contains(&format!("| `{}` | {} | ", vendor.name, vendor.title)), "{document}");
            let is_safe = |text: &str| !text.contains(['\'', '"', '\\', '|']);
            assert!(is_safe(&vendor.title) && is_safe(&vendor.base_url), "{} would have to be escaped", vendor.title);
            let Some(key) = vendor.keys.first() else { continue };
            assert!(typescript.contains(&format!("name: '{}', variable: '{key}'", vendor.title)), "{typescript}");
            assert!(lua.contains(&format!("name = \"{}\", variable = \"{key}\"", vendor.title)), "{lua}");
        }
    }
}
