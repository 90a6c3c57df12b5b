//! Outlines of real files beside `ctags`, on the same files in the same run.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use code::syntax::{Language, MAX_BYTES, Outline, Parsed};

/// How many files are outlined, if there are as many.
const FILES: usize = 10_000;
/// How often each is measured; they take turns.
const TIMES: usize = 5;

/// Measures both, and tells the ratio.
pub fn run() {
    let files = sources();
    let bytes: u64 = files.iter().filter_map(|path| std::fs::metadata(path).ok()).map(|file| file.len()).sum();
    println!(
        "{:<44} {:>10} files, {:.0} MB, of the registry's sources",
        "symbols: outlined are",
        files.len(),
        bytes as f64 / 1e6
    );
    if files.is_empty() {
        return;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("files");
    let mut names = String::new();
    for path in &files {
        writeln!(names, "{}", path.display()).expect("a string");
    }
    std::fs::write(&list, names).expect("a file");
    let has_ctags = is_universal();
    if !has_ctags {
        println!("symbols: Universal Ctags is not there to compare with; install universal-ctags");
    }

    // Both warm the file cache before anything counts.
    let ours = outline(&files, 1);
    let theirs = if has_ctags { ctags(&list) } else { 0 };
    println!("{:<44} {ours:>10} symbols (ctags: {theirs} tags)", "found in them");
    let (mut alone, mut together, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TIMES {
        alone.push(time(|| outline(&files, 1)));
        together.push(time(|| outline(&files, cores)));
        if has_ctags {
            others.push(time(|| ctags(&list)));
        }
    }
    let (alone, together) = (median(alone), median(together));
    let per_file = alone.as_secs_f64() * 1e6 / files.len() as f64;
    println!("{:<44} {per_file:>10.0} µs", "outline of a file");
    if has_ctags {
        let theirs = median(others);
        for (name, ours) in [
            ("outlines and ctags, one thread".to_owned(), alone),
            (format!("outlines and ctags, {cores} threads"), together),
        ] {
            let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
            println!(
                "{name:<44} {ratio:>10.2} x    (aim 1; {:.0} ms and {:.0} ms)",
                crate::ms(ours),
                crate::ms(theirs)
            );
        }
    } else {
        println!(
            "{:<44} {:>10.0} ms   ({cores} threads: {:.0} ms)",
            "outlines of all",
            crate::ms(alone),
            crate::ms(together)
        );
    }
}

/// Source files of the packages that cargo has unpacked, the same each time.
fn sources() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default();
    let (mut folders, mut files) = (vec![home.join("registry/src")], Vec::new());
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut entries: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            let is_small = || std::fs::metadata(&path).is_ok_and(|file| file.len() <= MAX_BYTES as u64);
            if path.is_dir() {
                folders.push(path);
            } else if !Language::possible(&path).is_empty() && is_small() {
                files.push(path);
            }
        }
        if files.len() >= FILES {
            break;
        }
    }
    files.truncate(FILES);
    files
}

/// Reads and outlines all files on some threads. Gives how many symbols there are.
fn outline(files: &[PathBuf], threads: usize) -> usize {
    let (next, total) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Ok(text) = std::fs::read_to_string(path) else { continue };
                    let language = Language::of_text(path, &text).expect("a language");
                    // A file that is refused here is refused for the model too.
                    let Ok(parsed) = Parsed::new(language, text) else { continue };
                    total.fetch_add(black_box(Outline::new(&parsed)).symbols.len(), Ordering::Relaxed);
                }
            });
        }
    });
    total.into_inner()
}

/// Gives how many tags there are.
fn ctags(list: &Path) -> usize {
    let done = Command::new("ctags").args(["--sort=no", "-f", "-", "-L"]).arg(list).output().expect("ctags runs");
    done.stdout.iter().filter(|byte| **byte == b'\n').count()
}

fn is_universal() -> bool {
    let said = Command::new("ctags").arg("--version").output().map(|done| done.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).contains("Universal Ctags")
}

fn time(work: impl Fn() -> usize) -> Duration {
    let began = Instant::now();
    black_box(work());
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
