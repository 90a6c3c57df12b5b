#![expect(clippy::disallowed_methods, reason = "the tests look at the file itself")]

use std::fs;

use providers::Secret;
use tempfile::TempDir;

use super::*;
use crate::credential::{DEFAULT_LABEL, Proof, Tokens};

fn key(provider: &str, label: &str, key: &str) -> Credential {
    Credential {
        provider: provider.into(),
        label: label.into(),
        origin: "https://api.example".into(),
        proof: Proof::Key(Secret::new(key)),
    }
}

fn tokens() -> Tokens {
    Tokens {
        access: Secret::new("at-1"),
        refresh: Some(Secret::new("rt-1")),
        issued: 7,
        lifetime: Some(3_600),
        client_id: "issued-to-us".into(),
        token_url: "https://auth.example/token".into(),
        scopes: vec!["a".into(), "b".into()],
        name: Some("me@example.com".into()),
        subject: Some("user-1".into()),
        ended: false,
    }
}

fn registered(label: &str, id: &str) -> Registered {
    let token_url = "https://auth.example/token".into();
    Registered { provider: "chatgpt".into(), label: label.into(), token_url, id: id.into() }
}

fn world() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(&folder.path().join("data"));
    (folder, store)
}

#[tokio::test]
async fn what_is_kept_is_read_again_and_is_its_owners_alone() {
    let (_folder, store) = world();
    assert_eq!(store.read().unwrap(), Contents::default());
    let mut change = store.change().await.unwrap();
    change.contents.host = Some("urn:uuid:1".into());
    change.contents.put(key("openai", DEFAULT_LABEL, "sk-1"));
    let signed_in = Proof::Tokens(Box::new(tokens()));
    change.contents.put(Credential { proof: signed_in, ..key("chatgpt", "work", "") });
    change.contents.register(registered("home", "id-1"));
    let written = change.contents.clone();
    change.write().unwrap();
    assert_eq!(store.read().unwrap(), written);
    let metadata = fs::metadata(store.file()).unwrap();
    assert!(!rights::is_open_to_others(&metadata));
    assert!(!rights::is_open_to_others(&fs::metadata(&store.folder).unwrap()));
    let names: Vec<_> = fs::read_dir(&store.folder).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "the file and the lock: {names:?}");
}

#[tokio::test]
async fn a_provider_may_have_several_accounts_of_which_the_newest_is_first() {
    let (_folder, store) = world();
    for (label, text) in [("home", "sk-1"), ("work", "sk-2"), ("home", "sk-3")] {
        let mut change = store.change().await.unwrap();
        change.contents.put(key("openai", label, text));
        change.write().unwrap();
    }
    let contents = store.read().unwrap();
    let found: Vec<_> = contents.credentials.iter().map(|it| (it.label.as_str(), it.secret().expose())).collect();
    assert_eq!(found, [("home", "sk-3"), ("work", "sk-2")]);
}

#[test]
fn a_registered_client_counts_until_a_sign_in_brings_its_own_or_it_is_forgotten() {
    let mut contents = Contents::default();
    let known = |contents: &Contents, label: &str| {
        assert_eq!(contents.client("chatgpt", label, "https://other.example/token"), None);
        contents.client("chatgpt", label, "https://auth.example/token").map(str::to_owned)
    };
    for id in ["id-1", "id-2"] {
        contents.register(registered("home", id));
    }
    contents.register(registered("work", "id-3"));
    assert_eq!((known(&contents, "home"), known(&contents, "work")), (Some("id-2".into()), Some("id-3".into())));
    contents.put(Credential { proof: Proof::Tokens(Box::new(tokens())), ..key("chatgpt", "home", "") });
    assert_eq!((known(&contents, "home"), contents.registered.len()), (Some("issued-to-us".into()), 1));
    contents.forget_clients("chatgpt", Some("home"));
    assert_eq!(known(&contents, "work"), Some("id-3".into()));
    contents.forget_clients("chatgpt", None);
    assert_eq!(known(&contents, "work"), None);
}

#[tokio::test]
async fn a_damaged_file_is_named_without_its_text_and_kept_aside() {
    let (_folder, store) = world();
    fs::create_dir(&store.folder).unwrap();
    for (number, text) in
        ["{\"version\":1,\"accounts\":[{\"key\":\"sk-secret", "", "[]", "sk-secret"].iter().enumerate()
    {
        fs::write(store.file(), text).unwrap();
        let errors = [store.read().unwrap_err().to_string(), store.change().await.unwrap_err().to_string()];
        for error in errors {
            assert!(error.contains("credentials.json is damaged") && error.contains("azimuth auth login"), "{error}");
            assert!(!error.contains("sk-secret"), "{error}");
        }
        assert_eq!(fs::read_to_string(store.file()).unwrap(), *text, "nothing has been written");
        let aside = store.set_aside_if_damaged().await.unwrap().unwrap();
        assert!(aside.ends_with(format!("credentials.json.damaged-{}", number + 1)));
        assert_eq!(fs::read_to_string(aside).unwrap(), *text);
        assert_eq!(store.read().unwrap(), Contents::default());
    }
    assert_eq!(store.set_aside_if_damaged().await.unwrap(), None);
}

#[tokio::test]
async fn a_newer_file_is_left_alone() {
    let (_folder, store) = world();
    fs::create_dir(&store.folder).unwrap();
    fs::write(store.file(), r#"{"version":2,"vault":{}}"#).unwrap();
    for error in [store.read().unwrap_err(), store.set_aside_if_damaged().await.unwrap_err()] {
        assert!(matches!(error, StoreError::Newer(_)), "{error}");
    }
}

#[tokio::test]
#[cfg(unix)]
async fn rights_of_others_are_taken_and_a_link_stays_one() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let (folder, store) = world();
    fs::create_dir(&store.folder).unwrap();
    let real = folder.path().join("elsewhere.json");
    fs::write(&real, r#"{"version":1,"accounts":[]}"#).unwrap();
    fs::set_permissions(&real, PermissionsExt::from_mode(0o644)).unwrap();
    symlink(&real, store.file()).unwrap();
    store.read().unwrap();
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    let mut change = store.change().await.unwrap();
    change.contents.put(key("openai", DEFAULT_LABEL, "sk-1"));
    change.write().unwrap();
    assert!(store.file().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("sk-1"));
}

#[tokio::test]
async fn a_change_that_cannot_be_written_fails_when_it_begins() {
    let (_folder, store) = world();
    fs::create_dir(&store.folder).unwrap();
    // Root may write everywhere, so that the name is taken by a folder instead.
    fs::create_dir(store.folder.join("credentials.json.new")).unwrap();
    let error = store.change().await.unwrap_err();
    assert!(matches!(&error, StoreError::Io { verb: "written", .. }), "{error}");
    assert!(error.to_string().contains("credentials.json cannot be written"), "{error}");
    assert_eq!(store.read().unwrap(), Contents::default());
}

#[tokio::test]
async fn changes_wait_for_each_other_so_that_none_is_lost() {
    let (_folder, store) = world();
    let one = |number: usize| {
        // Each has an open file of its own, as another process has.
        let store = store.clone();
        tokio::spawn(async move {
            let mut change = store.change().await.unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
            change.contents.put(key("openai", &number.to_string(), "sk"));
            change.write().unwrap();
        })
    };
    for task in (0..12).map(one).collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(store.read().unwrap().credentials.len(), 12);
}

#[tokio::test]
async fn a_change_that_is_dropped_leaves_no_trace() {
    let (_folder, store) = world();
    let mut change = store.change().await.unwrap();
    change.contents.put(key("openai", DEFAULT_LABEL, "sk-1"));
    drop(change);
    assert_eq!(store.read().unwrap(), Contents::default());
    assert!(!store.folder.join("credentials.json.new").exists());
}
