use content::{Position, Range as PositionRange};
use proptest::prelude::*;

use super::*;

const URI: &str = "file:///nowhere/main.rs";
const PATH: &str = "/nowhere/main.rs";

fn range(start: (u32, u32), end: (u32, u32)) -> Option<PositionRange> {
    let at = |(line, character)| Position { line, character };
    Some(PositionRange { start: at(start), end: at(end) })
}

fn change(start: (u32, u32), end: (u32, u32), text: &str) -> Change {
    Change { range: range(start, end), text: text.to_owned() }
}

fn opened(text: &str) -> Buffers {
    let buffers = Buffers::default();
    buffers.open(URI, "rust", 1, text).unwrap();
    buffers
}

fn text(buffers: &Buffers) -> String {
    buffers.by_uri(URI).unwrap().text.to_string()
}

#[test]
fn changes_of_one_message_apply_one_after_the_other() {
    let buffers = opened("one\r\ntwo\r\n");
    let changes = [change((0, 0), (0, 3), "1\r\n1.5"), change((2, 0), (2, 3), "2")];
    let snapshot = buffers.change(URI, 2, &changes, PositionEncoding::Utf16).unwrap();
    assert_eq!(&*snapshot.text, "1\r\n1.5\r\n2\r\n");
    assert_eq!(&**snapshot.normal(), "1\n1.5\n2\n");
    assert_eq!(snapshot.hash(), &text::hash("1\n1.5\n2\n"));
    assert_eq!(snapshot.version, 2);
}

#[test]
fn a_reader_keeps_the_text_it_has_read() {
    let buffers = opened("before");
    let snapshot = buffers.by_uri(URI).unwrap();
    buffers.change(URI, 2, &[Change { range: None, text: "after".into() }], PositionEncoding::Utf8).unwrap();
    assert_eq!(&*snapshot.text, "before");
    assert_eq!(text(&buffers), "after");
}

#[test]
fn a_message_about_a_document_that_is_not_open_is_refused() {
    let buffers = Buffers::default();
    let refused = BufferError::NotOpen { uri: URI.to_owned() };
    assert_eq!(buffers.change(URI, 2, &[], PositionEncoding::Utf8).unwrap_err(), refused);
    assert_eq!(buffers.save(URI, None).unwrap_err(), refused);
    assert_eq!(buffers.close(URI).unwrap_err(), refused);
    assert!(matches!(buffers.open("untitled:1", "rust", 1, ""), Err(BufferError::NotAFile(_))));
}

#[test]
fn a_change_that_does_not_fit_withdraws_the_text_until_the_editor_sends_it_whole() {
    let buffers = opened("one\ntwo");
    let bad = [change((0, 0), (0, 1), "O"), change((7, 0), (7, 1), "x")];
    let error = buffers.change(URI, 2, &bad, PositionEncoding::Utf16).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the change of file:///nowhere/main.rs to version 2 does not fit (position 7:0 is not in its 2 lines); \
         open the document again"
    );
    assert!(buffers.by_uri(URI).is_none());
    assert!(matches!(buffers.get(Path::new(PATH)), Open::OutOfSync));
    assert!(buffers.all().is_empty());

    let more = buffers.change(URI, 3, &[change((0, 0), (0, 0), "x")], PositionEncoding::Utf16);
    assert!(matches!(more, Err(BufferError::OutOfSync { .. })));
    buffers.change(URI, 4, &[Change { range: None, text: "whole".into() }], PositionEncoding::Utf16).unwrap();
    assert_eq!(text(&buffers), "whole");
}

#[test]
fn versions_only_go_up_and_ranges_only_forward() {
    let buffers = opened("one");
    assert!(buffers.change(URI, 1, &[change((0, 0), (0, 0), "x")], PositionEncoding::Utf16).is_err());
    buffers.open(URI, "rust", 1, "one").unwrap();
    assert!(buffers.change(URI, 2, &[change((0, 2), (0, 1), "x")], PositionEncoding::Utf16).is_err());
}

#[test]
fn a_save_is_noted_and_a_later_change_is_unsaved() {
    let buffers = opened("one");
    assert_eq!(buffers.by_uri(URI).unwrap().saved_version, None);
    assert_eq!(buffers.save(URI, None).unwrap().saved_version, Some(1));
    let changed = buffers.change(URI, 2, &[change((0, 0), (0, 0), "x")], PositionEncoding::Utf16).unwrap();
    assert_eq!((changed.version, changed.saved_version), (2, Some(1)));
    assert_eq!(&*buffers.save(URI, Some("formatted")).unwrap().text, "formatted");
}

#[test]
fn one_file_under_two_names_is_found_by_its_path_until_both_are_closed() {
    let (real, link) = (Path::new("/nowhere/real.rs"), Path::new("/nowhere/link.rs"));
    let buffers = Buffers::default();
    let [real_uri, link_uri] = [real, link].map(paths::to_uri);
    for uri in [&real_uri, &link_uri] {
        buffers.open(uri, "rust", 1, uri.as_str()).unwrap();
    }
    let open = |path| match buffers.get(path) {
        Open::Yes(snapshot) => Some(snapshot.uri.to_string()),
        _ => None,
    };
    assert_eq!((open(real), open(link)), (Some(real_uri.clone()), Some(link_uri.clone())));
    assert!(buffers.resolved(&real_uri, real).is_none(), "that is no news");
    assert_eq!(&*buffers.resolved(&link_uri, real).unwrap().uri, link_uri);
    assert_eq!((open(real), open(link)), (Some(link_uri.clone()), None));
    buffers.close(&link_uri).unwrap();
    assert_eq!(open(real), Some(real_uri.clone()));
    buffers.close(&real_uri).unwrap();
    assert_eq!(open(real), None);
    assert!(buffers.resolved(&link_uri, real).is_none(), "it is not open any more");
}

#[test]
fn a_document_keeps_its_text_when_its_file_is_known() {
    let (buffers, file) = (opened("one"), Path::new("/somewhere/main.rs"));
    buffers.change(URI, 2, &[change((0, 0), (0, 3), "two")], PositionEncoding::Utf16).unwrap();
    let snapshot = buffers.resolved(URI, file).unwrap();
    assert_eq!((&*snapshot.text, snapshot.version), ("two", 2));
    buffers.change(URI, 3, &[change((0, 3), (0, 3), "!")], PositionEncoding::Utf16).unwrap();
    assert!(matches!(buffers.get(file), Open::Yes(snapshot) if &*snapshot.text == "two!"));
    // Opened again, it is somewhere to be looked for again.
    buffers.open(URI, "rust", 1, "three").unwrap();
    assert!(matches!(buffers.get(file), Open::No));
    assert!(matches!(buffers.get(Path::new(PATH)), Open::Yes(_)));
}

#[tokio::test]
async fn an_edit_is_seen_when_the_document_reaches_its_hash() {
    let buffers = Arc::new(opened("one"));
    let wanted = text::hash("two");
    let waiting = {
        let (buffers, wanted) = (buffers.clone(), wanted.clone());
        tokio::spawn(
            async move { buffers.wait(Path::new(PATH), Duration::from_secs(60), |it| *it.hash() == wanted).await },
        )
    };
    tokio::task::yield_now().await;
    for (version, text) in [(2, "x"), (3, "two")] {
        let whole = [Change { range: None, text: text.to_owned() }];
        buffers.change(URI, version, &whole, PositionEncoding::Utf16).unwrap();
    }
    assert_eq!(waiting.await.unwrap().unwrap().version, 3);
    let at_once = buffers.wait(Path::new(PATH), Duration::ZERO, |it| *it.hash() == wanted).await;
    assert_eq!(at_once.unwrap().version, 3);
}

#[tokio::test]
async fn waiting_ends_at_the_deadline_or_when_the_document_is_closed() {
    let buffers = Arc::new(opened("one"));
    let late = buffers.wait(Path::new(PATH), Duration::from_millis(1), |it| it.version > 1).await;
    assert_eq!(late.unwrap_err(), WaitError::TimedOut);
    let waiting = {
        let buffers = buffers.clone();
        tokio::spawn(async move { buffers.wait(Path::new(PATH), Duration::from_secs(60), |_| false).await })
    };
    tokio::task::yield_now().await;
    buffers.close(URI).unwrap();
    assert_eq!(waiting.await.unwrap().unwrap_err(), WaitError::NotOpen);
}

/// A document as an editor holds it: lines of characters, each counted by its own width.
#[derive(Clone, Debug)]
struct Naive {
    text: Vec<char>,
    encoding: PositionEncoding,
}

impl Naive {
    fn position(&self, at: usize) -> Position {
        let (mut line, mut character) = (0, 0);
        for c in &self.text[..at] {
            if *c == '\n' {
                (line, character) = (line + 1, 0);
            } else {
                character += match self.encoding {
                    PositionEncoding::Utf8 => c.len_utf8(),
                    PositionEncoding::Utf16 => c.len_utf16(),
                    PositionEncoding::Utf32 => 1,
                } as u32;
            }
        }
        Position { line, character }
    }

    fn replace(&mut self, at: usize, length: usize, new: &str) -> Change {
        let start = at.min(self.text.len());
        let end = (start + length).min(self.text.len());
        let range = PositionRange { start: self.position(start), end: self.position(end) };
        self.text.splice(start..end, new.chars());
        Change { range: Some(range), text: new.to_owned() }
    }
}

proptest! {
    #[test]
    fn after_any_edits_the_text_is_the_editors(
        first in "([ab\u{e9}\u{1F600}]{0,4}\r?\n){0,4}[a\u{1F600}]{0,2}",
        messages in prop::collection::vec(
            prop::collection::vec((0..30_usize, 0..6_usize, "[ab\u{e9}\u{1F600}\r\n]{0,4}"), 0..3),
            1..6,
        ),
        encoding in prop::sample::select(vec![PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32]),
    ) {
        let buffers = opened(&first);
        let mut naive = Naive { text: first.chars().collect(), encoding };
        for (version, edits) in (2..).zip(messages) {
            let changes: Vec<_> = edits.iter().map(|(at, length, new)| naive.replace(*at, *length, new)).collect();
            buffers.change(URI, version, &changes, encoding).unwrap();
            prop_assert_eq!(text(&buffers), naive.text.iter().collect::<String>());
            let snapshot = buffers.by_uri(URI).unwrap();
            prop_assert_eq!(snapshot.lines(), &LineIndex::new(&snapshot.text));
        }
    }

    #[test]
    fn no_message_can_bring_it_down(
        first in "[ab\u{1F600}\r\n]{0,8}",
        edits in prop::collection::vec((any::<i8>(), (0..9_u32, 0..9_u32), (0..9_u32, 0..9_u32), "[a\u{1F600}\n]{0,3}"), 0..6),
    ) {
        let buffers = opened(&first);
        for (version, start, end, new) in edits {
            let _ = buffers.change(URI, version.into(), &[change(start, end, &new)], PositionEncoding::Utf16);
        }
    }
}

#[test]
fn a_change_that_comes_again_and_changes_nothing_is_passed_over() {
    let buffers = opened("one\ntwo\n");
    buffers.change(URI, 2, &[change((0, 0), (0, 3), "1")], PositionEncoding::Utf8).unwrap();
    let whole = Change { range: None, text: "1\ntwo\n".into() };
    for again in [&[][..], &[change((0, 0), (0, 1), "1")], &[whole]] {
        let snapshot = buffers.change(URI, 2, again, PositionEncoding::Utf8).unwrap();
        assert_eq!((snapshot.version, &*snapshot.text), (2, "1\ntwo\n"));
    }
    assert!(matches!(buffers.get(Path::new(PATH)), Open::Yes(_)));
    let other = buffers.change(URI, 2, &[change((0, 0), (0, 1), "I")], PositionEncoding::Utf8);
    assert!(matches!(other, Err(BufferError::OutOfSync { .. })), "two texts of one version do not fit");
    let again = buffers.change(URI, 2, &[], PositionEncoding::Utf8);
    assert!(again.is_err(), "what does not fit is not mended by saying nothing");
}

#[test]
fn a_document_out_of_sync_that_is_closed_names_its_file() {
    let buffers = opened("one");
    buffers.change(URI, 2, &[change((9, 0), (9, 1), "")], PositionEncoding::Utf8).unwrap_err();
    assert_eq!(buffers.close(URI).unwrap(), Path::new(PATH));
}
