#![expect(clippy::disallowed_methods, reason = "a test makes the file that is changed here")]

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::*;

/// The file of a user, with comments.
const TEXT: &str =
    "# Mine.\nmodel = \"mine/big\" # the best\n\n[providers.mine]\nbase_url = \"https://models.example\"\n";

fn environment(name: &str) -> Option<String> {
    match name {
        "RIGHT" => Some("key-that-is-right".to_owned()),
        "GROQ_API_KEY" => Some("key-of-groq".to_owned()),
        "WRONG" => Some("key-that-is-wrong".to_owned()),
        _ => None,
    }
}

async fn add(own: &OwnProviders, addition: Addition, checks: Checks) -> Result<Added, String> {
    let checked = own.check(addition, checks).await.map_err(|error| error.to_string())?;
    own.add(checked).await.map_err(|error| error.to_string())
}

struct User {
    folder: TempDir,
}

impl User {
    fn new(text: &str) -> Self {
        let user = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::write(user.file(), text).unwrap();
        std::fs::set_permissions(user.file(), PermissionsExt::from_mode(0o600)).unwrap();
        user
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("config.toml")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap()
    }

    fn own(&self) -> OwnProviders {
        OwnProviders::new(self.file(), environment)
    }

    async fn add(&self, addition: Addition) -> Result<Added, String> {
        add(&self.own(), addition, Checks::List).await
    }
}

/// A server that lists two models for whoever has the right key, and for whoever asks below `/open`; below `/bare` it
/// has no list, and below `/faulty` it fails.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let head: Vec<_> = lines.take_while(|line| !line.is_empty()).map(|line| line.to_lowercase()).collect();
            let asked = head.join("\n");
            let (status, body) = if asked.contains("/bare/") {
                ("404 Not Found", "{\"error\":{\"message\":\"no such place\"}}")
            } else if asked.contains("/faulty/") {
                ("500 Internal Server Error", "{\"error\":{\"message\":\"out of order\"}}")
            } else if asked.contains("/open/") || asked.contains("bearer key-that-is-right") {
                ("200 OK", "{\"data\":[{\"id\":\"one\"},{\"id\":\"two\"}]}")
            } else {
                ("401 Unauthorized", "{\"error\":{\"message\":\"bad key\"}}")
            };
            let length = body.len();
            let head = "content-type: application/json\r\nconnection: close";
            let _ = write!(stream, "HTTP/1.1 {status}\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}");
        }
    });
    format!("http://{address}")
}

fn new(url: &str, key: KeyFrom) -> Addition {
    Addition { name: "new".into(), base_url: Some(url.to_owned()), key, ..Addition::default() }
}

fn variable(name: &str) -> KeyFrom {
    KeyFrom::Variable(name.to_owned())
}

#[tokio::test]
async fn a_provider_is_written_once_its_server_takes_the_key_and_the_file_keeps_its_comments() {
    let (user, url) = (User::new(TEXT), server());
    let refused = user.add(new(&url, variable("WRONG"))).await.unwrap_err();
    assert!(refused.contains("does not accept the key: status 401: bad key. Check"), "{refused}");
    assert_eq!(user.text(), TEXT, "nothing is written");

    let added = user.add(new(&url, variable("RIGHT"))).await.unwrap();
    assert_eq!(added.models, ["new/one", "new/two"]);
    let table = format!("[providers.new]\nbase_url = \"{url}\"\nkey_env = \"RIGHT\"\n");
    assert_eq!(user.text(), format!("{TEXT}\n{table}"));
    assert!(!user.text().contains("key-that"));
    assert_eq!(user.file().metadata().unwrap().permissions().mode() & 0o777, 0o600);

    let again = user.add(new(&url, variable("RIGHT"))).await.unwrap_err();
    assert!(again.contains("has a provider `new` already, on line 7; change it there, or remove it first"), "{again}");
    user.own().remove("new").await.unwrap();
    assert_eq!(user.text().trim_end(), TEXT.trim_end());
}

#[tokio::test]
async fn each_thing_that_is_wrong_is_said_with_a_remedy_and_nothing_is_written() {
    let (user, url) = (User::new(TEXT), server());
    let open = format!("{url}/open/v1");
    let named = |name: &str| Addition { name: name.into(), ..new(&open, KeyFrom::Nowhere) };
    for (addition, words) in [
        (named("a b"), "a provider's name is letters, digits"),
        (named(""), "a provider's name is letters, digits"),
        (named("sk-ant-api03-AbCdEf0123456789AbCd"), "the name looks like a key"),
        (named("mine"), "has a provider `mine` already, on line 4"),
        (Addition { base_url: None, ..named("new") }, "say where it is: --base-url"),
        (new("models.example", KeyFrom::Nowhere), "`base_url` is no address; write https://host/path"),
        (new("http://models.example/v1", KeyFrom::Nowhere), "`base_url` must begin with https://"),
        (Addition { wire: Some("gopher".into()), ..named("new") }, "it must be one of `anthropic`, "),
        (new(&open, variable("UNSET")), "the variable UNSET is not set"),
        (new(&open, variable("sk-ant-api03-AbCdEf0123")), "the variable for the key must be a name"),
        (new(&open, variable("ghp_AbCdEf0123456789")), "the variable for the key must be a name"),
        (new("https://me:AbCdEf@models.example/v1", KeyFrom::Nowhere), "`base_url` holds a password or a key"),
        (
            new("https://models.example/v1?key=sk-AbCdEf012345", KeyFrom::Nowhere),
            "`base_url` holds a password or a key",
        ),
        (new(&open, KeyFrom::Command("false".into())), "cannot be asked yet: the key for new is not known: `false`"),
        (new(&open, KeyFrom::Command("'pass".into())), "a quotation mark"),
        (new(&open, KeyFrom::Command("bin/pass".into())), "named from the root on"),
        (new(&open, KeyFrom::File("secrets/key".into())), "it must be an absolute path"),
        (new(&open, KeyFrom::File("/no/such/key".into())), "in providers.new.key_file: the file cannot be read"),
        (new(&url, KeyFrom::Nowhere), "wants a key: status 401: bad key. Say where it is: --key-env"),
        (new("http://127.0.0.1:9/v1", KeyFrom::Nowhere), "does not answer: nothing answers there. Check the address"),
        (
            Addition { models: vec!["a".into()], ..new(&format!("{url}/faulty/v1"), KeyFrom::Nowhere) },
            "cannot be asked for its models: status 500: out of order. Correct that or try again later",
        ),
        (new(&format!("{url}/bare/v1"), KeyFrom::Nowhere), "does not list its models: status 404: no such place"),
    ] {
        let told = user.add(addition).await.unwrap_err();
        assert!(told.contains(words), "{words}: {told}");
        assert!(!told.contains("AbCdEf"), "{told}");
        assert_eq!(user.text(), TEXT, "{words}");
    }
}

#[tokio::test]
async fn what_is_no_mistake_but_to_be_known_is_noted() {
    let (user, url) = (User::new(""), server());
    let bare = Addition { models: vec!["a".into()], ..new(&format!("{url}/bare/v1"), KeyFrom::Nowhere) };
    let added = user.add(bare).await.unwrap();
    assert!(added.notes[0].contains("does not list its models (status 404"), "{:?}", added.notes);
    assert_eq!(added.models, ["new/a"]);
    let other = Addition {
        name: "openai".into(),
        models: vec!["x".into()],
        ..new(&format!("{url}/open/v1"), KeyFrom::Nowhere)
    };
    let notes = user.add(other).await.unwrap().notes.join("\n");
    assert!(
        notes.contains("`openai` is OpenAI's name") && notes.contains("its list has no x; it has one, two"),
        "{notes}"
    );
    // Nobody is asked who is not to be asked.
    let unseen = Addition { name: "unseen".into(), ..new("https://nowhere.invalid/v1", variable("UNSET")) };
    add(&user.own(), unseen, Checks::None).await.unwrap();
    assert!(
        user.text().contains("[providers.unseen]\nbase_url = \"https://nowhere.invalid/v1\"\nkey_env = \"UNSET\"\n")
    );
    let kept = Addition { name: "groq".into(), key: KeyFrom::Account(None), ..Addition::default() };
    let notes = add(&user.own(), kept, Checks::None).await.unwrap().notes.join("\n");
    assert!(notes.contains("not used yet: the environment variable GROQ_API_KEY counts before it"), "{notes}");
    let removed = user.own().remove("openai").await.unwrap();
    assert!(removed.notes[0].contains("still there by the environment"), "{:?}", removed.notes);
}

#[tokio::test]
async fn a_file_with_a_mistake_is_not_added_to_but_a_provider_with_one_can_be_removed() {
    let open = format!("{}/open/v1", server());
    for (text, line) in [("model = 'a'\n\n[providers\n", "line 3: "), ("log = 'warn'\nmdoel = 1\n", "line 2: ")] {
        let user = User::new(text);
        let told = user.add(new(&open, KeyFrom::Nowhere)).await.unwrap_err();
        assert!(told.contains(line) && told.contains("Correct that first; nothing was written"), "{told}");
        assert_eq!(user.text(), text);
    }
    let user = User::new("oracle_model = 'a/b, bad/one'\nmodel = 'bad/one'\n[providers.bad]\nbase_url = 7\n");
    assert!(user.add(new(&open, KeyFrom::Nowhere)).await.unwrap_err().contains("line 4: providers.bad.base_url"));
    let told = user.own().remove("worse").await.unwrap_err().to_string();
    assert!(told.contains("has no provider `worse`; it has bad"), "{told}");
    let removed = user.own().remove("bad").await.unwrap();
    let named = ["`model` still names `bad/one`; change it", "`oracle_model` still names `a/b, bad/one`; change it"];
    assert_eq!(removed.notes, named);
    assert_eq!(user.text(), "oracle_model = 'a/b, bad/one'\nmodel = 'bad/one'\n");
    let user = User::new("# Mine.\n\nproviders.mine.key_env = 'A'\n");
    let told = user.own().remove("mine").await.unwrap_err().to_string();
    assert!(told.contains("`mine` has no table of its own") && told.contains("on line 3"), "{told}");
}

#[tokio::test]
async fn a_file_that_is_not_there_is_made_and_a_link_stays_one() {
    let (user, open) = (User::new(TEXT), format!("{}/open/v1", server()));
    let place = user.folder.path().join("dotfiles");
    let file = OwnProviders::new(user.folder.path().join("none/config.toml"), environment);
    add(&file, new(&open, KeyFrom::Nowhere), Checks::List).await.unwrap();
    let text = std::fs::read_to_string(user.folder.path().join("none/config.toml")).unwrap();
    assert_eq!(text, format!("[providers.new]\nbase_url = \"{open}\"\n"));
    std::fs::create_dir(&place).unwrap();
    std::fs::rename(user.file(), place.join("config.toml")).unwrap();
    symlink("dotfiles/config.toml", user.file()).unwrap();
    user.add(new(&open, KeyFrom::Nowhere)).await.unwrap();
    assert!(user.file().is_symlink());
    assert!(std::fs::read_to_string(place.join("config.toml")).unwrap().contains("[providers.new]"));
    // One that leads to nothing yet is made where it leads.
    std::fs::remove_file(place.join("config.toml")).unwrap();
    user.add(new(&open, KeyFrom::Nowhere)).await.unwrap();
    assert!(user.file().is_symlink());
    assert!(std::fs::read_to_string(place.join("config.toml")).unwrap().contains("[providers.new]"));
}
