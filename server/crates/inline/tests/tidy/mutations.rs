//! Good answers with the faults that models make.
//!
//! With `ALL_CUTS` in the environment all sources are taken instead of some, and with `TELL` each answer is printed
//! that is not fixed.

use std::collections::BTreeMap;

use inline::tidy::Tidier;

use super::cuts::{self, Cut, Kind};
use super::*;

/// The number of cuts of each kind in a file.
const CUTS: usize = 2;

/// The answer with a fault; none if it cannot have it.
type Mutation = fn(&Cut) -> Option<String>;

const MUTATIONS: &[(&str, Mutation)] = &[
    ("next line appended", |cut| {
        let next = below(cut).next().filter(|line| line.trim().len() > 2)?;
        Some(format!("{}\n{next}", cut.answer))
    }),
    ("next lines appended", |cut| {
        let lines: Vec<&str> = below(cut).take(4).collect();
        (lines.len() == 4).then(|| format!("{}\n{}", cut.answer, lines.join("\n")))
    }),
    ("rest of the line appended", |cut| {
        let rest = cut.document.text[cut.document.offset..].lines().next().unwrap_or_default();
        (!rest.trim().is_empty()).then(|| format!("{}{rest}", cut.answer))
    }),
    ("closer appended", |cut| {
        // At the end of what has no end the closer is wanted, and in a comment it is a letter.
        if cut.kind == Kind::AtEnd || is_comment(cut) {
            return None;
        }
        let (closer, is_word) = match extension(cut).as_str() {
            "lua" => ("end", true),
            "py" => (")", false),
            _ => ("}", false),
        };
        let base = line(cut).len() - line(cut).trim_start().len();
        let base = if line(cut).trim().is_empty() {
            base.saturating_sub(if base.is_multiple_of(4) { 4 } else { 2 })
        } else {
            base
        };
        let is_lines = cut.answer.contains('\n') || is_word;
        let closer = if is_lines { format!("\n{}{closer}", " ".repeat(base)) } else { closer.to_owned() };
        cut.document.multi_line.then(|| format!("{}{closer}", cut.answer))
    }),
    ("last line repeated", |cut| {
        let last = cut.answer.lines().last().filter(|last| last.trim().len() > 8)?;
        Some(format!("{}{}", cut.answer, format!("\n{last}").repeat(5)))
    }),
    ("all repeated", |cut| {
        (cut.answer.len() > 8).then(|| format!("{}{}", cut.answer, format!("\n{}", cut.answer).repeat(4)))
    }),
    ("fence", |cut| Some(format!("```{}\n{}\n```", extension(cut), cut.answer))),
    ("fence with talk", |cut| {
        Some(format!("Here is the completion:\n\n```{}\n{}\n```\n\nThis does it.", extension(cut), cut.answer))
    }),
    ("thoughts", |cut| Some(format!("<think>\nThey want {{ this.\n</think>\n\n{}", cut.answer))),
    ("thoughts without end", |cut| Some(format!("<think>\nThey want this:\n{}", cut.answer))),
    ("tokens", |cut| Some(format!("<|fim_middle|>{}<|endoftext|>\nfn main() {{", cut.answer))),
    ("tabs for spaces or spaces for tabs", |cut| {
        let indent = cut.document.cursor().indent;
        let other = |line: &str| match indent {
            Indent::Tab => line.replace('\t', "    "),
            Indent::Spaces(width) => {
                let lead = line.len() - line.trim_start().len();
                format!("{}{}", "\t".repeat(lead / width), line.trim_start())
            }
        };
        let (first, others) = cut.answer.split_once('\n')?;
        let others = others.split('\n').map(other).collect::<Vec<_>>().join("\n");
        let mutated = format!("{first}\n{others}");
        (mutated != cut.answer).then_some(mutated)
    }),
    ("line ends", |cut| cut.answer.contains('\n').then(|| cut.answer.replace('\n', "\r\n"))),
    ("line repeated before", |cut| {
        let typed = line(cut).trim_start();
        (typed.trim().len() >= 4).then(|| format!("{typed}{}", cut.answer))
    }),
    ("line repeated before, indented", |cut| {
        (line(cut).trim().len() >= 4).then(|| format!("{}{}", line(cut), cut.answer))
    }),
    ("indentation repeated", |cut| {
        (!line(cut).is_empty() && line(cut).trim().is_empty()).then(|| format!("{}{}", line(cut), cut.answer))
    }),
    ("line above repeated", |cut| {
        let before = &cut.document.text[..cut.document.offset - line(cut).len()];
        let above = before.lines().last().filter(|above| above.trim().len() > 12)?;
        line(cut).trim().is_empty().then(|| format!("{}\n{}{}", above.trim_start(), line(cut), cut.answer))
    }),
    ("space before", |cut| {
        let is_typed = line(cut).ends_with(' ') && !line(cut).trim().is_empty() && !line(cut).ends_with("  ");
        is_typed.then(|| format!(" {}", cut.answer))
    }),
];

fn is_comment(cut: &Cut) -> bool {
    let text = line(cut).trim_start();
    ["//", "*", "#", "--"].iter().any(|mark| text.starts_with(mark))
}

fn line(cut: &Cut) -> &str {
    cut.document.text[..cut.document.offset].rsplit('\n').next().unwrap_or_default()
}

fn below(cut: &Cut) -> impl Iterator<Item = &str> {
    cut.document.text[cut.document.offset..].lines().skip(1).filter(|line| !line.trim().is_empty())
}

fn extension(cut: &Cut) -> String {
    cut.document.path.extension().unwrap().to_string_lossy().into_owned()
}

/// The cuts: of some sources, or of all if the environment says so.
fn cuts() -> Vec<Cut> {
    let step = if std::env::var_os("ALL_CUTS").is_some() { 1 } else { 6 };
    let sources = cuts::sources();
    sources.iter().step_by(step).flat_map(|(path, text)| cuts::of(path, text, CUTS)).collect()
}

/// The place of a cut, and the answer.
fn told(cut: &Cut) -> String {
    let before = &cut.document.text[..cut.document.offset];
    format!("{}:{} {:?} {:?}", cut.document.path.display(), before.lines().count(), cut.kind, cut.answer)
}

/// True if the answer is like the lines around it in the source, so that nobody could tell it from a repetition.
fn repeats_in_source(cut: &Cut) -> bool {
    let lines: Vec<&str> = cut.answer.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let whole = format!("{}{}", line(cut), cut.answer.lines().next().unwrap_or_default());
    let is_next = below(cut)
        .next()
        .is_some_and(|next| lines.last().is_some_and(|last| *last == next.trim()) || whole.trim() == next.trim());
    let above =
        cut.document.text[..cut.document.offset - line(cut).len()].lines().rfind(|line| !line.trim().is_empty());
    let is_above = above.is_some_and(|above| above.trim() == whole.trim());
    let is_thrice = lines.windows(3).any(|lines| lines[0] == lines[1] && lines[1] == lines[2]);
    is_next || is_above || is_thrice
}

#[test]
fn a_good_answer_comes_out_unchanged() {
    let (mut counts, mut harmed, mut alike) = (BTreeMap::<Kind, (usize, usize)>::new(), 0, 0);
    let mut times = Vec::new();
    for cut in cuts() {
        let good = cut.document.text.clone();
        let wanted = format!("{}{}{}", &good[..cut.document.offset], cut.answer, &good[cut.document.offset..]);
        let begin = std::time::Instant::now();
        let tidied = cut.document.tidy(&cut.answer, false);
        times.push(begin.elapsed());
        let count = counts.entry(cut.kind).or_default();
        count.0 += 1;
        if tidied.as_ref().is_ok_and(|tidied| cut.document.with(tidied) == wanted) {
            continue;
        }
        count.1 += 1;
        if repeats_in_source(&cut) {
            alike += 1;
            println!("alike: {}\n  {tidied:?}", told(&cut));
        } else {
            harmed += 1;
            println!("harmed: {}\n  {tidied:?}", told(&cut));
        }
    }
    let all: usize = counts.values().map(|(all, _)| all).sum();
    println!("good answers: {all}, harmed {harmed}, dropped since the source repeats itself {alike}; {counts:?}");
    times.sort();
    println!("time: half in {:?}, 99 % in {:?}, all in {:?}", times[all / 2], times[all * 99 / 100], times[all - 1]);
    assert!(all > 500, "{all}");
    assert_eq!(harmed, 0);
}

/// The number of answers with a fault, and what came of them.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    fixed: usize,
    dropped: usize,
    shortened: usize,
    missed: usize,
    /// Those that give the document more errors.
    broken: usize,
}

#[test]
fn an_answer_with_a_fault_is_fixed_or_not_shown() {
    let mut counts = BTreeMap::<&str, Count>::new();
    let is_told = std::env::var_os("TELL").is_some();
    for cut in cuts() {
        let (before, after) = cut.document.text.split_at(cut.document.offset);
        let wanted = format!("{before}{}{after}", cut.answer);
        for (name, mutation) in MUTATIONS {
            let Some(answer) = mutation(&cut).filter(|answer| *answer != cut.answer) else { continue };
            let tidied = cut.document.tidy(&answer, false);
            let count = counts.entry(name).or_default();
            match &tidied {
                Err(_) => count.dropped += 1,
                Ok(tidied) if cut.document.with(tidied) == wanted => count.fixed += 1,
                Ok(tidied) => {
                    let is_short = tidied.replace.is_empty() && cut.answer.starts_with(&tidied.text);
                    *if is_short { &mut count.shortened } else { &mut count.missed } += 1;
                    let errors = |text: &str| cut.document.errors(text).unwrap_or_default();
                    let is_broken = errors(&cut.document.with(tidied)) > errors(&cut.document.text)
                        && cut.kind != Kind::AtEnd
                        && !is_unfinished(&tidied.text);
                    count.broken += usize::from(is_broken);
                    if is_told {
                        let outcome = if is_broken {
                            "broken"
                        } else if is_short {
                            "shortened"
                        } else {
                            "missed"
                        };
                        println!("{name} {outcome}: {}\n  {answer:?}\n  {tidied:?}", told(&cut));
                    }
                }
            }
        }
        cut_off(&cut, counts.entry("cut off").or_default());
    }
    let mut all = Count::default();
    for (name, count) in &counts {
        let Count { fixed, dropped, shortened, missed, broken } = *count;
        let sum = fixed + dropped + shortened + missed;
        println!(
            "{name}: {sum}, fixed {fixed}, dropped {dropped}, shortened {shortened}, missed {missed}, broken {broken}"
        );
        all.fixed += fixed;
        all.dropped += dropped;
        all.shortened += shortened;
        all.missed += missed;
        all.broken += broken;
    }
    println!("{all:?}");
    assert_eq!(all.broken, 0);
    for (name, count) in &counts {
        let sum = count.fixed + count.dropped + count.shortened + count.missed;
        assert!((count.fixed + count.dropped) * 100 >= sum * 95, "{name}: {count:?}");
    }
}

/// True if a text opens more brackets than it closes.
fn is_unfinished(text: &str) -> bool {
    let count = |marks: &str| text.chars().filter(|c| marks.contains(*c)).count();
    count("([{") > count(")]}")
}

/// An answer that the model had to stop in: only whole lines of it may be shown.
fn cut_off(cut: &Cut, count: &mut Count) {
    let last = cut.answer.rfind('\n').map_or(0, |newline| newline + 1);
    let half = (last + cut.answer.len()) / 2;
    let Some(part) = cut.answer.get(..half).filter(|part| part.len() > last) else { return };
    match cut.document.tidy(part, true) {
        Err(_) => count.dropped += 1,
        Ok(tidied) => {
            let shown = cut.answer.get(tidied.text.len()..).filter(|_| cut.answer.starts_with(&tidied.text));
            let is_whole = shown.is_some_and(|rest| rest.starts_with('\n'));
            if !is_whole && std::env::var_os("TELL").is_some() {
                println!("cut off missed: {}\n  {part:?}\n  {tidied:?}", told(cut));
            }
            *if is_whole { &mut count.fixed } else { &mut count.missed } += 1;
        }
    }
}

#[test]
fn a_stream_is_not_closed_before_a_good_answer_is_complete() {
    for cut in cuts().iter().filter(|cut| cut.document.multi_line && !repeats_in_source(cut)) {
        let cursor = cut.document.cursor();
        for (at, _) in cut.answer.match_indices('\n') {
            assert!(!Tidier::new(&cursor).is_enough(&cut.answer[..=at]), "{}\n  at {at}", told(cut));
        }
    }
}
