//! Files in the text of an answer, told from what stands around them as it comes.
//!
//! Each tag is a line of its own. Text comes in pieces that are cut anywhere, so what may yet be a tag is held back.
//! Lines in a Markdown fence are text; within a file nothing is a tag but the end of it.
//!
//! The output goes into the log, and from there into exports. So the mark is left out of what looks like a tag and is
//! none.

/// The beginning of the line that begins a file.
pub(super) const OPENING: &str = "<azimuth_file";
/// The line that ends it.
pub(super) const CLOSING: &str = "</azimuth_file>";
/// An opening tag that is longer, in bytes, is none.
const LONGEST_TAG: usize = 4_096;

/// A piece of an answer's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text to show.
    Text(String),
    /// A file begins.
    Begun(Head),
    /// Text of the file.
    Content(String),
    /// The file ends.
    Ended,
    /// The text before this has a line that looks like an opening tag, and is none.
    Missed,
    /// The text before this ends with a closing tag of no file that is open.
    Stray,
}

/// The content of an opening tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The file, as the model names it.
    pub path: String,
    /// True if it is the rest of a file that broke off.
    pub appends: bool,
}

/// Tells files from text as an answer comes.
#[derive(Clone, Debug)]
pub struct Parser {
    /// The `mark` that an opening tag must have. A model that only quotes a file quotes tags without it.
    mark: String,
    /// The line that is read, as far as it has come.
    line: String,
    /// How much of it has been given.
    given: usize,
    /// The fence that the text is in: its character and its length.
    fence: Option<(char, usize)>,
    in_file: bool,
    /// True if the text has something like an opening tag, whose end is text too.
    tag_in_text: bool,
}

impl Parser {
    /// One for answers in which files have this mark.
    pub fn new(mark: &str) -> Self {
        let (mark, line) = (mark.to_owned(), String::new());
        Self { mark, line, given: 0, fence: None, in_file: false, tag_in_text: false }
    }

    /// The mark as an opening tag has it.
    fn attribute(&self) -> String {
        format!("mark=\"{}\"", self.mark)
    }

    /// Takes the next piece.
    pub fn push(&mut self, piece: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for part in piece.split_inclusive('\n') {
            self.line.push_str(part);
            if part.ends_with('\n') {
                self.end_line(&mut pieces);
            } else if !self.may_be_tag() {
                self.give(self.without_begun_mark(), &mut pieces);
            }
        }
        pieces
    }

    /// The text ends, or something else stands between it and more of it. What was held back is given; a file goes on.
    pub fn pause(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if self.in_file && is_closing(&self.line) {
            self.end_line(&mut pieces);
        } else {
            self.give(self.line.len(), &mut pieces);
            if !self.in_file {
                self.look_for_slips(&mut pieces);
                self.line.clear();
                self.given = 0;
            }
        }
        pieces
    }

    /// A call comes: a file that is open goes on no more. What follows is text.
    pub fn cut(&mut self) {
        if self.in_file {
            *self = Self::new(&self.mark);
        }
    }

    /// True if the line may become a tag with what is still to come.
    fn may_be_tag(&self) -> bool {
        let line = self.line.as_str();
        if self.given > 0 {
            return false;
        }
        if self.in_file {
            return CLOSING.starts_with(line) || is_closing(line);
        }
        self.fence.is_none() && (OPENING.starts_with(line) || (line.starts_with(OPENING) && line.len() <= LONGEST_TAG))
    }

    fn end_line(&mut self, pieces: &mut Vec<Piece>) {
        if self.given == 0 && self.in_file && is_closing(&self.line) {
            (self.in_file, self.tag_in_text) = (false, false);
            pieces.push(Piece::Ended);
        } else if let Some(head) =
            head(&self.line, Some(&self.mark)).filter(|_| self.given == 0 && !self.in_file && self.fence.is_none())
        {
            self.in_file = true;
            pieces.push(Piece::Begun(head));
        } else {
            self.give(self.line.len(), pieces);
            if !self.in_file {
                self.fence = fence_after(self.fence, &self.line);
                self.look_for_slips(pieces);
            }
        }
        self.line.clear();
        self.given = 0;
    }

    /// Tells of tags in a line of text.
    fn look_for_slips(&mut self, pieces: &mut Vec<Piece>) {
        if is_like_opening(&self.line) {
            self.tag_in_text = true;
            pieces.push(Piece::Missed);
        } else if is_closing(self.line.trim_start()) && !std::mem::take(&mut self.tag_in_text) {
            // A fence since the file's end is one of the file's lines.
            self.fence = None;
            pieces.push(Piece::Stray);
        }
    }

    /// Where the line ends but for what may become the mark with what is still to come.
    fn without_begun_mark(&self) -> usize {
        let (attribute, rest) = (self.attribute(), self.line.get(self.given..).unwrap_or_default());
        let begun = (1..attribute.len())
            .rev()
            .find(|&length| attribute.get(..length).is_some_and(|begun| rest.ends_with(begun)));
        self.line.len() - begun.unwrap_or_default()
    }

    /// Gives the line up to there.
    fn give(&mut self, end: usize, pieces: &mut Vec<Piece>) {
        let text = self.line.get(self.given..end).unwrap_or_default();
        let text = &*text.replace(&self.attribute(), "mark=\"…\"");
        self.given = end;
        match pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Content(last)) if self.in_file => last.push_str(text),
            Some(Piece::Text(last)) if !self.in_file => last.push_str(text),
            _ if self.in_file => pieces.push(Piece::Content(text.to_owned())),
            _ => pieces.push(Piece::Text(text.to_owned())),
        }
    }
}

fn is_closing(line: &str) -> bool {
    line.len() <= LONGEST_TAG && line.strip_prefix(CLOSING).is_some_and(|rest| rest.trim().is_empty())
}

/// True if a line may be meant as an opening tag.
fn is_like_opening(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix(OPENING);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c == '>' || c.is_whitespace()))
}

/// True if a file may have ended, or another begun, within these lines.
pub(super) fn is_unclear(content: &str, is_cut: bool) -> bool {
    content.lines().any(|line| head(line, None).is_some() || (is_cut && line.trim_end().ends_with(CLOSING)))
}

/// Reads an opening tag with this mark, or with any or none; none for any other line.
fn head(line: &str, mark: Option<&str>) -> Option<Head> {
    let mut rest = line.strip_prefix(OPENING)?.trim_end().strip_suffix('>')?;
    let (mut path, mut appends, mut marked) = (None, false, None);
    while let Some(attribute) = rest.strip_prefix(char::is_whitespace).map(str::trim_start) {
        let (name, value) = attribute.split_once("=\"")?;
        let (value, behind) = value.split_once('"')?;
        match name {
            "path" if path.is_none() && !value.trim().is_empty() => path = Some(value.trim().to_owned()),
            "mode" if value == "append" => appends = true,
            "mark" if marked.is_none() => marked = Some(value),
            _ => return None,
        }
        rest = behind;
    }
    let is_ours = mark.is_none_or(|mark| marked == Some(mark));
    (rest.is_empty() && is_ours).then_some(Head { path: path?, appends })
}

/// The fence that the text is in after a line.
fn fence_after(fence: Option<(char, usize)>, line: &str) -> Option<(char, usize)> {
    let bare = line.trim_start_matches(' ');
    let mark = bare.chars().next().filter(|mark| ['`', '~'].contains(mark) && line.len() - bare.len() < 4);
    let Some(mark) = mark else { return fence };
    let info = bare.trim_start_matches(mark);
    let length = bare.len() - info.len();
    match fence {
        None if length >= 3 && !(mark == '`' && info.contains('`')) => Some((mark, length)),
        Some((open, least)) if open == mark && length >= least && info.trim().is_empty() => None,
        _ => fence,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parses a text that is cut into these pieces: neighbouring pieces of one kind are made one.
    fn parsed<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Vec<Piece> {
        let mut parser = Parser::new("k");
        let mut all: Vec<Piece> = Vec::new();
        let mut found: Vec<Piece> = pieces.into_iter().flat_map(|piece| parser.push(piece)).collect();
        found.extend(parser.pause());
        for piece in found {
            match (all.last_mut(), piece) {
                (Some(Piece::Text(last)), Piece::Text(more)) => last.push_str(&more),
                (Some(Piece::Content(last)), Piece::Content(more)) => last.push_str(&more),
                (_, piece) => all.push(piece),
            }
        }
        all
    }

    /// A text as it comes out.
    fn unmarked(text: &str) -> String {
        text.replace("mark=\"k\"", "mark=\"…\"")
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.into())
    }

    fn begun(path: &str, appends: bool) -> Piece {
        Piece::Begun(Head { path: path.into(), appends })
    }

    fn content(text: &str) -> Piece {
        Piece::Content(text.into())
    }

    #[test]
    fn a_file_is_told_from_the_text_around_it() {
        let answer = "Here it is:\n<azimuth_file mark=\"k\" path=\"src/a b.rs\">\nfn a() {}\n\n</azimuth_file>\nDone.";
        let file =
            [text("Here it is:\n"), begun("src/a b.rs", false), content("fn a() {}\n\n"), Piece::Ended, text("Done.")];
        assert_eq!(parsed([answer]), file);
        let rest = "<azimuth_file mark=\"k\" path=\"a\" mode=\"append\">  \r\nx\r\n</azimuth_file> \r\n<azimuth_file mark=\"k\" mode=\"append\" path=\"b\">\n</azimuth_file>";
        let files = [begun("a", true), content("x\r\n"), Piece::Ended, begun("b", true), Piece::Ended];
        assert_eq!(parsed([rest]), files);
        assert_eq!(
            parsed(["<azimuth_file mark=\"k\" path=\"a\">\nx\n</azimuth_fi"]),
            [begun("a", false), content("x\n</azimuth_fi")]
        );
    }

    #[test]
    fn within_a_file_only_its_end_is_a_tag() {
        let inner = "say </azimuth_file> here\n  </azimuth_file>\n</azimuth_file> no\n</azimuth_files>\n<azimuth_file mark=\"k\" path=\"b\">\n```\n";
        let answer = format!("<azimuth_file mark=\"k\" path=\"a\">\n{inner}</azimuth_file>\n");
        assert_eq!(parsed([answer.as_str()]), [begun("a", false), content(&unmarked(inner)), Piece::Ended]);
    }

    #[test]
    fn what_is_no_tag_of_its_own_line_is_text() {
        let tag = "<azimuth_file mark=\"k\" path=\"a\">\n";
        for answer in [
            format!("`{tag}"),
            format!(" {tag}"),
            format!("```xml\n{tag}```\n"),
            format!("   ~~~~\n~~~\n{tag}"),
            "<azimuth_file path=\"a\">\n".into(),
            "<azimuth_file mark=\"\" path=\"a\">\n".into(),
            "<azimuth_file mark=\"kk\" path=\"a\">\n".into(),
            "<azimuth_file mark=\"x\" mark=\"k\" path=\"a\">\n".into(),
            "<azimuth_file>\n".into(),
            "<azimuth_file mark=\"k\" path=\"\">\n".into(),
            "<azimuth_file mark=\"k\" path=\"a\" mode=\"x\">\n".into(),
            "<azimuth_file mark=\"k\" path=\"a\" path=\"b\">\n".into(),
            "<azimuth_file mark=\"k\" path=\"a\"> x\n".into(),
            "<azimuth_file mark=\"k\" path=\"a\">".into(),
            "<azimuth_filepath=\"a\">\n".into(),
            "</azimuth_file>\n".into(),
            format!("<azimuth_file mark=\"k\" path=\"{}\">\n", "a".repeat(LONGEST_TAG)),
        ] {
            let pieces = parsed(answer.split_inclusive(|_| true));
            let texts = pieces.iter().filter_map(|piece| match piece {
                Piece::Text(text) => Some(text.as_str()),
                _ => None,
            });
            assert_eq!(texts.collect::<String>(), unmarked(&answer));
            assert!(!pieces.iter().any(|piece| matches!(piece, Piece::Begun(_))), "{answer}");
        }
        let behind = format!("```\ncode\n```\n```not a fence` \n{tag}");
        assert_eq!(parsed([behind.as_str()]).last(), Some(&begun("a", false)));
    }

    #[test]
    fn what_may_be_a_tag_is_held_back_and_nothing_else() {
        let mut parser = Parser::new("k");
        assert_eq!(parser.push("Look: <azi"), [text("Look: <azi")]);
        assert_eq!(parser.push("\n<azimuth_f"), [text("\n")]);
        assert_eq!(parser.push("ish>"), [text("<azimuth_fish>")]);
        assert_eq!(parser.push("\n<azimuth_file mark=\"k\" path=\"a"), [text("\n")]);
        assert_eq!(parser.push("\">\nfirst\n</azimuth"), [begun("a", false), content("first\n")]);
        assert_eq!(parser.push("_x>"), [content("</azimuth_x>")]);
        assert_eq!(parser.push("\n</azimuth_file>"), [content("\n")]);
        assert_eq!(parser.pause(), [Piece::Ended]);
        // The mark in what is no tag.
        assert_eq!(parser.push("\n `<azimuth_file mark=\"k"), [text("\n `<azimuth_file ")]);
        assert_eq!(parser.push("\" pa m"), [text("mark=\"…\" pa ")]);
        assert_eq!(parser.push("ark=\"x\""), [text("mark=\"x\"")]);
    }

    proptest! {
        #[test]
        fn wherever_an_answer_is_cut_it_comes_to_the_same_and_nothing_is_lost(
            parts in prop::collection::vec(prop::sample::select(vec![
                "<azimuth_file mark=\"k\" path=\"a\">", "<azimuth_file mark=\"k\" path=\"b\" mode=\"append\">", "</azimuth_file>", "\n", "\n", "\r\n", "```",
                "~~~~", " ", "x", "\u{e9}", "<", "<azimuth", "</azimuth_file", "path",
            ]), 0..24),
            cuts in prop::collection::vec(0usize..200, 0..6),
        ) {
            let answer = parts.concat();
            let whole = parsed([answer.as_str()]);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| answer.floor_char_boundary(cut.min(answer.len()))).collect();
            cuts.extend([0, answer.len()]);
            cuts.sort_unstable();
            prop_assert_eq!(&parsed(cuts.windows(2).map(|cut| &answer[cut[0]..cut[1]])), &whole);
            prop_assert_eq!(&parsed(answer.split_inclusive(|_| true)), &whole);
            let marked = |text: &str| text.replace('…', "k").len();
            let (mut kept, mut tags, mut in_file) = (0, 0, false);
            for piece in &whole {
                match piece {
                    Piece::Text(text) => { kept += marked(text); prop_assert!(!in_file); }
                    Piece::Content(text) => { kept += marked(text); prop_assert!(in_file); }
                    Piece::Begun(_) => { tags += 1; prop_assert!(!std::mem::replace(&mut in_file, true)); }
                    Piece::Ended => { tags += 1; prop_assert!(std::mem::replace(&mut in_file, false)); }
                    Piece::Missed | Piece::Stray => prop_assert!(!in_file),
                }
            }
            prop_assert!(kept <= answer.len() && (tags > 0 || kept == answer.len()));
        }

        #[test]
        fn a_file_comes_out_as_it_went_in(lines in prop::collection::vec("[a-z<>/ `~_\u{e9}]{0,20}", 0..20), cut in 0usize..300) {
            let file: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let answer = format!("<azimuth_file mark=\"k\" path=\"a\">\n{file}</azimuth_file>\n");
            let (head, tail) = answer.split_at(answer.floor_char_boundary(cut.min(answer.len())));
            let inner = parsed([head, tail]).into_iter().filter_map(|piece| match piece {
                Piece::Content(text) => Some(text),
                _ => None,
            });
            prop_assert_eq!(inner.collect::<String>(), file);
        }
    }
}
