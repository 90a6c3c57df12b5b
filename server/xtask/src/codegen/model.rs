//! The protocol in the few shapes that its types have.

use std::collections::BTreeSet;

use protocol::ErrorCode;
use serde_json::{Map, Value};

use super::Error;
use super::schema::{self, Document};

/// All methods and types.
pub struct Protocol {
    /// From client to server.
    pub requests: Vec<Method>,
    /// From server to client.
    pub client_requests: Vec<Method>,
    /// From server to client, without an answer.
    pub notifications: Vec<Method>,
    /// Every type, in the order of the alphabet.
    pub types: Vec<Definition>,
}

/// A method.
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// A description of what it does.
    pub doc: String,
    /// The name of the type of its parameters.
    pub params: String,
    /// The name of the type of its result; none for a notification.
    pub result: Option<String>,
    /// The errors it can give beside those that every method can.
    pub errors: Vec<ErrorCode>,
}

/// A type with a name.
pub struct Definition {
    /// Its name.
    pub name: String,
    /// Its description.
    pub doc: String,
    /// How it looks.
    pub shape: Shape,
}

/// How a type looks.
pub enum Shape {
    /// Another name for a type.
    Alias(Type),
    /// An object with these fields.
    Record(Vec<Field>),
    /// One of these strings.
    Words(Vec<Word>),
    /// One of these objects, told apart by the field `type`.
    Union(Vec<Variant>),
}

/// A field of an object.
pub struct Field {
    /// Its name.
    pub name: String,
    /// A description of what it holds.
    pub doc: String,
    /// Its type.
    pub r#type: Type,
    /// True if it may be absent.
    pub optional: bool,
}

/// A string that stands for something.
pub struct Word {
    /// The string.
    pub text: String,
    /// Its meaning.
    pub doc: String,
}

/// One of the objects of a union.
pub struct Variant {
    /// The value of its field `type`.
    pub tag: String,
    /// Its description.
    pub doc: String,
    /// Its other fields.
    pub fields: Vec<Field>,
}

/// The type of a field.
#[derive(Debug, PartialEq, Eq)]
pub enum Type {
    /// A string.
    String,
    /// True or false.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// A number.
    Number,
    /// Any JSON.
    Any,
    /// A list.
    List(Box<Type>),
    /// The type with this name.
    Named(String),
}

impl Protocol {
    /// Reads a schema document.
    ///
    /// # Errors
    /// [`Error::UnknownShape`] for a schema that is none of [`Shape`], and [`Error::SameName`].
    pub fn read(document: &Document) -> Result<Self, Error> {
        let types = document.types.iter().map(|(name, schema)| definition(name, schema));
        let protocol = Self {
            requests: methods(&document.requests)?,
            client_requests: methods(&document.client_requests)?,
            notifications: methods(&document.notifications)?,
            types: types.collect::<Result<_, _>>()?,
        };
        protocol.check_names()?;
        Ok(protocol)
    }

    /// The type with this name.
    pub fn definition(&self, name: &str) -> Option<&Definition> {
        self.types.iter().find(|definition| definition.name == name)
    }

    /// A variant's own name must not be that of another type.
    fn check_names(&self) -> Result<(), Error> {
        let mut names = BTreeSet::new();
        for definition in &self.types {
            let variants = match &definition.shape {
                Shape::Union(variants) => variants.as_slice(),
                _ => &[],
            };
            let own = variants.iter().map(|variant| format!("{}{}", definition.name, pascal_case(&variant.tag)));
            for name in own.chain([definition.name.clone()]) {
                if !names.insert(name.clone()) {
                    return Err(Error::SameName(name));
                }
            }
        }
        Ok(())
    }
}

/// A tag of a union as a part of a type's name: `toolCall` becomes `ToolCall`.
pub fn pascal_case(tag: &str) -> String {
    let mut letters = tag.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

fn methods(methods: &[schema::Method]) -> Result<Vec<Method>, Error> {
    let name = |method: &schema::Method, schema: &Value| match r#type(schema) {
        Some(Type::Named(name)) => Ok(name),
        _ => Err(unknown(method.spec.method, schema)),
    };
    let read = |method: &schema::Method| {
        Ok(Method {
            name: method.spec.method,
            doc: one_line(method.spec.doc),
            params: name(method, &method.params)?,
            result: method.result.as_ref().map(|result| name(method, result)).transpose()?,
            errors: method.spec.errors().collect(),
        })
    };
    methods.iter().map(read).collect()
}

fn definition(name: &str, schema: &Value) -> Result<Definition, Error> {
    let shape = match schema.get("oneOf").and_then(Value::as_array) {
        Some(cases) => words(cases).map_or_else(|| union(name, cases), |words| Ok(Shape::Words(words)))?,
        None if schema["type"] == "object" => Shape::Record(fields(name, schema, None)?),
        None => Shape::Alias(r#type(schema).ok_or_else(|| unknown(name, schema))?),
    };
    Ok(Definition { name: name.to_owned(), doc: doc(schema), shape })
}

/// The words of an enum of strings; none if a case is not a string.
fn words(cases: &[Value]) -> Option<Vec<Word>> {
    let word = |case: &Value| Some(Word { text: case.get("const")?.as_str()?.to_owned(), doc: doc(case) });
    cases.iter().map(word).collect()
}

fn union(name: &str, cases: &[Value]) -> Result<Shape, Error> {
    let variant = |case: &Value| {
        let tag = case["properties"]["type"]["const"].as_str().ok_or_else(|| unknown(name, case))?;
        let fields = fields(&format!("{name} `{tag}`"), case, Some("type"))?;
        Ok(Variant { tag: tag.to_owned(), doc: doc(case), fields })
    };
    Ok(Shape::Union(cases.iter().map(variant).collect::<Result<_, _>>()?))
}

fn fields(place: &str, object: &Value, tag: Option<&str>) -> Result<Vec<Field>, Error> {
    let none = Map::new();
    let properties = object.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required: Vec<&str> = object["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut fields = Vec::new();
    for (name, schema) in properties.iter().filter(|(name, _)| Some(name.as_str()) != tag) {
        let optional = !required.contains(&name.as_str());
        // A field without a value is absent: null is read as that, but never written.
        let value = if optional { without_null(schema) } else { schema.clone() };
        let r#type = r#type(&value).ok_or_else(|| unknown(&format!("{place}, field {name},"), schema))?;
        fields.push(Field { name: name.clone(), doc: doc(schema), r#type, optional });
    }
    // Required fields come first; otherwise the order is the author's.
    fields.sort_by_key(|field| field.optional);
    Ok(fields)
}

fn without_null(schema: &Value) -> Value {
    if let Some(cases) = schema.get("anyOf").and_then(Value::as_array)
        && let [case, null] = cases.as_slice()
        && null["type"] == "null"
    {
        return case.clone();
    }
    let mut schema = schema.clone();
    if let Some(names) = schema["type"].as_array()
        && let [name, null] = names.as_slice()
        && null == "null"
    {
        schema["type"] = name.clone();
    }
    schema
}

fn r#type(schema: &Value) -> Option<Type> {
    if let Some(reference) = schema.get("$ref") {
        return Some(Type::Named(reference.as_str()?.strip_prefix("#/$defs/")?.to_owned()));
    }
    let Some(name) = schema.get("type") else {
        let says_nothing = match schema {
            Value::Bool(anything) => *anything,
            Value::Object(keys) => keys.keys().all(|key| key == "description"),
            _ => false,
        };
        return says_nothing.then_some(Type::Any);
    };
    match name.as_str()? {
        "string" => Some(Type::String),
        "boolean" => Some(Type::Boolean),
        "integer" => Some(Type::Integer),
        "number" => Some(Type::Number),
        "array" => Some(Type::List(Box::new(r#type(schema.get("items")?)?))),
        _ => None,
    }
}

fn doc(schema: &Value) -> String {
    schema["description"].as_str().map(one_line).unwrap_or_default()
}

/// A doc comment as one line for each of its paragraphs.
fn one_line(doc: &str) -> String {
    let paragraphs =
        doc.trim().split("\n\n").map(|paragraph| paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" "));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

fn unknown(place: &str, schema: &Value) -> Error {
    Error::UnknownShape { place: place.to_owned(), schema: schema.to_string() }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// A type of each shape, and no methods.
    pub(in crate::codegen) fn one_of_each_shape() -> Protocol {
        let schemas = json!({
            "Answer": {
                "description": "An answer.",
                "oneOf": [
                    {
                        "description": "Yes.",
                        "type": "object",
                        "properties": { "type": { "const": "fullYes" }, "ids": { "type": "array", "items": { "$ref": "#/$defs/Id" } } },
                        "required": ["type", "ids"],
                    },
                    { "description": "No.", "type": "object", "properties": { "type": { "const": "no" } }, "required": ["type"] },
                ],
            },
            "Id": { "description": "An id.", "type": "string" },
            "Nothing": { "description": "Nothing.", "type": "object" },
            "Size": {
                "description": "A size.",
                "type": "object",
                "properties": {
                    "unit": { "anyOf": [{ "$ref": "#/$defs/Unit" }, { "type": "null" }], "description": "Its unit." },
                    "value": { "type": "number", "description": "How much." },
                },
                "required": ["value"],
            },
            "Unit": { "description": "A unit.", "oneOf": [{ "type": "string", "const": "cell", "description": "A cell." }] },
        });
        let definitions = schemas.as_object().unwrap().iter().map(|(name, schema)| definition(name, schema).unwrap());
        Protocol {
            requests: Vec::new(),
            client_requests: Vec::new(),
            notifications: Vec::new(),
            types: definitions.collect(),
        }
    }

    #[test]
    fn an_optional_field_loses_its_null() {
        let schema = json!({
            "type": "object",
            "properties": {
                "mode": { "anyOf": [{ "$ref": "#/$defs/Mode" }, { "type": "null" }] },
                "folders": { "type": ["array", "null"], "items": { "type": "string" }, "description": "Where.\nAll." },
                "id": { "$ref": "#/$defs/Id" },
            },
            "required": ["id"],
        });
        let fields = fields("Params", &schema, None).unwrap();
        let names: Vec<_> = fields.iter().map(|field| (field.name.as_str(), field.optional)).collect();
        assert_eq!(names, [("id", false), ("mode", true), ("folders", true)]);
        assert_eq!(fields[1].r#type, Type::Named("Mode".to_owned()));
        assert_eq!(fields[2].r#type, Type::List(Box::new(Type::String)));
        assert_eq!(fields[2].doc, "Where. All.");
    }

    #[test]
    fn a_field_that_would_be_written_as_null_is_refused() {
        let schema = json!({
            "type": "object",
            "properties": { "cost": { "type": ["number", "null"] } },
            "required": ["cost"],
        });
        let error = fields("Turn", &schema, None).err().unwrap();
        assert_eq!(
            error.to_string(),
            r#"Turn, field cost, has a shape that our documents and types do not know: {"type":["number","null"]}"#
        );
    }

    #[test]
    fn a_union_without_a_tag_is_refused() {
        let schema = json!({ "oneOf": [{ "type": "object", "properties": { "a": { "type": "string" } } }] });
        assert!(matches!(definition("Untagged", &schema), Err(Error::UnknownShape { .. })));
    }

    #[test]
    fn anything_is_a_schema_that_says_nothing() {
        assert_eq!(r#type(&json!(true)), Some(Type::Any));
        assert_eq!(r#type(&json!({ "description": "Opaque." })), Some(Type::Any));
        assert_eq!(r#type(&json!({ "enum": [1, 2] })), None);
    }
}
