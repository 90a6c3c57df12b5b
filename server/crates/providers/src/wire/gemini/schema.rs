//! Schemas of inputs as the vendor reads them.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The keywords whose value maps names to schemas.
const OF_NAMES: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// The keywords whose value is a schema, or a list of them.
const OF_SCHEMAS: &[&str] = &[
    "items",
    "prefixItems",
    "additionalProperties",
    "propertyNames",
    "contains",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
];

/// The schema with each `const` as an `enum` of one value. Gemini reads over `const` and keeps to `enum`
/// (`rewriteConstAsEnum` of npm `@earendil-works/pi-ai` 1.5.2).
pub(super) fn without_const(schema: &Value) -> Cow<'_, Value> {
    if has_const(schema) { Cow::Owned(rewritten(schema)) } else { Cow::Borrowed(schema) }
}

fn has_const(schema: &Value) -> bool {
    match schema {
        Value::Array(schemas) => schemas.iter().any(has_const),
        Value::Object(keywords) => keywords.iter().any(|(keyword, value)| match keyword.as_str() {
            "const" => true,
            keyword if OF_SCHEMAS.contains(&keyword) => has_const(value),
            keyword if OF_NAMES.contains(&keyword) => value.as_object().is_some_and(|map| map.values().any(has_const)),
            _ => false,
        }),
        _ => false,
    }
}

fn rewritten(schema: &Value) -> Value {
    match schema {
        Value::Array(schemas) => schemas.iter().map(rewritten).collect(),
        Value::Object(keywords) => {
            let keyword = |(keyword, value): (&String, &Value)| match (keyword.as_str(), value) {
                ("const", value) if !keywords.contains_key("enum") => {
                    ("enum".to_owned(), Value::Array(vec![value.clone()]))
                }
                (name, Value::Object(schemas)) if OF_NAMES.contains(&name) => {
                    let schemas = schemas.iter().map(|(name, schema)| (name.clone(), rewritten(schema)));
                    (name.to_owned(), Value::Object(schemas.collect()))
                }
                (name, value) if OF_SCHEMAS.contains(&name) => (name.to_owned(), rewritten(value)),
                (name, value) => (name.to_owned(), value.clone()),
            };
            Value::Object(keywords.iter().map(keyword).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_constant_is_a_choice_of_one_and_a_name_stays_a_name() {
        let schema = json!({"type": "object", "properties": {
            "const": {"type": "string", "default": {"const": 1}},
            "kind": {"oneOf": [{"const": "a", "description": "A."}, {"const": 2}]},
            "list": {"type": "array", "items": {"$ref": "#/$defs/x"}}},
            "$defs": {"x": {"const": null}}});
        let expected = json!({"type": "object", "properties": {
            "const": {"type": "string", "default": {"const": 1}},
            "kind": {"oneOf": [{"enum": ["a"], "description": "A."}, {"enum": [2]}]},
            "list": {"type": "array", "items": {"$ref": "#/$defs/x"}}},
            "$defs": {"x": {"enum": [null]}}});
        assert_eq!(*without_const(&schema), expected);
        assert!(matches!(without_const(&schema["properties"]["list"]), Cow::Borrowed(_)));
        assert_eq!(*without_const(&json!({"const": 1, "enum": [1, 2]})), json!({"const": 1, "enum": [1, 2]}));
    }
}
