//! Texts that mean harm: whatever they are, they are answered in time and in little memory.

#![expect(clippy::disallowed_methods, reason = "the kernel tells how much memory the test takes")]

use std::time::Duration;

use spent::Spent;

use super::{Language, MAX_SYMBOLS, MAX_TIME, Outline, ParseError, Parsed, blocks, document_symbols, references};

/// How much memory a text may take, in MiB: ten times what the largest of them was seen to take.
const MOST_MEMORY: usize = 800;

/// How long a text may keep the processor: parsing is bounded, and what follows is quick.
const MOST_TIME: Duration = Duration::from_secs(MAX_TIME.as_secs() * 4);

/// Looks at all that there is to see of a text. Gives how many symbols it has, or why it was not parsed.
fn look(language: Language, text: &str) -> Result<usize, ParseError> {
    // The peak so far is forgotten.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let (began, before) = (Spent::start(), memory());
    let outcome = Parsed::new(language, text).map(|parsed| {
        let outline = Outline::new(&parsed);
        let all = blocks(&parsed, &outline, true);
        assert_eq!(all.len(), outline.symbols.len());
        assert!(outline.symbols.len() <= MAX_SYMBOLS);
        assert!(all.iter().rev().take(10).all(|block| block.label(&outline).len() < 300_000));
        references(&parsed, &outline);
        drop(parsed);
        let path = format!("a.{}", language.extensions().first().expect("an extension"));
        // Another time it may take too long.
        if let Some(Ok(told)) = document_symbols(path.as_ref(), "file:///a", text) {
            assert_eq!((told.symbols.len(), told.is_cut), (outline.symbols.len(), outline.is_cut));
        }
        outline.symbols.len()
    });
    let (took, more) = (began.elapsed(), memory().saturating_sub(before));
    let name = text.get(..text.floor_char_boundary(20)).unwrap_or_default();
    assert!(took < MOST_TIME, "{language:?} {name:?}: {took:?}");
    assert!(more < MOST_MEMORY, "{language:?} {name:?}: {more} MiB");
    outcome
}

/// The most memory that the process held, in MiB.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") / 1024
}

#[test]
fn what_nests_very_deep_is_answered() {
    for (language, open, close) in [
        (Language::Rust, "mod a{", "}"),
        (Language::JavaScript, "function f(){", "}"),
        (Language::Cpp, "namespace a{", "}"),
        (Language::Css, "@media x{", "}"),
        (Language::Json, "{\"a\":", "}"),
        (Language::Html, "<a id=b>", "</a>"),
    ] {
        let text = format!("{}{}", open.repeat(100_000), close.repeat(100_000));
        match look(language, &text) {
            Ok(symbols) => assert!(symbols >= 100, "{language:?}: {symbols}"),
            Err(error) => assert_eq!(error, ParseError::TooIntricate, "{language:?}"),
        }
    }
}

#[test]
fn deep_names_that_are_long_are_not_kept_for_each_that_lies_in_them() {
    let outer = format!("mod {}{{", "a".repeat(1_000)).repeat(400);
    let text = format!("{outer}{}{}", "fn b(){}".repeat(100_000), "}".repeat(400));
    assert!(matches!(look(Language::Rust, &text), Ok(MAX_SYMBOLS) | Err(ParseError::TooIntricate)));
}

#[test]
fn a_line_of_a_megabyte_is_answered() {
    for (language, piece) in [
        (Language::Rust, "/**/ fn a(){} "),
        (Language::C, "int a; "),
        (Language::JavaScript, "a=1;"),
        (Language::Css, ".a{b:c}"),
        (Language::Json, "\"a\" "),
    ] {
        let outcome = look(language, &piece.repeat((1 << 20) / piece.len()));
        assert!(matches!(outcome, Ok(_) | Err(ParseError::TooIntricate)), "{language:?}: {outcome:?}");
    }
}

#[test]
fn two_hundred_thousand_definitions_of_one_declaration_are_answered() {
    for (language, text) in [
        (Language::C, format!("{}int a{};", "/**/\n".repeat(50_000), ",b".repeat(200_000))),
        (Language::JavaScript, format!("var {} a{};", "/**/".repeat(50_000), ",b".repeat(200_000))),
        (Language::Ruby, format!("class A\nattr_reader :a{}\nend\n", ",:b".repeat(200_000))),
        (Language::Json, format!("{{\"a\":1{}}}", ",\"b\":1".repeat(200_000))),
    ] {
        let outcome = look(language, &text);
        assert!(matches!(outcome, Ok(MAX_SYMBOLS) | Err(ParseError::TooIntricate)), "{language:?}: {outcome:?}");
    }
}

#[test]
fn brackets_that_nothing_closes_are_refused_before_they_take_all_memory() {
    for language in [Language::Rust, Language::Java, Language::C, Language::Cpp, Language::CSharp] {
        let outcome = look(language, &"%w(".repeat(30_000));
        assert_eq!(outcome, Err(ParseError::Unclosed { open: 30_000 }), "{language:?}");
        // In strings and where they are closed, brackets may be as many as they like.
        let closed = format!("{}{}", "(\"(\\\"((\"".repeat(400), ")".repeat(400));
        assert!(look(language, &closed).is_ok(), "{language:?}");
    }
    // There it is the beginning of a list.
    let outcome = look(Language::Ruby, &"%w(".repeat(30_000));
    assert!(matches!(outcome, Ok(0) | Err(ParseError::TooIntricate)), "{outcome:?}");
}

#[test]
fn any_bytes_are_answered_in_every_language() {
    // Half a pair of UTF-16 as its bytes would be, read as texts are read that are not UTF-8.
    let lone = String::from_utf8_lossy(b"fn \xED\xA0\x80() {} \xED\xBF\xBF\n").into_owned();
    let texts =
        ["\0".repeat(1_000), "a {\r\n b: c;\r\n}\r\n".repeat(200), "\r".repeat(1_000), "}{)(][".repeat(100), lone];
    for language in Language::ALL {
        for text in &texts {
            let outcome = look(language, text);
            assert!(matches!(outcome, Ok(_) | Err(ParseError::Fatal)), "{language:?}: {outcome:?}");
        }
    }
}
