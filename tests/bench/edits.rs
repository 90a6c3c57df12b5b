//! Placing edits beside `git diff --no-index` and `git apply`, on the same files in the same run.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use code::edit::replace;
use ports::edit::FilePlan;
use project::review::Review;
use project::{files, paths};
use protocol::ToolCallId;
use protocol::review::{Decision, DecisionTarget};

/// How many lines the long file has.
const LINES: usize = 100_000;
/// How many files the wide proposal has.
const FILES: usize = 1_000;
/// How often each is measured; they take turns.
const TIMES: usize = 11;

/// Measures all, and tells the ratios.
pub fn run() {
    let folder = tempfile::tempdir().expect("a folder");
    // Git knows the temporary folder by its real path only.
    let folder = folder.path().canonicalize().expect("a path");
    one_edit(&folder.join("one"));
    many_files(&folder.join("many"));
}

/// One edit in a long file: read it, find the place, and make hunks of the change; then put it on disk.
fn one_edit(folder: &Path) {
    let line = |n: usize| format!("    let value_{n} = compute({}, \"text {}\");\n", n % 977, n % 13);
    let text: String = (0..LINES).map(line).collect();
    let at = LINES * 2 / 3;
    let old = line(at) + &line(at + 1);
    let new = old.replace("compute", "compute_anew");
    write(&folder.join("a/long.rs"), &text);
    write(&folder.join("b/long.rs"), &text.replacen(&old, &new, 1));
    let patch = diff(folder);
    let path = folder.join("a/long.rs");

    let propose = |old: &str, new: &str| {
        let mut review = Review::default();
        review_of(&mut review, &path, old, new);
        black_box(review.proposals());
    };
    let git_diff = || black_box(git(folder, &["diff", "--no-index", "a", "b"], &[1]));
    compare("1 edit of 100,000 lines: propose, git diff", || propose(&old, &new), || drop(git_diff()), || ());
    let moved = |text: &str| text.lines().map(|line| format!("{}  \n", line.trim_start())).collect::<String>();
    let (slipped_old, slipped_new) = (moved(&old), moved(&new));
    let name = "the same with slips in white space";
    compare(name, || propose(&slipped_old, &slipped_new), || drop(git_diff()), || ());
    let restore = || write(&path, &text);
    let ours = || {
        let mut review = Review::default();
        review_of(&mut review, &path, &old, &new);
        accept_all(&mut review);
    };
    let theirs = || drop(git(folder, &["apply", "-p2", "--directory=a", &patch], &[0]));
    compare("the same, put on disk, git apply", ours, theirs, restore);
}

/// One edit in each of many files.
fn many_files(folder: &Path) {
    let line = |file: usize, n: usize| format!("    let value_{n} = compute({file}, {});\n", n % 97);
    let text = |file: usize| (0..200).map(|n| line(file, n)).collect::<String>();
    let (old, new) = (|file: usize| line(file, 120), |file: usize| line(file, 120).replace("compute", "compute_anew"));
    let path = |file: usize| folder.join(format!("a/dir{}/file{file}.rs", file % 40));
    for file in 0..FILES {
        write(&path(file), &text(file));
        let other = folder.join(format!("b/dir{}/file{file}.rs", file % 40));
        write(&other, &text(file).replacen(&old(file), &new(file), 1));
    }
    let patch = diff(folder);
    let propose = |review: &mut Review| {
        for file in 0..FILES {
            review_of(review, &path(file), &old(file), &new(file));
        }
    };
    let ours = || {
        let mut review = Review::default();
        propose(&mut review);
        black_box(review.proposals());
    };
    let theirs = || drop(git(folder, &["diff", "--no-index", "a", "b"], &[1]));
    compare("1,000 files: propose, git diff", ours, theirs, || ());
    let restore = || (0..FILES).for_each(|file| write(&path(file), &text(file)));
    let ours = || {
        let mut review = Review::default();
        propose(&mut review);
        accept_all(&mut review);
    };
    let theirs = || drop(git(folder, &["apply", "-p2", "--directory=a", &patch], &[0]));
    compare("the same, put on disk, git apply", ours, theirs, restore);
}

/// Reads a file, places an edit in it, and makes it hunks.
fn review_of(review: &mut Review, path: &Path, old: &str, new: &str) {
    let file = files::read(path).expect("a file");
    let edited = replace(&file.text, old, new, 1).expect("a place");
    let plan = FilePlan {
        path: path.to_path_buf(),
        read: Some(project::text::hash(&file.text)),
        new_text: Some(edited.text),
        moved_to: None,
    };
    let display = path.display().to_string();
    let base: Option<&str> = Some(&file.text);
    review.propose(&plan, base, &display, &paths::to_uri(path), &ToolCallId::from("c")).expect("a proposal");
}

/// Accepts all that is pending, and writes it as the server does.
fn accept_all(review: &mut Review) {
    let targets: Vec<DecisionTarget> = review
        .proposals()
        .into_iter()
        .map(|it| DecisionTarget { proposal_id: it.proposal_id, revision: it.revision, hunk_ids: None })
        .collect();
    for application in review.decide(Decision::Accept, &targets, None).expect("a decision").applications {
        let (text, base) = (application.target_text.expect("a text"), application.base_hash.expect("a hash"));
        files::write(&application.path, &text, &base).expect("a write");
    }
}

/// The patch that git makes of both folders, as a file.
fn diff(folder: &Path) -> String {
    let patch: PathBuf = folder.join("change.patch");
    std::fs::write(&patch, git(folder, &["diff", "--no-index", "a", "b"], &[1])).expect("a patch");
    patch.display().to_string()
}

fn git(folder: &Path, arguments: &[&str], codes: &[i32]) -> Vec<u8> {
    // Without a repository around it, as the comparison is meant.
    let done = Command::new("git").args(arguments).current_dir(folder).env("GIT_CEILING_DIRECTORIES", folder).output();
    let done = done.expect("git runs");
    let code = done.status.code().unwrap_or(-1);
    assert!(codes.contains(&code), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    done.stdout
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

fn compare(name: &str, ours: impl Fn(), theirs: impl Fn(), restore: impl Fn()) {
    let time = |work: &dyn Fn()| {
        let began = Instant::now();
        work();
        let took = began.elapsed();
        restore();
        took
    };
    // Both warm the file cache before anything counts.
    time(&ours);
    time(&theirs);
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        our_times.push(time(&ours));
        their_times.push(time(&theirs));
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1e3
    };
    let (ours, theirs) = (median(&mut our_times), median(&mut their_times));
    println!("{name:<44} {:>10.2} × git (aim 1; {ours:.1} and {theirs:.1} ms)", ours / theirs);
}
