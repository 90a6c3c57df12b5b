use std::collections::HashSet;

use super::*;
use crate::compat::{AskThinking, MaxTokensField};
use crate::data;

#[test]
fn the_data_file_is_sound() {
    let text = include_str!("../providers.toml");
    assert!(toml::from_str::<File>(text).is_ok(), "{:?}", toml::from_str::<File>(text).err());
    assert!(all().len() > 20);
    let (mut names, mut variables) = (HashSet::new(), HashSet::new());
    for vendor in all() {
        let name = &vendor.name;
        assert!(names.insert(name), "{name} is there twice");
        assert!(!vendor.title.is_empty(), "{name}");
        assert!(Url::parse(&vendor.base_url).is_ok(), "{name}: {}", vendor.base_url);
        assert_eq!(vendor.local, vendor.keys.is_empty(), "{name}: what is not on this machine has a key");
        assert_eq!(vendor.local, vendor.page.is_none(), "{name}: a key is made somewhere");
        let is_safe = if vendor.local { "http://127.0.0.1" } else { "https://" };
        assert!(vendor.base_url.starts_with(is_safe), "{name}: {}", vendor.base_url);
        for variable in vendor.keys.iter().chain(&vendor.base_url_env) {
            assert!(variables.insert(variable), "{variable} is that of two vendors");
        }
        for model in &vendor.models {
            assert!(data::find(model).is_some(), "{name}: nothing is known of {model}");
        }
    }
    for host in &file().host {
        assert!(
            host.dialect.as_deref().is_none_or(|name| dialect(name).is_some()),
            "{}: {:?}",
            host.home,
            host.dialect
        );
        assert!(host.dialect.is_some() || host.compat != Compat::default(), "{} wants nothing", host.home);
    }
}

#[test]
fn those_on_this_machine_come_last_and_the_vendors_of_before_stay_first_and_in_their_order() {
    let names: Vec<_> = all().iter().map(|vendor| vendor.name.as_str()).collect();
    let before = ["anthropic", "openai", "openrouter", "deepseek", "groq", "mistral", "xai", "inception"];
    assert_eq!(names[..before.len()], before);
    assert!(all().iter().skip(before.len()).all(|vendor| vendor.local != vendor.after_local));
    assert!(all().iter().skip_while(|vendor| !vendor.local).all(|vendor| vendor.local));
}

#[test]
fn an_unknown_field_or_wire_is_an_error() {
    let vendor = |more: &str| {
        let text = format!("name = 'a'\ntitle = 'A'\nbase_url = 'https://a.example'\n{more}");
        toml::from_str::<Vendor>(&text).map(|_| ()).map_err(|error| error.message().to_owned())
    };
    assert!(vendor("wire = 'openai-chat'").is_ok());
    assert!(vendor("wire = 'gopher'").unwrap_err().contains("gopher"));
    assert!(vendor("wire = 'openai-chat'\ncolour = 1").unwrap_err().contains("colour"));
}

#[test]
fn flags_follow_the_host_and_its_subdomains() {
    let named = |name: &str| dialect(name).cloned().unwrap();
    let thinks = |thinking| Compat { thinking: Some(thinking), ..Compat::default() };
    for (address, flags) in [
        ("https://api.openai.com/v1", named("openai")),
        ("https://eu.api.openai.com", named("openai")),
        ("https://api.moonshot.ai/v1", named("deepseek")),
        ("https://token-plan-sgp.xiaomimimo.com/v1", named("deepseek")),
        ("https://generativelanguage.googleapis.com/v1beta/openai/", named("gemini")),
        ("https://us-central1-aiplatform.googleapis.com/v1/projects/p", named("gemini")),
        ("https://API.MISTRAL.AI", named("mistral")),
        ("https://openrouter.ai/api/v1", thinks(AskThinking::Reasoning)),
        ("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", thinks(AskThinking::EnableThinking)),
        (
            "https://api.cerebras.ai/v1",
            Compat {
                max_tokens_field: Some(MaxTokensField::MaxCompletionTokens),
                ..thinks(AskThinking::ReasoningEffort)
            },
        ),
        ("https://notapi.openai.com.example/v1", Compat::default()),
        ("https://fakeapi.openai.com/v1", Compat::default()),
        ("http://127.0.0.1:8080", Compat::default()),
        ("no address", Compat::default()),
    ] {
        assert_eq!(of_address(address), flags, "{address}");
    }
}
