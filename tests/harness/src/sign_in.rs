//! A vendor whose users sign in: its page, its tokens, and its models, in one server on this machine.
//!
//! It is strict. What a client does wrong is an answer as the protocol has it and a fault, which fails the test: a code
//! that is used twice, a verifier that does not fit, a refresh token that was replaced before.

use std::collections::{HashMap, HashSet};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair, RsaPublicKeyComponents};
use serde_json::{Value, json};

use crate::plain::{self, fields};

/// The account that signs in.
pub const ACCOUNT: &str = "someone@example.com";
/// The model that is to be shown.
pub const PLAN_MODEL: &str = "gpt-of-the-plan";
/// The model that is not.
pub const HIDDEN_MODEL: &str = "gpt-hidden";
/// The client that is registered.
const ISSUED: &str = "oaiapp_of_the_test";
/// The app that a user has at GitHub, and what it asks for.
const APP: (&str, &str) = ("app", "read:user user:email");
/// The address of Copilot's models, without TLS so that this server can be the proxy to it.
const COPILOT: &str = "http://api.githubcopilot.com";

/// The vendor. Dropping it fails the test if a client was wrong.
pub struct SignInServer {
    port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    port: u16,
    /// The next number of a secret.
    next: u32,
    /// The parts of each code: client, challenge, redirection and nonce.
    codes: HashMap<String, [String; 4]>,
    /// The refresh token that counts, and those that were replaced.
    refresh: HashSet<String>,
    spent: HashSet<String>,
    access: HashSet<String>,
    secrets: Vec<String>,
    /// Lifetime of access tokens, in seconds.
    lifetime: u64,
    refreshes: usize,
    revoked: usize,
    /// The number of questions for a device's tokens that come before the user has typed the code.
    pending: u32,
    denies: bool,
    withholds_scope: bool,
    /// True if it is as GitHub is: refusals have status 200, tokens are for good, scopes have commas between them, and
    /// answers are forms unless JSON is asked for.
    is_like_github: bool,
    wrong: Vec<String>,
}

impl SignInServer {
    /// Starts one.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State { port, lifetime: 3_600, pending: 1, ..State::default() }));
        let of_threads = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&of_threads);
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        Self { port, state }
    }

    /// Is as GitHub is from now on, whose users type a code.
    pub fn be_like_github(&self) {
        self.state().is_like_github = true;
    }

    /// The configuration of a user who signs in here as to GitHub, by an app of their own. Its models are at GitHub's
    /// own address, to which this server is the proxy.
    pub fn configuration_of_an_app(&self) -> String {
        let (home, (client, scopes)) = (self.url(), APP);
        format!(
            "[providers.copilot]\nbase_url = \"{COPILOT}\"\nwire = \"openai-chat\"\n[providers.copilot.sign_in]\n\
             device_url = \"{home}/device\"\ntoken_url = \"{home}/token\"\nclient_id = \"{client}\"\n\
             scopes = [\"{}\"]\n",
            scopes.replace(' ', "\", \"")
        )
    }

    /// The configuration of a user who signs in here as to ChatGPT, with the browser sent back to this port.
    pub fn configuration(&self, redirect_port: u16) -> String {
        let home = self.url();
        format!(
            "[providers.chatgpt]\nbase_url = \"{home}\"\n[providers.chatgpt.sign_in]\nauthorize_url = \"{home}/authorize\"\n\
             token_url = \"{home}/token\"\nrevoke_url = \"{home}/revoke\"\ndevice_url = \"{home}/device\"\n\
             jwks_url = \"{home}/jwks\"\nissuer = \"{home}\"\nredirect_port = {redirect_port}\n"
        )
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Issues access tokens with this lifetime, in seconds.
    pub fn issue_for(&self, lifetime: u64) {
        self.state().lifetime = lifetime;
    }

    /// Forgets the access tokens that were issued, as if their time were over.
    pub fn forget_access(&self) {
        self.state().access.clear();
    }

    /// Ends every sign-in.
    pub fn end_all(&self) {
        let mut state = self.state();
        state.access.clear();
        state.refresh.clear();
    }

    /// From now on the user does not consent.
    pub fn deny(&self) {
        self.state().denies = true;
    }

    /// From now on the user consents to less than was asked for.
    pub fn withhold_scope(&self) {
        self.state().withholds_scope = true;
    }

    /// The number of renewals, and that of tokens that were revoked.
    pub fn counts(&self) -> (usize, usize) {
        let state = self.state();
        (state.refreshes, state.revoked)
    }

    /// Every secret that it issued or was sent.
    pub fn secrets(&self) -> Vec<String> {
        self.state().secrets.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SignInServer {
    fn drop(&mut self) {
        let wrong = std::mem::take(&mut self.state().wrong);
        assert!(std::thread::panicking() || wrong.is_empty(), "the client was wrong: {wrong:#?}");
    }
}

/// An answer of the server: status, further heads, body.
type Answer = (u16, String, String);

fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let Some((head, body)) = plain::read(&stream) else { return };
    let (path, query) = plain::target(&head);
    if path == "/token" && fields(&body).get("grant_type").is_some_and(|it| it == "refresh_token") {
        // Whoever renews at the same time comes before the answer.
        std::thread::sleep(Duration::from_millis(1_000));
    }
    let answer = {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let (status, heads, body) = match path.as_str() {
            "/authorize" => state.authorize(&fields(&query)),
            "/token" => state.token(&fields(&body)),
            "/revoke" => state.revoke(&fields(&body)),
            "/device" => state.device(&fields(&body)),
            "/jwks" => (200, String::new(), keys().to_string()),
            "/v1/models" | "/v1/responses" => state.api(&path, &head),
            _ => match path.strip_prefix(COPILOT) {
                Some(path @ ("/models" | "/chat/completions")) => state.copilot(path, &head),
                _ => (404, String::new(), String::new()),
            },
        };
        let is_asking = state.is_like_github && matches!(path.as_str(), "/device" | "/token");
        let body = if is_asking && !head.contains("accept: application/json\r\n") { as_form(&body) } else { body };
        (if status == 400 && is_asking { 200 } else { status }, heads, body)
    };
    plain::write(&mut stream, answer);
}

impl State {
    fn secret(&mut self, kind: &str) -> String {
        self.next += 1;
        // No beginning that is known of keys, so that nothing but knowing it can leave it out.
        let secret = format!("{kind}.of.the.test.number.{}", self.next);
        self.secrets.push(secret.clone());
        secret
    }

    fn fault(&mut self, problem: &str, code: &str) -> Answer {
        self.wrong.push(problem.to_owned());
        refusal(code)
    }

    fn authorize(&mut self, asked: &HashMap<String, String>) -> Answer {
        let field = |name: &str| asked.get(name).cloned().unwrap_or_default();
        let is_first = field("client_id") == "dynamic_agent_client";
        for (name, fits) in [
            ("response_type", field("response_type") == "code"),
            ("client_id", is_first || field("client_id") == ISSUED),
            ("agent_name_hint", is_first == asked.contains_key("agent_name_hint")),
            ("ext_agent_host_id", field("ext_agent_host_id").starts_with("urn:uuid:")),
            ("redirect_uri", field("redirect_uri").starts_with("http://127.0.0.1:")),
            ("resource", field("resource") == "https://api.openai.com/v1"),
            ("scope", field("scope").contains("chatgpt.tokens.use.direct")),
            ("code_challenge_method", field("code_challenge_method") == "S256"),
            ("code_challenge", field("code_challenge").len() == 43),
            ("state", field("state").len() > 20),
            ("nonce", field("nonce").len() > 20),
        ] {
            if !fits {
                return self.fault(&format!("authorize: {name} is `{}`", field(name)), "invalid_request");
            }
        }
        let (redirect, given) = (field("redirect_uri"), field("state"));
        if self.denies {
            let place = format!("location: {redirect}?error=access_denied&state={given}\r\n");
            return (302, place, String::new());
        }
        let code = self.secret("code");
        let of_code = [ISSUED.to_owned(), field("code_challenge"), redirect.clone(), field("nonce")];
        self.codes.insert(code.clone(), of_code);
        let place = format!("location: {redirect}?code={code}&state={given}&client_id={ISSUED}\r\n");
        (302, place, String::new())
    }

    fn token(&mut self, asked: &HashMap<String, String>) -> Answer {
        let field = |name: &str| asked.get(name).cloned().unwrap_or_default();
        if self.is_like_github && field("client_id") != APP.0 {
            return self.fault("token: another app asks", "incorrect_client_credentials");
        }
        match field("grant_type").as_str() {
            "authorization_code" => {
                self.secrets.push(field("code_verifier"));
                let Some([client, challenge, redirect, nonce]) = self.codes.remove(&field("code")) else {
                    return self.fault("token: the code is unknown or used", "invalid_grant");
                };
                let proof = BASE64.encode(digest(&SHA256, field("code_verifier").as_bytes()));
                if (client, redirect, challenge) != (field("client_id"), field("redirect_uri"), proof) {
                    return self.fault("token: client, redirection or verifier do not fit", "invalid_grant");
                }
                if field("resource") != "https://api.openai.com/v1" {
                    return self.fault("token: no resource", "invalid_target");
                }
                self.issue(Some((ISSUED, Some(&nonce))))
            }
            "refresh_token" => {
                let token = field("refresh_token");
                if self.spent.contains(&token) {
                    return self.fault("token: a refresh token was used twice", "invalid_grant");
                }
                if !self.refresh.remove(&token) {
                    return refusal("invalid_grant");
                }
                if field("client_id") != ISSUED {
                    return self.fault("token: another client renews", "invalid_client");
                }
                self.spent.insert(token);
                self.refreshes += 1;
                self.issue(None)
            }
            "urn:ietf:params:oauth:grant-type:device_code" if self.pending > 0 => {
                self.pending -= 1;
                refusal("authorization_pending")
            }
            "urn:ietf:params:oauth:grant-type:device_code" if self.denies => refusal("access_denied"),
            "urn:ietf:params:oauth:grant-type:device_code" => self.issue(Some((&field("client_id"), None))),
            other => self.fault(&format!("token: `{other}` is no grant"), "unsupported_grant_type"),
        }
    }

    /// Issues tokens, with an id token for this client and nonce if there is one.
    fn issue(&mut self, of_client: Option<(&str, Option<&str>)>) -> Answer {
        let access = self.secret("access");
        self.access.insert(access.clone());
        if self.is_like_github {
            let body = json!({ "access_token": access, "token_type": "bearer", "scope": "read:user,user:email" });
            return (200, String::new(), body.to_string());
        }
        let refresh = self.secret("refresh");
        self.refresh.insert(refresh.clone());
        let scope = if self.withholds_scope { "openid" } else { "openid chatgpt.tokens.use.direct" };
        let mut body = json!({ "access_token": access, "refresh_token": refresh, "token_type": "Bearer",
            "expires_in": self.lifetime, "scope": scope });
        if let Some((client, nonce)) = of_client {
            body["id_token"] = json!(id_token(self.port, client, nonce));
        }
        (200, String::new(), body.to_string())
    }

    fn revoke(&mut self, asked: &HashMap<String, String>) -> Answer {
        let token = asked.get("token").cloned().unwrap_or_default();
        if !self.refresh.remove(&token) {
            return self.fault("revoke: it is no token that counts", "invalid_request");
        }
        self.access.clear();
        self.revoked += 1;
        (200, String::new(), String::new())
    }

    fn device(&mut self, asked: &HashMap<String, String>) -> Answer {
        let field = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
        if self.is_like_github && (field("client_id"), field("scope")) != APP {
            return self.fault(&format!("device: it is asked with {asked:?}"), "incorrect_client_credentials");
        }
        let code = self.secret("device");
        let body = json!({ "device_code": code, "user_code": "ABCD-EFGH", "interval": 1, "expires_in": 60,
            "verification_uri": format!("http://127.0.0.1:{}/type", self.port) });
        (200, String::new(), body.to_string())
    }

    /// The refusal of a request to a model without a token that counts.
    fn refused(&self, head: &str) -> Option<Answer> {
        let sent = head.lines().find_map(|line| line.strip_prefix("authorization: Bearer ")).unwrap_or_default();
        // As vendors do, it repeats what it was sent.
        let body = json!({ "error": { "code": "invalid_token", "message": format!("{sent} has expired") } });
        (!self.access.contains(sent)).then(|| (401, String::new(), body.to_string()))
    }

    /// GitHub's list of models, and a model's answer.
    fn copilot(&mut self, path: &str, head: &str) -> Answer {
        if let Some(refused) = self.refused(head) {
            return refused;
        }
        if path == "/models" {
            let model = |id: &str, is_choice: bool, policy: &str| {
                json!({ "object": "model", "id": id, "name": id, "vendor": "OpenAI", "preview": false,
                    "model_picker_enabled": is_choice, "policy": { "state": policy, "terms": "…" },
                    "capabilities": { "object": "model_capabilities", "type": "chat", "tokenizer": "o200k_base",
                        "limits": { "max_context_window_tokens": 400_000, "max_prompt_tokens": 128_000,
                            "max_output_tokens": 64_000 },
                        "supports": { "streaming": true, "tool_calls": true, "vision": true } } })
            };
            let models = [
                model(PLAN_MODEL, true, "enabled"),
                model(HIDDEN_MODEL, false, "enabled"),
                model("gpt-not-agreed-to", true, "unconfigured"),
            ];
            return (200, String::new(), json!({ "object": "list", "data": models }).to_string());
        }
        let chunk = |choices: Value| json!({ "id": "c", "object": "chat.completion.chunk", "choices": choices });
        let text = json!([{ "index": 0, "delta": { "role": "assistant", "content": "By the plan." } }]);
        let end = json!([{ "index": 0, "delta": {}, "finish_reason": "stop" }]);
        let mut usage = chunk(json!([]));
        usage["usage"] = json!({ "prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12 });
        let mut body: String =
            [chunk(text), chunk(end), usage].iter().map(|event| format!("data: {event}\n\n")).collect();
        body.push_str("data: [DONE]\n\n");
        (200, String::new(), body)
    }

    fn api(&mut self, path: &str, head: &str) -> Answer {
        if let Some(refused) = self.refused(head) {
            return refused;
        }
        if path == "/v1/models" {
            let body = json!({ "models": [
                { "slug": PLAN_MODEL, "display_name": "Plan", "visibility": "list" },
                { "slug": HIDDEN_MODEL, "display_name": "Hidden", "visibility": "hide" },
            ] });
            return (200, String::new(), body.to_string());
        }
        let item = json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": "By the plan.", "annotations": [] }] });
        let response = json!({ "id": "resp_1", "status": "completed", "output": [item],
            "usage": { "input_tokens": 9, "output_tokens": 3 } });
        let events = [
            json!({ "type": "response.output_item.added", "output_index": 0,
                "item": { "type": "message", "id": "msg_1", "role": "assistant", "content": [] } }),
            json!({ "type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "msg_1",
                "delta": "By the plan." }),
            json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
            json!({ "type": "response.completed", "response": response }),
        ];
        let line = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
        (200, String::new(), events.iter().map(line).collect())
    }
}

/// An answer in JSON as the form that GitHub makes of it.
fn as_form(body: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(body) else { return body.to_owned() };
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    fields.into_iter().map(|(name, value)| format!("{name}={}", text(value))).collect::<Vec<_>>().join("&")
}

fn refusal(code: &str) -> Answer {
    (400, String::new(), json!({ "error": code, "error_description": "as the protocol has it" }).to_string())
}

fn key() -> RsaKeyPair {
    RsaKeyPair::from_pkcs8(include_bytes!("sign_in.der")).unwrap()
}

/// The keys that sign id tokens, another one before the right one.
fn keys() -> Value {
    let RsaPublicKeyComponents { n, e } = RsaPublicKeyComponents::<Vec<u8>>::from(key().public());
    let (n, e) = (BASE64.encode(n), BASE64.encode(e));
    json!({ "keys": [{ "kty": "EC", "kid": "other" }, { "kty": "RSA", "kid": "test", "use": "sig", "n": n, "e": e }] })
}

fn id_token(port: u16, client: &str, nonce: Option<&str>) -> String {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let claims = json!({ "iss": format!("http://127.0.0.1:{port}"), "aud": client, "sub": "user-1", "nonce": nonce,
        "email": ACCOUNT, "iat": now, "exp": now + 600 });
    let part = |value: Value| BASE64.encode(value.to_string());
    let signed = format!("{}.{}", part(json!({ "alg": "RS256", "kid": "test" })), part(claims));
    let key = key();
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature).unwrap();
    format!("{signed}.{}", BASE64.encode(signature))
}
