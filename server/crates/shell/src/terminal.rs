//! A shell process in a pseudo-terminal.
//!
//! The shell is interactive, so that Ctrl-C ends a command and not the shell, and jobs have process groups of their
//! own. It reads its commands from a named pipe, not from the terminal: what the user types can only reach the command
//! that runs, and never becomes a part of ours. The pipe's other end is ours alone; when this process dies, however it
//! dies, the terminal is hung up and the pipe ends, and the shell hangs up its jobs.

#![expect(clippy::disallowed_methods, reason = "the shell's control pipe is no project file")]

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use portable_pty::{Child, MasterPty, PtySize, native_pty_system};
use process::environment;
use process::gradle;
use process::launch::{Confinement, LastWord, Launched, Program};
use process::processes::{self, Process, Which};
use protocol::terminal::{TerminalSignal, TerminalSize, Typist};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::jobs::listening::listening;
use super::keyboard::{Keyboard, KeyboardFull, Press};
use super::marker::Nonce;
use super::screen::{Followed, Screen};
use super::spool::Spool;
use super::typed::Chunk;
use super::waiting::{self, Keys, Look, Seen};

/// How soon after a Ctrl-C its effect is looked for first; each further look comes after twice the time.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// The longest time after which an interrupt is still repeated.
const LAST_REPEAT: Duration = Duration::from_millis(2500);

/// The text that is shown, to the user and to the model, if a shell's supervisor could not see what was left.
const BLIND: &str = "\r\nazimuth: the supervisor of this shell could not see in /proc which processes were left of it, and killed \
                     all that it had started, also what was meant to go on.\r\n";

/// The longest time between two looks.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The beginning of the name of a control pipe.
pub(super) const PIPE: &str = "shell-";

/// How a shell is started.
pub(super) struct Start {
    /// The shell, absolute.
    pub(super) program: PathBuf,
    /// The folder it starts in.
    pub(super) cwd: PathBuf,
    /// A private folder for the control pipe.
    pub(super) folder: PathBuf,
    /// Names of secrets that commands may see.
    pub(super) pass: Vec<String>,
    /// Settings of git beside the usual ones.
    pub(super) of_git: Vec<(String, String)>,
    /// Folders in which no program is looked for by its name: those of a workspace that is not trusted.
    pub(super) without: Vec<PathBuf>,
    /// The confinement of its processes.
    pub(super) confinement: Confinement,
    /// The shell's environment: the server's, or what the user's start files make of it.
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) size: TerminalSize,
}

impl Start {
    /// True if the shell is bash.
    pub(super) fn is_bash(&self) -> bool {
        self.program.file_name().is_some_and(|name| name == "bash")
    }
}

/// A running shell. All its processes end with it.
pub(super) struct Terminal {
    leader: Pid,
    is_bash: bool,
    mark: String,
    master: Arc<Mutex<Box<dyn MasterPty + Send>>>,
    keyboard: Arc<Keyboard>,
    /// The presses that [`Terminal::see_interrupts_through`] has yet to see.
    presses: tokio::sync::Mutex<UnboundedReceiver<Press>>,
    /// Where a signal is told to it that is to have the effect of a Ctrl-C.
    pressed: UnboundedSender<Press>,
    control: tokio::sync::Mutex<pipe::Sender>,
    screen: Arc<Mutex<Screen>>,
    /// Is triggered when the shell has ended and nothing more will be printed.
    gone: CancellationToken,
    /// The mark of the last command's end, which is asked for again after an interrupt.
    end: Mutex<Option<Nonce>>,
    /// The shell's own folder, where the last command ran in another.
    away_from: Mutex<Option<PathBuf>>,
}

/// The thing that a shell is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What<'a> {
    /// A command line.
    Command(&'a str),
    /// A prompt for the user.
    Prompt,
    /// Another after that, to which they may be typing already.
    NextPrompt,
}

/// How hard a command is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    /// Like Ctrl-C: the foreground job is interrupted.
    Interrupt,
    /// Everything the command has started is asked to end.
    Terminate,
    /// Everything the command has started is killed.
    Kill,
}

impl Terminal {
    /// Starts a shell. Sends what is typed into it to `typed`. Blocks shortly; needs a tokio runtime around it.
    pub(super) fn open(start: &Start, spool: Arc<Spool>, typed: UnboundedSender<Chunk>) -> io::Result<Self> {
        let mark = Nonce::random().as_str().to_owned();
        let pipe = ControlPipe::new(start.folder.join(format!("{PIPE}{mark}")))?;
        let control = pipe.sender()?;

        let pair = native_pty_system().openpty(pty_size(start.size)).map_err(io::Error::other)?;
        let mut reader = pair.master.try_clone_reader().map_err(io::Error::other)?;
        let writer = pair.master.take_writer().map_err(io::Error::other)?;
        let tty = pair.master.tty_name().ok_or_else(|| io::Error::other("the terminal has no name"))?;
        let launched = start.confinement.launch(pair.slave.as_ref(), program(start, &pipe.path, &mark))?;
        let Launched { child, leader, last_word } = launched;
        drop(pair.slave);

        let master = Arc::new(Mutex::new(pair.master));
        let (sender, presses) = unbounded_channel();
        let pressed = sender.clone();
        let keyboard = Keyboard::new(tty, writer, sender, typed, Arc::clone(&spool), {
            let master = Arc::clone(&master);
            move || foreground(&master).is_some_and(|group| processes::handles_interrupts(leader, group))
        })?;

        let screen = Arc::new(Mutex::new(Screen::new(spool)));
        let gone = CancellationToken::new();
        let end = wait_for(child, leader, last_word, mark.clone())?;
        std::thread::Builder::new().name("terminal output".to_owned()).spawn({
            let (screen, gone, mark) = (Arc::clone(&screen), gone.clone(), mark.clone());
            move || {
                let _pipe = pipe;
                read_all(&mut reader, &screen);
                let (code, was_blind) = ended(&end, leader);
                processes::kill(leader, &mark, Which::Since(0));
                let mut screen = lock(&screen);
                if was_blind {
                    screen.feed(BLIND.as_bytes());
                }
                screen.close(code);
                drop(screen);
                gone.cancel();
            }
        })?;
        Ok(Self {
            leader,
            is_bash: start.is_bash(),
            mark,
            master,
            keyboard: Arc::new(keyboard),
            presses: tokio::sync::Mutex::new(presses),
            pressed,
            control: tokio::sync::Mutex::new(control),
            screen,
            gone,
            end: Mutex::new(None),
            away_from: Mutex::new(None),
        })
    }

    /// True if the shell has ended.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.is_cancelled()
    }

    /// Sends lines to the shell itself.
    pub(super) async fn control(&self, lines: &str) -> io::Result<()> {
        let mut control = self.control.lock().await;
        tokio::select! {
            // A shell that has ended never empties its pipe.
            () = self.gone.cancelled() => Err(io::ErrorKind::BrokenPipe.into()),
            written = control.write_all(lines.as_bytes()) => written,
        }
    }

    /// Runs a command, in a folder of its own if one is given.
    pub(super) async fn run(&self, what: What<'_>, folder: Option<(&Path, &Path)>) -> io::Result<Followed> {
        let keyboard = Arc::clone(&self.keyboard);
        let keeps_keys = what == What::NextPrompt;
        let settled =
            tokio::task::spawn_blocking(move || if keeps_keys { keyboard.restore() } else { keyboard.settle() });
        settled.await.map_err(io::Error::other)?;
        // A Ctrl-C that was pressed before was for the last command.
        let mut presses = self.presses.lock().await;
        while presses.try_recv().is_ok() {}
        drop(presses);
        let nonce = Nonce::random();
        let (followed, ready) = lock(&self.screen).follow(nonce.clone());
        let home = lock(&self.away_from).take();
        self.wait_until_ready(&nonce, ready, home.as_deref()).await?;
        let (start, end) = (nonce.print_start(), nonce.print_end());
        let command = match what {
            What::Command(line) => format!("command eval {} </dev/tty", quoted(line)),
            What::Prompt | What::NextPrompt => {
                format!("command eval {} </dev/tty", quoted(&nonce.prompt(self.is_bash)))
            }
        };
        *lock(&self.end) = Some(nonce);
        let enter = folder.map_or_else(String::new, |(there, back)| {
            *lock(&self.away_from) = Some(back.to_owned());
            format!("{} && ", enter(there))
        });
        self.control(&format!("{start}; {enter}{command}\n{end}\n")).await?;
        Ok(followed)
    }

    /// Has the shell do something of ours in between, and waits for its end.
    pub(super) async fn aside(&self, line: &str) -> io::Result<()> {
        let nonce = Nonce::random();
        let (followed, ready) = lock(&self.screen).follow(nonce.clone());
        self.wait_until_ready(&nonce, ready, None).await?;
        self.control(&format!("{line}\n{}\n{}\n", nonce.print_start(), nonce.print_end())).await?;
        followed.ended.await.map(drop).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Waits until the shell is back at home and reads what it is sent. An interrupt that came at the last command's
    /// very end still makes it drop a line or what it has read ahead; that must not be a part of a command.
    async fn wait_until_ready(
        &self,
        nonce: &Nonce,
        mut ready: oneshot::Receiver<()>,
        home: Option<&Path>,
    ) -> io::Result<()> {
        let go_home = home.map_or_else(String::new, |home| format!("{} 2>/dev/null; ", enter(home)));
        let line = format!("{go_home}{}\n", nonce.print_ready());
        let mut pause = Duration::from_millis(50);
        let mut force = Signal::INT;
        loop {
            self.end_left_over(force);
            self.control(&line).await?;
            match tokio::time::timeout(pause, &mut ready).await {
                Ok(heard) => return heard.map_err(|_| io::ErrorKind::BrokenPipe.into()),
                // Another mark does no harm.
                Err(_) => (pause, force) = (pause * 2, Signal::KILL),
            }
        }
    }

    /// Ends the program that an interrupted command has left in the foreground. Bash that is interrupted between a fork
    /// and its wait gives up the command at once, goes on, and waits for the child after its next builtin.
    fn end_left_over(&self, force: Signal) {
        if let Some(group) = foreground(&self.master).filter(|group| *group != self.leader) {
            let _ = kill_process_group(group, force);
        }
    }

    /// Sees to it that each Ctrl-C the user types has its effect, for as long as a command runs.
    ///
    /// The driver signals the foreground's processes once, and that can be lost: a child the shell has just forked
    /// still has the shell's handler, and forgets what that has noted when it becomes a program. So the interrupt is
    /// repeated until the command has ended or a program has it that handles interrupts itself. A program that does was
    /// given the Ctrl-C by the driver, and gets no second one.
    pub(super) async fn see_interrupts_through(self: &Arc<Self>) -> Infallible {
        let mut presses = self.presses.lock().await;
        let Some(command) = lock(&self.end).clone() else { return std::future::pending().await };
        let Some(mut press) = presses.recv().await else { return std::future::pending().await };
        let mut pause = FIRST_PAUSE;
        loop {
            self.ask_for_end().await;
            match tokio::time::timeout(pause, presses.recv()).await {
                Ok(None) => return std::future::pending().await,
                Ok(Some(another)) => (press, pause) = (another, FIRST_PAUSE),
                Err(_) => {
                    if !press.handled && pause <= LAST_REPEAT {
                        press = self.interrupt_again(command.clone()).await;
                    }
                    pause = LONGEST_PAUSE.min(pause * 2);
                }
            }
        }
    }

    async fn interrupt_again(self: &Arc<Self>, command: Nonce) -> Press {
        let terminal = Arc::clone(self);
        let interrupted = tokio::task::spawn_blocking(move || {
            let Some(group) = foreground(&terminal.master) else { return false };
            let handled = processes::handles_interrupts(terminal.leader, group);
            // While the screen is locked the command's end is not seen, so this cannot reach the next one.
            let screen = lock(&terminal.screen);
            if screen.is_running(&command) {
                let _ = kill_process_group(group, Signal::INT);
            }
            handled
        });
        Press { handled: interrupted.await.unwrap_or(true) }
    }

    /// Asks for the mark of the command's end once more. Some shells drop what they have read ahead when they are
    /// interrupted; a second mark does no harm.
    pub(super) async fn ask_for_end(&self) {
        let end = lock(&self.end).as_ref().map(Nonce::print_end);
        if let Some(end) = end {
            let _ = tokio::time::timeout(Duration::from_millis(200), self.control(&format!("{end}\n"))).await;
        }
    }

    /// Types into the terminal. It is recorded where somebody is named.
    pub(super) fn type_in(&self, by: Option<Typist>, bytes: &[u8]) -> Result<(), KeyboardFull> {
        self.keyboard.type_in(by, bytes)
    }

    /// Records at once what was typed last, though no line was ended.
    pub(super) fn end_line(&self) {
        self.keyboard.end_line();
    }

    /// Returns the settings that say what becomes of a key just now; `None` if the terminal has ended.
    pub(super) fn keys(&self) -> Option<Keys> {
        self.keyboard.keys()
    }

    /// Looks at what runs in the foreground. Blocks shortly.
    pub(super) fn look(&self) -> Look {
        let keys = self.keys().unwrap_or(Keys { echo: true, lines: true });
        let Some(group) = foreground(&self.master) else { return Look { seen: Seen::Neither, used: None, keys } };
        let seen = match self.keyboard.has_unread() {
            true => Seen::Neither,
            false => waiting::look(group.as_raw_nonzero().get(), self.keyboard.device(), keys),
        };
        Look { seen, used: processes::used(group), keys }
    }

    pub(super) fn resize(&self, size: TerminalSize) {
        if let Err(error) = lock(&self.master).resize(pty_size(size)) {
            tracing::debug!(%error, "the terminal was not resized");
        }
    }

    /// Sends a signal to what is in the foreground, or kills all but the shell. Blocks shortly.
    pub(super) fn send(&self, signal: TerminalSignal) {
        if signal == TerminalSignal::Kill {
            processes::kill(self.leader, &self.mark, Which::Since(0));
            // The shell may be in a loop of its own.
            let _ = kill_process(self.leader, Signal::INT);
            let _ = self.pressed.send(Press { handled: false });
            return;
        }
        let Some(group) = foreground(&self.master) else { return };
        if signal == TerminalSignal::Interrupt {
            let handled = processes::handles_interrupts(self.leader, group);
            let _ = kill_process_group(group, Signal::INT);
            let _ = self.pressed.send(Press { handled });
            return;
        }
        let signal = match signal {
            TerminalSignal::Quit => Signal::QUIT,
            TerminalSignal::Hangup => Signal::HUP,
            // In the shell's own group there is no job control, and the kernel has no ear for TSTP.
            TerminalSignal::Stop if group == self.leader => Signal::STOP,
            TerminalSignal::Stop => Signal::TSTP,
            TerminalSignal::Continue => Signal::CONT,
            TerminalSignal::Terminate | TerminalSignal::Interrupt | TerminalSignal::Kill => Signal::TERM,
        };
        let _ = kill_process_group(group, signal);
    }

    /// The TCP ports that its processes listen on. Blocks shortly.
    pub(super) fn ports(&self) -> Vec<u16> {
        // A command may have taken the shell's place (`exec`).
        let processes = processes::of_terminal(self.leader, &self.mark, Which::All);
        listening(&processes.iter().map(Process::id).collect::<Vec<_>>())
    }

    /// Asks what was started at `since` or later to end. Blocks shortly.
    pub(super) fn signal(&self, force: Force, since: u64) {
        if force == Force::Interrupt {
            if let Some(group) = foreground(&self.master) {
                let _ = kill_process_group(group, Signal::INT);
            }
            return;
        }
        let processes = processes::of_terminal(self.leader, &self.mark, Which::Since(since));
        if force == Force::Terminate {
            processes::signal(&processes, Signal::TERM);
            processes::signal(&processes, Signal::CONT);
        } else {
            processes::signal(&processes, Signal::KILL);
        }
        // The shell leaves the rest of the command when what it waits for has ended.
        let _ = kill_process(self.leader, Signal::INT);
    }

    /// Kills what was started at `since` or later. Blocks shortly.
    pub(super) fn kill_since(&self, since: u64) {
        processes::kill(self.leader, &self.mark, Which::Since(since));
    }

    /// Kills the shell and all its processes. Blocks shortly.
    pub(super) fn kill(&self) {
        if self.is_gone() {
            return;
        }
        // Where processes cannot be listed, the shell's end at least hangs up the foreground job.
        let _ = kill_process(self.leader, Signal::KILL);
        processes::kill(self.leader, &self.mark, Which::All);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The named pipe the shell reads its commands from. It is removed with the shell.
struct ControlPipe {
    path: PathBuf,
}

impl ControlPipe {
    fn new(path: PathBuf) -> io::Result<Self> {
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        Ok(Self { path })
    }

    /// Our end. It is opened for reading too, as opening would else wait for the shell.
    fn sender(&self) -> io::Result<pipe::Sender> {
        pipe::OpenOptions::new().read_write(true).open_sender(&self.path)
    }
}

impl Drop for ControlPipe {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn program(start: &Start, pipe: &Path, mark: &str) -> Program {
    // Prompts are set by the opener, since bash takes them from the environment of an interactive shell only.
    const OPENER: &str = r#"PS1= PS2=; export PS1 PS2; exec "$@" <"$0""#;
    let is_bash = start.is_bash();
    let without_start_files: &[&str] = if is_bash { &["--norc", "--noprofile"] } else { &[] };
    let interactive: &[&str] = if is_bash { &["--noediting", "+H", "-i"] } else { &["-i"] };

    let mut args: Vec<OsString> = without_start_files.iter().map(OsString::from).collect();
    args.extend(["-c".into(), OPENER.into(), pipe.as_os_str().to_owned(), start.program.clone().into()]);
    args.extend(without_start_files.iter().chain(interactive).map(OsString::from));
    Program {
        program: start.program.clone(),
        args,
        cwd: start.cwd.clone(),
        environment: environment::for_shell(start.environment.clone(), &start.pass, &start.of_git, &start.without),
        mark: mark.to_owned(),
        reads: vec![pipe.to_owned()],
        folder: start.folder.clone(),
    }
}

pub(super) fn enter(folder: &Path) -> String {
    format!("command cd -- {}", quoted(&folder.to_string_lossy()))
}

/// Text as one word of the shell.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The process group a Ctrl-C would go to.
fn foreground(master: &Mutex<Box<dyn MasterPty + Send>>) -> Option<Pid> {
    lock(master).process_group_leader().and_then(Pid::from_raw)
}

fn read_all(reader: &mut dyn Read, screen: &Mutex<Screen>) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => lock(screen).feed(buffer.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// How a shell ended: its exit code, and whether its supervisor could not see what was left of it.
type End = (Option<i32>, bool);

/// Waits for a shell's end on a thread of its own, which then ends what is left: that may hold the terminal open. Gives
/// where the end is told.
fn wait_for(
    mut child: Box<dyn Child + Send + Sync>,
    leader: Pid,
    last_word: Option<LastWord>,
    mark: String,
) -> io::Result<Receiver<End>> {
    let (sender, end) = channel();
    std::thread::Builder::new().name("terminal end".to_owned()).spawn(move || {
        let code = child.wait().ok().and_then(|status| exit_code(&status));
        processes::kill(leader, &mark, Which::Since(0));
        // Its supervisor does this too, unless there is none or it was killed. We may end as soon as the end is told.
        gradle::remove(&mark);
        let _ = sender.send((code, last_word.is_some_and(|word| word.is_said())));
    })?;
    Ok(end)
}

/// How a shell ended whose terminal has. One that goes on without its terminal is killed.
fn ended(end: &Receiver<End>, leader: Pid) -> End {
    end.recv_timeout(Duration::from_secs(1)).unwrap_or_else(|_| {
        let _ = kill_process(leader, Signal::KILL);
        end.recv().unwrap_or_default()
    })
}

fn exit_code(status: &portable_pty::ExitStatus) -> Option<i32> {
    if status.signal().is_some() { None } else { i32::try_from(status.exit_code()).ok() }
}

fn pty_size(size: TerminalSize) -> PtySize {
    PtySize { rows: size.rows.clamp(1, 1000), cols: size.columns.clamp(1, 1000), pixel_width: 0, pixel_height: 0 }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
