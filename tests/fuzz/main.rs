//! Hostile input for what reads edits and source code: patches, tags, notebooks, texts to replace and sources to
//! outline, mutated at random for a bounded time.
//!
//! Each input must be answered, by a text or by an error in words, in a bounded time and without a panic; and what
//! comes out must hold what it promises. Run it with `cargo run --package e2e --example fuzz -- SECONDS [SEED]`,
//! seconds for each target. It tells the seed; an input that fails is printed, and the program ends with 1.

#![expect(clippy::print_stdout, reason = "a program of its own")]

mod mutate;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use mutate::Random;

/// How long one input may take, in a build without optimisation.
const LONGEST: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().and_then(|seconds| seconds.parse().ok()).unwrap_or(10);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |now| now.as_secs());
    let seed: u64 = arguments.next().and_then(|seed| seed.parse().ok()).unwrap_or(now);
    println!("seed {seed}, {seconds} s a target");
    // A panic is told with its input, once.
    std::panic::set_hook(Box::new(|_| {}));
    let mut bad = false;
    for (name, seeds, target) in targets::ALL {
        let mut random = Random::new(seed);
        let end = Instant::now() + Duration::from_secs(seconds);
        let (mut inputs, mut taken, mut slowest) = (0_u64, 0_u64, Duration::ZERO);
        while Instant::now() < end {
            let input = random.mutated(seeds);
            let began = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| target(&input)));
            let took = began.elapsed();
            slowest = slowest.max(took);
            inputs += 1;
            let problem = match outcome {
                Ok(Ok(was_taken)) => {
                    taken += u64::from(was_taken);
                    (took > LONGEST).then(|| format!("it took {} ms", took.as_millis()))
                }
                Ok(Err(problem)) => Some(problem),
                Err(panic) => Some(format!("it panicked: {}", words(&*panic))),
            };
            if let Some(problem) = problem {
                println!("{name}: {problem}\ninput {input:?}");
                bad = true;
                break;
            }
        }
        println!("{name}: {inputs} inputs, {taken} taken, the slowest {} ms", slowest.as_millis());
    }
    if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn words(panic: &(dyn std::any::Any + Send)) -> &str {
    panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied()).unwrap_or("no words")
}
