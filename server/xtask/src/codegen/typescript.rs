//! TypeScript types, for the VS Code extension.

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
    writeln!(out, "// Generated from the Rust crate `protocol` by `{COMMAND}`. Do not edit.\n")?;

    doc(out, "", "Requests from client to server, by method.")?;
    methods(out, "Requests", &protocol.requests)?;
    doc(out, "", "Requests from server to client, by method.")?;
    methods(out, "ClientRequests", &protocol.client_requests)?;
    doc(out, "", "Notifications from server to client, by method.")?;
    methods(out, "Notifications", &protocol.notifications)?;

    doc(out, "", "The numbers of errors, by name.")?;
    writeln!(out, "export const errorCodes = {{")?;
    for code in ErrorCode::ALL {
        doc(out, "  ", code.meaning())?;
        writeln!(out, "  {}: {},", code.name(), code.code())?;
    }
    writeln!(out, "}} as const;\n")?;
    doc(out, "", "The name of an error.")?;
    writeln!(out, "export type ErrorName = keyof typeof errorCodes;\n")?;

    for (name, meaning, kinds) in [("UnseenEvent", UNSEEN, Event::UNSEEN), ("SpokenEvent", SPOKEN, Event::SPOKEN)] {
        doc(out, "", meaning)?;
        let kinds: Vec<_> = as_clients(kinds).map(|kind| format!("'{kind}'")).collect();
        writeln!(out, "export type {name} = Extract<Event, {{ type: {} }}>;\n", kinds.join(" | "))?;
    }

    doc(out, "", SAID_BY_ERROR)?;
    let reasons: Vec<_> = said_by_error().iter().map(|reason| format!("'{reason}'")).collect();
    writeln!(out, "export const saidByError: readonly StopReason[] = [{}];", reasons.join(", "))?;

    for definition in &protocol.types {
        writeln!(out)?;
        write_definition(out, definition)?;
    }
    Ok(())
}

fn methods(out: &mut String, name: &str, methods: &[Method]) -> fmt::Result {
    writeln!(out, "export interface {name} {{")?;
    for method in methods {
        let errors: Vec<_> = method.errors.iter().map(|code| format!("`{}`", code.name())).collect();
        let errors = if errors.is_empty() { String::new() } else { format!("\n\nErrors: {}.", errors.join(", ")) };
        doc(out, "  ", &format!("{}{errors}", method.doc))?;
        write!(out, "  '{}': {{ params: {}", method.name, method.params)?;
        match &method.result {
            Some(result) => writeln!(out, "; result: {result} }};")?,
            None => writeln!(out, " }};")?,
        }
    }
    writeln!(out, "}}\n")
}

fn write_definition(out: &mut String, definition: &Definition) -> fmt::Result {
    let name = &definition.name;
    doc(out, "", &definition.doc)?;
    match &definition.shape {
        Shape::Alias(aliased) => writeln!(out, "export type {name} = {};", typescript(aliased)),
        // An empty interface would take any value.
        Shape::Record(fields) if fields.is_empty() => writeln!(out, "export type {name} = Record<string, never>;"),
        Shape::Record(fields) => interface(out, name, None, fields),
        Shape::Words(words) => {
            write!(out, "export type {name} =")?;
            for word in words {
                writeln!(out)?;
                doc(out, "  ", &word.doc)?;
                write!(out, "  | '{}'", word.text)?;
            }
            writeln!(out, ";")
        }
        Shape::Union(variants) => {
            write!(out, "export type {name} =")?;
            for variant in variants {
                write!(out, "\n  | {}", variant_name(name, variant))?;
            }
            writeln!(out, ";")?;
            for variant in variants {
                writeln!(out)?;
                doc(out, "", &variant.doc)?;
                interface(out, &variant_name(name, variant), Some(&variant.tag), &variant.fields)?;
            }
            Ok(())
        }
    }
}

fn variant_name(union: &str, variant: &Variant) -> String {
    format!("{union}{}", pascal_case(&variant.tag))
}

fn interface(out: &mut String, name: &str, tag: Option<&str>, fields: &[Field]) -> fmt::Result {
    writeln!(out, "export interface {name} {{")?;
    if let Some(tag) = tag {
        writeln!(out, "  type: '{tag}';")?;
    }
    for field in fields {
        doc(out, "  ", &field.doc)?;
        let mark = if field.optional { "?" } else { "" };
        writeln!(out, "  {}{mark}: {};", field.name, typescript(&field.r#type))?;
    }
    writeln!(out, "}}")
}

fn doc(out: &mut String, indent: &str, text: &str) -> fmt::Result {
    let text = text.replace("*/", "*\\/");
    let lines: Vec<_> = text.lines().collect();
    match lines.as_slice() {
        [] => Ok(()),
        [line] => writeln!(out, "{indent}/** {line} */"),
        lines => {
            writeln!(out, "{indent}/**")?;
            for line in lines {
                writeln!(out, "{}", format!("{indent} * {line}").trim_end())?;
            }
            writeln!(out, "{indent} */")
        }
    }
}

fn typescript(r#type: &Type) -> String {
    match r#type {
        Type::String => "string".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Integer | Type::Number => "number".to_owned(),
        Type::Any => "unknown".to_owned(),
        Type::List(item) => format!("{}[]", typescript(item)),
        Type::Named(name) => name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::tests::one_of_each_shape;
    use super::*;

    #[test]
    fn each_shape_has_its_typescript() {
        let text = render(&one_of_each_shape());
        let (_, types) = text.split_once("saidByError: readonly StopReason[] = ['max_tokens', 'refusal'];\n").unwrap();
        assert_eq!(
            types,
            r"
/** An answer. */
export type Answer =
  | AnswerFullYes
  | AnswerNo;

/** Yes. */
export interface AnswerFullYes {
  type: 'fullYes';
  ids: Id[];
}

/** No. */
export interface AnswerNo {
  type: 'no';
}

/** An id. */
export type Id = string;

/** Nothing. */
export type Nothing = Record<string, never>;

/** A size. */
export interface Size {
  /** How much. */
  value: number;
  /** Its unit. */
  unit?: Unit;
}

/** A unit. */
export type Unit =
  /** A cell. */
  | 'cell';
"
        );
    }

    #[test]
    fn a_doc_comment_cannot_end_early() {
        let mut out = String::new();
        doc(&mut out, "", "a glob such as src/*/lib.rs").unwrap();
        assert_eq!(out, "/** a glob such as src/*\\/lib.rs */\n");
    }
}
