//! Search beside `rg`, on the same files in the same run.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use project::buffers::Buffers;
use project::paths::Roots;
use project::reader::{NoOverlay, Reader};
use project::search::{Scope, Search, TextQuery};
use tokio_util::sync::CancellationToken;

use crate::corpus;

/// How many files are searched.
const FILES: usize = 40_000;
/// How often each is measured; the two take turns.
const TIMES: usize = 15;

/// Measures both, and tells the ratio.
pub fn run() {
    if Command::new("rg").arg("--version").output().is_err() {
        println!("search: `rg` is not there to compare with; install ripgrep");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    corpus::project(folder.path(), FILES);
    let roots = Arc::new(Roots::new([folder.path()]).expect("a folder"));
    let reader = Reader::new(Arc::new(Buffers::default()), Arc::new(NoOverlay));
    let search = Search::new(roots, reader);
    let cancel = CancellationToken::new();

    compare("list_files and rg --files", folder.path(), &["--files", "--hidden"], || {
        black_box(search.files(&Scope::default(), &cancel).expect("files"));
    });
    let cases: [(&str, &str, bool, &[&str]); 3] = [
        ("search_text and rg, rare text", "needle_in_the_haystack", false, &["-n", "-F", "--hidden"]),
        ("search_text and rg, no match", "nothing_has_this_text", false, &["-n", "-F", "--hidden"]),
        ("search_text and rg, pattern", r"needle_\w+_haystack = \w+", true, &["-n", "--hidden"]),
    ];
    for (name, text, regex, flags) in cases {
        let query = TextQuery { pattern: text.into(), regex, limit: 50, ..TextQuery::default() };
        let arguments: Vec<&str> = flags.iter().copied().chain([text]).collect();
        compare(name, folder.path(), &arguments, || {
            black_box(search.text(&query, &cancel).expect("matches"));
        });
    }
}

fn compare(name: &str, folder: &Path, rg: &[&str], ours: impl Fn()) {
    let theirs = || {
        let done = Command::new("rg").args(rg).current_dir(folder).output().expect("rg runs");
        black_box(done);
    };
    // Both warm the file cache before anything counts.
    ours();
    theirs();
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        our_times.push(time(&ours));
        their_times.push(time(theirs));
    }
    let (ours, theirs) = (crate::median(our_times), crate::median(their_times));
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("{name:<44} {ratio:>10.2} x    (aim 1.15; {:.0} ms and {:.0} ms)", crate::ms(ours), crate::ms(theirs));
}

fn time(work: impl Fn()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}
