//! The user's input, on its way into the terminal.
//!
//! The terminal's driver makes a signal of a Ctrl-C some time after it was typed, and forgets whom it was for. So two
//! things are watched here: who is in the foreground when a Ctrl-C is typed ([`Press`]), and that nothing typed is
//! still on its way when the next command starts ([`Keyboard::settle`]).

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use protocol::terminal::Typist;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios};
use rustix::termios::{tcflush, tcgetattr, tcsetattr};
use tokio::sync::mpsc::UnboundedSender;

use super::marker::Nonce;
use super::spool::Spool;
use super::typed::{self, Chunk, Shown};
use super::waiting::Keys;

/// How long [`Keyboard::settle`] waits at most. Only a background process that reads from the terminal can make it
/// wait so long.
const SETTLE: Duration = Duration::from_secs(1);

/// A Ctrl-C that was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Press {
    /// True if a program was in the foreground that does with it what it likes. Otherwise it is to end the command.
    pub(super) handled: bool,
}

/// The user types faster than anything reads.
#[derive(Debug)]
pub(super) struct KeyboardFull;

/// The terminal's input.
pub(super) struct Keyboard {
    tty: Tty,
    sender: SyncSender<(Option<Typist>, Vec<u8>)>,
    /// True if something was typed since it was settled.
    typed: AtomicBool,
    record: UnboundedSender<Chunk>,
}

impl Keyboard {
    /// The keyboard of the terminal with this device, whose output is in `spool`. Presses of Ctrl-C are told to
    /// `presses`, and what was typed to `record`; `handles` looks whether the program in the foreground handles
    /// interrupts itself.
    pub(super) fn new(
        tty: PathBuf,
        mut writer: Box<dyn Write + Send>,
        presses: UnboundedSender<Press>,
        record: UnboundedSender<Chunk>,
        spool: Arc<Spool>,
        handles: impl Fn() -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let tty = Tty::new(tty)?;
        let (sender, receiver) = sync_channel::<(Option<Typist>, Vec<u8>)>(64);
        let (device, recorded) = (tty.clone(), record.clone());
        // A terminal nobody reads from makes the typist wait, so a thread types.
        std::thread::Builder::new().name("terminal input".to_owned()).spawn(move || {
            for (by, bytes) in receiver {
                let (before, began) = (device.keys(), spool.end());
                let press =
                    device.interrupt_key().filter(|key| bytes.contains(key)).map(|_| Press { handled: handles() });
                if writer.write_all(&bytes).is_err() {
                    return;
                }
                if let Some(by) = by {
                    // Input that is not shown is not even kept in memory.
                    let shown = Shown::between(before, device.keys());
                    let _ = recorded.send(typed::chunk(by, &bytes, shown, began));
                }
                if let Some(press) = press {
                    let _ = presses.send(press);
                }
            }
        })?;
        Ok(Self { tty, sender, typed: AtomicBool::new(false), record })
    }

    /// Types. It is recorded where somebody is named.
    pub(super) fn type_in(&self, by: Option<Typist>, bytes: &[u8]) -> Result<(), KeyboardFull> {
        self.typed.store(true, Ordering::SeqCst);
        self.sender.try_send((by, bytes.to_vec())).or_else(|error| match error {
            TrySendError::Full(_) => Err(KeyboardFull),
            // The shell has just ended; there is nobody to type to.
            TrySendError::Disconnected(_) => Ok(()),
        })
    }

    /// Records at once what was typed last, though no line was ended.
    pub(super) fn end_line(&self) {
        let _ = self.record.send(typed::end());
    }

    /// Returns the settings that say what becomes of a key just now; `None` if the terminal has ended.
    pub(super) fn keys(&self) -> Option<Keys> {
        self.tty.keys()
    }

    /// True if there is input that a program could read and has not read yet.
    pub(super) fn has_unread(&self) -> bool {
        self.tty.open().is_ok_and(|device| rustix::io::ioctl_fionread(&device).is_ok_and(|unread| unread > 0))
    }

    /// The terminal's device.
    pub(super) fn device(&self) -> &Path {
        &self.tty.path
    }

    /// Undoes what a command did to the terminal's settings (no echo, raw input), and forgets what was typed and never
    /// read. Nothing typed before can become input or a signal afterwards. Blocks shortly.
    pub(super) fn settle(&self) {
        // The device is opened each time, since the terminal would never be seen to end while we hold it open.
        let Ok(device) = self.tty.open() else { return };
        if self.typed.swap(false, Ordering::SeqCst) {
            self.drain(&device);
        }
        let _ = tcflush(&device, QueueSelector::IFlush);
        let _ = tcsetattr(&device, OptionalActions::Now, &self.tty.settings);
    }

    /// Undoes what was done to the terminal's settings, and keeps what was typed. Blocks shortly.
    pub(super) fn restore(&self) {
        let Ok(device) = self.tty.open() else { return };
        let _ = tcsetattr(&device, OptionalActions::Now, &self.tty.settings);
    }

    /// Reads what was typed, up to a mark that is typed after it. The input is raw meanwhile, so that a Ctrl-C is a
    /// byte like any other.
    fn drain(&self, device: &std::os::fd::OwnedFd) {
        let mut raw = self.tty.settings.clone();
        raw.make_raw();
        if tcsetattr(device, OptionalActions::Now, &raw).is_err() {
            return;
        }
        let mark = Nonce::random();
        let mark = mark.as_str().as_bytes();
        let began = Instant::now();
        let (mut sent, mut tail, mut buffer) = (false, Vec::new(), [0; 4096]);
        while began.elapsed() < SETTLE {
            sent = sent || !matches!(self.sender.try_send((None, mark.to_vec())), Err(TrySendError::Full(_)));
            let pause = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            let _ = poll(&mut [PollFd::new(device, PollFlags::IN)], Some(&pause));
            match rustix::io::read(device, &mut buffer) {
                Ok(0) => return,
                Ok(length) => tail.extend_from_slice(buffer.get(..length).unwrap_or_default()),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => return,
            }
            if tail.ends_with(mark) {
                return;
            }
            tail.drain(..tail.len().saturating_sub(mark.len()));
        }
        tracing::warn!("what was typed into a terminal could not be read back");
    }
}

/// The terminal's device, with its settings as they were at first.
#[derive(Clone)]
struct Tty {
    path: PathBuf,
    settings: Termios,
}

impl Tty {
    fn new(path: PathBuf) -> io::Result<Self> {
        let settings = tcgetattr(open(&path)?)?;
        Ok(Self { path, settings })
    }

    /// The key that interrupts, if one does just now.
    fn interrupt_key(&self) -> Option<u8> {
        let settings = tcgetattr(self.open().ok()?).ok()?;
        let key = settings.special_codes[SpecialCodeIndex::VINTR];
        (settings.local_modes.contains(LocalModes::ISIG) && key != 0).then_some(key)
    }

    fn keys(&self) -> Option<Keys> {
        Some(Keys::of(tcgetattr(self.open().ok()?).ok()?.local_modes))
    }

    fn open(&self) -> io::Result<std::os::fd::OwnedFd> {
        open(&self.path)
    }
}

fn open(path: &Path) -> io::Result<std::os::fd::OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}
