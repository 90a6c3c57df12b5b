//! All secrets that are known, and both directions for a whole text.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;
use ring::hmac;
use serde_json::{Map, Value};

use crate::placeholder::{self, SHAPE};
use crate::secret::{Looks, SHORTEST, Secret, forms};

/// The number of times that values were hidden in what was sent, by the names of the secrets. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Counts(Arc<Mutex<BTreeMap<String, u64>>>);

impl Counts {
    /// The number for a name.
    pub fn of(&self, name: &str) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied().unwrap_or_default()
    }

    fn add(&self, name: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name.to_owned()).or_default() += 1;
    }
}

/// A secret as it is listed, without its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Where it is from, in words.
    pub source: String,
    /// True if it comes back as it was; false if another text stands for it for good.
    pub is_reversible: bool,
}

/// The secrets that models do not see.
pub struct Mask {
    key: hmac::Key,
    /// Finds the values, and after them the placeholders, which stay as they are.
    values: Option<AhoCorasick>,
    /// The text that stands for each value, in their order.
    hidden: Vec<Hidden>,
    patterns: Vec<Pattern>,
    /// The values of placeholders: of what is listed, and of what fitted a pattern in the texts so far.
    revealed: HashMap<String, Arc<str>>,
    fitted: RwLock<HashMap<String, Arc<str>>>,
    named: Vec<Named>,
    counts: Counts,
}

/// The text that stands for a value.
struct Hidden {
    name: String,
    text: String,
    /// The names of the other secrets that stand in the value, as a password does in an address.
    within: BTreeSet<String>,
}

/// A pattern, and what stands for what fits it.
struct Pattern {
    name: String,
    /// The name in its placeholders.
    label: String,
    regex: Regex,
    replace_with: Option<String>,
}

impl fmt::Debug for Mask {
    /// Without any value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask").field("named", &self.named).finish_non_exhaustive()
    }
}

impl Mask {
    /// A mask of these secrets. Of several with the same value the first counts. `key` is of this installation and
    /// nobody else's, and stays the same.
    ///
    /// # Errors
    /// A value is too short, or there are too many; says which.
    pub fn new(key: &[u8], secrets: &[Secret], counts: Counts) -> Result<Self, String> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        let (mut texts, mut hidden, mut revealed) = (Vec::<String>::new(), Vec::new(), HashMap::new());
        let (mut patterns, mut named, mut known) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        for secret in secrets {
            let Secret { name, source, looks, replace_with } = secret;
            if matches!(looks, Looks::Value(value) if known.contains(value)) {
                continue;
            }
            let label = placeholder_name(name, looks);
            named.insert(Named { name: name.clone(), source: source.clone(), is_reversible: replace_with.is_none() });
            let value = match looks {
                Looks::Pattern(regex) => {
                    let (name, regex, replace_with) = (name.clone(), regex.clone(), replace_with.clone());
                    patterns.push(Pattern { name, label, regex, replace_with });
                    continue;
                }
                Looks::Value(value) if value.len() < SHORTEST => {
                    return Err(format!(
                        "the secret `{name}` ({source}) has fewer than {SHORTEST} characters: it would hide parts of \
                         ordinary words. Remove it, or list a longer one"
                    ));
                }
                Looks::Value(value) => value,
            };
            for form in forms(value) {
                if !known.insert(form.text.clone()) {
                    continue;
                }
                let text = match replace_with {
                    Some(text) => text.clone(),
                    None => placeholder::of(&key, &label, &form.name, value),
                };
                if replace_with.is_none() {
                    revealed.insert(text.clone(), Arc::from(form.text.as_str()));
                }
                texts.push(form.text);
                hidden.push(Hidden { name: name.clone(), text, within: BTreeSet::new() });
            }
        }
        find_within(&texts, &mut hidden)?;
        texts.extend(revealed.keys().cloned());
        let values = match texts.is_empty() {
            true => None,
            false => Some(finder(&texts, MatchKind::LeftmostLongest)?),
        };
        let named = named.into_iter().collect();
        Ok(Self { key, values, hidden, patterns, revealed, fitted: RwLock::default(), named, counts })
    }

    /// A mask that hides nothing.
    pub fn none() -> Self {
        Self {
            key: hmac::Key::new(hmac::HMAC_SHA256, &[]),
            values: None,
            hidden: Vec::new(),
            patterns: Vec::new(),
            revealed: HashMap::new(),
            fitted: RwLock::default(),
            named: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// True if it hides nothing.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// The secrets by their names, without their values.
    pub fn named(&self) -> &[Named] {
        &self.named
    }

    /// The numbers of what was hidden.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// A text for a model, without its secrets. To hide what is hidden changes nothing.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.hide_counting(text, Some(&self.counts))
    }

    /// The same of a text that is for no model, such as a line of a log: it does not count.
    pub fn hide_uncounted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.hide_counting(text, None)
    }

    fn hide_counting<'t>(&self, text: &'t str, counts: Option<&Counts>) -> Cow<'t, str> {
        let mut out = Writing { whole: text, done: 0, text: String::new(), has_changed: false, counts };
        let mut from = 0;
        for found in self.values.iter().flat_map(|values| values.find_iter(text)) {
            self.hide_fitting(text, from..found.start(), &mut out);
            from = found.end();
            // All else that is found is a placeholder.
            if let Some(Hidden { name, text, .. }) = self.hidden.get(found.pattern().as_usize()) {
                out.put(found.range(), text, name);
            }
        }
        self.hide_fitting(text, from..text.len(), &mut out);
        out.end()
    }

    /// A value of JSON without its secrets; none if there are none in it.
    pub fn hide_in(&self, value: &Value) -> Option<Value> {
        changed(value, &|text| self.hide(text))
    }

    /// A line of JSON without its secrets: in its texts, so that it stays one, and where it is none in all of it.
    pub fn hide_in_line<'t>(&self, line: &'t str) -> Cow<'t, str> {
        match serde_json::from_str::<Value>(line) {
            Ok(value) => self.hide_in(&value).map_or_else(|| line.into(), |hidden| hidden.to_string().into()),
            Err(_) => self.hide(line),
        }
    }

    /// The names of the secrets that stand in a value of JSON. What stands for a secret for good is none.
    pub fn names_in(&self, value: &Value) -> BTreeSet<String> {
        let names = Mutex::new(BTreeSet::new());
        let looked = |text: &str| names.lock().unwrap_or_else(PoisonError::into_inner).extend(self.names_in_text(text));
        changed(value, &|text| {
            looked(text);
            text.into()
        });
        names.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a placeholder.
    pub(crate) fn value_of(&self, placeholder: &str) -> Option<Arc<str>> {
        let fitted = || self.fitted.read().unwrap_or_else(PoisonError::into_inner).get(placeholder).cloned();
        self.revealed.get(placeholder).cloned().or_else(fitted)
    }

    fn names_in_text(&self, text: &str) -> BTreeSet<String> {
        let found = self.values.iter().flat_map(|values| values.find_iter(text));
        let listed = found.filter_map(|found| {
            let hidden = self.hidden.get(found.pattern().as_usize())?;
            (text.get(found.range()) != Some(hidden.text.as_str())).then_some(hidden)
        });
        let listed = listed.flat_map(|hidden| hidden.within.iter().chain([&hidden.name]).cloned());
        let fitting = self.patterns.iter().filter(|pattern| pattern.find(text).next().is_some());
        listed.chain(fitting.map(|pattern| pattern.name.clone())).collect()
    }

    /// Hides what fits a pattern in a part of a text. Placeholders in it stay.
    fn hide_fitting(&self, text: &str, part: std::ops::Range<usize>, out: &mut Writing<'_, '_>) {
        if self.patterns.is_empty() || part.is_empty() {
            return;
        }
        let mut from = part.start;
        let within = text.get(part.clone()).unwrap_or_default();
        for placeholder in SHAPE.iter().flat_map(|shape| shape.find_iter(within)) {
            self.hide_by(0, text, from..part.start + placeholder.start(), out);
            from = part.start + placeholder.end();
        }
        self.hide_by(0, text, from..part.end, out);
    }

    /// Hides what fits the patterns from one on.
    fn hide_by(&self, first: usize, text: &str, part: std::ops::Range<usize>, out: &mut Writing<'_, '_>) {
        let Some(pattern) = self.patterns.get(first) else { return };
        let (mut from, within) = (part.start, text.get(part.clone()).unwrap_or_default());
        for found in pattern.find(within) {
            let range = part.start + found.start()..part.start + found.end();
            self.hide_by(first + 1, text, from..range.start, out);
            from = range.end;
            match &pattern.replace_with {
                Some(replacement) => out.put(range, replacement, &pattern.name),
                None => {
                    let placeholder = placeholder::of(&self.key, &pattern.label, "", found.as_str());
                    out.put(range, &placeholder, &pattern.name);
                    let mut fitted = self.fitted.write().unwrap_or_else(PoisonError::into_inner);
                    fitted.entry(placeholder).or_insert_with(|| found.as_str().into());
                }
            }
        }
        self.hide_by(first + 1, text, from..part.end, out);
    }
}

impl Pattern {
    /// The parts of a text that fit it, but for its own replacement.
    fn find<'t>(&self, text: &'t str) -> impl Iterator<Item = regex::Match<'t>> {
        let replacement = self.replace_with.as_deref();
        self.regex.find_iter(text).filter(move |found| !found.is_empty() && replacement != Some(found.as_str()))
    }
}

/// A search for these texts.
fn finder(texts: &[String], kind: MatchKind) -> Result<AhoCorasick, String> {
    let built = AhoCorasick::builder().match_kind(kind).build(texts);
    built.map_err(|error| format!("the secrets cannot be looked for: {error}"))
}

/// Notes of each value which others stand in it: only the longest is found in a text.
fn find_within(texts: &[String], hidden: &mut [Hidden]) -> Result<(), String> {
    let names: Vec<_> = hidden.iter().map(|hidden| hidden.name.clone()).collect();
    let all = finder(texts, MatchKind::Standard)?;
    for (text, hidden) in texts.iter().zip(hidden) {
        let found = all.find_overlapping_iter(text).filter_map(|found| names.get(found.pattern().as_usize()));
        hidden.within.extend(found.filter(|name| **name != hidden.name).cloned());
    }
    Ok(())
}

/// The name in the placeholders of a secret; a blank one if the name itself holds the value.
fn placeholder_name(name: &str, looks: &Looks) -> String {
    let holds = match looks {
        Looks::Value(value) => format!("{}{name}", placeholder::BEGIN).contains(value),
        Looks::Pattern(pattern) => pattern.is_match(name),
    };
    placeholder::name(if holds { "" } else { name })
}

/// A text while parts of it are replaced.
struct Writing<'t, 'c> {
    whole: &'t str,
    done: usize,
    text: String,
    has_changed: bool,
    /// Where it is counted what was replaced.
    counts: Option<&'c Counts>,
}

impl<'t> Writing<'t, '_> {
    /// Puts a text in the place of a part, which is a secret of this name.
    fn put(&mut self, range: std::ops::Range<usize>, text: &str, name: &str) {
        if let Some(counts) = self.counts {
            counts.add(name);
        }
        self.text.push_str(self.whole.get(self.done..range.start).unwrap_or_default());
        self.text.push_str(text);
        self.done = range.end;
        self.has_changed = true;
    }

    fn end(mut self) -> Cow<'t, str> {
        if !self.has_changed {
            return self.whole.into();
        }
        self.text.push_str(self.whole.get(self.done..).unwrap_or_default());
        self.text.into()
    }
}

/// A value of JSON with other texts, names of fields included; none if all are the same.
pub(crate) fn changed(value: &Value, change: &impl Fn(&str) -> Cow<'_, str>) -> Option<Value> {
    let other = |text: &str| match change(text) {
        Cow::Owned(other) => Some(other),
        Cow::Borrowed(_) => None,
    };
    match value {
        Value::String(text) => other(text).map(Value::String),
        Value::Array(list) => {
            let changes: Vec<_> = list.iter().map(|entry| changed(entry, change)).collect();
            let any = changes.iter().any(Option::is_some);
            let merged = list.iter().zip(changes).map(|(entry, change)| change.unwrap_or_else(|| entry.clone()));
            any.then(|| Value::Array(merged.collect()))
        }
        Value::Object(fields) => {
            let change = |(name, value): (&String, &Value)| (other(name), changed(value, change));
            let changes: Vec<_> = fields.iter().map(change).collect();
            let any = changes.iter().any(|(name, value)| name.is_some() || value.is_some());
            let merged = fields.iter().zip(changes).map(|((name, value), (other_name, other_value))| {
                (other_name.unwrap_or_else(|| name.clone()), other_value.unwrap_or_else(|| value.clone()))
            });
            any.then(|| Value::Object(merged.collect::<Map<_, _>>()))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
