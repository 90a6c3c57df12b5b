//! Edits made up mechanically, and the slips that models make in them.

use crate::sources::Source;

/// Edits of a file.
const EDITS: usize = 5;
/// Lines around a change that an edit names at most.
const MOST_CONTEXT: usize = 6;

/// The kind of mistake that a model makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slip {
    /// None.
    None,
    /// Its lines are indented less or more, or with tabs for spaces and the other way round.
    Indentation,
    /// Its lines end in white space.
    TrailingSpace,
    /// It has another number of spaces between two words.
    InnerSpace,
    /// It has typographic quotes.
    Quotes,
    /// Its lines end in CRLF.
    Crlf,
    /// The file has other lines above by now.
    StaleNumbers,
    /// It names no line around the change.
    MissingContext,
}

impl Slip {
    pub const ALL: [Self; 8] = [
        Self::None,
        Self::Indentation,
        Self::TrailingSpace,
        Self::InnerSpace,
        Self::Quotes,
        Self::Crlf,
        Self::StaleNumbers,
        Self::MissingContext,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::None => "no slip",
            Self::Indentation => "indentation",
            Self::TrailingSpace => "trailing space",
            Self::InnerSpace => "inner space",
            Self::Quotes => "quotes",
            Self::Crlf => "CRLF",
            Self::StaleNumbers => "stale numbers",
            Self::MissingContext => "missing context",
        }
    }

    /// Lines as a model with the slip writes them; none if the slip changes nothing, which is then none.
    pub fn of(self, lines: &[String], seed: u64) -> Option<Vec<String>> {
        let made: Vec<String> = match self {
            Self::None | Self::StaleNumbers | Self::MissingContext => return Some(lines.to_vec()),
            Self::Crlf => lines.iter().map(|line| format!("{line}\r")).collect(),
            Self::TrailingSpace => {
                lines.iter().map(|line| if line.is_empty() { line.clone() } else { format!("{line}  ") }).collect()
            }
            Self::InnerSpace => lines.iter().map(|line| inner(line)).collect(),
            Self::Quotes => lines.iter().map(|line| curly(line)).collect(),
            Self::Indentation => indented(lines, seed)?,
        };
        (made != lines).then_some(made)
    }
}

/// An edit of a file: some of its lines become others.
pub struct Case {
    pub name: String,
    pub path: std::path::PathBuf,
    pub slip: Slip,
    /// The text to edit.
    pub text: String,
    /// The text that the edit should give.
    pub wanted: String,
    /// The number of the first line that changes, from 0, as the model knows it.
    pub at: usize,
    /// The lines above, that change, below, and instead of them.
    pub above: Vec<String>,
    pub removed: Vec<String>,
    pub below: Vec<String>,
    pub added: Vec<String>,
    pub seed: u64,
    /// The lines of the text as the model read it.
    pub read: String,
}

/// The lines of an edit as a model writes it.
pub struct Written {
    pub above: Vec<String>,
    pub removed: Vec<String>,
    pub added: Vec<String>,
    pub below: Vec<String>,
}

impl Case {
    /// Lines as the model recalls them, with its slip; none if the slip does not show in them.
    pub fn slipped(&self, lines: &[String]) -> Option<Vec<String>> {
        self.slip.of(lines, self.seed)
    }

    /// All that the model writes of lines: those above, those that change, those instead of them, and those below. None
    /// where the slip does not show in those that are there. A line that it makes up has no slip of its memory.
    pub fn written(&self) -> Option<Written> {
        let parts = [&self.above, &self.removed, &self.added, &self.below];
        let all = parts.iter().flat_map(|part| part.iter().cloned()).collect::<Vec<_>>();
        let mut slipped = self.slipped(&all)?;
        for (line, meant) in slipped.iter_mut().zip(&all) {
            if self.slip == Slip::InnerSpace && meant.contains("azimuth_inserted") {
                line.clone_from(meant);
            }
        }
        let mut lines = slipped.into_iter();
        let [above, removed, added, below] = parts.map(|part| lines.by_ref().take(part.len()).collect::<Vec<_>>());
        let shows = above != self.above || removed != self.removed || below != self.below;
        let needs_none = matches!(self.slip, Slip::None | Slip::StaleNumbers | Slip::MissingContext);
        (shows || needs_none).then_some(Written { above, removed, added, below })
    }

    pub fn named_block(&self) -> Vec<String> {
        [&self.above[..], &self.removed, &self.below].concat()
    }

    pub fn wanted_block(&self) -> Vec<String> {
        [&self.above[..], &self.added, &self.below].concat()
    }
}

/// The edits of a file, each with each slip.
pub fn of(source: &Source) -> Vec<Case> {
    let lines: Vec<String> = source.text.lines().map(str::to_owned).collect();
    let name = format!("{}/{}", source.package, source.path.display());
    let mut random = Random(
        name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)),
    );
    let mut cases = Vec::new();
    let mut tries = 0;
    while cases.len() < EDITS * Slip::ALL.len() && tries < 200 {
        tries += 1;
        let at = 3 + random.below(lines.len() - 8);
        let Some(line) = lines.get(at).filter(|line| line.chars().any(char::is_alphabetic)) else { continue };
        let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
        let Some(changed) = renamed(line) else { continue };
        let added = match random.below(4) {
            0 => vec![changed],
            1 => vec![changed, format!("{indent}azimuth_inserted(1, \"two\");")],
            2 => vec![line.clone(), format!("{indent}azimuth_inserted(1, \"two\");")],
            _ => Vec::new(),
        };
        let Some(context) = (1..=MOST_CONTEXT).find(|context| is_unique(&lines, at, *context)) else { continue };
        let seed = random.next();
        for slip in Slip::ALL {
            let context = if slip == Slip::MissingContext { 0 } else { context };
            let mut text = source.text.clone();
            let mut wanted_lines = lines.clone();
            wanted_lines.splice(at..=at, added.iter().cloned());
            let mut wanted = wanted_lines.join("\n");
            if text.ends_with('\n') {
                wanted.push('\n');
            }
            if slip == Slip::StaleNumbers {
                let more = "// One.\n// Two.\n// Three.\n";
                text.insert_str(0, more);
                wanted.insert_str(0, more);
            }
            cases.push(Case {
                name: format!("{name}:{}", at + 1),
                path: source.path.clone(),
                slip,
                text,
                wanted,
                at,
                above: lines[at.saturating_sub(context)..at].to_vec(),
                removed: vec![line.clone()],
                below: lines[at + 1..(at + 1 + context).min(lines.len())].to_vec(),
                added: added.clone(),
                seed,
                read: source.text.clone(),
            });
        }
    }
    cases
}

/// Where two texts differ, a line each.
pub fn difference(wanted: &str, text: &str) -> Vec<String> {
    let (wanted, text): (Vec<&str>, Vec<&str>) = (wanted.lines().collect(), text.lines().collect());
    let head = wanted.iter().zip(&text).take_while(|(a, b)| a == b).count();
    let tail = wanted[head..].iter().rev().zip(text[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let wanted = wanted[head..wanted.len() - tail].iter().map(|line| format!("wanted {line:?}"));
    let got = text[head..text.len() - tail].iter().map(|line| format!("got    {line:?}"));
    std::iter::once(format!("at line {}", head + 1)).chain(wanted).chain(got).collect()
}

/// The line with its first longer word renamed.
fn renamed(line: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word =
        line.split(|c| !is_word(c)).find(|word| word.len() > 3 && !word.starts_with(|c: char| c.is_ascii_digit()))?;
    Some(line.replacen(word, &format!("azimuth_{word}"), 1))
}

/// True if the lines around a place are nowhere else, however their white space and quotes are.
fn is_unique(lines: &[String], at: usize, context: usize) -> bool {
    let (from, to) = (at.saturating_sub(context), (at + 1 + context).min(lines.len()));
    let normal = |line: &String| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted: Vec<String> = lines[from..to].iter().map(normal).collect();
    lines.windows(to - from).filter(|window| window.iter().map(normal).eq(wanted.iter().cloned())).count() == 1
}

fn inner(line: &str) -> String {
    let start = line.len() - line.trim_start().len();
    let (indent, rest) = line.split_at(start);
    format!("{indent}{}", rest.replacen(' ', "  ", 1))
}

fn curly(line: &str) -> String {
    let mut open = false;
    let curly = |c: char| match c {
        '"' => {
            open = !open;
            if open { '\u{201C}' } else { '\u{201D}' }
        }
        '\'' => '\u{2019}',
        c => c,
    };
    line.chars().map(curly).collect()
}

fn indented(lines: &[String], seed: u64) -> Option<Vec<String>> {
    let full = lines.iter().filter(|line| !line.trim().is_empty());
    let common = full.map(|line| line.len() - line.trim_start().len()).min()?;
    let each = |change: &dyn Fn(&str) -> String| {
        lines.iter().map(|line| if line.trim().is_empty() { String::new() } else { change(line) }).collect()
    };
    Some(match seed % 3 {
        // Without the indentation of the surroundings.
        0 if common > 0 => each(&|line| line[common..].to_owned()),
        // Moved in.
        1 => each(&|line| format!("    {line}")),
        // Tabs for spaces, or spaces for tabs.
        _ => each(&|line| {
            let width = line.len() - line.trim_start().len();
            let (indent, rest) = line.split_at(width);
            if indent.contains('\t') {
                indent.replace('\t', "    ") + rest
            } else {
                indent.replace("    ", "\t") + rest
            }
        }),
    })
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap_or_default()
    }
}
