//! The hunks of one file into its text.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use similar::DiffOp;

use super::super::Edited;
use super::super::diagnose::{self, Diagnosis};
use super::super::fold::{Pass, plain};
use super::super::indent::{Unit, indent};
use super::super::locate::{self, Candidate, Wanted, preview};
use super::super::merge;
use super::error::{ApplyError, HunkError, MOST_LINES, MOST_TOLD, Reason};
use super::place::{self, Block};
use super::{Hunk, Line, Mark, lines};

/// How many lines of a file may be looked at for all hunks together; more is refused. This bounds the time for any
/// input: a hundred hunks with an anchor each in a file of 100,000 lines take a fifth of it.
const MOST_LOOKED_AT: usize = 100_000_000;
/// Keeping a place in mind counts as looking at so many lines.
const COST_OF_PLACE: usize = 16;
/// Comparing so many letters counts as looking at a line.
const LETTERS_PER_LINE: usize = 16;
/// A hunk with more places than this is not tried to be told by its neighbours.
const MOST_PLACES: usize = 1000;
/// A hunk with more lines, or with longer ones (in bytes), is only looked for as it is: what the lenient passes and the
/// merge after them do with it takes time by the square of both.
const LONGEST_LENIENT: (usize, usize) = (1000, 2000);
/// Puts hunks into a text with LF line ends. All of them have a certain place, or nothing is changed.
///
/// The place of a hunk is where its lines are: those that stay and those that go, as the file has them, in the scope of
/// its anchors. Where there are several such places, the order of the hunks tells. Else, where the patch was written for
/// this very text (`seen`), numbers tell that are off by the same as those of the certain hunks above and below; in
/// another text lines may have come and gone between them. See [`place::resolve`]. Hunks may come in another order if
/// each is in one place only. Lines that stay keep the file's text. Whether the text ends in a line break stays as it is,
/// unless a hunk that reaches the end says otherwise as git does.
///
/// # Errors
/// See [`ApplyError`].
pub fn apply(text: &str, hunks: &[Hunk], seen: bool) -> Result<Edited, ApplyError> {
    let mut file = File::new(text, hunks);
    let (mut found, mut blocks, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for hunk in hunks.iter().filter(|hunk| hunk.is_change()) {
        match file.find(hunk) {
            Ok((block, how)) => {
                found.push((hunk, how));
                blocks.push(block);
            }
            Err(reason) => failed.push(HunkError { line: hunk.line, reason }),
        }
        if file.left == 0 {
            return Err(ApplyError::TooMuch);
        }
    }
    let pass = found.iter().map(|(_, how)| how.pass()).max().unwrap_or(Pass::Exact);
    let mut edits = Vec::new();
    for (((hunk, how), block), start) in found.into_iter().zip(&blocks).zip(place::resolve(&blocks, seen)) {
        let edit = match start {
            Some(start) => file.edit(hunk, how, start),
            None => Err(file.ambiguous(&block.starts)),
        };
        match edit {
            Ok(edit) => edits.push(edit),
            Err(reason) => failed.push(HunkError { line: hunk.line, reason }),
        }
    }
    edits.sort_by_key(|edit| edit.block.start);
    let order = edits.iter().map(Edit::as_block).enumerate();
    if let Some((first, second)) = place::overlap(order)
        && let (Some(first), Some(second)) = (edits.get(first), edits.get(second))
    {
        let reason = Reason::Overlaps { with: first.hunk.line, line: second.block.start + 1 };
        failed.push(HunkError { line: second.hunk.line, reason });
    }
    if !failed.is_empty() {
        failed.sort_by_key(|hunk| hunk.line);
        return Err(ApplyError::Hunks(failed));
    }
    let edited = file.with(&edits);
    if edited == text { Err(ApplyError::NothingChanges) } else { Ok(Edited { text: edited, pass }) }
}

/// A text in which hunks are looked for.
struct File<'t> {
    text: &'t str,
    lines: Vec<&'t str>,
    hunks: &'t [Hunk],
    /// Where each line that a hunk wants to find stands.
    index: HashMap<&'t str, Stands>,
    /// How many lines may still be looked at.
    left: usize,
    /// Made when it is needed first.
    folded: Option<Folded>,
    /// For each line the one before which its scope ends. Made when it is needed first.
    ends: Option<Vec<usize>>,
    /// How it is indented. Made when it is needed first.
    unit: OnceCell<Option<Unit>>,
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

/// The lines of a file, for the lenient passes.
struct Folded {
    /// A number for each line that a hunk wants to find, as the passes see it.
    numbers: HashMap<String, usize>,
    /// The number of each line of the file.
    lines: Vec<Option<usize>>,
    /// Where each number stands.
    index: Vec<Vec<usize>>,
}

/// How the lines of a hunk were found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// As the hunk has them.
    Exact,
    /// With a space more in some lines that stay: the patch left the mark out there.
    Spaceless,
    /// By a lenient pass.
    By(Pass),
}

impl How {
    fn pass(self) -> Pass {
        match self {
            // A mark that is missing is no difference to the file.
            Self::Exact | Self::Spaceless => Pass::Exact,
            Self::By(pass) => pass,
        }
    }
}

/// A hunk with its place.
struct Edit<'h> {
    hunk: &'h Hunk,
    /// The lines of the file that it wants to find.
    block: Range<usize>,
    /// How many of those stay at its begin and at its end.
    stay: (usize, usize),
    /// What comes in the place of the others.
    new: Vec<String>,
}

impl<'t> File<'t> {
    fn new(text: &'t str, hunks: &'t [Hunk]) -> Self {
        let lines: Vec<&str> = lines(text).collect();
        let wanted = hunks.iter().flat_map(Hunk::old);
        let mut index: HashMap<&str, Stands> = wanted.map(|line| (line.text.as_str(), Stands::default())).collect();
        for (at, line) in lines.iter().enumerate() {
            if let Some(stands) = index.get_mut(line) {
                stands.as_it_is.push(at);
            }
            if let Some(stands) = line.strip_prefix(' ').and_then(|rest| index.get_mut(rest)) {
                stands.spaced.push(at);
            }
        }
        Self {
            text,
            lines,
            hunks,
            index,
            left: MOST_LOOKED_AT,
            folded: None,
            ends: None,
            unit: OnceCell::new(),
            diagnoses: MOST_TOLD,
        }
    }

    /// The places where a hunk may go; at least one.
    fn find(&mut self, hunk: &Hunk) -> Result<(Block, How), Reason> {
        let scopes = self.scopes(&hunk.anchors)?;
        let old: Vec<&Line> = hunk.old().collect();
        if old.is_empty() {
            return Ok((block(hunk, vec![self.insertion(hunk, &scopes)?]), How::Exact));
        }
        let (mut starts, how) = self.places(hunk, &old, &scopes)?;
        if let Some(heading) = &hunk.heading {
            // Git cuts it, and it may be stale, so it can only tell places apart.
            let scopes = self.anchored(heading, &[0..self.lines.len()]);
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

    /// The place of a hunk that has no old lines.
    fn insertion(&self, hunk: &Hunk, scopes: &[Range<usize>]) -> Result<usize, Reason> {
        if hunk.end_of_file || self.lines.is_empty() {
            return Ok(self.lines.len());
        }
        let Some(anchor) = hunk.anchors.last() else { return Err(Reason::NoContext) };
        let begins =
            |line: usize| self.lines.get(line).is_some_and(|line| line.trim_start().starts_with(anchor.trim()));
        match scopes {
            // A line that only has the anchor somewhere in it may be about something else.
            [scope] if begins(scope.start) => Ok(scope.start + 1),
            [_] => Err(Reason::NoContext),
            scopes => Err(self.ambiguous(&scopes.iter().map(|scope| scope.start).collect::<Vec<_>>())),
        }
    }

    /// Where the lines of a hunk stand below its anchors, by the first way of looking that finds any. Places in the
    /// scope of the anchors count before others.
    fn places(&mut self, hunk: &Hunk, old: &[&Line], scopes: &[Range<usize>]) -> Result<(Vec<usize>, How), Reason> {
        let first = scopes.first().map_or(0, |scope| scope.start);
        let mut above = Vec::new();
        for how in [How::Exact, How::Spaceless] {
            let all = self.as_given(old, how);
            let (here, others): (Vec<usize>, Vec<usize>) = all.into_iter().partition(|start| start + old.len() > first);
            above.extend(others);
            if here.is_empty() {
                continue;
            }
            let inside = in_scopes(&here, old.len(), scopes);
            if !inside.is_empty() {
                return Ok((inside, how));
            }
            // Elsewhere they may be only because they are not letter by letter where the anchor says.
            let like = self.leniently(hunk, old, scopes)?.0;
            return if like.is_empty() { Ok((here, how)) } else { Err(self.ambiguous(&[like, here].concat())) };
        }
        for scopes in [scopes, &[first..self.lines.len()]] {
            let (starts, how) = self.leniently(hunk, old, scopes)?;
            if !starts.is_empty() {
                return Ok((starts, how));
            }
        }
        match hunk.anchors.last() {
            Some(anchor) if !above.is_empty() => {
                Err(Reason::AboveAnchor { anchor: preview(anchor), candidates: self.candidates(&above) })
            }
            _ => Err(self.not_found(old)),
        }
    }

    /// Where these lines stand in some scopes, by the strictest lenient pass that finds any there.
    fn leniently(&mut self, hunk: &Hunk, old: &[&Line], scopes: &[Range<usize>]) -> Result<(Vec<usize>, How), Reason> {
        let nothing = (Vec::new(), How::Exact);
        let (most, longest) = LONGEST_LENIENT;
        let is_long = hunk.lines.len() > most || hunk.lines.iter().any(|line| line.text.len() > longest);
        if is_long || old.iter().all(|line| line.text.trim().is_empty()) {
            return Ok(nothing);
        }
        let folded = self.folded.get_or_insert_with(|| Folded::new(&self.lines, self.hunks));
        let wanted: Vec<Option<usize>> = old.iter().map(|line| folded.number(&line.text)).collect();
        let certain = certain(hunk);
        // By likeness only the others may differ.
        if wanted.iter().zip(&certain).any(|(number, certain)| *certain && number.is_none()) {
            return Ok(nothing);
        }
        let rarest = wanted.iter().enumerate().filter_map(|(at, number)| Some((at, folded.index.get((*number)?)?)));
        let Some((at, rarest)) = rarest.min_by_key(|(_, lines)| lines.len()) else { return Ok(nothing) };
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

    /// The lines that belong to what the anchors name: from the line of the last anchor to the end of what is indented
    /// below it. All of the file without anchors.
    fn scopes(&mut self, anchors: &[String]) -> Result<Vec<Range<usize>>, Reason> {
        let mut scopes = vec![0..self.lines.len()];
        for anchor in anchors {
            let below = self.anchored(anchor, &scopes);
            if below.is_empty() {
                return Err(self.no_anchor(anchor));
            }
            scopes = below;
        }
        Ok(scopes)
    }

    /// The scopes of the lines that an anchor may mean: inside of the given scopes, else anywhere below their begin.
    fn anchored(&mut self, anchor: &str, scopes: &[Range<usize>]) -> Vec<Range<usize>> {
        let anchor = anchor.trim();
        let cost = self.lines.len() + self.text.len() / 64;
        self.left = self.left.saturating_sub(cost);
        let Some(first) = scopes.first().map(|scope| scope.start).filter(|_| self.left > 0) else { return Vec::new() };
        let that = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
            (first..self.lines.len()).filter(|&at| self.lines.get(at).is_some_and(|line| fits(line))).collect()
        };
        let mut all = that(&|line| line.trim() == anchor);
        if all.is_empty() {
            all = that(&|line| names(line, anchor));
        }
        let mut inside: Vec<usize> = Vec::new();
        let mut ends = scopes.iter().peekable();
        for &at in &all {
            while ends.next_if(|scope| scope.end <= at).is_some() {}
            if ends.peek().is_some_and(|scope| scope.start <= at) {
                inside.push(at);
            }
        }
        let named = if inside.is_empty() { all } else { inside };
        self.left = self.left.saturating_sub(COST_OF_PLACE * named.len());
        let ends = self.ends.get_or_insert_with(|| ends_of_scopes(&self.lines));
        named.into_iter().filter_map(|at| Some(at..*ends.get(at)?)).collect()
    }

    fn is_end(&self, line: usize) -> bool {
        self.lines.get(line..).is_some_and(|rest| rest.iter().all(|line| line.trim().is_empty()))
    }

    /// What a hunk makes of the lines at its place.
    fn edit<'h>(&self, hunk: &'h Hunk, how: How, start: usize) -> Result<Edit<'h>, Reason> {
        let old: Vec<&Line> = hunk.old().collect();
        let block = start..start + old.len();
        let lines = self.lines.get(block.clone()).unwrap_or_default();
        let new = match how {
            How::By(_) => {
                let texts = |lines: &mut dyn Iterator<Item = &'h Line>| -> Vec<&'h str> {
                    lines.map(|line| line.text.as_str()).collect()
                };
                let (old, new) = (texts(&mut hunk.old()), texts(&mut hunk.new()));
                merge::merge_ops(&ops(hunk), lines, &old, &new, self.unit())
                    .map_err(|reason| Reason::Uncertain { line: start + 1, reason })?
            }
            How::Spaceless if !self.is_mark_missing(hunk, &old, lines) => {
                return Err(Reason::LeadingSpace { line: start + 1 });
            }
            How::Exact | How::Spaceless => {
                let mut own = lines.iter();
                let mut new = Vec::new();
                for line in &hunk.lines {
                    match line.mark {
                        Mark::Add => new.push(line.text.clone()),
                        Mark::Remove => drop(own.next()),
                        Mark::Keep | Mark::Bare => new.extend(own.next().map(|line| (*line).to_owned())),
                    }
                }
                new
            }
        };
        // What stays at the ends is left to the file, where another hunk may have it too.
        let stay = (hunk.leading(), hunk.trailing());
        let middle = stay.0..new.len().saturating_sub(stay.1);
        let keeps = |new: &[String], own: Option<&[&str]>| own.is_some_and(|own| new.iter().eq(own));
        let (head, tail) = (new.get(..middle.start), new.get(middle.end..));
        let is_kept = head.is_some_and(|head| keeps(head, lines.get(..stay.0)))
            && tail.is_some_and(|tail| keeps(tail, lines.get(lines.len() - stay.1..)));
        match new.get(middle).filter(|_| is_kept) {
            Some(inner) => Ok(Edit { hunk, block, stay, new: inner.to_vec() }),
            None => Ok(Edit { hunk, block, stay: (0, 0), new }),
        }
    }

    fn unit(&self) -> Option<Unit> {
        *self.unit.get_or_init(|| Unit::of(self.text))
    }

    /// Whether lines that stay were found with a space more because their mark is missing. Where some line has its mark,
    /// the others have lost theirs. Where none has, the file may as well be indented by a space more, and the new lines
    /// with it, unless that is not how it indents.
    fn is_mark_missing(&self, hunk: &Hunk, old: &[&Line], lines: &[&str]) -> bool {
        let marked = old.iter().zip(lines).any(|(old, line)| old.text == *line && !line.trim().is_empty());
        let unit = self.unit();
        let fits = |line: &Line| match unit {
            Some(Unit::Spaces(step)) if step > 1 => indent(&line.text).len().is_multiple_of(step),
            _ => false,
        };
        marked || hunk.lines.iter().filter(|it| it.mark == Mark::Add && !it.text.trim().is_empty()).all(fits)
    }

    /// The text with all edits, which are sorted and apart.
    fn with(&self, edits: &[Edit<'_>]) -> String {
        let mut out: Vec<&str> = Vec::with_capacity(self.lines.len());
        let mut copied = 0;
        let mut newline = self.text.is_empty() || self.text.ends_with('\n');
        for edit in edits {
            out.extend(self.lines.get(copied..edit.block.start + edit.stay.0).unwrap_or_default());
            out.extend(edit.new.iter().map(String::as_str));
            copied = edit.block.end - edit.stay.1;
            if edit.block.end == self.lines.len() {
                newline = edit.hunk.final_newline.unwrap_or(newline);
            }
        }
        out.extend(self.lines.get(copied..).unwrap_or_default());
        let mut text = out.join("\n");
        if newline && !out.is_empty() {
            text.push('\n');
        } else if !newline {
            text.truncate(text.trim_end_matches('\n').len());
        }
        text
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

    fn ambiguous(&self, starts: &[usize]) -> Reason {
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

impl Edit<'_> {
    fn as_block(&self) -> Block {
        let (leading, trailing) = self.stay;
        Block { starts: vec![self.block.start], len: self.block.len(), leading, trailing, hint: None }
    }
}

fn block(hunk: &Hunk, starts: Vec<usize>) -> Block {
    Block { starts, len: hunk.old().count(), leading: hunk.leading(), trailing: hunk.trailing(), hint: hunk.hint }
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

/// What a hunk does to its old lines.
fn ops(hunk: &Hunk) -> Vec<DiffOp> {
    let (mut ops, mut old_index, mut new_index) = (Vec::new(), 0, 0);
    for run in hunk.lines.chunk_by(|a, b| a.is_change() == b.is_change()) {
        let added = run.iter().filter(|line| line.mark == Mark::Add).count();
        let (old_len, new_len) = (run.len() - added, added);
        if run.first().is_some_and(Line::is_change) {
            ops.push(match (old_len, new_len) {
                (0, _) => DiffOp::Insert { old_index, new_index, new_len },
                (_, 0) => DiffOp::Delete { old_index, old_len, new_index },
                _ => DiffOp::Replace { old_index, old_len, new_index, new_len },
            });
            new_index += new_len;
        } else {
            ops.push(DiffOp::Equal { old_index, new_index, len: old_len });
            new_index += old_len;
        }
        old_index += old_len;
    }
    ops
}

/// The strictest pass to which two lines are the same that are so to the most lenient.
fn strictest(a: &str, b: &str) -> Pass {
    let passes = std::iter::once(Pass::Exact).chain(Pass::LENIENT);
    passes.into_iter().find(|pass| pass.same(a, b)).unwrap_or(Pass::Characters)
}

impl Folded {
    fn new(lines: &[&str], hunks: &[Hunk]) -> Self {
        let mut numbers = HashMap::new();
        for line in hunks.iter().flat_map(Hunk::old) {
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

    /// What [`Pass::Characters`] looks at.
    fn key(line: &str) -> String {
        line.split_whitespace().flat_map(|word| word.chars().map(plain).chain(['\n'])).collect()
    }
}

/// For each line the one before which what is indented below it ends. Brackets alone do not end it.
fn ends_of_scopes(lines: &[&str]) -> Vec<usize> {
    // The lines further down that may end a scope, the nearest last. One is of no use behind one that is less deep.
    let mut below: Vec<(usize, usize)> = Vec::new();
    let mut ends = vec![lines.len(); lines.len()];
    for (at, (line, end)) in lines.iter().zip(&mut ends).enumerate().rev() {
        let (rest, depth) = (line.trim_start(), indent(line).len());
        if let Some((_, first)) = below.get(..below.partition_point(|(it, _)| *it <= depth)).and_then(<[_]>::last) {
            *end = *first;
        }
        if !rest.is_empty() && !rest.starts_with(['{', '}', '(', ')', '[', ']']) {
            below.truncate(below.partition_point(|(it, _)| *it < depth));
            below.push((depth, at));
        }
    }
    ends
}

/// Whether a line has these whole words in it.
fn names(line: &str, anchor: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    !anchor.is_empty()
        && line.match_indices(anchor).any(|(at, _)| {
            let before = line.get(..at).unwrap_or_default().chars().next_back();
            let after = line.get(at + anchor.len()..).unwrap_or_default().chars().next();
            !(is_word(before) && is_word(anchor.chars().next()))
                && !(is_word(anchor.chars().next_back()) && is_word(after))
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
