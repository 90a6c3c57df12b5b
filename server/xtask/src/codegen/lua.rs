//! Lua types in the annotations of LuaLS, for the Neovim plugin.

use std::fmt::{self, Write as _};

use protocol::{ErrorCode, Event};

use super::model::{Definition, Field, Method, Protocol, Shape, Type, Variant, pascal_case};
use super::{COMMAND, SAID_BY_ERROR, SPOKEN, UNSEEN, as_clients, said_by_error};

/// The file's text.
pub fn render(protocol: &Protocol) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_file(&mut out, protocol);
    out
}

fn write_file(out: &mut String, protocol: &Protocol) -> fmt::Result {
    writeln!(out, "-- Generated from the Rust crate `protocol` by `{COMMAND}`. Do not edit.\n")?;
    for definition in &protocol.types {
        write_definition(out, definition)?;
        writeln!(out)?;
    }

    writeln!(out, "local M = {{}}\n")?;
    comment(out, "", "The names of requests from client to server.")?;
    methods(out, "requests", &protocol.requests)?;
    comment(out, "", "The names of requests from server to client.")?;
    methods(out, "client_requests", &protocol.client_requests)?;
    comment(out, "", "The names of notifications from server to client.")?;
    methods(out, "notifications", &protocol.notifications)?;

    comment(out, "", "The numbers of errors, by name.")?;
    writeln!(out, "M.error_codes = {{")?;
    for code in ErrorCode::ALL {
        comment(out, "  ", code.meaning())?;
        writeln!(out, "  {} = {},", code.name(), code.code())?;
    }
    writeln!(out, "}}\n")?;

    comment(out, "", "The kinds of events, in the order of the protocol.")?;
    writeln!(out, "M.event_kinds = {{")?;
    for kind in event_kinds(protocol) {
        writeln!(out, "  \"{kind}\",")?;
    }
    writeln!(out, "}}\n")?;

    for (name, meaning, kinds) in [("unseen_events", UNSEEN, Event::UNSEEN), ("spoken_events", SPOKEN, Event::SPOKEN)] {
        comment(out, "", meaning)?;
        writeln!(out, "---@type table<string, true>")?;
        let kinds: Vec<_> = as_clients(kinds).map(|kind| format!("{kind} = true")).collect();
        writeln!(out, "M.{name} = {{ {} }}\n", kinds.join(", "))?;
    }

    comment(out, "", SAID_BY_ERROR)?;
    writeln!(out, "---@type table<azimuth.StopReason, true>")?;
    let reasons: Vec<_> = said_by_error().iter().map(|reason| format!("{reason} = true")).collect();
    writeln!(out, "M.said_by_error = {{ {} }}\n\nreturn M", reasons.join(", "))
}

fn event_kinds(protocol: &Protocol) -> impl Iterator<Item = &str> {
    let events = protocol.types.iter().filter(|definition| definition.name == "Event");
    let variants = events.filter_map(|definition| match &definition.shape {
        Shape::Union(variants) => Some(variants),
        Shape::Alias(_) | Shape::Record(_) | Shape::Words(_) => None,
    });
    variants.flatten().map(|variant| variant.tag.as_str())
}

fn methods(out: &mut String, table: &str, methods: &[Method]) -> fmt::Result {
    writeln!(out, "M.{table} = {{")?;
    for method in methods {
        let params = &method.params;
        let result = method.result.as_ref().map(|result| format!(" Result: `azimuth.{result}`.")).unwrap_or_default();
        comment(out, "  ", &format!("{} Params: `azimuth.{params}`.{result}", method.doc))?;
        writeln!(out, "  {} = \"{}\",", key(method.name), method.name)?;
    }
    writeln!(out, "}}\n")
}

/// A method's name as a key: `azimuth/session/new` becomes `session_new`.
fn key(method: &str) -> String {
    method.strip_prefix("azimuth/").unwrap_or(method).replace('/', "_")
}

fn write_definition(out: &mut String, definition: &Definition) -> fmt::Result {
    let name = &definition.name;
    match &definition.shape {
        Shape::Alias(aliased) => {
            comment(out, "", &definition.doc)?;
            writeln!(out, "---@alias azimuth.{name} {}", lua(aliased))
        }
        Shape::Record(fields) => {
            comment(out, "", &definition.doc)?;
            class(out, name, None, fields)
        }
        Shape::Words(words) => {
            comment(out, "", &definition.doc)?;
            writeln!(out, "---@alias azimuth.{name}")?;
            for word in words {
                writeln!(out, "---| \"{}\" # {}", word.text, flat(&word.doc))?;
            }
            Ok(())
        }
        Shape::Union(variants) => {
            for variant in variants {
                comment(out, "", &variant.doc)?;
                class(out, &variant_name(name, variant), Some(&variant.tag), &variant.fields)?;
                writeln!(out)?;
            }
            comment(out, "", &definition.doc)?;
            writeln!(out, "---@alias azimuth.{name}")?;
            for variant in variants {
                writeln!(out, "---| azimuth.{}", variant_name(name, variant))?;
            }
            Ok(())
        }
    }
}

fn variant_name(union: &str, variant: &Variant) -> String {
    format!("{union}.{}", pascal_case(&variant.tag))
}

fn class(out: &mut String, name: &str, tag: Option<&str>, fields: &[Field]) -> fmt::Result {
    writeln!(out, "---@class azimuth.{name}")?;
    if let Some(tag) = tag {
        writeln!(out, "---@field type \"{tag}\"")?;
    }
    for field in fields {
        let mark = if field.optional { "?" } else { "" };
        let line = format!("---@field {}{mark} {} {}", field.name, lua(&field.r#type), flat(&field.doc));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn comment(out: &mut String, indent: &str, text: &str) -> fmt::Result {
    text.lines().try_for_each(|line| writeln!(out, "{indent}---{line}"))
}

fn flat(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn lua(r#type: &Type) -> String {
    match r#type {
        Type::String => "string".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Integer => "integer".to_owned(),
        Type::Number => "number".to_owned(),
        Type::Any => "any".to_owned(),
        Type::List(item) => format!("{}[]", lua(item)),
        Type::Named(name) => format!("azimuth.{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::tests::one_of_each_shape;
    use super::*;

    #[test]
    fn each_shape_has_its_annotation() {
        let text = render(&one_of_each_shape());
        let types = text.split_once("Do not edit.\n").unwrap().1.split_once("local M").unwrap().0;
        assert_eq!(
            types,
            r#"
---Yes.
---@class azimuth.Answer.FullYes
---@field type "fullYes"
---@field ids azimuth.Id[]

---No.
---@class azimuth.Answer.No
---@field type "no"

---An answer.
---@alias azimuth.Answer
---| azimuth.Answer.FullYes
---| azimuth.Answer.No

---An id.
---@alias azimuth.Id string

---Nothing.
---@class azimuth.Nothing

---A size.
---@class azimuth.Size
---@field value number How much.
---@field unit? azimuth.Unit Its unit.

---A unit.
---@alias azimuth.Unit
---| "cell" # A cell.

"#
        );
    }

    #[test]
    fn a_method_has_a_key_without_slashes() {
        assert_eq!(key("azimuth/session/new"), "session_new");
    }
}
