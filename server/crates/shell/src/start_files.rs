//! The variables, functions and aliases that the user's start files (`~/.profile`, `~/.bashrc`) make in a shell.
//!
//! They run once for each choice of places where commands may write, in a login shell of its own that is thrown away,
//! without a terminal and with nothing to read, and have [`DEADLINE`]. They are the user's, and run outside the
//! session's sandbox; but where commands have one, they see nothing of what commands of their session may have written
//! or a project has brought along: a program that is planted in an entry of `PATH`, or a file that they read, would run
//! outside. Entries that lie in any other project are left out of their `PATH` as well; but a file of another project
//! that they name by its path they read as any program of the user's does, since they may lie in a project themselves,
//! as dotfiles do. What they are refused by that is said where they say it themselves. What they made is taken over as
//! plain data: variables into the environment of our shells, by the same rules as the server's own; functions and
//! aliases by their text. What would change how our shell itself works, or what a known command's name means, is left
//! out: prompts, traps, options such as `set -e`, and each function or alias that hides a builtin or a program. So
//! permission, which judges commands by their names, need not know of them.

#![expect(clippy::disallowed_methods, reason = "the shell of the start files is started here")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use process::held::HeldId;
use process::processes::{self, Which};
use process::sandbox::Policy;
#[cfg(target_os = "linux")]
use process::supervisor;
use process::{environment, programs};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::OnceCell;

use super::ShellConfig;
use super::marker::Nonce;
use super::terminal::quoted;

/// How long start files may take.
const DEADLINE: Duration = Duration::from_secs(5);

/// How long a failure of theirs counts. What makes them fail may pass, such as a busy machine or a disk that does not
/// answer; but they may take [`DEADLINE`] to fail, which not every shell is to wait for.
const AGAIN: Duration = Duration::from_secs(60);

/// The most that is taken of what they made, in bytes.
const MOST: usize = 4 << 20;

/// So much is kept of the end of what they say on standard error, in bytes.
const SAID: usize = 16 << 10;

/// The most text of functions and aliases that a shell is given, in bytes.
const PROLOGUE: usize = 256 << 10;

/// Options of `set -o` that are taken over. Others change what a command line means.
const OPTIONS: &[&str] = &["pipefail", "noclobber"];

/// Variables that name something which ends with the shell of the start files, such as an agent that they started.
const SERVERS_OWN: &[&str] =
    &["SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "_", processes::MARK];

/// The files that bash reads as a login shell, in the home folder.
const FILES: &[&str] = &[".bash_profile", ".bash_login", ".profile", ".bashrc"];

/// Prints what the shell has, as records of a letter with a name, and a value, each ended by NUL.
const PRINT: &str = r#"
set +eu +xv; trap - DEBUG ERR RETURN EXIT; unset PROMPT_COMMAND; IFS=$' \t\n'
builtin printf '%s\0' "$0"
for n in $(builtin compgen -e); do builtin printf 'v%s\0%s\0' "$n" "${!n}"; done
for n in $(builtin compgen -b) $(builtin compgen -k); do builtin printf 'b%s\0\0' "$n"; done
for n in $(builtin compgen -A function); do
  builtin type -P -- "$n" >/dev/null && builtin printf 'b%s\0\0' "$n"
  builtin printf 'f%s\0%s\0' "$n" "$(builtin declare -f -- "$n")"
done
for n in "${!BASH_ALIASES[@]}"; do
  builtin type -P -- "$n" >/dev/null && builtin printf 'b%s\0\0' "$n"
  builtin printf 'a%s\0%s\0' "$n" "${BASH_ALIASES[$n]}"
done
for n in pipefail noclobber; do [[ -o $n ]] && builtin printf 'o%s\0\0' "$n"; done
builtin printf '%s\0' "$0"
"#;

/// The user's start files, run when a shell is first wanted.
#[derive(Debug, Default)]
pub struct StartFiles {
    runs: Arc<Runs>,
    /// The same for each choice of places that they see nothing of, as sessions have them that are open.
    all: Arc<Mutex<HashMap<Vec<PathBuf>, Weak<Runs>>>>,
    /// The places that they see nothing of; none if commands have no sandbox.
    apart: Option<Apart>,
    /// True once the user of this session has been told that they failed, or were refused something.
    is_told: AtomicBool,
}

/// The outcome of the start files: what they have made once they have run, and till then why not.
#[derive(Debug, Default)]
struct Runs {
    made: OnceCell<Arc<Made>>,
    /// When they failed last, and why.
    failed: Mutex<Option<(Instant, String)>>,
}

impl Runs {
    /// Returns what they have made, or their last failure while that counts; if there is neither, what `run` returns.
    async fn get(&self, run: impl AsyncFnOnce() -> Result<Made, String>) -> Result<Arc<Made>, String> {
        let run = move || async move {
            if let Some((at, why)) = &*self.failed()
                && at.elapsed() < AGAIN
            {
                return Err(why.clone());
            }
            run().await.map(Arc::new).inspect_err(|why| *self.failed() = Some((Instant::now(), why.clone())))
        };
        self.made.get_or_try_init(run).await.cloned()
    }

    fn failed(&self) -> MutexGuard<'_, Option<(Instant, String)>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The places that start files see nothing of.
#[derive(Clone, Debug)]
struct Apart {
    /// The program that confines them.
    supervisor: PathBuf,
    /// The places where commands write, and the workspace.
    places: Vec<PathBuf>,
    /// Where commands of other sessions write: no program of their `PATH` is from there.
    others: Vec<PathBuf>,
    /// A private folder, in which theirs for temporary files is made.
    folder: PathBuf,
}

/// The environment and definitions that start files have made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Made {
    /// The exported variables.
    pub(super) environment: Vec<(OsString, OsString)>,
    /// Lines that define functions, aliases and options.
    pub(super) prologue: String,
    /// The refusals that they said they met, in words for the user.
    pub(super) refused: Option<String>,
}

impl Made {
    /// Puts the entries of this `PATH` back that were left out of it: commands have it whole.
    fn put_back(&mut self, path: &OsStr, left_out: &[PathBuf]) {
        for (_, value) in self.environment.iter_mut().filter(|(name, _)| name == "PATH") {
            *value = programs::put_back(value, path, left_out).unwrap_or_else(|| value.clone());
        }
    }
}

impl StartFiles {
    /// Files that have made a variable.
    #[cfg(test)]
    pub(super) fn making(name: &str, value: &str) -> Self {
        let mut environment: Vec<_> = std::env::vars_os().collect();
        environment.push((name.into(), value.into()));
        let made = OnceCell::new_with(Some(Arc::new(Made { environment, ..Made::default() })));
        Self { runs: Arc::new(Runs { made, ..Runs::default() }), ..Self::default() }
    }

    /// Files that have failed.
    #[cfg(test)]
    pub(super) fn failing(why: &str) -> Self {
        let failed = Mutex::new(Some((Instant::now(), why.to_owned())));
        Self { runs: Arc::new(Runs { failed, ..Runs::default() }), ..Self::default() }
    }

    /// The same files for another session, which has a shell of this kind. Its user has to be told as well where they
    /// fail.
    #[must_use]
    pub fn for_session(&self, config: &ShellConfig) -> Self {
        let policy = config.confinement.in_force().filter(|_| cfg!(target_os = "linux"));
        let apart = policy.zip(config.confinement.supervisor.clone()).map(|(policy, supervisor)| Apart {
            supervisor,
            places: [policy.of_commands(), config.trust.folders.clone()].concat(),
            others: config.trust.written.clone(),
            folder: config.folder.clone(),
        });
        let places = apart.as_ref().map(|apart| [apart.places.as_slice(), &apart.others].concat());
        let runs = self.runs_of(places.unwrap_or_default());
        Self { runs, all: Arc::clone(&self.all), apart, is_told: AtomicBool::new(false) }
    }

    /// Those of all sessions with these places. What no session has any more is forgotten.
    fn runs_of(&self, places: Vec<PathBuf>) -> Arc<Runs> {
        if self.runs.made.initialized() || self.runs.failed().is_some() {
            return Arc::clone(&self.runs);
        }
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, runs| runs.strong_count() > 0);
        let known = all.get(&places).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let runs = Arc::default();
            all.insert(places, Arc::downgrade(&runs));
            runs
        })
    }

    /// Returns what the user is to be told of what they have made: once in a session, which has many shells.
    pub(super) fn words_of(&self, made: &Result<Arc<Made>, String>) -> Option<String> {
        let words = match made {
            Ok(made) => made.refused.clone()?,
            Err(why) => format!(
                "Commands run without what your shell's start files (~/.bash_profile, ~/.bashrc) define: {why}. Mend \
                 them, or set `shell_rc = false`."
            ),
        };
        (!self.is_told.swap(true, Ordering::Relaxed)).then_some(words)
    }

    /// Returns what they have made.
    ///
    /// # Errors
    /// Why it could not be taken over, in words for the user. After a while ([`AGAIN`]) they are run once more.
    pub(super) async fn made(&self, bash: &Path, pass: &[String]) -> Result<Arc<Made>, String> {
        self.runs.get(async || run(bash, environment::of_ours(pass), self.apart.clone()).await).await
    }
}

/// The findings of a look at the disk for these places.
struct Looked {
    /// The places, with links resolved and with the environments of projects.
    places: Vec<PathBuf>,
    /// A start file that lies in a place where commands write, or leads there.
    file: Option<PathBuf>,
    /// The `PATH` that the start files get, and what was left out of it.
    path: (OsString, Vec<PathBuf>),
}

impl Apart {
    /// Asks the disk.
    fn look(&self, home: Option<&Path>, path: &OsStr) -> Looked {
        let real = |place: &PathBuf| place.canonicalize().unwrap_or_else(|_| place.clone());
        let mut places: Vec<PathBuf> = self.places.iter().map(real).collect();
        let files = FILES.iter().filter_map(|name| Some(home?.join(name)));
        let lies_in =
            |file: &PathBuf| file.canonicalize().is_ok_and(|real| places.iter().any(|it| real.starts_with(it)));
        let file = files.into_iter().find(lies_in);
        let (answering, silent) = programs::answering(path);
        let entries = std::env::split_paths(&answering).flat_map(|entry| [real(&entry), entry]);
        places.extend(entries.filter_map(|entry| programs::environment_of(&entry)).map(|it| real(&it)));
        let (kept, mut left_out) = programs::without(&answering, &[places.as_slice(), &self.others].concat());
        left_out.extend(silent);
        Looked { places, file, path: (kept, left_out) }
    }
}

/// Where start files run that see nothing of these places.
struct Enclosure {
    supervisor: PathBuf,
    policy: Policy,
    /// The `PATH` that they get, and what was left out of it.
    path: (OsString, Vec<PathBuf>),
    /// Theirs for temporary files.
    temporary: TempDir,
}

impl Enclosure {
    async fn new(apart: Apart, home: Option<PathBuf>, path: OsString) -> Result<Self, String> {
        let Apart { supervisor, folder, .. } = apart.clone();
        let looked = programs::answered(2 * DEADLINE, move || apart.look(home.as_deref(), &path)).await?;
        if let Some(file) = &looked.file {
            let file = file.display();
            return Err(format!("{file} lies where commands may write, and would run outside their sandbox"));
        }
        let temporary = tempfile::Builder::new().prefix("start-files-").tempdir_in(folder);
        let temporary =
            temporary.map_err(|error| format!("no folder can be made for their temporary files: {error}"))?;
        let policy = Policy::apart_from(looked.places, temporary.path().to_owned());
        let policy = programs::answered(2 * DEADLINE, move || policy.answering()).await?;
        Ok(Self { supervisor, policy, path: looked.path, temporary })
    }

    /// Changes what they made to what it would be where the user runs them: with the user's own folder for temporary
    /// files in the place of theirs, which is removed.
    fn put_right(&self, made: &mut Made, temporary: Option<&OsStr>) {
        let theirs = self.temporary.path();
        made.environment.retain(|(name, value)| temporary.is_some() || name != "TMPDIR" || theirs != Path::new(value));
        let users = temporary.map_or("/tmp".into(), OsStr::to_string_lossy);
        let put = |text: &str| text.replace(&*theirs.to_string_lossy(), &users);
        for (_, value) in &mut made.environment {
            if let Some(text) = value.to_str() {
                *value = put(text).into();
            }
        }
        made.prologue = put(&made.prologue);
    }

    /// Returns what was refused to them, by what they said themselves.
    fn refused(&self, said: &[u8], home: Option<&Path>) -> Option<String> {
        let home: Vec<&Path> = home.into_iter().collect();
        let reasons = self.policy.refused(&String::from_utf8_lossy(said), &home);
        (!reasons.is_empty()).then(|| {
            format!(
                "Your shell's start files (~/.bash_profile, ~/.bashrc) run in a sandbox that keeps them from what commands may \
                 have written, and this was refused to them: {}. What they define may lack something by that.",
                reasons.join("; ")
            )
        })
    }
}

async fn run(bash: &Path, server: Vec<(OsString, OsString)>, apart: Option<Apart>) -> Result<Made, String> {
    // It stands around what is printed.
    let around = Nonce::random().as_str().to_owned();
    let of_server = |wanted: &str| server.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    let (home, path) = (of_server("HOME").map(PathBuf::from), of_server("PATH").unwrap_or_default());
    let enclosure = match apart {
        Some(apart) => Some(Enclosure::new(apart, home.clone(), path.clone()).await?),
        None => None,
    };
    let (given, left_out) = match &enclosure {
        Some(enclosure) => enclosure.path.clone(),
        None => {
            let path = path.clone();
            programs::answered(2 * DEADLINE, move || programs::answering(&path)).await?
        }
    };
    let mut running = Running::start(bash, &server, (&given, enclosure.as_ref()), home.as_deref(), &around)
        .map_err(|error| format!("bash cannot be started for them: {error}"))?;
    let said = tokio::spawn(last_of(running.child.stderr.take()));
    let read = tokio::time::timeout(DEADLINE, read_between(running.child.stdout.take(), around.as_bytes())).await;
    running.end().await;
    let said = tokio::time::timeout(DEADLINE, said).await.ok().and_then(Result::ok).unwrap_or_default();
    let bytes = match read {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err("they ended the shell, or started another one in its place".to_owned()),
        Err(_) => return Err(format!("they took longer than {} s", DEADLINE.as_secs())),
    };
    let mut made = take(&bytes, &server);
    made.put_back(&path, &left_out);
    if let Some(enclosure) = enclosure {
        enclosure.put_right(&mut made, of_server("TMPDIR").as_deref());
        made.refused = enclosure.refused(&said, home.as_deref());
    }
    Ok(made)
}

/// The shell of the start files. When it is dropped, it and all that it started are killed.
struct Running {
    child: Child,
    /// The mark by which its processes are known if it has no supervisor.
    mark: String,
    is_supervised: bool,
}

impl Running {
    fn start(
        bash: &Path,
        server: &[(OsString, OsString)],
        (path, enclosure): (&OsStr, Option<&Enclosure>),
        home: Option<&Path>,
        around: &str,
    ) -> std::io::Result<Self> {
        let mark = Nonce::random().as_str().to_owned();
        let mut command = match enclosure {
            #[cfg(target_os = "linux")]
            Some(enclosure) => {
                let mut command = Command::new(&enclosure.supervisor);
                command.arg(supervisor::HOLDER).arg(std::process::id().to_string());
                command.args(enclosure.policy.to_args(&[])).arg("--").arg(bash).process_group(0);
                command
            }
            _ => in_a_session_of_its_own(bash),
        };
        command.args(["-lic", PRINT, around]);
        let loads_nothing = |(name, _): &&(OsString, OsString)| !environment::loads(name);
        command.env_clear().envs(server.iter().filter(loads_nothing).cloned());
        command.env(processes::MARK, &mark).env("TERM", "dumb").env("PATH", path);
        if let Some(enclosure) = enclosure {
            command.env("TMPDIR", enclosure.temporary.path());
        }
        if let Some(home) = home {
            command.current_dir(home);
        }
        let stderr = if enclosure.is_some() { Stdio::piped() } else { Stdio::null() };
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr).spawn()?;
        let is_supervised = enclosure.is_some() && cfg!(target_os = "linux");
        Ok(Self { child, mark, is_supervised })
    }

    /// Kills it and all that it started, and waits until nothing of that is left.
    async fn end(&mut self) {
        match HeldId::of(&self.child, self.is_supervised) {
            // Its supervisor outlives the shell, to see to it that nothing is left.
            Some(id) if self.is_supervised => id.kill(),
            Some(id) => {
                let mark = self.mark.clone();
                let _ = tokio::task::spawn_blocking(move || processes::kill(id.pid(), &mark, Which::All)).await;
            }
            None => {}
        }
        let _ = tokio::time::timeout(DEADLINE, self.child.wait()).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // None if it has been waited for.
        let Some(id) = HeldId::of(&self.child, self.is_supervised) else { return };
        if self.is_supervised {
            return id.kill();
        }
        let mark = std::mem::take(&mut self.mark);
        // It may take a second.
        let _ = std::thread::Builder::new().spawn(move || processes::kill(id.pid(), &mark, Which::All));
    }
}

/// Reads what is printed between two marks. What start files leave running may hold the pipe open, so its end is not
/// waited for. None if it ends before, or is too much.
async fn read_between(output: Option<impl AsyncRead + Unpin>, around: &[u8]) -> Option<Vec<u8>> {
    let mut output = output?;
    let (mut bytes, mut part) = (Vec::new(), vec![0; 64 << 10]);
    while bytes.len() <= MOST {
        let length = output.read(&mut part).await.ok().filter(|length| *length > 0)?;
        bytes.extend_from_slice(part.get(..length)?);
        if let Some(between) = between(&bytes, around) {
            return Some(between.to_vec());
        }
    }
    None
}

/// The end of what is written there.
async fn last_of(output: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let Some(mut output) = output else { return Vec::new() };
    let (mut last, mut part) = (Vec::new(), vec![0; SAID]);
    while let Ok(length @ 1..) = output.read(&mut part).await {
        last.extend_from_slice(part.get(..length).unwrap_or_default());
        last.drain(..last.len().saturating_sub(SAID));
    }
    last
}

/// A bash in a session of its own, which has no terminal that start files could ask.
fn in_a_session_of_its_own(bash: &Path) -> Command {
    match ["/usr/bin/setsid", "/bin/setsid"].into_iter().find(|path| Path::new(path).is_file()) {
        Some(setsid) => {
            let mut command = Command::new(setsid);
            command.arg(bash);
            command
        }
        None => {
            let mut command = Command::new(bash);
            command.process_group(0);
            command
        }
    }
}

/// Returns what stands between two marks, once both are there.
fn between<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let mark = [mark, b"\0"].concat();
    let find = |bytes: &[u8]| bytes.windows(mark.len()).position(|window| window == mark);
    let after = bytes.get(find(bytes)? + mark.len()..)?;
    after.get(..find(after)?)
}

/// Takes over what was printed. Keeps what `server` has of [`SERVERS_OWN`], and what the start files did not get.
fn take(bytes: &[u8], server: &[(OsString, OsString)]) -> Made {
    let mut parts = bytes.split(|byte| *byte == 0);
    let mut made: Vec<_> =
        server.iter().filter(|(name, _)| SERVERS_OWN.iter().any(|own| *own == name.as_os_str())).cloned().collect();
    let (mut functions, mut aliases) = (BTreeMap::new(), BTreeMap::new());
    let (mut hidden, mut options) = (BTreeSet::new(), Vec::<&str>::new());
    while let (Some([kind, name @ ..]), Some(value)) = (parts.next(), parts.next()) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match kind {
            // Exported functions come as functions, where they are judged.
            b'v' if SERVERS_OWN.iter().any(|own| own.as_bytes() == name) || name.starts_with(b"BASH_FUNC_") => {}
            b'v' => made.push((OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec()))),
            b'b' => drop(hidden.insert(text(name))),
            b'f' => drop(functions.insert(text(name), text(value))),
            b'a' => drop(aliases.insert(text(name), text(value))),
            b'o' => options.extend(OPTIONS.iter().find(|option| option.as_bytes() == name)),
            _ => {}
        }
    }
    let not_given = server.iter().filter(|(name, _)| environment::loads(name));
    for (name, value) in not_given {
        match made.iter_mut().find(|(known, _)| known == name) {
            None => made.push((name.clone(), value.clone())),
            // They usually put a folder before those that were there, of which they saw none.
            Some((_, exported)) => {
                if let Some(joined) = programs::joined(name, exported, value) {
                    *exported = joined;
                }
            }
        }
    }
    let left_out: Vec<_> =
        functions.keys().chain(aliases.keys()).filter(|name| is_ours(name, &hidden)).cloned().collect();
    if !left_out.is_empty() {
        tracing::debug!(?left_out, "functions and aliases of the user's that hide a command are left out");
    }
    functions.retain(|name, _| !is_ours(name, &hidden));
    aliases.retain(|name, _| !is_ours(name, &hidden));
    let functions = wanted(functions, &aliases);

    let mut prologue = String::from("shopt -s extglob\n");
    for text in functions.values() {
        prologue.push_str(&format!("command eval {} >/dev/null 2>&1\n", quoted(text)));
    }
    for (name, value) in &aliases {
        prologue.push_str(&format!("alias -- {} >/dev/null 2>&1\n", quoted(&format!("{name}={value}"))));
    }
    prologue.push_str("shopt -u extglob\n");
    for option in options {
        prologue.push_str(&format!("set -o {option}\n"));
    }
    if prologue.len() > PROLOGUE {
        tracing::warn!(bytes = prologue.len(), "the user's functions and aliases are too many to be taken over");
        prologue.clear();
    }
    Made { environment: made, prologue, refused: None }
}

/// True if a name is that of a builtin or program, of a command that is known to only read, or one of our own.
fn is_ours(name: &str, hidden: &BTreeSet<String>) -> bool {
    hidden.contains(name) || name.starts_with("__azimuth") || !name.chars().all(is_of_a_name)
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.:+@".contains(c)
}

/// Leaves out what is there for completion only: functions whose name begins with `_`, unless another that stays names
/// them.
fn wanted(mut functions: BTreeMap<String, String>, aliases: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let helpers: Vec<String> = functions.keys().filter(|name| name.starts_with('_')).cloned().collect();
    let mut rest: BTreeMap<String, String> =
        helpers.into_iter().filter_map(|name| functions.remove_entry(&name)).collect();
    let mut texts: Vec<String> = functions.values().chain(aliases.values()).cloned().collect();
    while let Some(text) = texts.pop() {
        let words: BTreeSet<&str> = text.split(|c: char| !is_of_a_name(c)).collect();
        let named: Vec<String> = rest.keys().filter(|name| words.contains(name.as_str())).cloned().collect();
        for name in named {
            if let Some((name, text)) = rest.remove_entry(&name) {
                texts.push(text.clone());
                functions.insert(name, text);
            }
        }
    }
    functions
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// Returns what a home with these start files makes.
    async fn made(files: &[(&str, &str)]) -> Result<Made, String> {
        let home = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(home.path().join(name), text).unwrap();
        }
        let server = [("HOME", home.path().to_str().unwrap()), ("PATH", "/usr/bin:/bin"), ("SSH_AUTH_SOCK", "/mine")];
        run(Path::new("/bin/bash"), server.map(|(name, value)| (name.into(), value.into())).to_vec(), None).await
    }

    #[tokio::test]
    async fn start_files_load_no_library_that_the_environment_names_and_commands_still_do() {
        let home = tempfile::tempdir().unwrap();
        let profile = "export SEEN=\"<$LD_LIBRARY_PATH>\" LD_PRELOAD='mine.so both.so' LD_BIND_NOW=1\n\
                       export DYLD_LIBRARY_PATH=$HOME/lib:/opt/lib:$DYLD_LIBRARY_PATH\n";
        std::fs::write(home.path().join(".bash_profile"), profile).unwrap();
        let home = home.path().to_str().unwrap();
        let server = [
            ("HOME", home),
            ("PATH", "/usr/bin:/bin"),
            ("LD_LIBRARY_PATH", "/opt/lib"),
            ("LD_PRELOAD", "both.so:theirs.so"),
            ("LD_BIND_NOW", "0"),
            ("DYLD_LIBRARY_PATH", "/opt/cuda/lib64:/opt/lib"),
        ];
        let server = server.map(|(name, value)| (name.into(), value.into())).to_vec();
        let made = run(Path::new("/bin/bash"), server, None).await.unwrap();
        assert_eq!(value(&made, "SEEN").as_deref(), Some("<>"));
        assert_eq!(value(&made, "LD_LIBRARY_PATH").as_deref(), Some("/opt/lib"));
        assert_eq!(value(&made, "LD_PRELOAD").as_deref(), Some("mine.so:both.so:theirs.so"));
        assert_eq!(value(&made, "LD_BIND_NOW").as_deref(), Some("1"), "it is no list");
        let both = format!("{home}/lib:/opt/lib:/opt/cuda/lib64");
        assert_eq!(
            value(&made, "DYLD_LIBRARY_PATH"),
            Some(both),
            "what was there stays behind what they put before it"
        );
    }

    fn value(made: &Made, name: &str) -> Option<String> {
        let found = made.environment.iter().find(|(known, _)| known == name)?;
        found.1.to_str().map(str::to_owned)
    }

    #[tokio::test]
    async fn variables_functions_and_aliases_are_taken_over() {
        let profile = "export PATH=\"/opt/mine:$PATH\" GREETING=$'hello\\nthere'; unexported=1\n\
                       greet() { _greet_helper \"$1\"; }\n_greet_helper() { echo \"hi $1\"; }\n_complete_me() { :; }\n\
                       alias ll='ls -l' say=\"echo it's\"\nset -o pipefail\necho noise; read -r x\n";
        let made = made(&[(".bash_profile", profile)]).await.unwrap();
        assert_eq!(value(&made, "GREETING").as_deref(), Some("hello\nthere"));
        assert!(value(&made, "PATH").unwrap().starts_with("/opt/mine:"));
        assert_eq!(value(&made, "unexported"), None);
        let text = &made.prologue;
        assert!(
            text.contains("greet ()") && text.contains("_greet_helper ()") && !text.contains("_complete_me"),
            "{text}"
        );
        assert!(text.contains("alias -- 'll=ls -l'") && text.contains(r"alias -- 'say=echo it'\''s'"), "{text}");
        assert!(text.contains("set -o pipefail"), "{text}");
    }

    #[tokio::test]
    async fn what_hides_a_command_or_changes_the_shell_is_left_out() {
        let profile = "cd() { builtin cd \"$@\"; }; command() { :; }; cat() { rm -rf \"$1\"; }; printf() { :; }\n\
                       export -f cat\nalias ls='rm -rf' grep='grep --color' mine='echo fine'\n\
                       set -eu; trap 'echo bye' EXIT; PROMPT_COMMAND='exit'; export SSH_AUTH_SOCK=/started\n";
        let made = made(&[(".bash_profile", profile)]).await.unwrap();
        let text = &made.prologue;
        for name in ["cd ()", "command ()", "cat ()", "printf ()", "ls=", "grep=", "set -e", "set -u", "trap"] {
            assert!(!text.contains(name), "{name}: {text}");
        }
        assert!(text.contains("mine="), "{text}");
        assert_eq!(value(&made, "SSH_AUTH_SOCK").as_deref(), Some("/mine"));
        assert!(!made.environment.iter().any(|(name, _)| name.to_string_lossy().starts_with("BASH_FUNC_")));
    }

    #[tokio::test]
    async fn start_files_that_hang_or_leave_are_given_up_and_leave_nothing_behind() {
        let began = Instant::now();
        let hung = made(&[(".bash_profile", "sleep 1234567 & sleep 1234567\n")]).await.unwrap_err();
        assert!(hung.contains("longer than 5 s") && began.elapsed() < 3 * DEADLINE, "{hung}");
        for leave in ["exec true\n", "exit 0\n", "kill -9 $$\n"] {
            let left = made(&[(".bash_profile", leave)]).await.unwrap_err();
            assert!(left.contains("ended the shell"), "{leave}: {left}");
        }
        let asks = made(&[(".bash_profile", "read -r answer </dev/tty; export ANSWER=\"[$answer]\"\n")]).await.unwrap();
        assert_eq!(value(&asks, "ANSWER").as_deref(), Some("[]"));
        let daemon = made(&[(".bash_profile", "(setsid sleep 7654321 &); export UP=1\n")]).await.unwrap();
        assert_eq!(value(&daemon, "UP").as_deref(), Some("1"));
        let left = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            line == b"sleep\x007654321\0" || line == b"sleep\x001234567\0"
        });
        assert_eq!(left.count(), 0);
    }

    #[tokio::test]
    async fn what_they_make_of_their_folder_for_temporary_files_is_of_the_users_own() {
        let folder = tempfile::tempdir().unwrap();
        let (supervisor, folder) = (PathBuf::new(), folder.path().to_owned());
        let apart = Apart { supervisor, places: Vec::new(), others: Vec::new(), folder };
        let enclosure = Enclosure::new(apart, None, "/usr/bin".into()).await.unwrap();
        let theirs = enclosure.temporary.path().display();
        let environment = [
            ("TMPDIR", theirs.to_string()),
            ("TMP", theirs.to_string()),
            ("GOTMPDIR", format!("{theirs}/go")),
            ("BOTH", format!("/a:{theirs}/b:{theirs}")),
            ("OTHER", "/a".to_owned()),
        ];
        let environment: Vec<_> = environment.map(|(name, value)| (name.into(), value.into())).to_vec();
        let prologue = format!("alias -- 'scratch=cd {theirs}'\n");
        let made = Made { environment, prologue, refused: None };
        for (users, expected) in [(None, "/tmp"), (Some("/own"), "/own")] {
            let mut made = made.clone();
            enclosure.put_right(&mut made, users.map(OsStr::new));
            assert_eq!(value(&made, "TMPDIR").as_deref(), users, "where the user has none, commands have none");
            for (name, right) in [("TMP", ""), ("GOTMPDIR", "/go")] {
                assert_eq!(value(&made, name), Some(format!("{expected}{right}")), "{name}");
            }
            assert_eq!(value(&made, "BOTH"), Some(format!("/a:{expected}/b:{expected}")));
            assert_eq!(value(&made, "OTHER").as_deref(), Some("/a"));
            assert_eq!(made.prologue, format!("alias -- 'scratch=cd {expected}'\n"));
        }
    }
    #[tokio::test]
    async fn a_failure_counts_for_a_while_and_then_they_are_run_once_more() {
        let (runs, count) = (Runs::default(), std::cell::Cell::new(0));
        let run = async |outcome: Result<Made, String>| {
            let run = async || {
                count.set(count.get() + 1);
                outcome
            };
            runs.get(run).await.map(|made| made.prologue.clone())
        };
        let failed = || Err("they took longer than 5 s".to_owned());
        let made = |prologue: &str| Ok(Made { prologue: prologue.to_owned(), ..Made::default() });
        assert_eq!(run(failed()).await, failed().map(|_: Made| String::new()));
        assert!(run(made("not yet")).await.is_err(), "not every shell tries it again");
        assert_eq!(count.get(), 1);
        runs.failed().as_mut().unwrap().0 -= AGAIN;
        assert!(run(failed()).await.is_err());
        assert!(run(made("not yet")).await.is_err(), "the second failure counts as the first did");
        assert_eq!(count.get(), 2);
        runs.failed().as_mut().unwrap().0 -= AGAIN;
        for later in ["first", "second"] {
            assert_eq!(run(made(later)).await.as_deref(), Ok("first"));
        }
        assert_eq!(count.get(), 3);
    }

    #[test]
    fn what_no_session_uses_any_more_is_forgotten() {
        let files = StartFiles::default();
        let places = |name: &str| vec![PathBuf::from(name)];
        let (first, second) = (files.runs_of(places("/a")), files.runs_of(places("/a")));
        assert!(Arc::ptr_eq(&first, &second), "sessions with the same places share them");
        let other = files.runs_of(places("/b"));
        let count = || files.all.lock().unwrap().len();
        assert_eq!(count(), 2);
        drop((first, second));
        drop(files.runs_of(places("/b")));
        assert_eq!(count(), 1);
        drop(other);
    }
}
