use super::*;
use crate::aws::RunProgram;
use crate::signers::Signers;

fn from(variables: &[(&str, &str)]) -> Settings {
    Settings::from_env(|name| {
        variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
    })
}

fn provider<'a>(settings: &'a Settings, name: &str) -> &'a Provider {
    settings.providers.iter().find(|provider| provider.name == name).unwrap()
}

#[test]
fn keys_come_from_the_usual_variables_and_never_show() {
    let settings = from(&[("ANTHROPIC_API_KEY", " sk-ant-1 \n"), ("GROQ_API_KEY", "gsk-2"), ("OPENAI_API_KEY", "")]);
    assert_eq!(provider(&settings, "anthropic").key.as_ref().unwrap().expose(), "sk-ant-1");
    assert_eq!(provider(&settings, "openai").key, None);
    assert_eq!(provider(&settings, "groq").wire, Wire::OpenAiChat);
    let names: Vec<_> = settings.providers.iter().map(|provider| provider.name.as_str()).collect();
    assert_eq!(names, ["anthropic", "openai", "groq", "ollama", "lm-studio", "llama.cpp", "vllm"]);
    let shown = format!("{settings:?}");
    assert!(!shown.contains("sk-ant-1") && !shown.contains("gsk-2"), "{shown}");
}

#[test]
fn gemini_has_two_names_for_its_key_and_two_wires() {
    for (variables, key, source) in [
        (vec![("GEMINI_API_KEY", "a"), ("GOOGLE_API_KEY", "b")], "a", "GEMINI_API_KEY ("),
        (vec![("GOOGLE_API_KEY", "b"), ("GEMINI_API_KEY", " ")], "b", "GOOGLE_API_KEY ("),
    ] {
        let mut settings = from(&variables);
        let gemini = provider(&settings, "gemini");
        assert_eq!(gemini.wire, Wire::Gemini);
        assert!(gemini.key_source.starts_with(source), "{}", gemini.key_source);
        assert_eq!(gemini.key.as_ref().unwrap().expose(), key);
        for end in ["openai", "openai/", "openai/chat/completions"] {
            let compatible = format!("https://generativelanguage.googleapis.com/v1beta/{end}");
            settings.set_provider("gemini", Some(compatible), None, None, vec![]).unwrap();
            let gemini = provider(&settings, "gemini");
            assert_eq!((gemini.wire, gemini.key.is_some(), gemini.is_home()), (Wire::OpenAiChat, true, true), "{end}");
        }
        let own = "https://generativelanguage.googleapis.com/v1beta".to_owned();
        settings.set_provider("gemini", Some(own), None, None, vec![]).unwrap();
        assert_eq!(provider(&settings, "gemini").wire, Wire::Gemini);
        let gateway = || Some("http://localhost:4000/v1".to_owned());
        settings.set_provider("gemini", gateway(), None, None, vec![]).unwrap();
        assert_eq!(provider(&settings, "gemini").wire, Wire::OpenAiChat);
        settings.set_provider("gemini", gateway(), None, Some("gemini"), vec![]).unwrap();
        assert_eq!(provider(&settings, "gemini").wire, Wire::Gemini);
        settings.set_provider("gemini", Some("http://localhost:5000".into()), None, None, vec![]).unwrap();
        assert_eq!(provider(&settings, "gemini").wire, Wire::Gemini, "what was said of the wire still counts");
    }
    assert!(from(&[]).providers.iter().all(|provider| provider.name != "gemini"));
}

#[test]
fn a_server_in_openais_stead_speaks_chat_completions_and_needs_no_key() {
    let settings = from(&[("OPENAI_BASE_URL", "http://localhost:8000/v1")]);
    let openai = provider(&settings, "openai");
    assert_eq!((openai.wire, openai.needs_key, openai.is_home()), (Wire::OpenAiChat, false, false));
    let settings = from(&[("OPENAI_BASE_URL", "https://api.openai.com/v1/")]);
    let openai = provider(&settings, "openai");
    assert_eq!((openai.wire, openai.needs_key, openai.is_home()), (Wire::OpenAiResponses, true, true));
}

#[test]
fn a_key_does_not_go_along_to_another_server() {
    let moved = |address: &str, key: Option<&str>| {
        let mut settings = from(&[("ANTHROPIC_API_KEY", "sk-ant-1")]);
        settings.set_provider("anthropic", Some(address.into()), key.map(Into::into), None, vec![]).unwrap();
        provider(&settings, "anthropic").key.as_ref().map(|key| key.expose().to_owned())
    };
    for elsewhere in [
        "https://evil.example",
        "http://api.anthropic.com",
        "https://api.anthropic.com@evil.example",
        "https://api.anthropic.com:444",
        "api.anthropic.com",
    ] {
        assert_eq!(moved(elsewhere, None), None, "{elsewhere}");
    }
    assert_eq!(moved("https://gateway.example", Some("k-2")).as_deref(), Some("k-2"));
    assert_eq!(moved("https://API.anthropic.com/v1", None).as_deref(), Some("sk-ant-1"));

    let pair = [("ANTHROPIC_API_KEY", "sk-ant-1"), ("ANTHROPIC_BASE_URL", "https://gateway.example")];
    let mut settings = from(&pair);
    assert!(provider(&settings, "anthropic").key.is_some(), "key and address of one environment belong together");
    settings.set_provider("anthropic", Some("https://evil.example".into()), None, None, vec![]).unwrap();
    assert_eq!(provider(&settings, "anthropic").key, None);
}

#[test]
fn a_key_of_a_vendor_without_an_address_goes_to_the_first_that_is_said() {
    let mut settings = from(&[("AZURE_OPENAI_API_KEY", "k-1")]);
    let address = |host: &str| Some(format!("https://{host}.openai.azure.com"));
    settings.set_provider("azure", address("mine"), None, None, vec![]).unwrap();
    let azure = provider(&settings, "azure");
    assert_eq!(azure.key.as_ref().map(Secret::expose), Some("k-1"));
    assert!(azure.needs_key && azure.missing().is_none());
    settings.set_provider("azure", address("other"), None, None, vec![]).unwrap();
    let azure = settings.provider_mut("azure").unwrap();
    assert_eq!(azure.key, None);
    assert!(azure.missing().unwrap().contains("AZURE_OPENAI_API_KEY"), "{:?}", azure.missing());
    azure.set_header("authorization", "Bearer of Entra").unwrap();
    assert_eq!(azure.missing(), None, "a header carries a key too");
}

#[test]
fn a_provider_that_is_left_out_takes_nothing_secret_to_the_server_that_is_said_next() {
    let mut settings = from(&[("AZURE_OPENAI_API_KEY", "k-of-azure")]);
    settings.add_known("azure");
    let azure = settings.provider_mut("azure").unwrap();
    azure.set_header("x-token", "token-of-mine").unwrap();
    azure.set_keys(vec![NamedKey::Key { variable: "ONE".into(), key: Some(Secret::new("key-of-mine")) }]);
    let mut model = Defined::read(serde_json::json!({ "id": "a" }).as_object().unwrap().clone()).unwrap();
    model.set_header("x-model", "model-of-mine").unwrap();
    azure.define(vec![model]);
    (azure.aws_profile, azure.aws_region) = (Some("mine".into()), Some("eu-central-1".into()));
    azure.leave_out("a mistake".to_owned());
    settings.set_provider("azure", Some("https://other.openai.azure.com".into()), None, None, vec![]).unwrap();
    let azure = provider(&settings, "azure");
    assert!(azure.known_secrets().is_empty() && !azure.has_key(), "{azure:?}");
    assert_eq!((&azure.aws_profile, &azure.aws_region), (&None, &None));
}

#[test]
fn what_is_said_of_a_model_counts_for_the_one_of_this_id_before_one_that_is_only_sent_so() {
    let mut settings = from(&[]);
    settings.set_provider("mine", Some("https://m.example".into()), None, None, vec![]).unwrap();
    let defined = |said: Value| Defined::read(said.as_object().unwrap().clone()).unwrap();
    let mine = settings.provider_mut("mine").unwrap();
    mine.define(vec![
        defined(serde_json::json!({ "id": "old", "wire_id": "new", "extra_body": { "of": "old" } })),
        defined(serde_json::json!({ "id": "new", "wire_id": "newer", "extra_body": { "of": "new" } })),
    ]);
    for (id, of) in [("old", "old"), ("new", "new"), ("newer", "new")] {
        assert_eq!(mine.for_model(id).extra_body["of"], of, "{id}");
    }
}

#[test]
fn an_address_of_the_environment_never_shows() {
    let settings = from(&[("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com?key=hunter2")]);
    assert!(!format!("{settings:?}").contains("hunter2"));
}

#[test]
fn the_configuration_can_say_that_such_a_server_speaks_more() {
    let mut settings = Settings::default();
    let address = Some("http://127.0.0.1:9/v1".to_owned());
    settings.set_provider("openai", address, None, Some("openai-responses"), vec![]).unwrap();
    assert_eq!(provider(&settings, "openai").wire, Wire::OpenAiResponses);
}

#[test]
fn kimis_plan_is_asked_over_messages_which_it_serves_to_every_program() {
    let settings = Settings::from_env(|name| (name == "KIMI_API_KEY").then(|| "k".to_owned()));
    let kimi = provider(&settings, "kimi-coding");
    let asked = kimi.request_url(kimi.wire_of("kimi-for-coding"), "kimi-for-coding").unwrap();
    assert_eq!(asked.as_str(), "https://api.kimi.com/coding/v1/messages");
    assert_eq!(kimi.listing_url().unwrap().as_str(), "https://api.kimi.com/coding/v1/models?limit=1000");
    assert_eq!(kimi.key_header(kimi.wire, &Secret::new("k")).unwrap().0, "x-api-key");
}

#[test]
fn a_dialect_is_that_of_the_host_whatever_the_provider_is_called_or_that_of_the_setting() {
    let mut settings = Settings::default();
    for (name, address) in [("kimi", "https://api.moonshot.ai/v1"), ("openai", "http://127.0.0.1:8000/v1")] {
        settings.set_provider(name, Some(address.into()), None, None, vec![]).unwrap();
    }
    let named = |name: &str| vendors::dialect(name).cloned().unwrap();
    assert_eq!(provider(&settings, "kimi").compat(), named("deepseek"));
    assert_eq!(provider(&settings, "openai").compat(), Compat::default());
    settings.set_dialect("openai", "gemini").unwrap();
    assert_eq!(provider(&settings, "openai").compat(), named("gemini"));
    settings.set_dialect("openai", "openai").unwrap();
    let other = provider(&settings, "openai").compat();
    assert_eq!((other.prompt_cache_key, other.store), (Some(true), None), "only OpenAI's own server keeps answers");
    settings.set_provider("openai", Some("https://api.openai.com".into()), None, None, vec![]).unwrap();
    assert_eq!(provider(&settings, "openai").compat().store, Some(true));
    let problem = settings.set_dialect("openai", "klingon").unwrap_err();
    assert!(problem.contains("providers.openai.dialect") && problem.contains("deepseek"), "{problem}");
}

#[test]
fn providers_of_ones_own_stand_before_the_local_servers() {
    let mut settings = Settings::default();
    let address = Some("https://models.example".to_owned());
    settings.set_provider("mine", address, Some("k".into()), None, vec!["m".into()]).unwrap();
    let names: Vec<_> = settings.providers.iter().map(|provider| provider.name.as_str()).collect();
    assert_eq!(names, ["anthropic", "openai", "mine", "ollama", "lm-studio", "llama.cpp", "vllm"]);
    settings.set_provider("mistral", None, Some("k".into()), None, vec![]).unwrap();
    assert_eq!(provider(&settings, "mistral").base_url, "https://api.mistral.ai/v1");
}

#[test]
fn a_wire_that_is_mistyped_leaves_no_key_with_another_server() {
    let mut settings = from(&[("OPENAI_API_KEY", "sk-1")]);
    let address = "https://gateway.example/v1";
    let fault = settings.set_provider("openai", Some(address.into()), Some("k-2".into()), Some("chatt"), vec![]);
    assert!(fault.unwrap_err().contains("`chatt` is none of"));
    let openai = provider(&settings, "openai");
    assert_eq!((openai.base_url.as_str(), openai.key.as_ref().unwrap().expose()), (address, "k-2"));
}

#[test]
fn what_cannot_be_used_is_said_by_name() {
    let mut settings = Settings::default();
    let mut set = |name: &str, wire: Option<&str>| settings.set_provider(name, None, None, wire, vec![]).unwrap_err();
    assert!(set("mine", None).contains("providers.mine.base_url"));
    assert!(set("openai", Some("gopher")).contains("`gopher`"));
    assert!(set("a/b", None).contains("a/b"));
}

#[test]
fn every_form_of_ollama_host_gives_an_address() {
    for (host, url) in [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("127.0.0.1:1000", "http://127.0.0.1:1000"),
        (":2000", "http://127.0.0.1:2000"),
        ("box", "http://box:11434"),
        ("https://box.example/ollama/", "https://box.example:443/ollama"),
        ("[::1]:5000", "http://[::1]:5000"),
    ] {
        assert_eq!(ollama_url(host), url);
    }
}

/// No test here has a program.
struct NoPrograms;

#[async_trait::async_trait]
impl RunProgram for NoPrograms {
    async fn output(&self, _words: &[String]) -> Result<Vec<u8>, String> {
        Err("there is none".to_owned())
    }

    fn is_users_own(&self, _file: &std::path::Path) -> bool {
        true
    }
}

/// The settings of an environment, of which more is said, with what is signed for AWS.
fn signed(variables: &[(&str, &str)], home: Option<&std::path::Path>, say: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = from(variables);
    say(&mut settings);
    let environment =
        |name: &str| variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned());
    settings.sign_for_aws(&Signers::new(NoPrograms), &environment, home.map(Into::into));
    settings
}

const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "hunter2")];

#[test]
fn bedrock_is_offered_with_credentials_and_a_region_and_as_a_default_if_the_user_spoke_of_it() {
    let has = |settings: &Settings| settings.providers.iter().any(|provider| provider.name == "bedrock");
    assert!(!has(&signed(&KEYS, None, |_| {})), "there is no region");
    assert!(!has(&signed(&[("AWS_REGION", "eu-west-1")], None, |_| {})), "there are no credentials");
    let settings = signed(&[KEYS[0], KEYS[1], ("AWS_REGION", "eu-west-1")], None, |_| {});
    let bedrock = provider(&settings, "bedrock");
    assert_eq!(bedrock.base_url, "https://bedrock-runtime.eu-west-1.amazonaws.com");
    assert!(bedrock.has_key() && bedrock.is_after_local && bedrock.missing().is_none());
    assert!(bedrock.is_unasked && bedrock.key_source.contains("AWS_ACCESS_KEY_ID"), "{}", bedrock.key_source);
    assert!(!format!("{settings:?}").contains("hunter2"));
    // A key of Bedrock's own needs no signature.
    let with_key = signed(&[KEYS[0], KEYS[1], ("AWS_BEARER_TOKEN_BEDROCK", "k-1")], None, |_| {});
    let bedrock = provider(&with_key, "bedrock");
    assert!(bedrock.signer().is_none() && !bedrock.is_unasked);
    let region = ("AWS_REGION", "eu-west-1");
    let spoken = signed(&[KEYS[0], KEYS[1], region], None, |settings| {
        settings.set_provider("bedrock", None, None, None, vec![]).unwrap();
    });
    assert!(!provider(&spoken, "bedrock").is_unasked, "the user spoke of it");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test writes AWS's files")]
fn the_region_of_a_profile_is_in_the_address_unless_the_user_says_another() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".aws")).unwrap();
    let file = "[profile work]\nregion = eu-west-3\ncredential_process = get\n[default]\nregion = ap-south-1\n";
    std::fs::write(home.path().join(".aws/config"), file).unwrap();
    let at = |profile: Option<&str>, region: Option<&str>, base_url: Option<&str>| {
        let settings = signed(&[("AWS_BEARER_TOKEN_BEDROCK", "k-1")], Some(home.path()), |settings| {
            settings.set_provider("bedrock", base_url.map(Into::into), None, None, vec![]).unwrap();
            let account = (profile.map(Into::into), region.map(Into::into));
            settings.provider_mut("bedrock").unwrap().set_aws(account.0, account.1);
        });
        let bedrock = provider(&settings, "bedrock");
        (bedrock.base_url.clone(), bedrock.signer().is_some(), bedrock.key.is_some())
    };
    let address = |region: &str| format!("https://bedrock-runtime.{region}.amazonaws.com");
    assert_eq!(at(None, None, None), (address("ap-south-1"), false, true));
    assert_eq!(at(Some("work"), None, None), (address("eu-west-3"), true, false), "a profile counts before a key");
    assert_eq!(at(Some("work"), Some("us-west-2"), None), (address("us-west-2"), true, false));
    assert_eq!(at(None, Some("us-west-2"), None), (address("us-west-2"), false, true));
    // A gateway gets signatures only if the user says so.
    let gateway = "https://gateway.example";
    assert_eq!(at(None, None, Some(gateway)), (gateway.to_owned(), false, false));
    assert_eq!(at(None, Some("us-west-2"), Some(gateway)), (gateway.to_owned(), true, false));
    let offered = signed(&[("AWS_PROFILE", "work")], Some(home.path()), |_| {});
    let bedrock = provider(&offered, "bedrock");
    assert_eq!((bedrock.base_url.clone(), bedrock.sign_in()), (address("eu-west-3"), "aws sso login".to_owned()));
    let with_keys = signed(&[KEYS[0], KEYS[1], ("AWS_REGION", "eu-west-1")], None, |_| {});
    assert_eq!(provider(&with_keys, "bedrock").sign_in(), "", "no command renews keys of the environment");
}

/// The settings of an environment, with what is sent with Google's credentials.
fn of_google(variables: &[(&str, &str)], home: Option<&std::path::Path>, say: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = from(variables);
    say(&mut settings);
    let environment =
        |name: &str| variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned());
    settings.sign_for_google(&Signers::new(NoPrograms), &environment, home.map(Into::into));
    settings
}

/// A home folder with the file that `gcloud auth application-default login` writes.
#[expect(clippy::disallowed_methods, reason = "a test writes the file of gcloud")]
fn signed_in(quota_project: Option<&str>) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/gcloud");
    std::fs::create_dir_all(&folder).unwrap();
    let file = serde_json::json!({ "type": "authorized_user", "client_id": "c", "client_secret": "hunter2",
        "refresh_token": "hunter2", "quota_project_id": quota_project });
    std::fs::write(folder.join("application_default_credentials.json"), file.to_string()).unwrap();
    home
}

#[test]
fn vertex_is_offered_with_credentials_and_a_project_and_as_a_default_if_the_user_spoke_of_it() {
    let has = |settings: &Settings| settings.providers.iter().any(|provider| provider.name == "vertex");
    let project = ("GOOGLE_CLOUD_PROJECT", "p-1");
    assert!(!has(&of_google(&[project], None, |_| {})), "there are no credentials");
    let home = signed_in(None);
    assert!(!has(&of_google(&[], Some(home.path()), |_| {})), "there is no project");
    let settings = of_google(&[project], Some(home.path()), |_| {});
    let vertex = provider(&settings, "vertex");
    assert_eq!((vertex.base_url.as_str(), vertex.project()), ("https://aiplatform.googleapis.com", Some("p-1")));
    assert!(vertex.has_key() && vertex.is_after_local && vertex.is_unasked && vertex.missing().is_none());
    assert!(vertex.key_source.contains("application_default_credentials.json"), "{}", vertex.key_source);
    assert!(!format!("{settings:?}").contains("hunter2"));
    let home = signed_in(Some("project-of-the-file"));
    let settings = of_google(&[], Some(home.path()), |_| {});
    assert_eq!(provider(&settings, "vertex").project(), Some("project-of-the-file"));
    let spoken = of_google(&[project], Some(home.path()), |settings| {
        settings.set_provider("vertex", None, None, None, vec![]).unwrap();
    });
    assert!(!provider(&spoken, "vertex").is_unasked, "the user spoke of it");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test writes the key file of a service account")]
fn only_a_persons_sign_in_is_renewed_by_gcloud() {
    let sign_in = |home: Option<&std::path::Path>| {
        let say = |settings: &mut Settings| settings.set_provider("vertex", None, None, None, vec![]).unwrap();
        provider(&of_google(&[("GOOGLE_CLOUD_PROJECT", "p-1")], home, say), "vertex").sign_in()
    };
    let home = signed_in(None);
    assert_eq!(sign_in(Some(home.path())), "gcloud auth application-default login");
    let robot = serde_json::json!({ "type": "service_account", "client_email": "robot@p.example", "private_key": "k" });
    std::fs::write(home.path().join(".config/gcloud/application_default_credentials.json"), robot.to_string()).unwrap();
    assert_eq!(sign_in(Some(home.path())), "", "its key is not renewed so");
    assert_eq!(sign_in(None), "", "nor is that of a machine");
}

#[test]
fn a_project_that_nobody_can_tell_is_asked_for_before_anything_is_sent() {
    let home = signed_in(None);
    let say = |settings: &mut Settings| settings.set_provider("vertex", None, None, None, vec![]).unwrap();
    let missing = |home: Option<&std::path::Path>| provider(&of_google(&[], home, say), "vertex").missing();
    let words = missing(Some(home.path())).unwrap();
    assert!(words.contains("GOOGLE_CLOUD_PROJECT") && words.contains("[providers.vertex]"), "{words}");
    assert_eq!(missing(None), None, "the service of a machine may know it");
}

#[test]
fn the_users_own_project_and_location_count_before_the_environment_and_a_gateway_gets_tokens_only_if_they_are_said() {
    let home = signed_in(Some("of-the-file"));
    let environment = [("GOOGLE_CLOUD_PROJECT", "of-the-environment"), ("CLOUD_ML_REGION", "us-east5")];
    let at = |project: Option<&str>, location: Option<&str>, base_url: Option<&str>| {
        let settings = of_google(&environment, Some(home.path()), |settings| {
            settings.set_provider("vertex", base_url.map(Into::into), None, None, vec![]).unwrap();
            settings.provider_mut("vertex").unwrap().set_google(project.map(Into::into), location.map(Into::into));
        });
        let vertex = provider(&settings, "vertex");
        let url = vertex.request_url(Wire::Gemini, "gemini-3.8-flash").unwrap().to_string();
        (url, vertex.signer().is_some())
    };
    let path = |project: &str, location: &str| {
        format!(
            "/v1/projects/{project}/locations/{location}/publishers/google/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
        )
    };
    let host = "https://us-east5-aiplatform.googleapis.com";
    assert_eq!(at(None, None, None), (format!("{host}{}", path("of-the-environment", "us-east5")), true));
    let host = "https://aiplatform.eu.rep.googleapis.com";
    assert_eq!(at(Some("mine"), Some("eu"), None), (format!("{host}{}", path("mine", "eu")), true));
    let host = "https://europe-west1-aiplatform.googleapis.com";
    assert_eq!(at(None, None, Some(host)), (format!("{host}{}", path("of-the-environment", "europe-west1")), true));
    let host = "https://gateway.example";
    assert_eq!(at(None, None, Some(host)), (format!("{host}{}", path("of-the-environment", "us-east5")), false));
    assert_eq!(at(Some("mine"), None, Some(host)), (format!("{host}{}", path("mine", "us-east5")), true));
}
