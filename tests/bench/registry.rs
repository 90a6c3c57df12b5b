//! The models that are known: how long it takes until the first one is found, and all of them one after the other,
//! beside reading the same file.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::{median, ms};

/// How often all of them are looked up, and the file is read.
const TIMES: usize = 15;

/// Measures it in this process, which has asked for no model before.
pub fn run() {
    let began = Instant::now();
    // It is nobody's, so all that is known is gone through.
    black_box(providers::is_known_model("nobody's model"));
    let first = began.elapsed();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/crates/providers/src/registry.tsv");
    let names = || {
        let text = std::fs::read_to_string(&path).expect("the registry");
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        lines.map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
    };
    let time = |work: &dyn Fn()| -> Duration {
        let times = (0..TIMES).map(|_| {
            let began = Instant::now();
            work();
            began.elapsed()
        });
        median(times.collect())
    };
    let plain = time(&|| drop(black_box(names())));
    let all = names();
    let each = time(&|| {
        all.iter().for_each(|name| {
            black_box(providers::is_known_model(name));
        })
    });
    let count = all.len();
    println!(
        "{:<44} {:>10.2} ms   (aim 3; {:.2} to read the file and split its lines)",
        format!("registry read: the first of {count} models"),
        ms(first),
        ms(plain)
    );
    println!("{:<44} {:>10.2} ms", format!("registry read: all {count} models, one by one"), ms(each));
}
