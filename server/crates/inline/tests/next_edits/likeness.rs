//! The likeness of two edits of a text, as `deltaChrF`: the F-score of the n-grams of characters (chrF, with n from 1
//! to 6 and recall counted twice) of the lines that each of them changes.

use std::collections::HashMap;

const LONGEST: usize = 6;
const BETA_SQUARED: f64 = 4.0;

/// The likeness of the text that one edit gives to the text that the other gives, from 0 to 100.
pub(super) fn of(before: &str, candidate: &str, reference: &str) -> f64 {
    chrf(&delta(before, candidate), &delta(before, reference))
}

/// The lines of a text without those that it has in common with the earlier one at the beginning and at the end.
fn delta(before: &str, after: &str) -> String {
    let [before, after] = [before, after].map(|text| text.lines().collect::<Vec<_>>());
    let shorter = before.len().min(after.len());
    let head = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let tail = before.iter().rev().zip(after.iter().rev()).take(shorter - head);
    let tail = tail.take_while(|(one, other)| one == other).count();
    after[head..after.len() - tail].join("\n")
}

fn chrf(candidate: &str, reference: &str) -> f64 {
    let (mut sum, mut orders) = (0.0, 0.0);
    for n in 1..=LONGEST {
        let [own, wanted] = [candidate, reference].map(|text| grams(text, n));
        if own.is_empty() && wanted.is_empty() {
            continue;
        }
        orders += 1.0;
        let both: u32 = own.iter().map(|(gram, count)| *count.min(wanted.get(gram).unwrap_or(&0))).sum();
        let share = |of: &HashMap<_, u32>| f64::from(both) / f64::from(of.values().sum::<u32>().max(1));
        let (precision, recall) = (share(&own), share(&wanted));
        if both > 0 {
            sum += (1.0 + BETA_SQUARED) * precision * recall / (BETA_SQUARED * precision + recall);
        }
    }
    if orders == 0.0 { 100.0 } else { 100.0 * sum / orders }
}

fn grams(text: &str, n: usize) -> HashMap<String, u32> {
    let characters: Vec<char> = text.chars().collect();
    let mut grams = HashMap::new();
    for gram in characters.windows(n) {
        *grams.entry(gram.iter().collect()).or_default() += 1;
    }
    grams
}

#[test]
fn only_the_changed_lines_count() {
    let before = "one\ntwo\nthree\n";
    let likeness = |candidate: &str| of(before, candidate, "one\ntwelve\nthree\n");
    assert!((likeness("one\ntwelve\nthree\n") - 100.0).abs() < 1e-9);
    assert!(likeness(before).abs() < 1e-9 && likeness("one\nxx\nthree\n").abs() < 1e-9);
    // Of `twelv`, all n-grams are in `twelve`, which has one more of each length: recalls of 5/6 to 1/2, and 0 of 1.
    let recalls = [5.0 / 6.0, 4.0 / 5.0, 3.0 / 4.0, 2.0 / 3.0, 1.0 / 2.0];
    let expected = recalls.iter().map(|recall| 5.0 * recall / (4.0 + recall)).sum::<f64>() * 100.0 / 6.0;
    assert!((likeness("one\ntwelv\nthree\n") - expected).abs() < 1e-9);
}
