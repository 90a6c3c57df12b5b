//! The log: a file in the user's data folder, and what goes to it. There is one in a process.

#![expect(clippy::disallowed_methods, reason = "the log file is opened here, before anything that could log")]

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use mask::Mask;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::reload::Handle;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Registry, fmt, reload};

/// A log larger than this is moved aside at the next start, in bytes.
const MAX_BYTES: u64 = 10 * 1024 * 1024;
/// The filter if none is configured.
const DEFAULT: &str = "info";

/// The log's filter, once it runs and unless it is fixed.
static FILTER: OnceLock<Handle<EnvFilter, Registry>> = OnceLock::new();

/// The secrets that are in no line.
static HIDDEN: RwLock<Option<Arc<Mask>>> = RwLock::new(None);

/// Hides these secrets in all that is logged from now on.
pub(crate) fn hide(mask: Arc<Mask>) {
    *HIDDEN.write().unwrap_or_else(PoisonError::into_inner) = Some(mask);
}

/// A file to which lines are written without secrets.
struct Lines(Arc<std::fs::File>);

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mask = HIDDEN.read().unwrap_or_else(PoisonError::into_inner).clone();
        match (mask, std::str::from_utf8(line)) {
            (Some(mask), Ok(text)) => (&*self.0).write_all(mask.hide_uncounted(text).as_bytes())?,
            _ => (&*self.0).write_all(line)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.0).flush()
    }
}

/// Where the log goes.
pub fn file(data_folder: &Path) -> PathBuf {
    data_folder.join("azimuth.log")
}

/// Checks that the log can be filtered by this.
///
/// # Errors
/// It is no filter; says what one is.
pub fn check(filter: &str) -> Result<(), String> {
    // A filter of `tracing`'s can be the name of a module alone. A level that is mistyped looks like one, and nothing
    // would be logged at all; so a name needs a level here.
    let is_level = |text: &str| text.parse::<tracing_subscriber::filter::LevelFilter>().is_ok();
    let is_whole = filter.split(',').all(|part| (!part.is_empty() && is_level(part.trim())) || part.contains('='));
    if is_whole && EnvFilter::try_new(filter).is_ok() {
        return Ok(());
    }
    Err("it is none of error, warn, info, debug, trace, nor a filter such as `azimuth=debug`; `info` is logged".into())
}

/// Starts logging to the file: by `fixed` if it is given, which then holds to the end, else by what the `configured`
/// filter is. Gives what is wrong with `fixed`.
///
/// A log that cannot be written is no reason to fail; `doctor` says so.
pub fn start(data_folder: &Path, fixed: Option<&str>, configured: Option<&str>) -> Option<String> {
    let problem = fixed.and_then(|fixed| check(fixed).err());
    let fixed = fixed.filter(|_| problem.is_none());
    let (filter, handle) = reload::Layer::new(filter(fixed.or(configured)));
    let path = file(data_folder);
    if std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() > MAX_BYTES) {
        let _ = std::fs::rename(&path, path.with_extension("log.1"));
    }
    let _ = std::fs::create_dir_all(data_folder);
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    if let Ok(file) = platform::rights::private(&mut options).open(path) {
        let file = Arc::new(file);
        let lines = fmt::layer().with_ansi(false).with_writer(move || Lines(Arc::clone(&file)));
        // A second one in the same process (tests) keeps the first.
        if tracing_subscriber::registry().with(filter).with(lines).try_init().is_ok() && fixed.is_none() {
            let _ = FILTER.set(handle);
        }
    }
    if let Some(problem) = &problem {
        tracing::warn!(problem, "what to log was not understood");
    }
    problem
}

/// Logs by another filter from now on; without one, by the default. Changes nothing where it was fixed at the start.
pub fn set(configured: Option<&str>) {
    if let Some(handle) = FILTER.get() {
        let _ = handle.reload(filter(configured));
    }
}

fn filter(text: Option<&str>) -> EnvFilter {
    let text = text.filter(|text| check(text).is_ok()).unwrap_or(DEFAULT);
    EnvFilter::new(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_level_is_no_filter() {
        for good in ["info", "TRACE", "off", "azimuth=debug", "warn,azimuth::hub=trace"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in ["inof", "", "azimuth", "azimuth=inof", "warn,", "=", "verbose"] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_configured_counts_from_then_on_and_a_mistyped_level_is_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let text = || std::fs::read_to_string(file(folder.path())).unwrap();
        assert!(start(folder.path(), Some("inof"), Some("warn")).unwrap().contains("none of error"));
        tracing::info!("not at first");
        assert!(text().contains("was not understood"), "{}", text());
        set(Some("debug"));
        tracing::debug!("then it is there");
        set(Some("inof"));
        tracing::debug!("not any more");
        tracing::info!("by default");
        let text = text();
        assert!(text.contains("then it is there") && text.contains("by default"), "{text}");
        assert!(!text.contains("not at first") && !text.contains("not any more"), "{text}");
    }
}
