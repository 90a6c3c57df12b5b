//! Schemas of inputs as the vendor reads them.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The keywords whose value maps names to schemas.
const OF_NAMES: &[&str] =
    &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
/// The keywords whose value is a schema, or a list of them.
const OF_SCHEMAS: &[&str] = &[
    "items",
    "prefixItems",
    "additionalProperties",
    "additionalItems",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contentSchema",
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
/// (`rewriteConstAsEnum` of npm `@earendil-works/pi-ai` 1.5.2), which may hold texts and numbers only
/// (`responseJsonSchema` of npm `@google/genai` 3.1); a `const` of something else is left out.
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
            let keyword = |(keyword, value): (&String, &Value)| {
                let pair = match (keyword.as_str(), value) {
                    ("const", _) if keywords.contains_key("enum") => return None,
                    ("const", Value::String(_) | Value::Number(_)) => {
                        ("enum".to_owned(), Value::Array(vec![value.clone()]))
                    }
                    ("const", _) => return None,
                    (name, Value::Object(schemas)) if OF_NAMES.contains(&name) => {
                        let schemas = schemas.iter().map(|(name, schema)| (name.clone(), rewritten(schema)));
                        (name.to_owned(), Value::Object(schemas.collect()))
                    }
                    (name, value) if OF_SCHEMAS.contains(&name) => (name.to_owned(), rewritten(value)),
                    (name, value) => (name.to_owned(), value.clone()),
                };
                Some(pair)
            };
            Value::Object(keywords.iter().filter_map(keyword).collect::<Map<_, _>>())
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
            "$defs": {"x": {}}});
        assert_eq!(*without_const(&schema), expected);
        assert!(matches!(without_const(&schema["properties"]["list"]), Cow::Borrowed(_)));
        assert_eq!(*without_const(&json!({"const": 1, "enum": [1, 2]})), json!({"enum": [1, 2]}));
    }

    #[test]
    fn a_constant_is_found_wherever_a_schema_is_and_one_that_is_no_text_or_number_is_left_out() {
        for keyword in ["unevaluatedProperties", "unevaluatedItems", "additionalItems", "contentSchema"] {
            assert_eq!(*without_const(&json!({ keyword: {"const": "a"} })), json!({ keyword: {"enum": ["a"]} }));
        }
        let dependencies = json!({"dependencies": {"a": {"const": 1.5}, "b": ["a"]}});
        assert_eq!(*without_const(&dependencies), json!({"dependencies": {"a": {"enum": [1.5]}, "b": ["a"]}}));
        for other in [json!(true), json!(null), json!([1]), json!({"a": 1})] {
            assert_eq!(*without_const(&json!({"type": "object", "const": other})), json!({"type": "object"}));
        }
    }
}
