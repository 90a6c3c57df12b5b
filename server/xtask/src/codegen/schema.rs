//! One JSON schema document for all methods.

use protocol::ErrorCode;
use protocol::editor::ClientCapabilities;
use protocol::methods::{CLIENT_REQUESTS, MethodSpec, NOTIFICATIONS, REQUESTS};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::Error;

/// All methods and types of the protocol as schemas.
pub struct Document {
    /// Every type by its name, in the order of the alphabet.
    pub types: Map<String, Value>,
    /// From client to server.
    pub requests: Vec<Method>,
    /// From server to client.
    pub client_requests: Vec<Method>,
    /// From server to client, without an answer.
    pub notifications: Vec<Method>,
}

/// A method with its schemas, which refer to [`Document::types`].
pub struct Method {
    /// The method as the protocol crate describes it.
    pub spec: &'static MethodSpec,
    /// Of its parameters.
    pub params: Value,
    /// Of its result; none for a notification.
    pub result: Option<Value>,
}

/// Gathers the schemas of all methods.
///
/// A field with a default may be left out by who writes it, and is always there for who reads it. So a type is
/// described as it is read where the client sends it, and as it is written where the server does.
///
/// # Errors
/// [`Error::TwoForms`] for a type that both sides send, with such a field in it.
pub fn document() -> Result<Document, Error> {
    let mut sent_by_client = SchemaSettings::draft2020_12().into_generator();
    let mut sent_by_server = SchemaSettings::draft2020_12().for_serialize().into_generator();

    let requests = methods(REQUESTS, &mut sent_by_client, &mut sent_by_server);
    let client_requests = methods(CLIENT_REQUESTS, &mut sent_by_server, &mut sent_by_client);
    let notifications = methods(NOTIFICATIONS, &mut sent_by_server, &mut sent_by_client);
    // No method carries it: it is a part of LSP's `initialize`.
    sent_by_client.subschema_for::<ClientCapabilities>();

    let mut types = sent_by_client.take_definitions(true);
    for (name, schema) in sent_by_server.take_definitions(true) {
        if types.get(&name).is_some_and(|known| *known != schema) {
            return Err(Error::TwoForms(name));
        }
        types.insert(name, schema);
    }
    types.sort_keys();
    Ok(Document { types, requests, client_requests, notifications })
}

fn methods(specs: &'static [MethodSpec], asking: &mut SchemaGenerator, answering: &mut SchemaGenerator) -> Vec<Method> {
    let method = |spec: &'static MethodSpec| Method {
        spec,
        params: (spec.params)(asking).to_value(),
        result: spec.result.map(|result| result(answering).to_value()),
    };
    specs.iter().map(method).collect()
}

impl Document {
    /// The document as JSON. The keywords `requests`, `clientRequests`, `notifications` and `errorCodes` are ours; JSON
    /// schema lets them pass.
    pub fn json(&self) -> Value {
        let error =
            |code: &ErrorCode| (code.name().to_owned(), json!({ "code": code.code(), "description": code.meaning() }));
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Azimuth's own methods",
            "description": "Generated from the crate `protocol`. The document docs/protocol.md explains it.",
            "requests": by_name(&self.requests),
            "clientRequests": by_name(&self.client_requests),
            "notifications": by_name(&self.notifications),
            "errorCodes": ErrorCode::ALL.iter().map(error).collect::<Map<_, _>>(),
            "$defs": self.types,
        })
    }
}

fn by_name(methods: &[Method]) -> Map<String, Value> {
    methods.iter().map(|method| (method.spec.method.to_owned(), method.json())).collect()
}

impl Method {
    fn json(&self) -> Value {
        let mut json = json!({ "description": self.spec.doc.trim(), "params": self.params });
        if let Some(result) = &self.result {
            json["result"] = result.clone();
            json["errors"] = self.spec.errors().map(|code| code.name()).collect();
        }
        json
    }
}
