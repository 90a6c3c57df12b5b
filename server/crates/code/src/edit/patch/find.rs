//! Where in a text the lines of a hunk are.

use std::collections::HashMap;
use std::ops::Range;

use super::super::diagnose::{self, Diagnosis};
use super::super::fold::{Pass, plain};
use super::super::indent::indent;
use super::super::locate::{self, Candidate, Wanted, preview};
use super::super::merge::is_long;
use super::error::{MOST_LINES, MOST_TOLD, Reason};
use super::place::Block;
use super::{Hunk, Line, Mark, lines};

/// How many lines of a file may be looked at for all hunks together; more is refused. This bounds the time for any
/// input: a hundred hunks with an anchor each in a file of 100,000 lines take a fifth of it.
const MOST_LOOKED_AT: usize = 100_000_000;
/// Keeping a place in mind counts as looking at so many lines.
const COST_OF_PLACE: usize = 16;
/// Telling how deep a line is indented counts as looking at so many.
const COST_OF_DEPTH: usize = 8;
/// Comparing so many letters counts as looking at a line.
const LETTERS_PER_LINE: usize = 16;
/// A hunk with more places than this is not tried to be told by its neighbours.
const MOST_PLACES: usize = 1000;

/// A text in which hunks are looked for.
pub(super) struct File<'t> {
    pub(super) text: &'t str,
    pub(super) lines: Vec<&'t str>,
    hunks: &'t [Hunk],
    /// Where each line that a hunk wants to find stands.
    index: HashMap<&'t str, Stands>,
    /// How many lines may still be looked at; none if there were too many.
    pub(super) left: usize,
    /// Made when it is needed first.
    folded: Option<Folded>,
    /// For each line the one before which its scope ends. Made when it is needed first.
    ends: Option<Vec<usize>>,
    /// For how many hunks the nearest lines may still be looked for.
    diagnoses: usize,
}

/// Lines of a file, from 0.
#[derive(Default)]
struct Stands {
    as_it_is: Vec<usize>,
    /// After a space more.
    spaced: Vec<usize>,
}

/// The ranges of lines that the anchors of a hunk name. Sorted by their begin.
struct Scopes {
    /// From each line that the last anchor may mean to the end of what is indented below it.
    named: Vec<Range<usize>>,
    /// The lines that the hunk may not leave: below the last anchor, and in the nearest scope that has anything
    /// indented in it.
    around: Vec<Range<usize>>,
}

/// The lines of a file, for the lenient passes.
struct Folded {
    /// A number for each line that a hunk wants to find, as the passes see it.
    numbers: HashMap<String, usize>,
    /// The number of each line of the file.
    lines: Vec<Option<usize>>,
    /// Where each number stands.
    index: Vec<Vec<usize>>,
}

/// The way in which the lines of a hunk were found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// As the hunk has them.
    Exact,
    /// With a space more in some lines that stay: the patch left the mark out there.
    Spaceless,
    /// By a lenient pass.
    By(Pass),
}

impl How {
    pub(super) fn pass(self) -> Pass {
        match self {
            // A mark that is missing is no difference to the file.
            Self::Exact | Self::Spaceless => Pass::Exact,
            Self::By(pass) => pass,
        }
    }
}

impl<'t> File<'t> {
    pub(super) fn new(text: &'t str, hunks: &'t [Hunk]) -> Self {
        let lines: Vec<&str> = lines(text).collect();
        let wanted = hunks.iter().flat_map(Hunk::before);
        let mut index: HashMap<&str, Stands> = wanted.map(|line| (line.text.as_str(), Stands::default())).collect();
        for (at, line) in lines.iter().enumerate() {
            if let Some(stands) = index.get_mut(line) {
                stands.as_it_is.push(at);
            }
            if let Some(stands) = line.strip_prefix(' ').and_then(|rest| index.get_mut(rest)) {
                stands.spaced.push(at);
            }
        }
        Self { text, lines, hunks, index, left: MOST_LOOKED_AT, folded: None, ends: None, diagnoses: MOST_TOLD }
    }

    /// The places where a hunk may go; at least one.
    pub(super) fn find(&mut self, hunk: &Hunk) -> Result<(Block, How), Reason> {
        let scopes = self.scopes(&hunk.anchors)?;
        let old: Vec<&Line> = hunk.before().collect();
        if old.is_empty() {
            return Ok((block(hunk, vec![self.insertion(hunk, &scopes)?]), How::Exact));
        }
        let (mut starts, how) = self.places(hunk, &old, &scopes)?;
        if let Some(heading) = &hunk.heading {
            // Git cuts it, and it may be stale, so it can only tell places apart.
            let all = 0..self.lines.len();
            let scopes = self.anchored(heading, &Scopes { named: vec![all.clone()], around: vec![all] });
            let told = in_scopes(&starts, old.len(), &scopes);
            starts = if told.is_empty() { starts } else { told };
        }
        if hunk.end_of_file {
            let all = self.candidates(&starts);
            starts.retain(|start| self.is_end(start + old.len()));
            if starts.is_empty() {
                return Err(Reason::NotAtEnd { candidates: all });
            }
        }
        if starts.len() > MOST_PLACES { Err(self.ambiguous(&starts)) } else { Ok((block(hunk, starts), how)) }
    }

    /// The lines of the file that a hunk wants to find, where they begin here.
    pub(super) fn lines_of(&self, hunk: &Hunk, start: usize) -> &[&'t str] {
        self.lines.get(start..start + hunk.before().count()).unwrap_or_default()
    }

    /// The place of a hunk that has no old lines.
    fn insertion(&self, hunk: &Hunk, scopes: &Scopes) -> Result<usize, Reason> {
        let scopes = scopes.named.as_slice();
        let starts = || scopes.iter().map(|scope| scope.start).collect::<Vec<_>>();
        if hunk.end_of_file || self.lines.is_empty() {
            let reach_it = scopes.iter().any(|scope| self.is_end(scope.end));
            let not_there = || Reason::NotAtEnd { candidates: self.candidates(&starts()) };
            return if reach_it { Ok(self.lines.len()) } else { Err(not_there()) };
        }
        let Some(anchor) = hunk.anchors.last() else { return Err(Reason::NoContext) };
        let begins =
            |line: usize| self.lines.get(line).is_some_and(|line| line.trim_start().starts_with(anchor.trim()));
        match scopes {
            // A line that only has the anchor somewhere in it may be about something else.
            [scope] if begins(scope.start) => Ok(scope.start + 1),
            [_] => Err(Reason::NoContext),
            _ => Err(self.ambiguous(&starts())),
        }
    }

    /// Where the lines of a hunk stand below its anchors, by the first way of looking that finds any. Places in what
    /// the anchors name count before others around it.
    fn places(&mut self, hunk: &Hunk, old: &[&Line], scopes: &Scopes) -> Result<(Vec<usize>, How), Reason> {
        let Scopes { named, around } = scopes;
        let first = named.first().map_or(0, |scope| scope.start);
        let mut above = Vec::new();
        for how in [How::Exact, How::Spaceless] {
            let all = self.as_given(old, how);
            let (here, others): (Vec<usize>, Vec<usize>) = all.into_iter().partition(|start| start + old.len() > first);
            above.extend(others);
            if here.is_empty() {
                continue;
            }
            let inside = in_scopes(&here, old.len(), named);
            if !inside.is_empty() {
                let unmarked = in_scopes(&self.unmarked(old, how), old.len(), named);
                let both = || [&inside[..], &unmarked].concat();
                return if unmarked.is_empty() { Ok((inside, how)) } else { Err(self.ambiguous(&both())) };
            }
            // Elsewhere they may be only because they are not letter by letter where the anchor says.
            let like = self.leniently(hunk, old, named)?.0;
            if !like.is_empty() {
                return Err(self.ambiguous(&[like, here].concat()));
            }
            let near = in_scopes(&here, old.len(), around);
            return if near.is_empty() { Err(self.outside(hunk, old, &here)) } else { Ok((near, how)) };
        }
        for scopes in std::iter::once(named).chain((named != around).then_some(around)) {
            let (starts, how) = self.leniently(hunk, old, scopes)?;
            if !starts.is_empty() {
                return Ok((starts, how));
            }
        }
        if above.is_empty() && !hunk.anchors.is_empty() {
            let below = first..self.lines.len();
            above = self.leniently(hunk, old, std::slice::from_ref(&below))?.0;
        }
        Err(self.outside(hunk, old, &above))
    }

    /// Where these lines stand in some scopes, by the strictest lenient pass that finds any there.
    fn leniently(&mut self, hunk: &Hunk, old: &[&Line], scopes: &[Range<usize>]) -> Result<(Vec<usize>, How), Reason> {
        let nothing = (Vec::new(), How::Exact);
        if is_long(hunk.lines.iter().map(|line| line.text.as_str()))
            || old.iter().all(|line| line.text.trim().is_empty())
        {
            return Ok(nothing);
        }
        let folded = self.folded.get_or_insert_with(|| Folded::new(&self.lines, self.hunks));
        let wanted: Vec<Option<usize>> = old.iter().map(|line| folded.number(&line.text)).collect();
        let certain = certain(hunk);
        // By likeness only the others may differ.
        let stands: Vec<&[usize]> = wanted.iter().map(|number| folded.stands(*number)).collect();
        if stands.iter().zip(&certain).any(|(stands, certain)| *certain && stands.is_empty()) {
            return Ok(nothing);
        }
        let rarest = stands.iter().enumerate().min_by_key(|(_, stands)| stands.len());
        let Some((at, rarest)) = rarest else { return Ok(nothing) };
        let mut looked_at = old.len();
        let possible: Vec<usize> = rarest
            .iter()
            .filter_map(|line| line.checked_sub(at))
            .filter(|start| {
                let lines = folded.lines.get(*start..start + wanted.len()).unwrap_or_default();
                !lines.is_empty()
                    && lines.iter().zip(&wanted).all(|(line, wanted)| {
                        looked_at += 1;
                        looked_at < self.left && line == wanted
                    })
            })
            .collect();
        self.left = self.left.saturating_sub(looked_at + COST_OF_PLACE * possible.len());
        let possible = in_scopes(&possible, old.len(), scopes);
        if !possible.is_empty() {
            let letters = hunk.lines.iter().map(|line| line.text.len().pow(2)).sum::<usize>();
            self.left = self.left.saturating_sub(hunk.lines.len().pow(2) + letters / LETTERS_PER_LINE);
        }
        let pass = |start: usize| {
            let lines = self.lines.iter().skip(start).zip(old);
            lines.map(|(line, old)| strictest(line, &old.text)).max().unwrap_or(Pass::Exact)
        };
        let by: Vec<(Pass, usize)> = possible.iter().map(|&start| (pass(start), start)).collect();
        let (pass, found) = match by.iter().map(|(pass, _)| *pass).min() {
            Some(least) => (least, by.iter().filter(|(pass, _)| *pass == least).map(|(_, start)| *start).collect()),
            None => (Pass::Alike, in_scopes(&self.alike(old, &certain), old.len(), scopes)),
        };
        // A line without a mark may be one that was to come, so it counts only as it is.
        let bare = |start: &usize| {
            let lines = old.iter().zip(self.lines.iter().skip(*start));
            lines.filter(|(old, _)| old.mark == Mark::Bare).find(|(old, line)| old.text.trim_end() != line.trim_end())
        };
        match found.first().and_then(bare) {
            Some((line, _)) => Err(Reason::Bare { text: preview(&line.text) }),
            None => Ok((found, How::By(pass))),
        }
    }

    fn alike(&mut self, old: &[&Line], certain: &[bool]) -> Vec<usize> {
        // Of no more than a hundred places each line is compared letter by letter.
        let letters = old.iter().map(|line| line.text.len().pow(2)).sum::<usize>();
        self.left = self.left.saturating_sub(self.lines.len() * old.len() / 4 + letters * 100 / LETTERS_PER_LINE);
        if self.left == 0 {
            return Vec::new();
        }
        let wanted: Vec<Wanted<'_>> =
            old.iter().zip(certain).map(|(line, certain)| Wanted { text: &line.text, certain: *certain }).collect();
        locate::blocks(&self.lines, &wanted, 0..self.lines.len()).map(|(_, starts)| starts).unwrap_or_default()
    }

    /// Where these lines stand as they are, or with a space more.
    fn as_given(&mut self, old: &[&Line], how: How) -> Vec<usize> {
        // A line that stays may have lost its mark, unless it is empty.
        let may_lack = |line: &Line| how == How::Spaceless && line.mark == Mark::Keep && !line.text.is_empty();
        let stands = |line: &Line| -> (&[usize], &[usize]) {
            let Some(stands) = self.index.get(line.text.as_str()) else { return (&[], &[]) };
            (&stands.as_it_is, if may_lack(line) { &stands.spaced } else { &[] })
        };
        // Only where the rarest line stands need the others be looked at.
        let rarest = old.iter().map(|line| stands(line)).enumerate().min_by_key(|(_, (a, b))| a.len() + b.len());
        let Some((at, (plain, spaced))) = rarest else { return Vec::new() };
        let mut possible: Vec<usize> = plain.iter().chain(spaced).filter_map(|it| it.checked_sub(at)).collect();
        possible.sort_unstable();
        let fits = |line: &str, old: &Line| {
            line == old.text || (may_lack(old) && line.strip_prefix(' ').is_some_and(|rest| rest == old.text))
        };
        let mut looked_at = old.len();
        possible.retain(|start| {
            let Some(lines) = self.lines.get(*start..start + old.len()) else { return false };
            lines.iter().zip(old).all(|(line, old)| {
                looked_at += 1;
                looked_at < self.left && fits(line, old)
            })
        });
        self.left = self.left.saturating_sub(looked_at + COST_OF_PLACE * possible.len());
        possible
    }

    /// Where these lines, which are found as they are too, stand with a space more in all that stay: the patch may have
    /// left their marks out as well.
    fn unmarked(&mut self, old: &[&Line], how: How) -> Vec<usize> {
        let may_be = |line: &&Line| line.mark == Mark::Keep && line.text.starts_with([' ', '\t']);
        let mut keeps = old.iter().filter(|line| line.mark != Mark::Remove && !line.text.is_empty()).peekable();
        if how != How::Exact || keeps.peek().is_none() || !keeps.all(may_be) {
            return Vec::new();
        }
        let mut found = self.as_given(old, How::Spaceless);
        found.retain(|start| {
            let mut lines = old.iter().zip(self.lines.iter().skip(*start));
            lines.all(|(old, line)| old.mark == Mark::Remove || old.text.is_empty() || old.text != *line)
        });
        found
    }

    /// Returns the scopes that the anchors name; all of the file without anchors.
    fn scopes(&mut self, anchors: &[String]) -> Result<Scopes, Reason> {
        let all: Range<usize> = 0..self.lines.len();
        let all = Scopes { named: vec![all.clone()], around: vec![all] };
        anchors.iter().try_fold(all, |scopes, anchor| {
            let named = self.anchored(anchor, &scopes);
            if named.is_empty() {
                return Err(self.no_anchor(anchor));
            }
            let below = |around: &Range<usize>| {
                let named = named.get(named.partition_point(|scope| scope.start < around.start))?;
                (named.start < around.end).then_some(named.start..around.end)
            };
            let around =
                if self.have_body(&named) { named.clone() } else { scopes.around.iter().filter_map(below).collect() };
            Ok(Scopes { named, around })
        })
    }

    /// True if anything is indented below the first line of one of these scopes.
    fn have_body(&mut self, scopes: &[Range<usize>]) -> bool {
        let Self { lines, left, .. } = self;
        scopes.iter().any(|scope| {
            let mut lines = lines.get(scope.clone()).unwrap_or_default().iter();
            let depth = lines.next().map_or(0, |line| indent(line).len());
            lines.any(|line| {
                *left = left.saturating_sub(COST_OF_DEPTH + line.len() / LETTERS_PER_LINE);
                *left == 0 || !line.trim().is_empty() && indent(line).len() > depth
            })
        })
    }

    /// The scopes of the lines that an anchor may mean: in what is named already, else around it.
    fn anchored(&mut self, anchor: &str, scopes: &Scopes) -> Vec<Range<usize>> {
        let anchor = anchor.trim();
        let cost = self.lines.len() + self.text.len() / 64;
        self.left = self.left.saturating_sub(cost);
        let first = scopes.named.first().map(|scope| scope.start).filter(|_| self.left > 0);
        let Some(first) = first else { return Vec::new() };
        let that = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
            (first..self.lines.len()).filter(|&at| self.lines.get(at).is_some_and(|line| fits(line))).collect()
        };
        let mut all = that(&|line| line.trim() == anchor);
        if all.is_empty() {
            all = that(&|line| names(line, anchor));
        }
        let inside = in_scopes(&all, 1, &scopes.named);
        let named = if inside.is_empty() { in_scopes(&all, 1, &scopes.around) } else { inside };
        self.left = self.left.saturating_sub(COST_OF_PLACE * named.len());
        let ends = self.ends.get_or_insert_with(|| ends_of_scopes(&self.lines));
        named.into_iter().filter_map(|at| Some(at..*ends.get(at)?)).collect()
    }

    fn is_end(&self, line: usize) -> bool {
        self.lines.get(line..).is_some_and(|rest| rest.iter().all(|line| line.trim().is_empty()))
    }

    /// The refusal of a hunk whose lines are, if at all, in places that its anchors do not name.
    fn outside(&mut self, hunk: &Hunk, old: &[&Line], starts: &[usize]) -> Reason {
        match hunk.anchors.last() {
            Some(anchor) if !starts.is_empty() => {
                Reason::OutsideAnchor { anchor: preview(anchor), candidates: self.candidates(starts) }
            }
            _ => self.not_found(old),
        }
    }

    fn not_found(&mut self, old: &[&Line]) -> Reason {
        let wanted: String = old.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect();
        let diagnosis = self.diagnosis(&wanted);
        let skipped = old.iter().take_while(|line| line.text.trim().is_empty()).count();
        let nearest = diagnosis.as_ref().and_then(|diagnosis| diagnosis.near.first()).map(|near| {
            let first = near.line.saturating_sub(1).saturating_sub(skipped);
            let lines = self.lines.iter().skip(first).take(old.len().min(MOST_LINES));
            (first + 1, lines.map(|line| cut(line)).collect())
        });
        let expected = old.iter().take(MOST_LINES).map(|line| cut(&line.text)).collect();
        Reason::NotFound { expected, nearest, diagnosis: diagnosis.map(Box::new) }
    }

    fn no_anchor(&mut self, anchor: &str) -> Reason {
        let near = self.diagnosis(anchor.trim()).map(|diagnosis| diagnosis.near).unwrap_or_default();
        let near = near.into_iter().map(|near| Candidate { line: near.line, preview: near.preview }).collect();
        Reason::NoAnchor { anchor: preview(anchor), near }
    }

    fn diagnosis(&mut self, wanted: &str) -> Option<Diagnosis> {
        self.diagnoses = self.diagnoses.checked_sub(1)?;
        Some(diagnose::diagnose(self.text, wanted))
    }

    pub(super) fn ambiguous(&self, starts: &[usize]) -> Reason {
        Reason::Ambiguous { found: starts.len(), candidates: self.candidates(starts) }
    }

    fn candidates(&self, starts: &[usize]) -> Vec<Candidate> {
        let candidate = |start: &usize| Candidate {
            line: start + 1,
            preview: preview(self.lines.get(*start).copied().unwrap_or_default()),
        };
        starts.iter().take(10).map(candidate).collect()
    }
}

fn block(hunk: &Hunk, starts: Vec<usize>) -> Block {
    Block { starts, len: hunk.before().count(), leading: hunk.leading(), trailing: hunk.trailing(), hint: hunk.hint }
}

/// Those of the places that reach into one of the scopes. Both are sorted.
fn in_scopes(starts: &[usize], len: usize, scopes: &[Range<usize>]) -> Vec<usize> {
    let mut open = scopes.iter().peekable();
    let mut reach = 0;
    let is_inside = |start: &&usize| {
        while let Some(scope) = open.next_if(|scope| scope.start < **start + len) {
            reach = reach.max(scope.end);
        }
        **start < reach
    };
    starts.iter().filter(is_inside).copied().collect()
}

/// For each old line whether the hunk hangs on it: it goes, or something comes beside it.
fn certain(hunk: &Hunk) -> Vec<bool> {
    let comes = |at: Option<usize>| at.and_then(|at| hunk.lines.get(at)).is_some_and(|line| line.mark == Mark::Add);
    let certain = |(at, line): (usize, &Line)| match line.mark {
        Mark::Add => None,
        Mark::Remove => Some(true),
        Mark::Keep | Mark::Bare => Some(comes(at.checked_sub(1)) || comes(Some(at + 1))),
    };
    hunk.lines.iter().enumerate().filter_map(certain).collect()
}

/// The strictest pass to which two lines are the same that are so to the most lenient.
fn strictest(a: &str, b: &str) -> Pass {
    let passes = std::iter::once(Pass::Exact).chain(Pass::LENIENT);
    passes.into_iter().find(|pass| pass.same(a, b)).unwrap_or(Pass::Characters)
}

impl Folded {
    fn new(lines: &[&str], hunks: &[Hunk]) -> Self {
        let mut numbers = HashMap::new();
        for line in hunks.iter().flat_map(Hunk::before) {
            let next = numbers.len();
            numbers.entry(Self::key(&line.text)).or_insert(next);
        }
        let lines: Vec<Option<usize>> = lines.iter().map(|line| numbers.get(&Self::key(line)).copied()).collect();
        let mut index = vec![Vec::new(); numbers.len()];
        for (at, number) in lines.iter().enumerate() {
            if let Some(places) = number.and_then(|number: usize| index.get_mut(number)) {
                places.push(at);
            }
        }
        Self { numbers, lines, index }
    }

    fn number(&self, line: &str) -> Option<usize> {
        self.numbers.get(&Self::key(line)).copied()
    }

    fn stands(&self, number: Option<usize>) -> &[usize] {
        number.and_then(|number| self.index.get(number)).map_or(&[], Vec::as_slice)
    }

    /// Returns the part of a line that [`Pass::Characters`] compares.
    fn key(line: &str) -> String {
        line.split_whitespace().flat_map(|word| word.chars().map(plain).chain(['\n'])).collect()
    }
}

/// For each line the one before which what is indented below it ends. Brackets alone do not end it, nor do
/// the conditions of the C preprocessor, which are not indented.
fn ends_of_scopes(lines: &[&str]) -> Vec<usize> {
    // The lines further down that may end a scope, the nearest last. One is of no use behind one that is less deep.
    let mut below: Vec<(usize, usize)> = Vec::new();
    let mut ends = vec![lines.len(); lines.len()];
    for (at, (line, end)) in lines.iter().zip(&mut ends).enumerate().rev() {
        let (rest, depth) = (line.trim_start(), indent(line).len());
        if let Some((_, first)) = below.get(..below.partition_point(|(it, _)| *it <= depth)).and_then(<[_]>::last) {
            *end = *first;
        }
        let is_condition = ["#if", "#el", "#end"].iter().any(|directive| rest.starts_with(directive));
        if !rest.is_empty() && !is_condition && !rest.starts_with(['{', '}', '(', ')', '[', ']']) {
            below.truncate(below.partition_point(|(it, _)| *it < depth));
            below.push((depth, at));
        }
    }
    ends
}

/// True if a line has these whole words in it.
fn names(line: &str, anchor: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    !anchor.is_empty()
        && line.match_indices(anchor).any(|(at, _)| {
            let before = line.get(..at).unwrap_or_default().chars().next_back();
            let after = line.get(at + anchor.len()..).unwrap_or_default().chars().next();
            let cuts = |before: Option<char>, after: Option<char>| is_word(before) && is_word(after);
            !cuts(before, anchor.chars().next()) && !cuts(anchor.chars().next_back(), after)
        })
}

/// A line as it is, but not too long.
fn cut(line: &str) -> String {
    const LONGEST: usize = 160;
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}
