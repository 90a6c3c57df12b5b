//! One job: its command, and what becomes of it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use protocol::terminal::{Ready, Typist};
use protocol::{TerminalId, ToolCallId};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::ready;
use crate::handover::HandedOver;
use crate::plain::Plain;
use crate::{Excerpt, Observer, RunOptions, Shell, ShellError, UNLIMITED};

/// So much of what a job prints is looked through for a line that says that it is up.
const LOOKED_THROUGH: u64 = 4 << 20;

/// So much of its beginning is kept, whatever else it prints.
const HEAD: usize = 12 << 10;

/// So many bytes of it at once.
const PART: usize = 64 << 10;

/// How soon it is looked for ports first; each further look comes after half as much time again.
const FIRST_LOOK: Duration = Duration::from_millis(100);

/// The longest time between two looks.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// How long the line that says so is waited for once it listens, since it is mostly about to come.
const LINE_COMES: Duration = Duration::from_millis(300);

/// A command in the background.
pub struct Job {
    pub(super) id: TerminalId,
    pub(super) number: u64,
    pub(super) call: ToolCallId,
    pub(super) command: String,
    pub(super) cwd: PathBuf,
    pub(super) is_without: bool,
    pub(super) shell: Arc<Shell>,
    pub(super) events: Arc<Events>,
    /// Is triggered when nothing of it is left.
    pub(super) over: CancellationToken,
}

/// The status of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobStatus {
    /// When its command began, in milliseconds since the Unix epoch; none before.
    pub started_at: Option<u64>,
    /// When it ended.
    pub ended_at: Option<u64>,
    /// Its exit code, once it has ended; none if it was killed.
    pub exit_code: Option<i32>,
    /// The offset of its first byte of output.
    pub start_offset: u64,
    /// The line or the ports that show that it is up, if anything does.
    pub ready: Option<Ready>,
}

impl Job {
    /// Its terminal.
    pub fn id(&self) -> &TerminalId {
        &self.id
    }

    /// The call that started it.
    pub fn call(&self) -> &ToolCallId {
        &self.call
    }

    /// Its command line.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// The folder it began in.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// True if it began without what was set in the session's shell, since that one was busy.
    pub fn is_without(&self) -> bool {
        self.is_without
    }

    /// The shell that runs it: what it printed and prints, and what can be done to it.
    pub fn shell(&self) -> &Arc<Shell> {
        &self.shell
    }

    /// Returns its status.
    pub fn status(&self) -> JobStatus {
        self.events.status.borrow().clone()
    }

    /// Returns a watch on its status.
    pub fn watch(&self) -> watch::Receiver<JobStatus> {
        self.events.status.subscribe()
    }

    /// Returns what it printed from an offset on, up to now. If that was so much that what came first is no longer
    /// kept, its very beginning is there all the same. Blocks shortly.
    pub fn read_on(&self, since: u64) -> Excerpt {
        let mut excerpt = self.shell.read_on(since);
        if excerpt.missing == 0 {
            return excerpt;
        }
        let first = self.status().start_offset;
        let head = self.events.head.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let left = usize::try_from(since.saturating_sub(first)).ok().and_then(|passed| head.get(passed..));
        let Some(left) = left.filter(|left| !left.is_empty()) else { return excerpt };
        let mut text = Vec::new();
        let mut plain = Plain::default();
        plain.push(left, &mut |piece| text.extend_from_slice(piece));
        plain.finish(&mut |piece| text.extend_from_slice(piece));
        let lost = excerpt.missing.saturating_sub(left.len() as u64);
        let text = String::from_utf8_lossy(&text);
        let text = text.trim_end_matches('\n');
        excerpt.text = format!("{text}\n[... {lost} bytes are no longer kept ...]\n{}", excerpt.text);
        excerpt.is_cut = true;
        excerpt
    }

    /// True if its command runs.
    pub fn is_alive(&self) -> bool {
        self.events.status.borrow().ended_at.is_none()
    }

    /// Stops it with all that it has started, with growing force, and waits for its end.
    pub fn kill(&self) -> impl Future<Output = ()> + Send + use<> {
        self.over_after(self.shell.kill())
    }

    /// The same for the model, which ends nothing of the user's.
    ///
    /// # Errors
    /// [`ShellError::Taken`].
    pub fn kill_as_model(&self) -> Result<impl Future<Output = ()> + Send + use<>, ShellError> {
        Ok(self.over_after(self.shell.kill_as_model()?))
    }

    fn over_after<F: Future<Output = ()> + Send>(&self, killing: F) -> impl Future<Output = ()> + Send + use<F> {
        let over = self.over.clone();
        async move {
            killing.await;
            over.cancelled().await;
        }
    }

    /// Runs it, in tasks of its own.
    pub(super) fn begin(self: &Arc<Self>, cancel: CancellationToken) {
        let job = Arc::clone(self);
        tokio::spawn(async move {
            let options = RunOptions { timeout: UNLIMITED, cancel, ..RunOptions::default() };
            let ran = job.shell.run(&job.call, &job.command, options).await;
            if let Err(error) = ran {
                job.events.not_begun(error);
            }
            // Its shell, with what it left in the background.
            job.shell.close().await;
            job.over.cancel();
        });
        let job = Arc::clone(self);
        tokio::spawn(async move {
            let over = job.over.clone();
            tokio::select! {
                () = over.cancelled() => {}
                () = job.look_for_line() => {}
            }
        });
        let job = Arc::clone(self);
        tokio::spawn(async move {
            let over = job.over.clone();
            tokio::select! {
                () = over.cancelled() => {}
                () = job.look_for_ports() => {}
            }
        });
    }

    /// Follows what it prints until a line says that it is up, and remembers how it began.
    async fn look_for_line(&self) {
        let spool = self.shell.spool();
        let mut end = spool.watch();
        let Ok(first) = self.watch().wait_for(|status| status.started_at.is_some()).await.map(|it| it.start_offset)
        else {
            return;
        };
        let (mut at, mut lines, mut line, mut is_ready) = (first, Vec::new(), None, false);
        while at < first + LOOKED_THROUGH {
            let (from, bytes) = spool.read_from(at, PART);
            at = from + bytes.len() as u64;
            self.events.remember(from - first, &bytes);
            if line.is_none() {
                lines.extend_from_slice(&bytes);
                line = whole_lines(&mut lines).lines().find_map(ready::line);
            }
            if line.is_some() && !is_ready {
                self.events.is_ready(|ready| ready.line.clone_from(&line));
                is_ready = true;
            }
            if is_ready && at >= first + HEAD as u64 {
                return;
            }
            if bytes.is_empty() && end.wait_for(|end| *end > at).await.is_err() {
                return;
            }
        }
    }

    /// Looks now and then which ports its processes listen on.
    async fn look_for_ports(&self) {
        let mut pause = FIRST_LOOK;
        let mut status = self.watch();
        loop {
            let had_line = has_line(&status.borrow_and_update());
            tokio::select! {
                () = tokio::time::sleep(pause) => pause = (pause * 3 / 2).min(LONGEST_PAUSE),
                // One that says that it listens does.
                _ = status.wait_for(|status| has_line(status) != had_line) => pause = FIRST_LOOK,
            }
            let shell = Arc::clone(&self.shell);
            let Ok(ports) = tokio::task::spawn_blocking(move || shell.ports()).await else { return };
            if !ports.is_empty() && self.status().ready.is_none() {
                let _ = tokio::time::timeout(LINE_COMES, status.wait_for(has_line)).await;
            }
            self.events.is_ready(|ready| ready.ports = ports);
        }
    }
}

/// Takes the lines that have come to their end, as plain text. Of one that does not come to its end nothing is kept.
fn whole_lines(printed: &mut Vec<u8>) -> String {
    let end = printed.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (mut text, mut plain) = (Vec::new(), Plain::default());
    let whole: Vec<_> = printed.drain(..end).collect();
    if printed.len() > PART {
        printed.clear();
    }
    plain.push(&whole, &mut |piece| text.extend_from_slice(piece));
    plain.finish(&mut |piece| text.extend_from_slice(piece));
    String::from_utf8_lossy(&text).into_owned()
}

fn has_line(status: &JobStatus) -> bool {
    status.ready.as_ref().is_some_and(|ready| ready.line.is_some())
}

/// The record of what becomes of a job, by what its shell says of its command.
pub(super) struct Events {
    outer: Arc<dyn Observer>,
    status: watch::Sender<JobStatus>,
    /// Told once whether the command has begun.
    begun: Mutex<Option<oneshot::Sender<Result<(), ShellError>>>>,
    /// The first bytes that it printed.
    head: Mutex<Vec<u8>>,
    /// The file that the job's shell reads before its command begins.
    handed_over: Mutex<Option<HandedOver>>,
}

impl Events {
    pub(super) fn new(
        outer: Arc<dyn Observer>,
        begun: oneshot::Sender<Result<(), ShellError>>,
        handed_over: Option<HandedOver>,
    ) -> Self {
        let (begun, handed_over) = (Mutex::new(Some(begun)), Mutex::new(handed_over));
        Self { outer, status: watch::Sender::default(), begun, head: Mutex::default(), handed_over }
    }

    /// Remembers bytes of the job's beginning, which come in order.
    fn remember(&self, at: u64, bytes: &[u8]) {
        let mut head = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        if usize::try_from(at).is_ok_and(|at| at == head.len()) {
            let room = HEAD - head.len();
            head.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        }
    }

    fn tell(&self, begun: Result<(), ShellError>) {
        let waiting = self.begun.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waiting) = waiting {
            let _ = waiting.send(begun);
        }
    }

    fn not_begun(&self, error: ShellError) {
        self.status.send_modify(|status| status.ended_at = Some(now()));
        self.tell(Err(error));
    }

    /// Takes in what shows that the job is up, or no longer does.
    fn is_ready(&self, change: impl FnOnce(&mut Ready)) {
        let is_news = self.status.send_if_modified(|status| {
            let mut ready = status.ready.clone().unwrap_or_default();
            change(&mut ready);
            let ready = (ready != Ready::default()).then_some(ready);
            // A command that ends closes its ports, which is no news.
            let is_news = status.started_at.is_some() && status.ended_at.is_none() && ready != status.ready;
            if is_news {
                status.ready = ready;
            }
            is_news
        });
        if is_news {
            self.outer.changed();
        }
    }
}

impl Observer for Events {
    fn started(&self, call: &ToolCallId, command: &str, cwd: &Path, offset: u64) {
        self.handed_over.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.status.send_modify(|status| {
            status.started_at = Some(now());
            status.start_offset = offset;
        });
        self.outer.started(call, command, cwd, offset);
        self.tell(Ok(()));
    }

    fn ended(&self, call: &ToolCallId, offset: u64, exit_code: Option<i32>) {
        self.status.send_modify(|status| {
            status.ended_at = Some(now());
            status.exit_code = exit_code;
        });
        self.outer.ended(call, offset, exit_code);
    }

    fn changed(&self) {
        self.outer.changed();
    }

    fn said(&self, text: &str) {
        self.outer.said(text);
    }

    fn typed(&self, call: Option<&ToolCallId>, by: Typist, text: &str, hidden: bool) {
        self.outer.typed(call, by, text, hidden);
    }
}

/// Milliseconds since the Unix epoch.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
