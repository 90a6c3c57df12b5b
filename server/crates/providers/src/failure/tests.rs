use serde_json::json;

use super::*;
use crate::dates::http_date;

fn whose() -> Whose {
    Whose {
        provider: "anthropic".into(),
        host: "api.anthropic.com".into(),
        model: "claude-sonnet-4-5".into(),
        key_source: "ANTHROPIC_API_KEY".into(),
        key: Some(Secret::new("sk-ant-very-secret")),
        secrets: vec![Secret::new("tenant-secret")],
        is_local: false,
        renewed_by: None,
        member: None,
    }
}

fn status(status: u16, body: &str) -> ModelError {
    whose().status(status, &HeaderMap::new(), body.as_bytes())
}

#[test]
fn a_header_of_the_users_own_is_not_shown_either() {
    let error = status(400, r#"{"error":{"message":"unknown tenant tenant-secret"}}"#);
    assert!(error.message.contains("unknown tenant [key]"), "{error}");
}

#[test]
fn a_wrong_key_says_which_one_to_check_and_never_shows_it() {
    let body =
        r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key sk-ant-very-secret"}}"#;
    let error = status(401, body);
    assert_eq!(error.kind, ModelErrorKind::Unauthorized);
    assert!(error.message.contains("ANTHROPIC_API_KEY"), "{error}");
    assert!(error.message.contains("invalid x-api-key [key]"), "{error}");
    assert!(!error.message.contains("secret"), "{error}");
}

#[test]
fn a_server_that_wants_a_key_says_where_to_put_one() {
    let whose = Whose { key: None, ..whose() };
    let error = whose.status(401, &HeaderMap::new(), b"");
    assert_eq!(error.kind, ModelErrorKind::Unauthorized);
    assert!(error.message.contains("Set ANTHROPIC_API_KEY"), "{error}");
}

#[test]
fn a_refusal_of_a_signature_says_what_to_do_about_the_clock_and_about_credentials() {
    let key_source = "the AWS credentials".to_owned();
    let said = |renewed_by: &str, message: &str| {
        let renewed_by = Some((Cloud::Aws, renewed_by.to_owned()));
        let whose = Whose { key_source: key_source.clone(), renewed_by, ..whose() };
        whose.status(403, &HeaderMap::new(), format!(r#"{{"message":"{message}"}}"#).as_bytes()).message
    };
    let times = "20261128T200000Z is now earlier than 20261128T210000Z (20261128T210500Z - 5 min.)";
    for late in [format!("Signature expired: {times}"), "Signature not yet current: 20261128T230000Z".to_owned()] {
        let late = said("aws sso login", &late);
        assert!(late.contains("Set the clock") && !late.contains("aws sso login"), "{late}");
    }
    let ended = "The security token included in the request is expired";
    let of_profile = said("aws sso login", ended);
    assert!(of_profile.contains("have expired") && of_profile.contains("`aws sso login`"), "{of_profile}");
    for message in [ended, "The security token included in the request is invalid."] {
        let of_variables = said("", message);
        assert!(of_variables.to_lowercase().contains("set new ones") && !of_variables.contains('`'), "{of_variables}");
    }
}

#[test]
fn a_refusal_of_googles_credentials_says_what_to_do() {
    let said_to = |renewed_by: &str, status: u16, body: &str| {
        let renewed_by = Some((Cloud::Google, renewed_by.to_owned()));
        let whose = Whose { key_source: "the Google credentials in /f".into(), renewed_by, ..whose() };
        whose.status(status, &HeaderMap::new(), body.as_bytes()).message
    };
    let said = |status: u16, body: &str| said_to("gcloud auth application-default login", status, body);
    let of_google = |code: u16, status: &str, message: &str, reason: &str| {
        let details = json!([{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason }]);
        json!([{ "error": { "code": code, "message": message, "status": status, "details": details } }]).to_string()
    };
    let ended =
        of_google(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", "ACCESS_TOKEN_EXPIRED");
    assert!(said(401, &ended).contains("Sign in again with `gcloud auth application-default login`"));
    let of_robot = said_to("", 401, &ended);
    assert!(of_robot.ends_with("Check the service account and its key") && !of_robot.contains('`'), "{of_robot}");
    let disabled = of_google(403, "PERMISSION_DENIED", "Agent Platform API is off", "SERVICE_DISABLED");
    assert!(said(403, &disabled).contains("`gcloud services enable aiplatform.googleapis.com`"));
    for (message, reason, part) in [
        (
            "Your application is authenticating by using local Application Default Credentials. The \
             aiplatform.googleapis.com API requires a quota project, which is not set by default.",
            "SERVICE_DISABLED",
            "`gcloud auth application-default set-quota-project",
        ),
        (
            "Caller does not have required permission to use project p.",
            "USER_PROJECT_DENIED",
            "there, or set GOOGLE_CLOUD_QUOTA_PROJECT",
        ),
        ("This API method requires billing to be enabled.", "BILLING_DISABLED", "Link a billing account"),
        ("Permission denied on resource project p.", "CONSUMER_INVALID", "Check google_project"),
    ] {
        let said = said(403, &of_google(403, "PERMISSION_DENIED", message, reason));
        assert!(said.contains(part) && said.contains(message), "{reason}: {said}");
        assert!(!said.contains("services enable") && !said.contains("aiplatform.user"), "{reason}: {said}");
    }
    let denied = of_google(
        403,
        "PERMISSION_DENIED",
        "Permission 'aiplatform.endpoints.predict' denied",
        "IAM_PERMISSION_DENIED",
    );
    let denied = said(403, &denied);
    assert!(denied.contains("roles/aiplatform.user") && denied.contains("/f do not give access to"), "{denied}");
    let unknown = of_google(404, "NOT_FOUND", "Publisher Model `projects/p/models/m` was not found", "");
    assert!(said(404, &unknown).contains("google_location"), "{}", said(404, &unknown));
}

#[test]
fn statuses_that_may_pass_are_transient_and_others_are_not() {
    for transient in [408, 500, 502, 503, 504, 520, 529] {
        assert_eq!(status(transient, "{}").kind, ModelErrorKind::Transient, "{transient}");
    }
    for rejected in [400, 404, 405, 422] {
        assert_eq!(status(rejected, "{}").kind, ModelErrorKind::Rejected, "{rejected}");
    }
    assert_eq!(status(402, "{}").kind, ModelErrorKind::QuotaUsedUp, "it has to be paid first");
}

#[test]
fn a_request_that_is_too_long_is_known_by_its_words() {
    for (code, body) in [
        (
            400,
            r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 211180 tokens > 200000 maximum"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}"#,
        ),
        (400, r#"{"error":{"message":"This model's maximum context length is 8192 tokens."}}"#),
        (
            400,
            r#"{"error":{"code":400,"type":"exceed_context_size_error","message":"the request exceeds the available context size"}}"#,
        ),
        (413, r#"{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#),
        (500, r#"{"error":"input is too long, exceeds the context size"}"#),
        (
            400,
            r#"{"error":{"message":"prompt token count of 140021 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}"#,
        ),
    ] {
        assert_eq!(status(code, body).kind, ModelErrorKind::ContextOverflow, "{body}");
    }
}

#[test]
fn tool_calls_without_results_are_known_by_each_vendors_words() {
    for message in [
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1, srv_2",
        "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9",
        "No tool output found for function call call_abc.",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        "Not the same number of function calls and responses",
    ] {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        assert_eq!(status(400, &body).kind, ModelErrorKind::OrphanedToolCalls, "{message}");
    }
    let innocent = r#"{"error":{"message":"tools.0.tool_call: field required"}}"#;
    assert_eq!(status(400, innocent).kind, ModelErrorKind::Rejected);
}

#[test]
fn an_empty_purse_is_not_asked_again() {
    let quota = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    let credit =
        r#"{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}"#;
    let balance = r#"{"error":{"message":"Insufficient Balance"}}"#;
    for (code, body) in [(429, quota), (400, credit), (402, balance)] {
        let error = status(code, body);
        assert_eq!(error.kind, ModelErrorKind::QuotaUsedUp, "{body}");
        assert!(error.message.contains("Add credit to the account that ANTHROPIC_API_KEY belongs to"), "{error}");
    }
}

#[test]
fn errors_within_a_stream_are_judged_by_their_code() {
    let kind = |code: &str, message: &str| whose().fault(Fault::vendor(code, message)).kind;
    assert_eq!(kind("overloaded_error", "Overloaded"), ModelErrorKind::Transient);
    assert_eq!(kind("api_error", "Internal server error"), ModelErrorKind::Transient);
    assert_eq!(kind("rate_limit_exceeded", "slow down"), ModelErrorKind::RateLimited { retry_after: None });
    assert_eq!(kind("invalid_request_error", "prompt is too long"), ModelErrorKind::ContextOverflow);
    assert_eq!(kind("invalid_request_error", "no"), ModelErrorKind::Rejected);
}

#[test]
fn a_number_within_a_stream_is_judged_as_a_status() {
    let kind = |code: &str| whose().fault(Fault::vendor(code, "so it is")).kind;
    for rejected in ["400", "404", "invalid_request_error 400"] {
        assert_eq!(kind(rejected), ModelErrorKind::Rejected, "{rejected}");
    }
    for broke in ["402", "billing_error"] {
        assert_eq!(kind(broke), ModelErrorKind::QuotaUsedUp, "{broke}");
    }
    assert_eq!(kind("403"), ModelErrorKind::Unauthorized);
    assert_eq!(kind("429"), ModelErrorKind::RateLimited { retry_after: None });
    for transient in ["408", "500", "503", "529", "12", "70000", ""] {
        assert_eq!(kind(transient), ModelErrorKind::Transient, "{transient}");
    }
}

#[test]
fn a_call_that_a_vendor_could_not_read_is_told_apart_with_what_the_model_wrote() {
    for wrote in ["<function=look>{", "context window", "`tool_use` ids were found without `tool_result` blocks"] {
        let body = |code: &str| {
            let error = serde_json::json!({"message": "Failed to call a function.", "type": "invalid_request_error",
                "code": code, "failed_generation": wrote});
            serde_json::json!({ "error": error }).to_string()
        };
        let failed = body("tool_use_failed");
        for error in [status(400, &failed), whose().fault(Fault::Vendor(words(failed.as_bytes())))] {
            assert_eq!(error.kind, ModelErrorKind::UnreadableCall, "{wrote}");
            assert!(error.message.contains(wrote), "{error}");
        }
        let other = body("json_validate_failed");
        assert_eq!(status(400, &other).kind, ModelErrorKind::Rejected, "{wrote}: the model's words decide nothing");
    }
}

#[test]
fn the_time_to_wait_is_read_in_all_its_forms() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    let delay = |name: &'static str, value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        asked_delay(&headers, now)
    };
    assert_eq!(delay("retry-after", "17"), Some(Duration::from_secs(17)));
    assert_eq!(delay("retry-after", "1.5"), Some(Duration::from_millis(1500)));
    assert_eq!(delay("retry-after-ms", "250"), Some(Duration::from_millis(250)));
    assert_eq!(delay("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT"), Some(Duration::from_secs(60)));
    for nonsense in [
        "-1",
        "2678401",
        "Sun, 06 Nov 1994 08:49:36 GMT",
        "soon",
        "NaN",
        "Sun, 99 Foo 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 99:49:37 GMT",
    ] {
        assert_eq!(delay("retry-after", nonsense), None, "{nonsense}");
    }
}

#[test]
fn an_overloaded_vendor_that_names_a_time_is_asked_again_then() {
    let kind = |status: u16, wait: &'static str| {
        let headers = HeaderMap::from_iter([(net::header::RETRY_AFTER, wait.parse().unwrap())]);
        whose().status(status, &headers, b"{}").kind
    };
    let retry_after = Duration::from_secs(17);
    assert_eq!(kind(429, "17"), ModelErrorKind::RateLimited { retry_after: Some(retry_after) });
    for status in [500, 503, 529] {
        let asked = kind(status, "17");
        assert_eq!(asked, ModelErrorKind::Overloaded { retry_after }, "{status}");
        assert!(!asked.is_of_account(), "another key would not help");
    }
    assert_eq!(kind(503, "0"), ModelErrorKind::Transient, "no time is named, so ours counts");
    let limits = HeaderMap::from_iter([("x-ratelimit-reset".try_into().unwrap(), "9".parse().unwrap())]);
    let reset = ModelErrorKind::RateLimited { retry_after: Some(Duration::from_secs(9)) };
    assert_eq!(whose().status(429, &limits, b"{}").kind, reset);
    assert_eq!(whose().status(503, &limits, b"{}").kind, ModelErrorKind::Transient, "every answer tells of its limits");
    assert_eq!(kind(400, "17"), ModelErrorKind::Rejected);
    let headers = HeaderMap::from_iter([(net::header::RETRY_AFTER, "17".parse().unwrap())]);
    assert!(whose().status(529, &headers, b"{}").message.contains("overloaded"));
}

#[test]
fn a_redirection_is_told_without_what_may_be_secret_in_it() {
    for place in ["https://user:hunter2@other.example/v1?key=hunter2", "/v1?key=hunter2", "hunter2:hunter2"] {
        let headers = HeaderMap::from_iter([(net::header::LOCATION, place.parse().unwrap())]);
        let error = whose().status(307, &headers, b"");
        assert!(!error.message.contains("hunter2") && error.message.contains("redirection"), "{error}");
    }
}

#[test]
fn dates_around_leap_days_are_right() {
    let seconds = |text: &str| http_date(text).unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    assert_eq!(seconds("Thu, 01 Jan 1970 00:00:00 GMT"), 0);
    assert_eq!(seconds("Tue, 29 Feb 2000 00:00:00 GMT"), 951_782_400);
    assert_eq!(seconds("Wed, 01 Mar 2000 00:00:00 GMT"), 951_868_800);
    assert_eq!(seconds("Fri, 01 Jan 2027 00:00:00 GMT"), 1_798_761_600);
}

#[test]
fn long_words_are_cut_and_pages_are_named() {
    let error = status(400, &format!(r#"{{"error":{{"message":"{}"}}}}"#, "x".repeat(5_000)));
    assert!(error.message.chars().count() < 600, "{}", error.message.len());
    assert!(status(502, "<html><body>Bad gateway</body></html>").message.contains("a web page"));
}

#[test]
fn every_shape_of_an_error_body_gives_its_words() {
    for body in [
        r#"{"error":{"message":"why"}}"#,
        r#"{"error":"why"}"#,
        r#"{"message":"why"}"#,
        r#"{"detail":"why"}"#,
        r#"[{"error":{"message":"why","code":400}}]"#,
        "why",
    ] {
        assert_eq!(words(body.as_bytes()).message, "why", "{body}");
    }
}

/// An error as Google writes it.
fn google(code: u16, status_name: &str, message: &str, details: &Value) -> String {
    let error = serde_json::json!({"code": code, "message": message, "status": status_name, "details": details});
    serde_json::json!({ "error": error }).to_string()
}

#[test]
fn google_answers_400_to_a_wrong_key() {
    let reason =
        serde_json::json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
    let body = google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", &reason);
    for error in [status(400, &body), whose().fault(Fault::Vendor(words(body.as_bytes())))] {
        assert_eq!(error.kind, ModelErrorKind::Unauthorized);
        assert!(error.message.contains("Check ANTHROPIC_API_KEY"), "{error}");
    }
    let other = google(400, "INVALID_ARGUMENT", "Request contains an invalid argument.", &Value::Null);
    assert_eq!(status(400, &other).kind, ModelErrorKind::Rejected);
    let denied = google(403, "PERMISSION_DENIED", "Your API key was reported as leaked.", &serde_json::json!([]));
    assert_eq!(status(403, &denied).kind, ModelErrorKind::Unauthorized);
}

#[test]
fn google_says_in_the_body_when_to_come_back_and_which_quota_it_was() {
    let details = |quota: &str, delay: &str| {
        serde_json::json!([
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota, "quotaValue": "5"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
        ])
    };
    let limited = |quota: &str, delay: &str, message: &str| {
        let body = google(429, "RESOURCE_EXHAUSTED", message, &details(quota, delay));
        let (sent, streamed) = (status(429, &body), whose().fault(Fault::Vendor(words(body.as_bytes()))));
        assert_eq!(sent.kind, streamed.kind, "{message}");
        sent
    };
    let minute = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier";
    let asked = |millis| ModelErrorKind::RateLimited { retry_after: millis };
    let quota = "You exceeded your current quota. * Quota exceeded for metric: x, limit: 5";
    assert_eq!(limited(minute, "39s", quota).kind, asked(Some(Duration::from_secs(39))));
    assert_eq!(limited(minute, "0.5s", quota).kind, asked(Some(Duration::from_millis(500))));
    for nonsense in ["soon", "-1s", "39", ""] {
        assert_eq!(limited(minute, nonsense, quota).kind, asked(None), "{nonsense}");
    }
    let day = limited("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "39s", quota);
    let none = limited(minute, "39s", "You exceeded your current quota, limit: 0\nPlease retry in 39s.");
    for error in [day, none] {
        assert_eq!(error.kind, ModelErrorKind::QuotaUsedUp, "a minute does not renew it");
        assert!(error.message.contains("used up") && error.message.contains("choose another model"), "{error}");
    }
    assert_eq!(limited(minute, "1s", "limit: 0.5 and limit: 05").kind, asked(Some(Duration::from_secs(1))));
    let of_another = r#"{"error":{"type":"rate_limit_error","message":"Too many requests, limit: 0 left, used: 5"}}"#;
    assert_eq!(status(429, of_another).kind, asked(None), "these words are Google's only");
    let broke = "Your prepayment credits are depleted. Please go to AI Studio.";
    assert_eq!(limited(minute, "1s", broke).kind, ModelErrorKind::QuotaUsedUp);
    let header = HeaderMap::from_iter([(net::header::RETRY_AFTER, "7".parse().unwrap())]);
    let body = google(429, "RESOURCE_EXHAUSTED", quota, &details(minute, "39s"));
    assert_eq!(whose().status(429, &header, body.as_bytes()).kind, asked(Some(Duration::from_secs(7))));
}

#[test]
fn google_says_in_its_words_what_is_wrong_with_a_request() {
    let kind = |code: u16, name: &str, message: &str| status(code, &google(code, name, message, &Value::Null)).kind;
    let long = "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).";
    assert_eq!(kind(400, "INVALID_ARGUMENT", long), ModelErrorKind::ContextOverflow);
    for unequal in [
        "Please ensure that the number of function response parts is equal to the number of function call parts of the \
         function call turn.",
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        "Please ensure that function response turn comes immediately after a function call turn.",
    ] {
        assert_eq!(kind(400, "INVALID_ARGUMENT", unequal), ModelErrorKind::OrphanedToolCalls, "{unequal}");
    }
    assert_eq!(kind(503, "UNAVAILABLE", "The model is overloaded."), ModelErrorKind::Transient);
    assert_eq!(kind(504, "DEADLINE_EXCEEDED", "Deadline expired."), ModelErrorKind::Transient);
    let location = "User location is not supported for the API use.";
    assert_eq!(kind(400, "FAILED_PRECONDITION", location), ModelErrorKind::Rejected);
}

#[test]
fn signatures_that_google_does_not_know_are_told_apart_by_its_words() {
    for message in [
        "Corrupted thought signature.",
        "Invalid thought signature.",
        "Unable to submit request because Thought signature is not valid.",
        "Function call is missing a thought_signature in functionCall parts.",
    ] {
        let error = status(400, &google(400, "INVALID_ARGUMENT", message, &Value::Null));
        assert_eq!(error.kind, ModelErrorKind::OrphanedToolCalls, "{message}");
        assert!(error.message.contains("does not know the signatures"), "{error}");
    }
    let of_another = r#"{"error":{"message":"messages.1.content.0: Invalid `signature` in `thinking` block"}}"#;
    assert_eq!(status(400, of_another).kind, ModelErrorKind::Rejected);
}

#[test]
fn an_answer_that_cannot_be_used_is_asked_for_once_more() {
    let error = whose().fault(Fault::Unusable("it is empty".to_owned()));
    assert_eq!(error.kind, ModelErrorKind::Garbage);
    assert!(error.message.contains("cannot be used: it is empty"), "{error}");
}

#[test]
fn what_a_content_filter_found_is_said_with_a_remedy() {
    let body = r#"{"error":{"message":"The response was filtered due to the prompt","type":null,"param":"prompt",
        "code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation",
        "content_filter_result":{"jailbreak":{"filtered":true,"detected":true},"hate":{"filtered":false,"severity":"safe"}}}}}"#;
    let error = status(400, body);
    assert_eq!(error.kind, ModelErrorKind::Rejected);
    assert!(
        error.message.contains("content filter of anthropic refused the prompt (jailbreak): The response"),
        "{error}"
    );
    let within = whose().fault(Fault::vendor("content_filter", "filtered"));
    assert_eq!(within.kind, ModelErrorKind::Rejected, "asking again would not help: {within}");
}

#[test]
fn a_model_that_its_vendor_has_ended_is_told_from_an_address_that_is_not_there() {
    let openai = r#"{"error":{"message":"The model `x` does not exist or you do not have access to it.",
        "type":"invalid_request_error","param":null,"code":"model_not_found"}}"#;
    let anthropic = r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-sonnet-4-5"}}"#;
    let google = google(404, "NOT_FOUND", "models/x is not found for API version v1beta", &Value::Null);
    let groq = r#"{"error":{"message":"It is no longer supported.","code":"model_decommissioned"}}"#;
    let ollama = r#"{"error":"model 'x' not found"}"#;
    for (code, body) in [(404, openai), (403, openai), (404, anthropic), (404, &google), (400, groq), (404, ollama)] {
        let error = status(code, body);
        assert_eq!(error.kind, ModelErrorKind::NoSuchModel, "{body}");
        assert!(error.message.contains("claude-sonnet-4-5 is not served by anthropic (retired"), "{error}");
        assert!(error.message.contains("/model"), "{error}");
    }
    let within = whose().fault(Fault::vendor("not_found_error", "model: claude-sonnet-4-5"));
    assert_eq!(within.kind, ModelErrorKind::NoSuchModel);
    assert!(within.kind.switch_reason().is_some(), "a chain goes on with the next one");
    for elsewhere in [r#"{"error":{"message":"Invalid URL (POST /v2/chat/completions)"}}"#, "404 page not found", "{}"]
    {
        assert_eq!(status(404, elsewhere).kind, ModelErrorKind::Rejected, "{elsewhere}");
    }
}

#[test]
fn a_deployment_that_is_not_there_is_said_with_the_setting_that_names_it() {
    let error =
        status(404, r#"{"error":{"code":"DeploymentNotFound","message":"The API deployment does not exist."}}"#);
    assert_eq!(error.kind, ModelErrorKind::NoSuchModel);
    assert!(error.message.contains("wire_id") && error.message.contains("does not exist"), "{error}");
}
