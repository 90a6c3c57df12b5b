use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::dates::rfc3339;

/// Requests that others have signed; `signed.py` says who and how.
const SIGNED: &str = include_str!("signed.json");

fn headers(entry: &Value) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for pair in entry["headers"].as_array().unwrap() {
        let value = HeaderValue::from_bytes(pair[1].as_str().unwrap().as_bytes()).unwrap();
        headers.append(HeaderName::try_from(pair[0].as_str().unwrap()).unwrap(), value);
    }
    headers
}

fn signature_of(all: &Value, entry: &Value, url: &Url) -> String {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let credentials = Credentials::new(&text(&all["access_key"]), &text(&all["secret_key"]), entry["token"].as_str());
    let scope = Scope { service: text(&entry["service"]), region: text(&entry["region"]) };
    let (method, body) = (text(&entry["method"]), text(&entry["body"]));
    let request = Unsigned { method: &method, url, headers: &headers(entry), body: body.as_bytes() };
    let added = sign(&request, &scope, &credentials, rfc3339(&text(&entry["at"])).unwrap()).unwrap();
    assert_eq!(added.get(TOKEN).map(HeaderValue::as_bytes), entry["token"].as_str().map(str::as_bytes));
    added[AUTHORIZATION].to_str().unwrap().to_owned()
}

#[test]
fn the_signatures_that_aws_publishes_come_out() {
    let all: Value = serde_json::from_str(SIGNED).unwrap();
    let entries = all["published"].as_array().unwrap();
    assert!(entries.len() == 25);
    for entry in entries {
        let url = Url::parse(entry["url"].as_str().unwrap()).unwrap();
        assert_eq!(signature_of(&all, entry, &url), entry["authorization"].as_str().unwrap(), "{}", entry["name"]);
    }
}

#[test]
fn botocore_signs_hostile_requests_alike() {
    let all: Value = serde_json::from_str(SIGNED).unwrap();
    let entries = all["botocore"].as_array().unwrap();
    assert!(entries.len() > 20);
    for entry in entries {
        let given = entry["url"].as_str().unwrap();
        let url = Url::parse(given).unwrap();
        assert_eq!(url.as_str(), given, "it is signed as it is sent");
        assert_eq!(signature_of(&all, entry, &url), entry["authorization"].as_str().unwrap(), "{}", entry["name"]);
    }
}

#[test]
fn the_scope_of_a_host_is_told_by_its_name() {
    for (host, service, region) in [
        ("bedrock-runtime.eu-central-1.amazonaws.com", "bedrock", "eu-central-1"),
        ("bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "bedrock", "us-gov-west-1"),
        ("bedrock-runtime.cn-north-1.amazonaws.com.cn", "bedrock", "cn-north-1"),
        ("vpce-0a-b1.bedrock-runtime.us-east-1.vpce.amazonaws.com", "bedrock", "us-east-1"),
        ("Bedrock-Mantle.us-west-2.api.aws", "bedrock-mantle", "us-west-2"),
    ] {
        let expected = Scope { service: service.into(), region: region.into() };
        assert_eq!(Scope::of_host(host), Some(expected), "{host}");
    }
    for host in [
        "127.0.0.1",
        "gateway.example",
        "bedrock-runtime.us-east-1.amazonaws.com.example",
        "s3.us-east-1.amazonaws.com",
        "bedrock-runtime.amazonaws.com",
    ] {
        assert_eq!(Scope::of_host(host), None, "{host}");
    }
}

#[test]
fn what_a_header_cannot_hold_is_named_and_not_shown() {
    let url = Url::parse("https://h/").unwrap();
    let scope = |region: &str| Scope { service: "bedrock".into(), region: region.into() };
    let request = Unsigned { method: "GET", url: &url, headers: &HeaderMap::new(), body: b"" };
    let now = SystemTime::now();
    let bad = sign(&request, &scope("r"), &Credentials::new("a", "b", Some("hunter\n2")), now).unwrap_err();
    assert!(bad.to_string().contains("session token") && !bad.to_string().contains("hunter"), "{bad}");
    let bad = sign(&request, &scope("a\nb"), &Credentials::new("hunter2", "b", None), now).unwrap_err();
    assert!(bad.to_string().contains("region") && !bad.to_string().contains("hunter"), "{bad}");
    let url = Url::parse("data:text/plain,x").unwrap();
    let request = Unsigned { url: &url, ..request };
    assert_eq!(sign(&request, &scope("r"), &Credentials::new("a", "b", None), now), Err(SignError::NoHost));
}

#[test]
fn what_is_secret_is_in_no_debug_output() {
    let url = Url::parse("https://h/").unwrap();
    let credentials = Credentials::new("AKIA-hunter2", "secret-hunter2", Some("token-hunter2"));
    let scope = Scope { service: "bedrock".into(), region: "r".into() };
    let request = Unsigned { method: "GET", url: &url, headers: &HeaderMap::new(), body: b"" };
    let added = sign(&request, &scope, &credentials, SystemTime::now()).unwrap();
    assert_eq!(added.len(), 3);
    let shown = format!("{credentials:?} {added:?}");
    assert!(shown.contains("x-amz-date") && !shown.contains("hunter2"), "{shown}");
}

/// All that a signature depends on.
#[derive(Clone, Debug)]
struct Case {
    method: String,
    path: String,
    query: String,
    header: String,
    body: Vec<u8>,
    region: String,
    service: String,
    secret: String,
    token: String,
    at: u64,
}

impl Case {
    fn authorization(&self) -> String {
        let mut url = Url::parse("https://bedrock.example").unwrap();
        url.path_segments_mut().unwrap().push(&self.path);
        url.query_pairs_mut().append_pair("q", &self.query);
        let mut headers = HeaderMap::new();
        headers.insert("x-header", HeaderValue::from_str(&self.header).unwrap());
        let scope = Scope { service: self.service.clone(), region: self.region.clone() };
        let request = Unsigned { method: &self.method, url: &url, headers: &headers, body: &self.body };
        let credentials = Credentials::new("AKIDEXAMPLE", &self.secret, Some(&self.token));
        let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(self.at);
        sign(&request, &scope, &credentials, at).unwrap()[AUTHORIZATION].to_str().unwrap().to_owned()
    }

    /// The cases in which one thing is another each.
    fn changed(&self) -> [Self; 10] {
        let with = |change: fn(&mut Self)| {
            let mut case = self.clone();
            change(&mut case);
            case
        };
        [
            with(|case| case.method.push('X')),
            with(|case| case.path.push('é')),
            with(|case| case.query.push('%')),
            with(|case| case.header.push('x')),
            with(|case| case.body.push(0)),
            with(|case| case.region.push('x')),
            with(|case| case.service.push('x')),
            with(|case| case.secret.push('x')),
            with(|case| case.token.push('x')),
            with(|case| case.at += 1),
        ]
    }
}

fn a_case() -> impl Strategy<Value = Case> {
    let texts = ("[A-Z]{3,6}", "[^.]\\PC{0,20}", "\\PC{0,20}", "[ -~]{0,20}", any::<Vec<u8>>());
    let names = ("[a-z0-9-]{1,12}", "[a-z-]{1,12}", "[ -~]{1,40}", "[!-~]{1,40}", 0_u64..10_000_000_000);
    (texts, names).prop_map(|((method, path, query, header, body), (region, service, secret, token, at))| Case {
        method,
        path,
        query,
        header,
        body,
        region,
        service,
        secret,
        token,
        at,
    })
}

proptest! {
    #[test]
    fn the_same_request_has_the_same_signature_and_any_other_another(case in a_case()) {
        let authorization = case.authorization();
        prop_assert_eq!(&authorization, &case.clone().authorization());
        let signature = |text: &str| text.rsplit_once("Signature=").unwrap().1.to_owned();
        for changed in case.changed() {
            prop_assert_ne!(signature(&authorization), signature(&changed.authorization()), "{:?}", changed);
        }
    }
}
