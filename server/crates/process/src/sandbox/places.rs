//! The places that commands need, and those that hold secrets.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{DirEntry, Metadata};
use std::path::{Path, PathBuf};

use protocol::terminal::SandboxMode;

use super::super::secrets;
use super::{Links, Origins, Policy, Settings, World, beginning, is_plain, led_to, path_in, touches};

/// The paths that are the system's, and nobody's secret but for [`SYSTEM_SECRETS`].
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/etc",
    "/proc",
    "/sys",
    "/nix",
    "/gnu",
    "/snap",
    "/run/current-system",
    "/run/opengl-driver",
    "/run/nscd",
    "/run/resolvconf",
    "/run/systemd/resolve",
    "/run/NetworkManager/resolv.conf",
    "/var/cache/fontconfig",
    "/var/cache/man",
    "/var/lib/apt",
    "/var/lib/dpkg",
    "/var/lib/flatpak",
    "/var/lib/pacman",
    "/var/lib/rpm",
    "/var/lib/snapd",
    // macOS.
    "/Applications",
    "/Library",
    "/System",
    "/private/etc",
    "/private/var/db",
    "/private/var/select",
];

/// The secrets that root could read.
const SYSTEM_SECRETS: &[&str] = &[
    "/etc/NetworkManager/system-connections",
    "/etc/docker/key.json",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/etc/letsencrypt",
    "/etc/openvpn",
    "/etc/pki/tls/private",
    "/etc/ppp",
    "/etc/rancher",
    "/etc/security/opasswd",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssh/ssh_host_dsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/wireguard",
    "/etc/wpa_supplicant",
];

/// The files that are read in the home folder beside [`SETTINGS`]: how programs show things.
const PREFERENCES: &[&str] = &[
    ".config/fontconfig",
    ".editorconfig",
    ".gitattributes",
    ".gitignore",
    ".gitignore_global",
    ".inputrc",
    ".lesskey",
    ".terminfo",
    ".tool-versions",
];

/// Toolchains that live in the home folder, and what they install. They are no files of the user's own.
const TOOLCHAINS: &[&str] = &[
    ".asdf",
    ".bun",
    ".cabal/bin",
    ".cargo",
    ".dart-tool",
    ".deno",
    ".dotnet",
    ".elan",
    ".fnm",
    ".foundry/bin",
    ".foundry/share",
    ".foundry/versions",
    ".ghcup",
    ".goenv",
    ".gradle",
    ".jbang",
    ".jenv",
    ".juliaup",
    ".local/bin",
    ".local/lib",
    ".local/share/bash-completion",
    ".local/share/fnm",
    ".local/share/fonts",
    ".local/share/man",
    ".local/share/mise",
    ".local/share/nvim/mason",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv/python",
    ".local/share/uv/tools",
    ".luarocks/bin",
    ".luarocks/lib",
    ".luarocks/share",
    ".m2/wrapper",
    ".mix",
    ".moon",
    ".nimble/bin",
    ".nimble/nimbledata2.json",
    ".nimble/packages_official.json",
    ".nimble/pkgs",
    ".nimble/pkgs2",
    ".nix-profile",
    ".nodenv",
    ".nvm",
    ".opam",
    ".phpenv",
    ".pixi",
    ".poetry",
    ".proto",
    ".pub-cache",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rvm",
    ".sdkman",
    ".stack",
    ".swiftly",
    ".volta",
    ".zig",
    "go/bin",
    "go/pkg",
    "miniconda3",
    "miniforge3",
    "anaconda3",
];

/// The paths that hold secrets, or show the user's life. They matter if the workspace or a granted folder holds them.
const HOME_SECRETS: &[&str] = &[
    ".aws",
    ".azure",
    ".bash_history",
    ".bitcoin",
    ".boto",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".conda/.condarc",
    ".conda/condarc",
    ".condarc",
    ".config/NuGet",
    ".config/cabal",
    ".composer/auth.json",
    ".config/BraveSoftware",
    ".config/Bitwarden",
    ".config/chromium",
    ".config/composer/auth.json",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/hub",
    ".config/microsoft-edge",
    ".config/op",
    ".config/rclone",
    ".config/sops",
    ".dart-tool/pub-credentials.json",
    ".docker",
    ".dotnet/corefx",
    ".electrum",
    ".foundry/keystores",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".gradle/gradle.properties",
    ".hex",
    ".kube",
    ".local/share/fish/fish_history",
    ".local/share/keyrings",
    ".local/share/uv/credentials",
    ".luarocks/upload_config.lua",
    ".m2/settings-security.xml",
    ".mozilla",
    ".my.cnf",
    ".netrc",
    ".nimble/github_api_token",
    ".node_repl_history",
    ".npmrc",
    ".nuget/NuGet",
    ".password-store",
    ".pgpass",
    ".pub-cache/credentials.json",
    ".psql_history",
    ".pypirc",
    ".python_history",
    ".s3cfg",
    ".ssh",
    ".stack/upload",
    ".terraform.d/credentials.tfrc.json",
    ".thunderbird",
    ".vault-token",
    ".zsh_history",
    "Library/Application Support/Firefox",
    "Library/Application Support/Google",
    "Library/Cookies",
    "Library/Keychains",
    "Library/Messages",
    "Library/Safari",
];

/// Settings in the home folder that tools cannot do without, and in which some people keep credentials. They are read,
/// but for the files in which there are any.
const SETTINGS: &[&str] = &[
    ".bundle/config",
    ".cabal/config",
    ".config/git",
    ".config/mise",
    ".config/nvim",
    ".config/pip/pip.conf",
    ".config/uv/uv.toml",
    ".gitconfig",
    ".m2/settings.xml",
    ".pip/pip.conf",
    ".vim",
    ".vimrc",
    ".yarnrc.yml",
];

/// The same in folders that are read as a whole. `*` stands for any name.
const SETTINGS_OF_TOOLCHAINS: &[&str] = &[
    "$CARGO_HOME/config",
    "$CARGO_HOME/config.toml",
    "$NVM_DIR/versions/node/*/etc/npmrc",
    ".asdf/installs/nodejs/*/etc/npmrc",
    ".cargo/config",
    ".cargo/config.toml",
    ".fnm/node-versions/*/installation/etc/npmrc",
    ".gradle/init.d",
    ".gradle/init.gradle",
    ".gradle/init.gradle.kts",
    ".local/share/fnm/node-versions/*/installation/etc/npmrc",
    ".local/share/mise/installs/node/*/etc/npmrc",
    ".nodenv/versions/*/etc/npmrc",
    ".nvm/versions/node/*/etc/npmrc",
    ".volta/tools/image/node/*/etc/npmrc",
    "anaconda3/.condarc",
    "miniconda3/.condarc",
    "miniforge3/.condarc",
];

/// Package caches in the home folder, by the program that fills them. No folder is among them whose programs are run by
/// name (`bin`), or that configures anything.
const CACHES: &[(&str, &[&str])] = &[
    ("cargo", &["$CARGO_HOME/registry", "$CARGO_HOME/git"]),
    ("npm", &[".npm"]),
    ("node", &["$CACHE/node", "$CACHE/node-gyp", "$CACHE/prisma", "$CACHE/turbo", "$CACHE/vite"]),
    ("yarn", &["$CACHE/yarn", ".yarn/berry"]),
    ("pnpm", &["$CACHE/pnpm", ".local/share/pnpm/store", ".local/state/pnpm"]),
    ("bun", &[".bun/install/cache"]),
    ("deno", &["$CACHE/deno"]),
    ("pip", &["$CACHE/pip"]),
    ("uv", &["$CACHE/uv"]),
    ("poetry", &["$CACHE/pypoetry"]),
    ("pipenv", &["$CACHE/pipenv"]),
    ("pre-commit", &["$CACHE/pre-commit"]),
    ("go", &["$GOPATH/pkg", "$CACHE/go-build", "$CACHE/golangci-lint", "$CACHE/staticcheck", "$CACHE/gopls"]),
    ("ccache", &["$CACHE/ccache", ".ccache"]),
    ("sccache", &["$CACHE/sccache"]),
    ("mvn", &[".m2/repository"]),
    ("gradle", &[".gradle/caches", ".gradle/native", ".gradle/wrapper"]),
    ("dotnet", &[".nuget/packages", ".local/share/NuGet/http-cache", ".local/share/NuGet/v3-cache"]),
    ("composer", &["$CACHE/composer"]),
    ("bundle", &[".bundle/cache"]),
    ("zig", &["$CACHE/zig"]),
    ("bazel", &["$CACHE/bazel/_bazel_$USER/cache", "$CACHE/bazelisk"]),
    ("conan", &[".conan2/p"]),
    ("stack", &[".stack/pantry", ".stack/snapshots"]),
    ("cabal", &[".cabal/packages", ".cabal/store", "$CACHE/cabal"]),
    ("dart", &[".pub-cache/hosted", ".pub-cache/git"]),
    ("fc-cache", &["$CACHE/fontconfig"]),
];

/// Where build tools say how their daemons are reached: a port of this machine, and the word that a daemon obeys. One
/// that the user has started runs what it is told outside the sandbox. `$USER` is the user's name.
const DAEMONS: &[&str] = &[
    "$DATA/kotlin/daemon",
    ".buck",
    ".gradle/daemon",
    ".kotlin/daemon",
    ".local/share/kotlin/daemon",
    ".m2/mvnd/registry",
    ".sbt/1.0/server",
    "Library/Application Support/kotlin/daemon",
];

/// Files beside caches that are written where they are there: how one process keeps another out, and when what was
/// used.
const CACHE_FILES: &[&str] =
    &["$CARGO_HOME/.package-cache", "$CARGO_HOME/.package-cache-mutate", "$CARGO_HOME/.global-cache"];

/// The files that tests and browsers have downloaded for them. They are read.
const DOWNLOADS: &[&str] = &[
    "$CACHE/Cypress",
    "$CACHE/bazel/_bazel_$USER/install",
    "$CACHE/electron",
    "$CACHE/ms-playwright",
    "$CACHE/puppeteer",
];

/// Devices that programs expect. A terminal of the program's own is granted when it enters the sandbox.
const DEVICES: &[&str] =
    &["/dev/full", "/dev/null", "/dev/ptmx", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"];

/// Where all terminals are: those that programs make, and those of others. Landlock cannot tell them apart.
const TERMINALS: &str = "/dev/pts";

/// The folders that programs of Homebrew need, in the folder that its `bin` lies in, where all are links. Of its
/// settings (`etc`) only the certificates.
const OF_HOMEBREW: &[&str] = &["Cellar", "Frameworks", "Homebrew", "etc/ca-certificates", "etc/openssl@3", "opt"];

/// Beside a folder with programs, what these need.
pub(super) const BESIDE_PROGRAMS: &[&str] = &["include", "lib", "lib64", "libexec", "share", "node_modules"];

/// Where toolchains and what they install are, by variables.
const HOMES: &[&str] =
    &["$CARGO_HOME", "$RUSTUP_HOME", "$GOPATH/bin", "$GOPATH/pkg", "$GOROOT", "$JAVA_HOME", "$NVM_DIR", "$PYENV_ROOT"];

pub(super) fn policy(settings: &Settings, world: &World<'_>) -> Policy {
    let home = path_in((world.environment)("HOME").as_deref());
    let dirs = Dirs { home: home.as_deref(), environment: world.environment };
    let holds_home = |folder: &Path| holds(folder, home.as_deref());

    // Who denies the home folder as a whole means the files in it, and not the programs that are installed there.
    let (of_home, denied): (Vec<_>, Vec<_>) = world.denied.iter().partition(|path| holds_home(path));
    let is_denied = |path: &Path| of_home.iter().any(|denied| path.starts_with(denied));
    // Whatever else the user opens, these stay closed.
    let closed = world.own.iter().chain(denied).filter(|path| is_plain(path));
    let closed: Vec<PathBuf> = closed.cloned().collect();
    let mut hidden = closed.clone();
    // The repository that the user works in is no credential, though it may be that of their settings.
    let is_workspaces = |path: &Path| path.ends_with(".git") && world.folders.iter().any(|it| path.starts_with(it));
    let mut credentials: Vec<PathBuf> = world.credentials.iter().filter(|path| !is_workspaces(path)).cloned().collect();
    hidden.extend(credentials.iter().cloned());
    hidden.extend(SYSTEM_SECRETS.iter().map(PathBuf::from));
    hidden.extend(HOME_SECRETS.iter().chain(DAEMONS).filter_map(|name| dirs.find(name)));
    hidden.extend(["credentials", "credentials.toml"].iter().filter_map(|it| dirs.find(&format!("$CARGO_HOME/{it}"))));

    // Paths that a variable names are told from those that are found without: see [`Origins::variables`].
    let mut variables = Vec::new();
    let mut found = |names: &mut dyn Iterator<Item = &str>| {
        let found = names.filter_map(|name| dirs.find(name).map(|path| (path, dirs.is_set(name))));
        let (set, usual): (Vec<_>, Vec<_>) = found.partition(|(_, is_set)| *is_set);
        let paths = |list: Vec<(PathBuf, bool)>| list.into_iter().map(|(path, _)| path).collect::<Vec<_>>();
        let (set, usual) = (paths(set), paths(usual));
        variables.extend(set.iter().cloned());
        (set, usual)
    };
    let is_open = |name: &&str| !dirs.find(name).is_some_and(|path| is_denied(&path));
    let settings_of_programs = PREFERENCES.iter().chain(SETTINGS).copied().filter(is_open);
    let mut names = TOOLCHAINS.iter().chain(DOWNLOADS).chain(HOMES).copied().chain(settings_of_programs);
    let (mut unlinked, usual) = found(&mut names);
    let mut read: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).chain(usual).collect();
    let mut names = CACHES.iter().flat_map(|(_, names)| *names).chain(CACHE_FILES).copied();
    let (set, mut caches) = found(&mut names);
    caches.extend(set);

    let of_programs = places_of_programs(world, home.as_deref());
    variables.extend(of_programs.iter().cloned());
    unlinked.extend(of_programs);
    unlinked.retain(|path| !read.iter().any(|place| path.starts_with(place)));

    let temporary = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp"].map(PathBuf::from);
    let mut temporary = temporary.to_vec();
    let own = path_in((world.environment)("TMPDIR").as_deref());
    let own = own.filter(|folder| folder.parent().is_some() && !holds_home(folder) && !temporary.contains(folder));

    let (mut write, mut read_only) = (Vec::new(), Vec::new());
    let usual = if settings.mode == SandboxMode::WorkspaceWrite { &mut write } else { &mut read_only };
    usual.extend(world.folders.iter().chain(world.repositories).cloned().chain(caches));

    // Paths that the user names are meant, whatever they hold.
    let named = |texts: &[String]| {
        let named = texts.iter().filter_map(|text| dirs.named(text));
        named.filter(|path| !is_denied(path)).collect::<Vec<_>>()
    };
    let (also_read, also_write) = (named(&settings.read), named(&settings.write));
    hidden.retain(|hidden| {
        closed.contains(hidden) || !also_read.iter().chain(&also_write).any(|named| hidden.starts_with(named))
    });
    credentials.retain(|path| hidden.contains(path));
    // A rule of the user's closes no folder for temporary files.
    let secret: Vec<PathBuf> = hidden.iter().filter(|path| !world.denied.contains(path)).cloned().collect();
    if let Some(folder) = own.filter(|folder| !touches(folder, &secret)) {
        variables.push(folder.clone());
        temporary.push(folder);
    }
    read.extend(also_read);
    let mut devices: Vec<PathBuf> = DEVICES.iter().map(PathBuf::from).collect();
    // Whoever names it wants terminals to be made, for which it is not enough to write there.
    devices.extend(also_write.iter().filter(|named| *named == Path::new(TERMINALS)).cloned());
    match settings.mode {
        SandboxMode::ReadOnly => read_only.extend(also_write.iter().cloned()),
        _ => write.extend(also_write.iter().cloned()),
    }
    // Paths that the user names, too, are not named by a variable alone.
    variables.retain(|path| !read.contains(path) && !also_write.contains(path));

    for list in [
        &mut read,
        &mut unlinked,
        &mut read_only,
        &mut write,
        &mut temporary,
        &mut devices,
        &mut hidden,
        &mut credentials,
    ] {
        list.sort();
        list.dedup();
    }
    let meant = world.folders.iter().cloned().chain(home).collect();
    let origins = Origins { variables, meant, secret };
    let rest = Policy { mode: settings.mode, network: settings.network, origins, ..Policy::nothing() };
    Policy { read, unlinked, read_only, write, temporary, devices, hidden, credentials, ..rest }
}

/// The folders of `PATH`, and what programs in them read beside these.
fn places_of_programs(world: &World<'_>, home: Option<&Path>) -> Vec<PathBuf> {
    let holds_home = |folder: &Path| holds(folder, home);
    let (mut places, programs) = (Vec::new(), (world.environment)("PATH").unwrap_or_default());
    for folder in std::env::split_paths(&programs).filter(|folder| is_plain(folder) && !holds_home(folder)) {
        // The parts of `~/.local` that programs need are named elsewhere; much else lies in its `share`.
        let is_local = |parent: &Path| home.is_some_and(|home| parent == home.join(".local"));
        if let Some(parent) = folder.parent().filter(|parent| !holds_home(parent) && !is_local(parent)) {
            places.extend(BESIDE_PROGRAMS.iter().map(|name| parent.join(name)));
            let is_named = parent.file_name().is_some_and(|name| name == ".linuxbrew" || name == "homebrew");
            if is_named || path_in((world.environment)("HOMEBREW_PREFIX").as_deref()).as_deref() == Some(parent) {
                places.extend(OF_HOMEBREW.iter().map(|name| parent.join(name)));
            }
        }
        places.push(folder);
    }
    places
}

/// Settings of tools in which credentials stand now, to be hidden beside what always is. Blocks.
pub fn settings_with_credentials(environment: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let home = path_in(environment("HOME").as_deref());
    let dirs = Dirs { home: home.as_deref(), environment };
    let names = SETTINGS.iter().chain(SETTINGS_OF_TOOLCHAINS);
    names.filter_map(|name| dirs.find(name)).flat_map(each).flat_map(with_credentials).collect()
}

/// The paths that one with a `*` stands for.
fn each(path: PathBuf) -> Vec<PathBuf> {
    let mut parts = path.iter();
    let before: PathBuf = parts.by_ref().take_while(|part| *part != "*").collect();
    let behind = parts.as_path();
    if before == path {
        return vec![path];
    }
    before.read_dir().into_iter().flatten().flatten().map(|entry| entry.path().join(behind)).collect()
}

/// Returns a file that has credentials, or the files of a folder that do. One that cannot be looked at, or is too much
/// to be, may have some.
fn with_credentials(path: PathBuf) -> Vec<PathBuf> {
    /// How many files of a folder are looked at, those nearest to its top first.
    const MOST_FILES: usize = 2048;
    let (mut waiting, mut found, mut left) = (VecDeque::from([(path, false)]), Vec::new(), MOST_FILES);
    while let Some((path, is_in_folder)) = waiting.pop_front() {
        let Ok(about) = path.metadata() else { continue };
        if !about.is_dir() {
            if file_has_credentials(&path, &about, is_in_folder) {
                found.push(path);
            }
            continue;
        }
        // The settings of a repository name accounts, those of its submodules as well, and no tool reads its settings
        // by git.
        if path.file_name().is_some_and(|name| name == ".git") {
            found.push(path);
            continue;
        }
        let Ok(entries) = path.read_dir() else { continue };
        // A link to a folder may lead in a circle, and is not granted with this one.
        let is_link_to_folder =
            |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink()) && entry.path().is_dir();
        let entries = entries.flatten().filter(|entry| !is_link_to_folder(entry));
        let entries: Vec<_> = entries.take(left + 1).map(|entry| (entry.path(), true)).collect();
        match left.checked_sub(entries.len()) {
            Some(rest) => {
                left = rest;
                waiting.extend(entries);
            }
            None => found.push(path),
        }
    }
    found
}

fn file_has_credentials(path: &Path, about: &Metadata, is_in_folder: bool) -> bool {
    /// Such settings are some lines long.
    const MOST_BYTES: u64 = 1 << 20;
    /// Where a file that is no text shows it.
    const BEGIN: usize = 8 << 10;
    if !about.is_file() {
        return true;
    }
    let Ok(bytes) = beginning(path, MOST_BYTES + 1) else { return true };
    // Editors keep lists of words and undone changes among their settings.
    if is_in_folder && bytes.iter().take(BEGIN).any(|byte| *byte == 0) {
        return false;
    }
    bytes.len() as u64 > MOST_BYTES || secrets::settings_hold_secret(&String::from_utf8_lossy(&bytes))
}

/// True if a folder is the home folder, or holds it.
pub(super) fn holds(folder: &Path, home: Option<&Path>) -> bool {
    home.is_some_and(|home| home.starts_with(folder))
}

/// Makes the folders of the caches whose programs are there, since what is not there cannot be granted; but none in
/// these folders, where commands make them, and links as well. Blocks.
pub fn make_caches(environment: &dyn Fn(&str) -> Option<OsString>, but: &[PathBuf]) {
    let home = path_in(environment("HOME").as_deref());
    let Some(home) = home.filter(|home| home.is_dir()) else { return };
    let dirs = Dirs { home: Some(&home), environment };
    let programs = environment("PATH").unwrap_or_default();
    let is_there = |name: &str| std::env::split_paths(&programs).any(|folder| folder.join(name).is_file());
    let links = Links::to(&[but, std::slice::from_ref(&home)].concat());
    let mut known = None;
    for (program, name) in CACHES.iter().flat_map(|(program, names)| names.iter().map(move |name| (*program, *name))) {
        let (_, there) = *match known {
            Some((name, _)) if name == program => known.get_or_insert((program, false)),
            _ => known.insert((program, is_there(program))),
        };
        let folder = dirs.led_to(name, &links, but).filter(|folder| there && !folder.exists());
        if let Some(folder) = folder {
            let _ = std::fs::create_dir_all(folder);
        }
    }
}

/// Finds folders by name.
pub(super) struct Dirs<'a> {
    pub(super) home: Option<&'a Path>,
    pub(super) environment: &'a dyn Fn(&str) -> Option<OsString>,
}

impl Dirs<'_> {
    /// A path in the home folder, or one that begins with a variable.
    pub(super) fn find(&self, name: &str) -> Option<PathBuf> {
        let user = || (self.environment)("USER")?.into_string().ok().filter(|user| !user.contains('/'));
        let name = match name.split_once("$USER") {
            Some((before, behind)) => format!("{before}{}{behind}", user()?),
            None => name.to_owned(),
        };
        let Some(variable) = name.strip_prefix('$') else { return self.home.map(|home| home.join(name)) };
        let (variable, rest) = variable.split_once('/').unwrap_or((variable, ""));
        let set = |name: &str| path_in((self.environment)(name).as_deref());
        let below = |name: &str| self.home.map(|home| home.join(name));
        let base = match variable {
            "CACHE" => set("XDG_CACHE_HOME").or_else(|| below(".cache")),
            "DATA" => set("XDG_DATA_HOME"),
            "CARGO_HOME" => set(variable).or_else(|| below(".cargo")),
            "RUSTUP_HOME" => set(variable).or_else(|| below(".rustup")),
            "GOPATH" => set(variable).or_else(|| below("go")),
            _ => set(variable),
        };
        // A variable must not open what it was not meant for.
        let base = base.filter(|base| !self.home.is_some_and(|home| home.starts_with(base)))?;
        Some(if rest.is_empty() { base } else { base.join(rest) })
    }

    /// True if a path that is found by this name is so because of a variable.
    fn is_set(&self, name: &str) -> bool {
        self.find(name) != Dirs { home: self.home, environment: &|_| None }.find(name)
    }

    /// Where a path that is found by this name leads. A link is believed as in [`led_to`], and as in [`Links::led_to`]
    /// where a variable names the path. Asks the disk.
    pub(super) fn led_to(&self, name: &str, links: &Links, folders: &[PathBuf]) -> Option<PathBuf> {
        let path = self.find(name)?;
        if self.is_set(name) { links.led_to(&path, folders) } else { led_to(&path, folders) }
    }

    /// A path as the user writes it.
    fn named(&self, text: &str) -> Option<PathBuf> {
        let path = match text.strip_prefix('~') {
            Some(rest) => self.home?.join(rest.trim_start_matches('/')),
            None => PathBuf::from(text),
        };
        let path: PathBuf = path.components().collect();
        is_plain(&path).then_some(path)
    }
}
