//! The method part of `docs/protocol.md`.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use protocol::ErrorCode;

use super::model::{Definition, Field, Method, Protocol, Shape, Type, Variant};

/// The line after which the generated part stands.
pub const BEGIN: &str = "<!-- generated: methods -->";

/// The line before which it ends.
pub const END: &str = "<!-- end of generated -->";

/// Puts a generated part between its marks in a document.
///
/// # Errors
/// The mark that is not where it should be.
pub fn put_between_marks(document: &str, begin: &'static str, generated: &str) -> Result<String, &'static str> {
    let (head, rest) = document.split_once(begin).ok_or(begin)?;
    let (_, tail) = rest.split_once(END).ok_or(END)?;
    Ok(format!("{head}{begin}\n\n{generated}\n{END}{tail}"))
}

/// The generated part.
pub fn render(protocol: &Protocol) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_document(&mut out, protocol);
    out
}

fn write_document(out: &mut String, protocol: &Protocol) -> fmt::Result {
    writeln!(out, "## Requests from client to server\n")?;
    write_methods(out, protocol, &protocol.requests)?;
    writeln!(out, "## Requests from server to client\n")?;
    write_methods(out, protocol, &protocol.client_requests)?;
    writeln!(out, "## Notifications from server to client\n")?;
    write_methods(out, protocol, &protocol.notifications)?;

    writeln!(out, "## Events\n")?;
    writeln!(out, "What `azimuth/event` carries in its field `event`, told apart by the field `type`.\n")?;
    if let Some(Shape::Union(events)) = protocol.definition(EVENT).map(|event| &event.shape) {
        for event in events {
            writeln!(out, "### `{}`\n\n{}\n", event.tag, event.doc)?;
            write_fields(out, &event.fields)?;
        }
    }

    writeln!(out, "## Types\n")?;
    let explained = explained_with_methods(protocol);
    for definition in protocol.types.iter().filter(|definition| !explained.contains(definition.name.as_str())) {
        writeln!(out, "### {}\n\n{}\n", definition.name, definition.doc)?;
        write_shape(out, definition)?;
    }

    writeln!(out, "## Error codes\n")?;
    writeln!(out, "| name | code | meaning |\n| --- | --- | --- |")?;
    for code in ErrorCode::ALL {
        writeln!(out, "| `{}` | {} | {} |", code.name(), code.code(), cell(code.meaning()))?;
    }
    Ok(())
}

fn write_methods(out: &mut String, protocol: &Protocol, methods: &[Method]) -> fmt::Result {
    for method in methods {
        writeln!(out, "### `{}`\n\n{}\n", method.name, method.doc)?;
        write_part(out, protocol, "Parameters", &method.params)?;
        if let Some(result) = &method.result {
            write_part(out, protocol, "Result", result)?;
            let errors: Vec<_> = method.errors.iter().map(|code| format!("`{}`", code.name())).collect();
            if !errors.is_empty() {
                writeln!(out, "Errors: {}.\n", errors.join(", "))?;
            }
        }
    }
    Ok(())
}

/// The parameters or the result of a method.
fn write_part(out: &mut String, protocol: &Protocol, title: &str, name: &str) -> fmt::Result {
    let Some(definition) = protocol.definition(name) else { return Ok(()) };
    if matches!(&definition.shape, Shape::Record(fields) if fields.is_empty()) {
        return writeln!(out, "{title}: an empty object.\n");
    }
    match remark(&definition.doc).as_str() {
        "" => writeln!(out, "{title}, `{name}`:\n")?,
        remark => writeln!(out, "{title}, `{name}`. {remark}\n")?,
    }
    write_shape(out, definition)
}

fn write_shape(out: &mut String, definition: &Definition) -> fmt::Result {
    match &definition.shape {
        Shape::Alias(aliased) => writeln!(out, "On the wire: {}.\n", type_name(aliased)),
        Shape::Record(fields) => write_fields(out, fields),
        Shape::Words(words) => {
            writeln!(out, "| value | meaning |\n| --- | --- |")?;
            for word in words {
                writeln!(out, "| `\"{}\"` | {} |", word.text, cell(&word.doc))?;
            }
            writeln!(out)
        }
        Shape::Union(variants) => write_variants(out, variants),
    }
}

fn write_variants(out: &mut String, variants: &[Variant]) -> fmt::Result {
    writeln!(out, "One of these, told apart by the field `type`:\n")?;
    for variant in variants {
        writeln!(out, "**`{}`**: {}\n", variant.tag, variant.doc)?;
        write_fields(out, &variant.fields)?;
    }
    Ok(())
}

fn write_fields(out: &mut String, fields: &[Field]) -> fmt::Result {
    if fields.is_empty() {
        return Ok(());
    }
    writeln!(out, "| field | type | what |\n| --- | --- | --- |")?;
    for field in fields {
        let mark = if field.optional { "?" } else { "" };
        let r#type = type_name(&field.r#type);
        writeln!(out, "| `{}{mark}` | {} | {} |", field.name, r#type, cell(&field.doc))?;
    }
    writeln!(out)
}

fn type_name(r#type: &Type) -> String {
    match r#type {
        Type::String => "string".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Integer => "integer".to_owned(),
        Type::Number => "number".to_owned(),
        Type::Any => "any JSON".to_owned(),
        Type::List(item) => format!("list of {}", type_name(item)),
        Type::Named(name) if name == EVENT => format!("[{EVENT}](#events)"),
        Type::Named(name) => format!("[{name}](#{})", name.to_lowercase()),
    }
}

/// The types that are a method's parameters or result are explained there, and events in their own section. A type
/// that others refer to as well is not among them.
fn explained_with_methods(protocol: &Protocol) -> BTreeSet<&str> {
    let methods = protocol.requests.iter().chain(&protocol.client_requests).chain(&protocol.notifications);
    let mut explained: BTreeSet<&str> =
        methods.flat_map(|method| [Some(method.params.as_str()), method.result.as_deref()]).flatten().collect();
    for definition in &protocol.types {
        let lists: Vec<&[Field]> = match &definition.shape {
            Shape::Record(fields) => vec![fields],
            Shape::Union(variants) => variants.iter().map(|variant| variant.fields.as_slice()).collect(),
            Shape::Alias(_) | Shape::Words(_) => Vec::new(),
        };
        for field in lists.into_iter().flatten() {
            explained.remove(innermost(&field.r#type));
        }
    }
    explained.insert(EVENT);
    explained
}

const EVENT: &str = "Event";

/// Returns the part of the doc comment of parameters or of a result that says more than whose they are: all after the
/// first sentence or colon.
fn remark(doc: &str) -> String {
    let rest = doc.split_once([':', '.']).map_or("", |(_, rest)| rest.trim());
    let mut letters = rest.chars();
    letters.next().map(|first| first.to_uppercase().to_string()).into_iter().chain([letters.collect()]).collect()
}

fn innermost(r#type: &Type) -> &str {
    match r#type {
        Type::List(item) => innermost(item),
        Type::Named(name) => name,
        _ => "",
    }
}

/// Text as a cell of a table: one line, without the sign that parts cells.
pub(super) fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_is_what_follows_the_name_of_the_method() {
        assert_eq!(remark("Parameters of `azimuth/session/new`."), "");
        assert_eq!(
            remark("Result of `azimuth/turn/start`: an answer at once. The rest follows."),
            "An answer at once. The rest follows."
        );
        assert_eq!(remark("An empty result."), "");
    }

    #[test]
    fn the_generated_part_replaces_the_one_before() {
        let once = put_between_marks(&format!("head\n\n{BEGIN}\n{END}\ntail\n"), BEGIN, "one\n").unwrap();
        let twice = put_between_marks(&once, BEGIN, "two\n").unwrap();
        assert_eq!(twice, format!("head\n\n{BEGIN}\n\ntwo\n\n{END}\ntail\n"));
        assert_eq!(put_between_marks("no marks", BEGIN, ""), Err(BEGIN));
    }

    #[test]
    fn a_cell_does_not_break_its_table() {
        assert_eq!(cell("a | b\n\nc"), "a \\| b c");
    }
}
