use proptest::prelude::*;
use spent::Spent;

use super::tokens::TOKENS;
use super::*;

const NAMES: &[&str] = &[
    "OPENAI_KEY",
    "PGPASSWORD",
    "MYSQL_PWD",
    "SSHPASS",
    "GH_PAT",
    "GITHUB_CREDS",
    "CRED",
    "MY_PW",
    "WIFI_PSK",
    "BEARER",
    "WALLET_MNEMONIC",
    "AZURE_DEVOPS_EXT_PAT",
    "NPM_CONFIG__AUTH",
    "npm_config__auth",
    "npm_config_//registry.example/:_authToken",
    "DOCKER_AUTH_CONFIG",
    "SENTRY_DSN",
    "GITHUB_TOKEN",
    "GITHUB_TOKEN_2",
    "TOKEN",
    "REDISCLI_AUTH",
    "TF_VAR_db_password",
    "DBPASS",
    "DB_PASS",
    "dbPassword",
    "apiKey",
    "MYSQL_ROOT_PASSWORD",
    "RAILS_MASTER_KEY",
    "SECRET_KEY_BASE",
    "GPG_PASSPHRASE",
    "SECRET_OF_MINE",
    "VAULT_SECRET_ID",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "GOOGLE_CREDENTIALS",
    "GCLOUD_SERVICE_KEY",
    "STRIPE_KEYS",
    "API_KEY_OPENAI",
    "COMPOSER_AUTH",
    "CI_JOB_JWT",
    "SESSION_COOKIE",
    "BW_SESSION",
    "OP_SESSION_my",
    "AZURE_STORAGE_CONNECTION_STRING",
    "POETRY_HTTP_BASIC_X_PASSWORD",
    "TWILIO_AUTHTOKEN",
    "BORG_PASSPHRASE",
    "SLACK_WEBHOOK",
    "DEPLOY_KEY_STAGING",
    "HTTP_AUTHORIZATION",
];

const VALUES: &[&str] = &[
    "123456789:AAbcdefghijklmnopqrstuvwxyz-_012345",
    "https://api.example/bot123456789:AAbcdefghijklmnopqrstuvwxyz-_012345/getMe",
    "https://acct.blob.example/c?sv=2024-05-04&sig=abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG%3D",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "github_pat_11ABCDEFG0abcdefghijklmn",
    "glpat-abcdefghij0123456789",
    "sk-ant-api03-abcdefghijklmnop",
    "sk-proj-0123456789abcdef",
    "sk_live_0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
    "npm_abcdefghijklmnopqrstuvwxyz0123456789",
    "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "token is ghp_0123456789abcdefghij",
    "--api-key=sk-0123456789abcdefghijkl",
    "postgres://app:hunter2@db.example/app",
    "postgres://app:hun/ter@db.example/app",
    "mongodb+srv://a:b@cluster.example",
    "redis://:secret@localhost:6379/0",
    "jdbc:mysql://db/app?user=a&password=hunter2",
    "http://me:pw@proxy.example:3128",
    "me:pw@proxy.example:3128",
    "https://0123456789abcdef@github.com/a/b",
    "https://one.example https://a:b@two.example/simple",
    "https://a:b@x.example,direct",
    "https://0f1e2d@o1.ingest.sentry.io/1",
    "cloudinary://123:abc@demo",
    "Server=db;User Id=a;Password=hunter2;",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abcdefgh012345==",
    "-Djavax.net.ssl.keyStorePassword=hunter2",
    "Authorization: Basic dXNlcjpwYXNz",
    "Bearer 0123456789abcdef",
    "{\"auths\":{\"x\":{\"auth\":\"dXNlcjpwYXNz\"}}}",
    "{\"type\": \"service_account\", \"private_key\": \"abcdefghijkl\"}",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
    "https://hooks.slack.com/services/T0/B0/x",
    "'http.extraheader=AUTHORIZATION: basic eHh4eHh4'",
    "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
];

/// The same in the forms in which people write them for programs.
const WRITTEN: &[&str] = &[
    "machine api.example login ada password hunter2",
    "machine api.example\n  login ada\n  password hunter2\nmachine b.example login x password y12",
    "default login anonymous password ada@example.org",
    "--password hunter2",
    "--user ada --password 'hunter2' --host db",
    "-v --db-password hunter2",
    "--token abcdef",
    "--api-key abcdefgh1",
    "-u ada -p hunter2 db.example",
    "-h db --user ada -p 'hunter2'",
    "-p hunter2 -u ada",
    "-uroot -phunter2",
    "mysql -u root -phunter2",
    "mysql -u root -h 127.0.0.1 -phunter2",
    "/usr/bin/mysql --user=root -phunter2",
    "mysqldump -u root -psecret app",
    "curl -sS -u ada:hunter2 https://api.example",
    "--username ada -p hunter2",
    "-password hunter2 -user ada",
    "EAACEdEose0cBAabcdefghijklmnopqrstuvwxyz0123456789ZCZDZD",
    "https://graph.example/me?access_token=EAACEdEose0cBAabcdefghijklmnopqrstuvwxyz0123456789ZCZDZD",
    "sl.B1abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789",
    "sl.u.AFabcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789",
    "Authorization Bearer sl.B1abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRST",
    "https://api.example/v1?api_key=abcdefgh1",
    "https://api.example/v1?x=1&apikey=abcdefgh1",
    "https://api.example/v1?key=abcdefghij0123456",
    "https://api.example/v1#a?access_token=abcdefgh1",
    "https://a.example/c?se=2026-01-01&sig=abcdefghij%2B012345%3D",
    "https://s3.example/x?X-Amz-Date=1&X-Amz-Signature=0123456789abcdef0123456789abcdef",
    "https://storage.example/x?Expires=1&Signature=abcdefghij0123456%2F",
    "wss://api.example/socket?token=abcdefgh1",
];

/// Variables of everyday, of which each has something that a secret has, too.
const EVERYDAY: &[(&str, &str)] = &[
    ("DOCKER_RUN_OPTS", "-u 1000 -p 8080:80"),
    ("DOCKER_RUN_OPTS", "-u ada -p 127.0.0.1:8080:80"),
    ("DOCKER_RUN_OPTS", "-p 80 -u ada"),
    ("DOCKER_RUN_OPTS", "-u node:node -p 8080:80"),
    ("FETCH", "curl -u $USER:$PASSWORD https://api.example"),
    ("DATABASE", "mysql -u root -p -P 3306 app"),
    ("RUN", "docker run --name mysql -p3306:3306 mysql -p3306:3306"),
    ("RUN", "mysql app < x.sql && cargo test -pworkspace"),
    ("PYTEST_ADDOPTS", "-p no:cacheprovider -q"),
    ("CARGO_CHECK", "check -p workspace -p tools"),
    ("TSC_OPTS", "-p tsconfig.json"),
    ("PG_OPTS", "-U postgres -p 5432"),
    ("PGOPTIONS", "-c search_path=app --no-password"),
    ("MKDIR", "mkdir -p /home/ada/build"),
    ("INSTALL", "sudo -u ada mkdir -p build/out"),
    ("SS", "-u -p"),
    ("GOTEST_OPTS", "-update -parallel 4"),
    ("KEYTOOL_OPTS", "-alias ada -storepass changeit"),
    ("FFMPEG_OPTS", "-b:v 1M -pass 1 -f null"),
    ("CI_LOGIN", "docker login --password-stdin registry.example.com"),
    ("GPG_OPTS", "--batch --passphrase-fd 0"),
    ("GPG_OPTS", "--passphrase-file /home/ada/.gnupg/phrase"),
    ("ANSIBLE_OPTS", "--vault-password-file /home/ada/.vault"),
    ("LLM_OPTS", "--max-tokens 4096 --temperature 0"),
    ("OPTS", "--token-type bearer"),
    ("OPTS", "--token $TOKEN --password ${PASSWORD} --api-key \"$API_KEY\""),
    ("OPTS", "--password --user ada"),
    ("OPTS", "--pass-through arguments-of-it"),
    ("OPTS", "--bypass-cache everything"),
    ("OPTS", "--public-key abcdefghijkl --cache-key v1-linux-x86_64"),
    ("OPTS", "--ssh-key ~/.ssh/id_ed25519"),
    ("DOCKER_BUILD_OPTS", "--secret id=npmrc,src=.npmrc"),
    ("OPTS", "--author ada --authority example"),
    ("MACHINE", "machine"),
    ("MACHINE_NOTE", "default machine of the lab"),
    ("QEMU_OPTS", "-machine q35 -cpu host"),
    ("SUBJECT", "machine learning"),
    ("LOGIN_URL", "https://login.example/?prompt=login&lang=en"),
    ("SEARCH_URL", "https://search.example/?q=rust&key=name"),
    ("SEARCH_URL", "https://search.example/?q=what+is+a+password"),
    ("DOCS", "https://docs.example/page?signature=true&sort_key=created_at"),
    ("FEED", "https://feed.example/?page=2&design=sig#sig"),
    ("LOCALE_URL", "https://sl.wikipedia.org/wiki/Glavna_stran/Nekaj_zelo_dolgega_in_lepega"),
    ("MODULE", "sl.modules.of.a.project.with.a.very.long.name.indeed.and.more"),
    ("STEAM", "/usr/bin/sl"),
    ("SHA1", "EAA0123456789ABCDEF0123456789ABCDEF01234"),
    ("SHA2", "EAA0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABC"),
    ("WORD", "EAAlike"),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "core.autocrlf"),
    ("GIT_CONFIG_VALUE_0", "input"),
    ("GIT_SSH_COMMAND", "ssh -i /home/ada/.ssh/id -p 2222 -o User=git"),
    ("RSYNC_RSH", "ssh -p 2222"),
    ("LESS", "-R -P%f"),
    ("MAKEFLAGS", "-j8 --no-print-directory"),
    ("GOFLAGS", "-mod=mod -p=4"),
    ("NODE_OPTIONS", "-r ts-node/register --enable-source-maps"),
    ("JAVA_OPTS", "-Duser.language=en -Dkey.store=/home/ada/x.jks"),
    ("BROWSER", "firefox --profile work -p work"),
    ("FZF_DEFAULT_OPTS", "--bind=ctrl-p:toggle-preview --header pass"),
    ("MANPATH", "/usr/share/man:"),
    ("INFOPATH", "/usr/share/info:/usr/local/share/info"),
    ("EDITOR", "vim -u NONE -p"),
    ("COLORTERM", "truecolor"),
    ("LC_PAPER", "en_GB.UTF-8"),
    ("XDG_DATA_DIRS", "/usr/local/share:/usr/share"),
    ("JUPYTER_PATH", "/home/ada/.local/share/jupyter"),
    ("RUBYOPT", "-W0 -rbundler/setup"),
    ("PERL5LIB", "/home/ada/perl5/lib/perl5"),
    ("HOSTNAME", "build-01.example"),
];

/// The variables by which builds, tests and tools get their settings.
const HARMLESS: &[(&str, &str)] = &[
    ("PATH", "/usr/bin:/home/ada/sk-0123456789abcdefgh/bin"),
    ("HOME", "/home/ada"),
    ("PWD", "/home/ada"),
    ("OLDPWD", "/home/ada"),
    ("LANG", "en_GB.UTF-8"),
    ("CARGO_HOME", "/home/ada/.cargo"),
    ("RUSTFLAGS", "-C link-arg=-fuse-ld=lld --cfg=tokio_unstable"),
    ("CARGO_ENCODED_RUSTFLAGS", "-Clinker=clang"),
    ("CFLAGS", "-O2 -DKEY=1 -I/usr/include"),
    ("JAVA_TOOL_OPTIONS", "-Djavax.net.ssl.trustStorePassword=changeit -Dfile.encoding=UTF-8"),
    ("MAVEN_OPTS", "-Xmx2g"),
    ("NODE_OPTIONS", "--max-old-space-size=4096"),
    ("TOKENIZERS_PARALLELISM", "false"),
    ("MAX_TOKENS", "4096"),
    ("TOKEN_LIMIT", "4096"),
    ("KEYBOARD", "uk"),
    ("KEYTIMEOUT", "1"),
    ("AUTHOR", "Ada"),
    ("GIT_AUTHOR_NAME", "Ada"),
    ("GIT_ASKPASS", "/usr/bin/askpass"),
    ("SSH_ASKPASS", "/usr/bin/askpass"),
    ("SSH_AUTH_SOCK", "/run/user/1000/agent"),
    ("SSH_KEY", "/home/ada/.ssh/id"),
    ("PASSWORD_STORE_DIR", "/home/ada/.pass"),
    ("AWS_SHARED_CREDENTIALS_FILE", "/home/ada/.aws/x"),
    ("OAUTH_TOKEN_URL", "https://login.example/token"),
    ("DATABASE_URL", "sqlite://db.sqlite"),
    ("DATABASE_URL", "postgres://localhost:5432/app"),
    ("DATABASE_URL", "postgres://postgres@localhost/app"),
    ("REDIS_URL", "redis://localhost:6379/0"),
    ("HTTPS_PROXY", "http://proxy.example:3128"),
    ("NO_PROXY", "localhost,.example"),
    ("GOPROXY", "https://proxy.golang.org,direct"),
    ("PIP_INDEX_URL", "https://pypi.example/simple"),
    ("NPM_CONFIG_REGISTRY", "http://localhost:4873/@scope/x"),
    ("REPOSITORY", "git@github.com:ada/x.git"),
    ("REPOSITORY", "ssh://git@github.com/ada/x.git"),
    ("EMAIL", "Ada <ada@example.org>"),
    ("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567"),
    ("INVOCATION_ID", "0123456789abcdef0123456789abcdef"),
    ("TERM_SESSION_ID", "w0t0p0:0A1B2C3D-0E1F-4A5B-8C9D-0A1B2C3D4E5F"),
    ("MACHINE", "0A1B2C3D-0E1F-4A5B-8C9D-0A1B2C3D4E5F"),
    ("npm_package_integrity", "sha512-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5=="),
    ("npm_config_user_agent", "npm/10.2.4 node/v20.11.0 linux x64 workspaces/false"),
    ("LS_COLORS", "rs=0:di=01;34:ln=01;36:*.pem=00;32"),
    ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus,guid=0123456789abcdef0123456789abcdef"),
    ("NIX_LDFLAGS", "-rpath /nix/store/0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p-x/lib"),
    ("BUILD_TARGET", "MyVeryLongProjectNameWithManyWords2AndMore3Words4"),
    ("KUBECONFIG", "/home/ada/.kube/config"),
    ("STRIPE_PUBLISHABLE_KEY", "pk_test_0123456789"),
    ("CACHE_KEY", "v1-linux"),
    ("CI", "true"),
    ("SECRETS_ENABLED", "true"),
    ("MY_AUTH", "basic"),
    ("DISPLAY", ":0"),
    ("XDG_SESSION_ID", "3"),
    ("PS4", "+ $(date) "),
    ("GITHUB_TOKEN", ""),
    ("FONT", "task-based-risk-assessment-of-everything"),
];

#[test]
fn what_is_named_as_a_secret_is_one() {
    for name in NAMES {
        assert!(is_secret(name, "hunter2hunter"), "{name}");
    }
}

#[test]
fn what_looks_like_a_secret_is_one_whatever_its_name_is() {
    for value in VALUES {
        assert!(is_secret("WHATEVER", value), "{value}");
    }
}

#[test]
fn what_a_program_is_told_of_a_secret_by_its_options_its_files_or_an_address_is_one() {
    let missed: Vec<_> = WRITTEN.iter().filter(|value| !is_secret("FOO_OPTS", value)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_builds_need_is_no_secret() {
    assert!(EVERYDAY.len() >= 60);
    for (name, value) in HARMLESS.iter().chain(EVERYDAY) {
        assert!(!is_secret(name, value), "{name}={value}");
    }
}

#[test]
fn credentials_in_the_forms_of_settings_are_found() {
    for text in [
        "<password>hunter2</password>",
        "<password><![CDATA[p&ss]]></password>",
        "<password xml:space=\"preserve\">x</password>",
        "<password><!-- mine -->x</password>",
        "<passphrase>$x</passphrase>",
        "<privateKey>-</privateKey>",
        "<httpHeaders><property><name>Deploy-Token</name><value>abc</value></property></httpHeaders>",
        "<httpHeaders>\n<property>\n<name>Authorization</name>\n<value>Basic eA</value>",
        "[url \"https://0123456789abcdef0123456789abcdef01234567@github.com/\"]",
        "[url \"HTTPS://ghp_0123456789abcdef0123@github.com/\"]",
        "[url \"https://ada:hunter2@c.example/\"]",
        "\tcredentialStore = secretservice\n\tpassword = hunter2",
    ] {
        assert!(settings_hold_secret(text), "{text}");
    }
}

#[test]
fn settings_without_credentials_are_no_secret() {
    for text in [
        "<password>${env.PASSWORD}</password>",
        "<password>{COQLCE6DU6GtcS5P=}</password>",
        "<password><![CDATA[{COQLCE6DU6GtcS5P=}]]></password>",
        "<password></password><password/><password />",
        "<name>x</name><value>y</value>",
        "<httpHeaders><property><value>${env.HEADER}</value></property></httpHeaders><value>x</value>",
        "[url \"https://ada@github.com/\"]",
        "[url \"https://ada.lovelace%40c.example@dev.azure.com/\"]",
        "\tcredentialStore = secretservice",
        "\tsigningKey = 3AA5C34371567BD2",
        "\tsigningkey = ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHQ1",
    ] {
        assert!(!settings_hold_secret(text), "{text}");
    }
}

#[test]
fn settings_of_any_form_are_looked_at_in_no_time() {
    for part in ["http://a ", "a://", "<", "<a", "<password", "=", "a=b:", "token=", "\"", "@", "é"] {
        let began = Spent::start();
        settings_hold_secret(&part.repeat((1 << 18) / part.len()));
        // A look at every part's whole rest, or at all before it, takes minutes.
        assert!(began.elapsed().as_secs() < 20, "{part}: {:?}", began.elapsed());
    }
}

#[test]
fn what_the_configuration_reads_a_key_from_goes_whatever_it_is_called_and_whatever_is_let_through() {
    holds_a_key("PLAIN_OF_A_TEST");
    let environment = [("PLAIN_OF_A_TEST", "a plain key"), ("COPY", "a plain key"), ("OTHER", "a plain word")];
    let environment = environment.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let has = |pass: &[String]| {
        let secrets = Secrets::of(&environment, pass);
        environment.each_ref().map(|(name, value)| secrets.has(name, value))
    };
    assert_eq!(has(&[]), [true, true, false]);
    assert_eq!(has(&["PLAIN_OF_A_TEST".to_owned(), "COPY".to_owned()]), [true, false, false]);
}

#[test]
fn a_key_of_the_configuration_goes_wherever_it_stands_and_takes_nothing_else_with_it() {
    holds_a_key("KEY_OF_A_TEST");
    holds_a_key("WORD_OF_A_TEST");
    let has = |name: &str, value: &str| {
        let environment = [("KEY_OF_A_TEST", "mine-0123456789-abc"), ("WORD_OF_A_TEST", "lm-studio"), (name, value)];
        let environment = environment.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        Secrets::of(&environment, &[]).has(OsStr::new(name), OsStr::new(value))
    };
    for value in [
        "http://127.0.0.1:8080/v1/mine-0123456789-abc/chat",
        "http://127.0.0.1:8080/?k=mine-0123456789-abc",
        "a b mine-0123456789-abc",
        "{\"x\":\"mine-0123456789-abc\"}",
    ] {
        assert!(has("GATEWAY", value), "{value}");
    }
    for (name, value) in [
        ("GATEWAY", "http://127.0.0.1:8080/v1/mine-0123456789-abcd"),
        ("GATEWAY", "mine-0123456789"),
        ("PATH", "/opt/mine-0123456789-abc/bin:/usr/bin"),
        ("TOOLS", "/home/ada/.lm-studio/bin"),
        ("GATEWAY", "http://lm-studio/"),
    ] {
        assert!(!has(name, value), "{name}={value}");
    }
}

proptest! {
    #[test]
    fn a_token_of_a_known_service_is_found_wherever_it_stands(
        which in 0..TOKENS.len(),
        before in "([a-z]{1,8} |--x=|[a-z]+:|)",
        rest in "[A-Za-z0-9]{40}",
        after in "( [a-z]{1,8}|;|)",
    ) {
        let token = format!("{before}{}{rest}{after}", TOKENS[which].0);
        prop_assert!(is_secret("WHATEVER", &token), "{token}");
    }

    #[test]
    fn an_address_with_a_password_is_found_wherever_it_stands(
        scheme in "(https?|postgres(ql)?|mysql|redis|amqps?|mongodb\\+srv|socks5h?|ftp)",
        user in "[a-z]{0,8}",
        password in "[A-Za-z0-9!%*._~-]{1,20}",
        rest in "[a-z]{1,8}(\\.example)?(:[0-9]{2,5})?(/[a-z]{0,5})?",
        before in "([a-z]+ |--url=|)",
    ) {
        let address = format!("{before}{scheme}://{user}:{password}@{rest}");
        prop_assert!(is_secret("WHATEVER", &address), "{address}");
    }

    #[test]
    fn an_address_without_one_is_not(
        scheme in "(https?|postgres|mysql|redis|file)",
        host in "[a-z]{1,12}(\\.example)?(:[0-9]{2,5})?",
        path in "(/[a-z@]{0,8}){0,3}",
    ) {
        let address = format!("{scheme}://{host}{path}");
        prop_assert!(!is_secret("WHATEVER", &address), "{address}");
    }

    #[test]
    fn plain_words_paths_and_sums_stay(
        value in "([a-z]{1,12}( [a-z]{1,12}){0,6}|(/[a-z0-9._-]{1,12}){1,8}|[0-9a-f]{32,64}|[0-9.]{1,12})",
    ) {
        let is_token = TOKENS.iter().any(|(begin, _)| value.contains(begin));
        prop_assert!(is_token || !is_secret("WHATEVER", &value), "{value}");
    }

    #[test]
    fn whatever_there_is_it_is_told_without_a_fall(name in "\\PC{0,40}", value in "\\PC{0,80}") {
        let _ = is_secret(&name, &value);
        let _ = is_secret("X", &format!("{name}={value}"));
    }
}
