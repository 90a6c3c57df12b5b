//! Google's servers that give access tokens: for service accounts, for people who have signed in, for machines at
//! Google, and for identities of others, in one server on this machine.
//!
//! It is strict. An assertion that Google would refuse is refused and fails the test, unless the test says that it is
//! to come.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use crate::plain::{self, http_date, rfc3339};

/// The project of everybody here.
pub const PROJECT: &str = "project-of-the-test";
/// The service account.
pub const ROBOT: &str = "robot@project-of-the-test.iam.gserviceaccount.com";
/// The token of an identity that is none of Google's.
pub const SUBJECT: &str = "subject.token.of.the.test";
/// The key of the service account, in PKCS #8.
pub const KEY: &[u8] = include_bytes!("sign_in.der");

const KEY_ID: &str = "key-of-the-robot";
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
const SCOPE_OF_ACTING: &str = "https://www.googleapis.com/auth/iam";
const POOL: &str =
    "//iam.googleapis.com/projects/project-of-the-test/locations/global/workloadIdentityPools/pool/providers/provider";
const BY_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const BY_ASSERTION: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// The difference between two clocks that Google allows.
const SKEW: u64 = 5 * 60;

/// The servers. Dropping them fails the test if a client was wrong.
pub struct GoogleServer {
    port: u16,
    state: Arc<Mutex<State>>,
    valid: Valid,
}

/// The tokens that count.
#[derive(Clone, Debug, Default)]
pub struct Valid(Arc<Mutex<HashSet<String>>>);

/// An answer of the server of tokens that is none.
#[derive(Clone, Copy, Debug)]
pub enum Instead {
    /// The sign-in has ended.
    Ended,
    /// A web page.
    Page,
    /// A failure of the server.
    Failure,
    /// JSON without a token.
    Empty,
}

#[derive(Default)]
struct State {
    port: u16,
    next: u32,
    instead: VecDeque<Instead>,
    assertions: Vec<String>,
    /// The forms and the objects by which tokens were asked for an identity of others.
    exchanges: Vec<Value>,
    /// The tokens of such an identity, with which it may act for the service account, and no more.
    acting: HashSet<String>,
    asked: usize,
    tokens: Vec<String>,
    /// The time by which the server's clock is ahead.
    ahead: Duration,
    wrong: Vec<String>,
}

impl Valid {
    /// True if a token counts.
    pub(crate) fn has(&self, token: &str) -> bool {
        self.tokens().contains(token)
    }

    fn tokens(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GoogleServer {
    /// Starts them.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State { port, ..State::default() }));
        let valid = Valid::default();
        let (of_threads, tokens) = (Arc::clone(&state), valid.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (state, tokens) = (Arc::clone(&of_threads), tokens.clone());
                std::thread::spawn(move || serve(stream, &state, &tokens));
            }
        });
        Self { port, state, valid }
    }

    /// The file of the service account.
    pub fn service_account(&self) -> Value {
        let lines = STANDARD.encode(KEY);
        let lines: Vec<_> = lines.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
        let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"));
        json!({ "type": "service_account", "project_id": PROJECT, "private_key_id": KEY_ID, "private_key": key,
            "client_email": ROBOT, "token_uri": self.token_url(), "universe_domain": "googleapis.com" })
    }

    /// The file of a person who has signed in.
    pub fn user(&self) -> Value {
        json!({ "type": "authorized_user", "client_id": "client-of-gcloud", "client_secret": "secret-of-the-client",
            "refresh_token": "refresh-token-of-ada", "quota_project_id": PROJECT, "token_uri": self.token_url() })
    }

    /// The file of an identity of others whose token comes from this source. It acts in the name of the service account
    /// if `acts` says so.
    pub fn external(&self, source: &Value, acts: bool) -> Value {
        let home = self.origin();
        let mut file = json!({ "type": "external_account", "audience": POOL, "token_url": format!("{home}/sts"),
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "credential_source": source,
            "universe_domain": "googleapis.com" });
        if acts {
            let url = format!("{home}/v1/projects/-/serviceAccounts/{ROBOT}:generateAccessToken");
            file["service_account_impersonation_url"] = json!(url);
        }
        file
    }

    /// The servers' address, by which `AZIMUTH_TEST_GOOGLE` lets an identity of others use them.
    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The address of a server that gives [`SUBJECT`] to whoever sends the header `x-asks: us`.
    pub fn subject_url(&self) -> String {
        format!("http://127.0.0.1:{}/subject", self.port)
    }

    /// The bodies by which tokens were asked for an identity of others, as JSON.
    pub fn exchanges(&self) -> Vec<Value> {
        self.state().exchanges.clone()
    }

    /// The address of the server of tokens, for whom an assertion is.
    pub fn token_url(&self) -> String {
        format!("http://127.0.0.1:{}/token", self.port)
    }

    /// The host of the service of a machine.
    pub fn metadata_host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The next answer is another than a token.
    pub fn gives_instead(&self, instead: Instead) {
        self.state().instead.push_back(instead);
    }

    /// Sets its clock ahead of this machine's; a client may be wrong about the time then.
    pub fn ahead_by(&self, ahead: Duration) {
        self.state().ahead = ahead;
    }

    /// Forgets the tokens that were given, as if their time were over.
    pub fn forget_tokens(&self) {
        self.valid.tokens().clear();
    }

    /// The number of times that it was asked for a token, and the assertions that came in.
    pub fn asked(&self) -> (usize, Vec<String>) {
        let state = self.state();
        (state.asked, state.assertions.clone())
    }

    /// Every token that it gave.
    pub fn tokens(&self) -> Vec<String> {
        self.state().tokens.clone()
    }

    /// The tokens that count.
    pub(crate) fn valid(&self) -> Valid {
        self.valid.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for GoogleServer {
    fn drop(&mut self) {
        let wrong = std::mem::take(&mut self.state().wrong);
        assert!(std::thread::panicking() || wrong.is_empty(), "the client was wrong: {wrong:#?}");
    }
}

fn serve(mut stream: TcpStream, state: &Mutex<State>, valid: &Valid) {
    let Some((head, body)) = plain::read(&stream) else { return };
    let (path, _) = plain::target(&head);
    let answer = {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of_machine = head.to_ascii_lowercase().contains("\r\nmetadata-flavor: google\r\n");
        match path.strip_prefix("/computeMetadata/v1/") {
            Some(place) if is_of_machine => state.metadata(place, valid),
            Some(_) => state.fault("the service of a machine is asked without Metadata-Flavor", "forbidden"),
            None if path == "/token" => state.token(&plain::fields(&body), valid),
            None if path == "/subject" && head.to_ascii_lowercase().contains("x-asks: us") => {
                (200, String::new(), SUBJECT.to_owned())
            }
            None if path == "/sts" => state.exchange(&plain::fields(&body), valid),
            None if path.ends_with(":generateAccessToken") => state.act(&head, &body, valid),
            None => state.fault(&format!("there is no path {path}"), "not_found"),
        }
    };
    plain::write(&mut stream, answer);
}

/// An answer: its status, further heads, and its body.
type Answer = (u16, String, String);

impl State {
    fn fault(&mut self, problem: &str, code: &str) -> Answer {
        self.wrong.push(problem.to_owned());
        self.refusal(code, problem)
    }

    fn refusal(&self, code: &str, words: &str) -> Answer {
        let body = json!({ "error": code, "error_description": words }).to_string();
        (400, format!("date: {}\r\n", http_date(self.now())), body)
    }

    fn now(&self) -> u64 {
        (SystemTime::now() + self.ahead).duration_since(UNIX_EPOCH).unwrap().as_secs()
    }

    fn new_token(&mut self) -> String {
        self.next += 1;
        // No beginning that is known of keys, so that nothing but knowing it can leave it out.
        let token = format!("access.token.of.the.test.number.{}", self.next);
        self.tokens.push(token.clone());
        token
    }

    /// Exchanges the token of an identity of others, as RFC 8693 has it.
    fn exchange(&mut self, asked: &HashMap<String, String>, valid: &Valid) -> Answer {
        self.asked += 1;
        self.exchanges.push(json!(asked));
        let scope = asked.get("scope").cloned().unwrap_or_default();
        let expected = [
            ("grant_type", BY_EXCHANGE),
            ("audience", POOL),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ("subject_token", SUBJECT),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
            ("scope", if scope == SCOPE_OF_ACTING { SCOPE_OF_ACTING } else { SCOPE }),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        if *asked != HashMap::from(expected) {
            return self.fault(&format!("a token is exchanged with {asked:?}"), "invalid_request");
        }
        if scope == SCOPE {
            return self.given(valid);
        }
        let token = self.new_token();
        self.acting.insert(token.clone());
        let body = json!({ "access_token": token, "expires_in": 3_599, "token_type": "Bearer",
            "issued_token_type": "urn:ietf:params:oauth:token-type:access_token" });
        (200, String::new(), body.to_string())
    }

    /// Gives a token of the service account to whoever may act in its name.
    fn act(&mut self, head: &str, body: &str, valid: &Valid) -> Answer {
        let asked: Value = serde_json::from_str(body).unwrap_or_default();
        let bearer = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("authorization").then(|| value.strip_prefix("Bearer ")).flatten()
        });
        if !bearer.is_some_and(|token| self.acting.contains(token)) {
            return self.fault("whoever acts for the service account has no token", "permission_denied");
        }
        if (&asked["scope"], &asked["lifetime"]) != (&json!([SCOPE]), &json!("3600s")) {
            return self.fault(&format!("the service account is acted for with {asked}"), "invalid_argument");
        }
        self.exchanges.push(asked);
        let token = self.new_token();
        valid.tokens().insert(token.clone());
        let end = rfc3339(self.now() + 3_600);
        (200, String::new(), json!({ "accessToken": token, "expireTime": end }).to_string())
    }

    fn given(&mut self, valid: &Valid) -> Answer {
        let token = self.new_token();
        valid.tokens().insert(token.clone());
        let body = json!({ "access_token": token, "expires_in": 3_599, "token_type": "Bearer" });
        (200, "metadata-flavor: Google\r\n".to_owned(), body.to_string())
    }

    fn metadata(&mut self, place: &str, valid: &Valid) -> Answer {
        match place {
            "instance/service-accounts/default/token" => {
                self.asked += 1;
                self.given(valid)
            }
            "project/project-id" => (200, "metadata-flavor: Google\r\n".to_owned(), PROJECT.to_owned()),
            _ => self.fault(&format!("there is no place {place}"), "not_found"),
        }
    }

    fn token(&mut self, asked: &HashMap<String, String>, valid: &Valid) -> Answer {
        self.asked += 1;
        match self.instead.pop_front() {
            Some(Instead::Ended) => return self.refusal("invalid_grant", "Token has been expired or revoked."),
            Some(Instead::Page) => return (200, String::new(), "<html>Sign in to the network</html>".to_owned()),
            Some(Instead::Failure) => return (503, String::new(), String::new()),
            Some(Instead::Empty) => return (200, String::new(), "{}".to_owned()),
            None => {}
        }
        let field = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
        match field("grant_type") {
            BY_ASSERTION => {
                self.assertions.push(field("assertion").to_owned());
                match self.check(field("assertion")) {
                    Ok(()) => self.given(valid),
                    Err(words) if self.ahead.is_zero() => self.fault(&words, "invalid_grant"),
                    Err(words) => self.refusal("invalid_grant", &words),
                }
            }
            "refresh_token" => {
                let sent = (field("client_id"), field("client_secret"), field("refresh_token"));
                if sent != ("client-of-gcloud", "secret-of-the-client", "refresh-token-of-ada") {
                    return self.fault("the person is another", "invalid_grant");
                }
                self.given(valid)
            }
            other => self.fault(&format!("`{other}` is no grant"), "unsupported_grant_type"),
        }
    }

    /// Checks an assertion as Google does.
    fn check(&self, assertion: &str) -> Result<(), String> {
        let wrong = |what: &str| format!("Invalid JWT: {what}");
        let (text, signature) = assertion.rsplit_once('.').ok_or_else(|| wrong("no signature"))?;
        let decoded = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| wrong("no base64"));
        let key = RsaKeyPair::from_pkcs8(KEY).unwrap();
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.public_key().as_ref().to_vec());
        key.verify(text.as_bytes(), &decoded(signature)?).map_err(|_| wrong("Signature"))?;
        let (head, claims) = text.split_once('.').ok_or_else(|| wrong("no claims"))?;
        let json = |part: &str| serde_json::from_slice::<Value>(&decoded(part)?).map_err(|_| wrong("no JSON"));
        let (head, claims) = (json(head)?, json(claims)?);
        if head != json!({ "alg": "RS256", "typ": "JWT", "kid": KEY_ID }) {
            return Err(wrong("the head"));
        }
        let audience = format!("http://127.0.0.1:{}/token", self.port);
        if (&claims["iss"], &claims["aud"], &claims["scope"]) != (&json!(ROBOT), &json!(audience), &json!(SCOPE)) {
            return Err(wrong("issuer, audience or scope"));
        }
        let time = |name: &str| claims[name].as_u64().ok_or_else(|| wrong(name));
        let (from, to) = (time("iat")?, time("exp")?);
        if self.now().abs_diff(from) > SKEW || to.checked_sub(from).is_none_or(|lasts| lasts > 3_600) {
            return Err(wrong("Token must be a short-lived token (60 minutes) and in a reasonable timeframe"));
        }
        Ok(())
    }
}
