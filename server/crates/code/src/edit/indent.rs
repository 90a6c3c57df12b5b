//! Indentation: what lines have of it, and how lines that an edit puts in are indented, where the file is indented
//! another way than the edit.
//!
//! Of the latter, what is known are pairs: the indentation of a line as the edit has it, and as the file has it. From
//! them follows how others translate, or that it is not certain.

use std::collections::BTreeMap;

/// The unit by which a file indents one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// By a tab.
    Tab,
    /// By so many spaces.
    Spaces(usize),
}

impl Unit {
    /// Returns the unit that a text indents by most often; none if nothing is indented.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut steps: BTreeMap<usize, usize> = BTreeMap::new();
        let (mut tabs, mut above) = (0, 0);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let indent = indent(line);
            if indent.starts_with('\t') {
                tabs += 1;
                continue;
            }
            // A single space is a comment's or an alignment's.
            if indent.len() > above + 1 {
                *steps.entry(indent.len() - above).or_default() += 1;
            }
            above = indent.len();
        }
        let (step, count) =
            steps.into_iter().max_by_key(|(step, count)| (*count, usize::MAX - step)).unwrap_or_default();
        match (tabs, count) {
            (0, 0) => None,
            (tabs, count) if tabs > count => Some(Self::Tab),
            _ => Some(Self::Spaces(step)),
        }
    }
}

/// The white space that a line begins with.
pub(super) fn indent(line: &str) -> &str {
    line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
}

/// The white space that the line begins with that a byte of a text is on.
pub(super) fn indent_at(text: &str, at: usize) -> &str {
    let line = text.get(line_start(text, at)..).unwrap_or_default();
    indent(line.split('\n').next().unwrap_or_default())
}

/// The white space that a line has up to a byte of it; none if anything else stands before.
pub(super) fn indent_before(text: &str, at: usize) -> Option<&str> {
    let line = text.get(line_start(text, at)..at)?;
    line.trim().is_empty().then_some(line)
}

/// Where the line begins that a byte of a text is on.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
}

/// Code with tabs for the levels that it indents by spaces, or the other way round, as what stood in its place is
/// indented, or else the file. Lines that begin inside a string, by their number from 0, stay as they are. None if
/// it cannot be told how many spaces a tab is.
pub(super) fn as_in(file: &str, old: &str, code: &str, is_verbatim: impl Fn(usize) -> bool) -> Option<String> {
    let is_counted = |(row, line): &(usize, &str)| !line.trim().is_empty() && !is_verbatim(*row);
    let counted: Vec<&str> = code.split('\n').enumerate().filter(is_counted).map(|(_, line)| line).collect();
    let rewritten = |lead: &dyn Fn(&str) -> String| {
        let line = |(row, line)| match is_counted(&(row, line)) {
            true => format!("{}{}", lead(indent(line)), line.trim_start()),
            false => line.to_owned(),
        };
        Some(code.split('\n').enumerate().map(line).collect::<Vec<_>>().join("\n"))
    };
    match Unit::of(old).or_else(|| Unit::of(file)) {
        Some(Unit::Spaces(step)) if counted.iter().any(|line| indent(line).contains('\t')) => {
            let width = tab_width(step, old, &counted)?;
            rewritten(&|lead| lead.replace('\t', &" ".repeat(width)))
        }
        Some(Unit::Tab) => match Unit::of(&counted.join("\n")) {
            Some(Unit::Spaces(step)) => rewritten(&|lead| {
                let spaces = lead.len() - lead.trim_end_matches(' ').len();
                let (tabs, spaces) = lead.split_at(lead.len() - spaces);
                format!("{tabs}{}{}", "\t".repeat(spaces.len() / step), " ".repeat(spaces.len() % step))
            }),
            _ => Some(code.to_owned()),
        },
        _ => Some(code.to_owned()),
    }
}

/// How many spaces a tab is in lines that are to be indented by so many: as many as make them stand to each other as
/// the same lines do in what they replace, else a level. None if there is no telling.
fn tab_width(step: usize, old: &str, lines: &[&str]) -> Option<usize> {
    let once = |line: &str, mut among: Box<dyn Iterator<Item = &str> + '_>| {
        among.by_ref().filter(|other| other.trim() == line.trim()).take(2).count() == 1
    };
    let pairs: Vec<(&str, usize)> = lines
        .iter()
        .filter(|line| once(line, Box::new(lines.iter().copied())) && once(line, Box::new(old.lines())))
        .filter_map(|line| Some((indent(line), indent(old.lines().find(|old| old.trim() == line.trim())?).len())))
        .collect();
    let width = |lead: &str, tab: usize| lead.chars().map(|c| if c == '\t' { tab } else { 1 }).sum::<usize>();
    // How many lines stand to each other as they did.
    let agreeing = |tab: usize| {
        let mut shifts: BTreeMap<isize, usize> = BTreeMap::new();
        for (lead, file) in &pairs {
            *shifts.entry(width(lead, tab).cast_signed() - file.cast_signed()).or_default() += 1;
        }
        shifts.into_values().max().unwrap_or_default()
    };
    let widths = [step, 2, 3, 4, 8];
    let best = widths.map(agreeing).into_iter().max()?;
    let mut fitting: Vec<usize> = widths.into_iter().filter(|width| agreeing(*width) == best).collect();
    fitting.sort_unstable();
    fitting.dedup();
    let is_mixed = lines.iter().any(|line| indent(line).matches(' ').count() >= step);
    match fitting.as_slice() {
        [one] => Some(*one),
        several => (several.contains(&step) && !is_mixed).then_some(step),
    }
}

/// Translates the edit's indentation into the file's.
pub(super) struct Indents<'a> {
    /// The file's indentation for each of the edit's; none if one of the edit's stands for several.
    known: BTreeMap<&'a str, Option<&'a str>>,
    unit: Option<Unit>,
}

impl<'a> Indents<'a> {
    /// From pairs of lines: as the edit has it, as the file has it. Blank ones say nothing.
    pub(super) fn new(pairs: impl Iterator<Item = (&'a str, &'a str)>, unit: Option<Unit>) -> Self {
        let mut known: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        for (given, file) in pairs.filter(|(given, file)| !given.trim().is_empty() && !file.trim().is_empty()) {
            let (given, file) = (indent(given), indent(file));
            known.entry(given).and_modify(|known| *known = known.filter(|known| *known == file)).or_insert(Some(file));
        }
        Self { known, unit }
    }

    /// The file's indentation for one of the edit's; none if it is not certain.
    pub(super) fn translate(&self, given: &str) -> Option<String> {
        if let Some(known) = self.known.get(given) {
            return known.map(str::to_owned);
        }
        let pairs: Vec<(&str, &str)> =
            self.known.iter().map(|(given, file)| file.map(|file| (*given, file))).collect::<Option<_>>()?;
        if pairs.iter().all(|(given, file)| given == file) {
            return Some(given.to_owned());
        }
        let converted = self.converted(&pairs, given);
        let found = [shifted(&pairs, given), self.scaled(&pairs, given), converted].into_iter().flatten();
        // Two ways to read the same pairs must not say different things, unless only one fits how the file indents.
        let mut answers: Vec<String> = found.filter(|answer| self.fits(answer)).collect();
        answers.dedup();
        if answers.len() == 1 { answers.pop() } else { None }
    }

    /// True if an indentation is one that the file would have.
    fn fits(&self, indent: &str) -> bool {
        match self.unit {
            None => true,
            Some(Unit::Tab) => indent.bytes().all(|byte| byte == b'\t'),
            Some(Unit::Spaces(step)) => indent.bytes().all(|byte| byte == b' ') && indent.len().is_multiple_of(step),
        }
    }

    /// Tabs for spaces, or spaces for tabs, so many for each, on top of where the lines stand.
    fn converted(&self, pairs: &[(&str, &str)], given: &str) -> Option<String> {
        let all = |text: &str, byte: u8| text.bytes().all(|it| it == byte);
        let mixed = |from: u8, to: u8| all(given, from) && pairs.iter().all(|(g, f)| all(g, from) && all(f, to));
        let width = |per: usize, given_is_tabs: bool, of: &str| {
            if given_is_tabs { Some(of.len() * per) } else { of.len().is_multiple_of(per).then_some(of.len() / per) }
        };
        let (given_is_tabs, to) = if mixed(b' ', b'\t') {
            (false, "\t")
        } else if mixed(b'\t', b' ') {
            (true, " ")
        } else {
            return None;
        };
        // How many spaces a tab stands for: what the pairs say, else what the file indents by.
        let deepest = pairs.iter().filter(|(given, file)| !given.is_empty() && !file.is_empty()).max()?;
        let (long, short) = if given_is_tabs { (deepest.1, deepest.0) } else { (deepest.0, deepest.1) };
        let per = long
            .len()
            .is_multiple_of(short.len())
            .then(|| long.len() / short.len())
            .filter(|per| (2..=8).contains(per))?;
        let agrees = |pair: &(&str, &str)| width(per, given_is_tabs, pair.0) == Some(pair.1.len());
        pairs.iter().all(agrees).then(|| width(per, given_is_tabs, given)).flatten().map(|width| to.repeat(width))
    }

    /// Another number of spaces for each level.
    fn scaled(&self, pairs: &[(&str, &str)], given: &str) -> Option<String> {
        let spaces = |text: &str| text.bytes().all(|byte| byte == b' ');
        if !spaces(given) || !pairs.iter().all(|(given, file)| spaces(given) && spaces(file)) {
            return None;
        }
        let (from, to) = pairs.iter().map(|(given, file)| (given.len(), file.len())).max()?;
        // Without any indentation in the file there is no width of a level.
        if from == 0 || to == 0 || !pairs.iter().all(|(given, file)| given.len() * to == file.len() * from) {
            return None;
        }
        let scale = |width: usize| (width * to).is_multiple_of(from).then_some(width * to / from);
        // One pair alone may as well be a shift, which is the more likely unless the step is one of the file's levels.
        if let ([_], Some(Unit::Spaces(level))) = (pairs, self.unit)
            && scale(given.len().abs_diff(from)) != Some(level)
        {
            return None;
        }
        Some(" ".repeat(scale(given.len())?))
    }
}

/// The same white space put before, or taken away before, every line.
fn shifted(pairs: &[(&str, &str)], given: &str) -> Option<String> {
    let (first, rest) = pairs.split_first()?;
    if let Some(more) = first.1.strip_suffix(first.0) {
        let kind = |text: &str| text.bytes().next();
        let same = rest.iter().all(|(given, file)| file.strip_suffix(given) == Some(more));
        return (same && (given.is_empty() || more.is_empty() || kind(given) == kind(more)))
            .then(|| format!("{more}{given}"));
    }
    let less = first.0.strip_suffix(first.1)?;
    let same = rest.iter().all(|(given, file)| given.strip_suffix(file) == Some(less));
    if same { given.strip_prefix(less).map(str::to_owned) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translate(pairs: &[(&str, &str)], unit: Option<Unit>, given: &str) -> Option<String> {
        let lines: Vec<_> = pairs.iter().map(|(a, b)| (format!("{a}x"), format!("{b}x"))).collect();
        Indents::new(lines.iter().map(|(a, b)| (a.as_str(), b.as_str())), unit).translate(given)
    }

    #[test]
    fn an_edit_without_the_indentation_of_its_surroundings_is_moved_in() {
        let pairs = [("", "    "), ("    ", "        ")];
        assert_eq!(translate(&pairs, Some(Unit::Spaces(4)), "        ").as_deref(), Some("            "));
        assert_eq!(translate(&[("", "    ")], Some(Unit::Spaces(4)), "    ").as_deref(), Some("        "));
        assert_eq!(translate(&[("        ", "    ")], Some(Unit::Spaces(4)), "    ").as_deref(), Some(""));
        assert_eq!(translate(&[("", "\t")], Some(Unit::Tab), "\t").as_deref(), Some("\t\t"));
    }

    #[test]
    fn tabs_become_spaces_and_spaces_tabs() {
        assert_eq!(translate(&[("    ", "\t")], Some(Unit::Tab), "        ").as_deref(), Some("\t\t"));
        assert_eq!(translate(&[("", ""), ("  ", "\t")], Some(Unit::Tab), "      ").as_deref(), Some("\t\t\t"));
        assert_eq!(translate(&[("\t", "    ")], Some(Unit::Spaces(4)), "\t\t").as_deref(), Some("        "));
    }

    #[test]
    fn levels_of_another_width_are_scaled() {
        let pairs = [("  ", "    "), ("    ", "        ")];
        assert_eq!(translate(&pairs, Some(Unit::Spaces(4)), "      ").as_deref(), Some("            "));
        let (one, unit) = ([("    ", "        ")], Some(Unit::Spaces(4)));
        assert_eq!(translate(&one, unit, "      ").as_deref(), Some("            "), "half a level is none");
        assert_eq!(translate(&one, unit, "        ").as_deref(), Some("            "), "a whole level is one");
    }

    #[test]
    fn what_is_not_certain_is_said_to_be() {
        assert_eq!(translate(&[("    ", "        ")], None, "        "), None, "moved in, or twice as wide");
        assert_eq!(translate(&[("", "\t")], Some(Unit::Tab), "    "), None, "how many spaces a tab is");
        assert_eq!(translate(&[("  ", "    "), ("    ", "\t")], None, "      "), None);
        assert_eq!(translate(&[("    ", "\t")], Some(Unit::Tab), "      "), None, "one and a half levels");
        let several = [("  ", "    "), ("  ", "      ")];
        assert_eq!(translate(&several, None, "  "), None, "the same stands for two");
        assert_eq!(translate(&[(" ", "")], Some(Unit::Tab), "     "), None, "a space less, but the file has tabs");
    }

    #[test]
    fn code_with_tabs_is_indented_with_spaces_where_the_file_is() {
        let old = "fn a() {\n    if x {\n        y();\n    }\n}";
        let made = |code: &str| as_in(old, old, code, |_| false);
        assert_eq!(made("fn b() {\n\tz();\n}").as_deref(), Some("fn b() {\n    z();\n}"), "a tab is a level");
        assert_eq!(made("fn b() {\n\tz();\n\n\t w();\n}").as_deref(), Some("fn b() {\n    z();\n\n     w();\n}"));
        assert_eq!(made("fn b() {\n    z();\n}").as_deref(), Some("fn b() {\n    z();\n}"), "as it is");
        let verbatim = as_in(old, old, "fn b() {\n\tz(\"\n\t\");\n}", |row| row == 2);
        assert_eq!(verbatim.as_deref(), Some("fn b() {\n    z(\"\n\t\");\n}"));
    }

    #[test]
    fn how_wide_a_tab_is_follows_from_the_lines_that_are_replaced() {
        let old = "function a() {\n  if (x) {\n    y();\n  }\n}";
        let two = as_in(old, old, "function a() {\n  if (x) {\n\ty();\n\tz();\n  }\n}", |_| false);
        assert_eq!(two.as_deref(), Some("function a() {\n  if (x) {\n    y();\n    z();\n  }\n}"), "two levels");
        let one = as_in(old, old, "function a() {\n\tif (x) {\n\t\ty();\n\t\tz();\n\t}\n}", |_| false);
        assert_eq!(one.as_deref(), Some("function a() {\n  if (x) {\n    y();\n    z();\n  }\n}"), "a level");
        let unknown = as_in(old, "", "function b() {\n  if (x) {\n\tw();\n  }\n}", |_| false);
        assert_eq!(unknown, None, "tabs among spaces, and nothing to compare with");
    }

    #[test]
    fn code_with_spaces_is_indented_with_tabs_where_the_file_is() {
        let old = "func a() {\n\tif x {\n\t\ty()\n\t}\n}";
        let made = as_in(old, old, "func b() {\n    if x {\n        y()\n    }\n     // So.\n}", |_| false);
        assert_eq!(made.as_deref(), Some("func b() {\n\tif x {\n\t\ty()\n\t}\n\t // So.\n}"));
    }

    #[test]
    fn what_does_not_differ_stays() {
        assert_eq!(translate(&[("  ", "  ")], Some(Unit::Spaces(4)), "   ").as_deref(), Some("   "));
        assert_eq!(translate(&[], None, "\t").as_deref(), Some("\t"));
    }

    #[test]
    fn a_file_tells_how_it_indents() {
        assert_eq!(Unit::of("a {\n  b {\n    c\n  }\n}\n"), Some(Unit::Spaces(2)));
        assert_eq!(Unit::of("/*\n * a\n */\nfn a() {\n    b;\n    c(|| {\n        d;\n"), Some(Unit::Spaces(4)));
        assert_eq!(Unit::of("a:\n\tb\n\t\tc\n"), Some(Unit::Tab));
        assert_eq!(Unit::of("a\nb\n"), None);
    }
}
