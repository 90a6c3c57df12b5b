use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::buffers::Buffers;
use crate::paths;
use crate::reader::{NoOverlay, Overlay, Pending};

struct World {
    folder: tempfile::TempDir,
    buffers: Arc<Buffers>,
}

impl World {
    #[expect(clippy::disallowed_methods, reason = "the tests write what is searched")]
    fn new(files: &[(&str, &str)]) -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap(), buffers: Arc::default() };
        for (name, text) in files {
            let path = world.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn open(&self, name: &str, text: &str) {
        self.buffers.open(&paths::to_uri(&self.path(name)), "rust", 1, text).unwrap();
    }

    fn search_with(&self, overlay: impl Overlay + 'static) -> Search {
        let roots = Arc::new(Roots::new([self.folder.path()]).unwrap());
        Search::new(roots, Reader::new(self.buffers.clone(), Arc::new(overlay)))
    }

    fn search(&self) -> Search {
        self.search_with(NoOverlay)
    }

    fn name(&self, path: &Path) -> String {
        path.strip_prefix(self.path("")).unwrap().to_str().unwrap().to_owned()
    }

    fn files(&self, scope: &Scope) -> Vec<String> {
        let files = self.search().files(scope, &CancellationToken::new()).unwrap().paths;
        files.iter().map(|path| self.name(path)).collect()
    }

    fn glob(&self, glob: &str) -> Vec<String> {
        self.files(&Scope { path: None, glob: Some(glob.to_owned()) })
    }

    fn found(&self, query: &TextQuery) -> Vec<String> {
        self.shown(&self.search().text(query, &CancellationToken::new()).unwrap())
    }

    fn shown(&self, found: &Found) -> Vec<String> {
        let show = |file: &FileMatches, line: &Line| match line.kind {
            LineKind::Match { column } => format!("{}:{}:{column}:{}", self.name(&file.path), line.number, line.text),
            LineKind::Context => format!("{}-{}-{}", self.name(&file.path), line.number, line.text),
        };
        found.files.iter().flat_map(|file| file.lines.iter().map(move |line| show(file, line))).collect()
    }
}

struct Proposes(Vec<(PathBuf, Pending)>);

impl Overlay for Proposes {
    fn pending(&self, path: &Path) -> Option<Pending> {
        self.0.iter().find(|(of, _)| of == path).map(|(_, pending)| pending.clone())
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.0.iter().map(|(path, _)| path.clone()).collect()
    }
}

fn literal(pattern: &str) -> TextQuery {
    TextQuery { pattern: pattern.to_owned(), limit: 50, ..TextQuery::default() }
}

fn regex(pattern: &str) -> TextQuery {
    TextQuery { regex: true, ..literal(pattern) }
}

#[test]
fn ignored_files_are_left_out_at_every_level_without_a_repository_too() {
    let world = World::new(&[
        (".gitignore", "*.log\n/target/\n!keep.log\n"),
        ("a.log", ""),
        ("keep.log", ""),
        ("target/out.rs", ""),
        ("src/.gitignore", "generated.rs\n"),
        ("src/generated.rs", ""),
        ("src/lib.rs", ""),
        (".github/ci.yml", ""),
        (".git/config", ""),
        ("node_modules/x/index.js", ""),
    ]);
    assert_eq!(
        world.files(&Scope::default()),
        [".github/ci.yml", ".gitignore", "keep.log", "src/.gitignore", "src/lib.rs"]
    );
    let inside = Scope { path: Some(world.path("node_modules/x")), glob: None };
    assert_eq!(world.files(&inside), ["node_modules/x/index.js"]);
}

#[test]
fn links_are_not_followed() {
    let world = World::new(&[("a.rs", "needle")]);
    symlink(world.path("a.rs"), world.path("link.rs")).unwrap();
    symlink("/", world.path("everything")).unwrap();
    assert_eq!(world.files(&Scope::default()), ["a.rs"]);
    assert_eq!(world.found(&literal("needle")), ["a.rs:1:1:needle"]);
}

#[test]
fn globs_fit_names_or_paths_whatever_the_case() {
    let world = World::new(&[("README.md", ""), ("src/main.rs", ""), ("src/deep/MAIN.RS", ""), ("src/[x].rs", "")]);
    assert_eq!(world.glob("main.rs"), ["src/deep/MAIN.RS", "src/main.rs"]);
    assert_eq!(world.glob("readme*"), ["README.md"]);
    assert_eq!(world.glob("src/*.rs"), ["src/[x].rs", "src/main.rs"]);
    assert_eq!(world.glob("./src/**/m*.{rs,md}"), ["src/deep/MAIN.RS", "src/main.rs"]);
    let below = Scope { path: Some(world.path("src")), glob: Some("deep/*".into()) };
    assert_eq!(world.files(&below), ["src/deep/MAIN.RS"]);
    let bad = Scope { path: None, glob: Some("[".into()) };
    let refused = world.search().files(&bad, &CancellationToken::new()).unwrap_err();
    assert_eq!(refused.to_string(), "`[` is not a glob pattern: unclosed character class; missing ']'");
}

#[test]
fn a_folder_inside_another_is_walked_once() {
    let world = World::new(&[("a.rs", "x"), ("inner/b.rs", "x"), (".gitignore", "inner/\n")]);
    let roots = Arc::new(Roots::new([world.path(""), world.path("inner")]).unwrap());
    let search = Search::new(roots, Reader::new(world.buffers.clone(), Arc::new(NoOverlay)));
    let found = search.text(&literal("x"), &CancellationToken::new()).unwrap();
    assert_eq!(world.shown(&found), ["a.rs:1:1:x", "inner/b.rs:1:1:x"]);
}

#[test]
fn matches_come_with_line_column_and_totals() {
    let world = World::new(&[("b.rs", "one\r\n  é two two\r\nthree\r\n"), ("a.rs", "two"), ("c.bin", "two\0")]);
    let found = world.search().text(&literal("two"), &CancellationToken::new()).unwrap();
    assert_eq!(world.shown(&found), ["a.rs:1:1:two", "b.rs:2:5:  é two two"]);
    assert_eq!((found.total_matches, found.total_files, found.given()), (2, 2, 2));
}

#[test]
fn a_pattern_is_literal_or_regular_and_minds_case_or_not() {
    let world = World::new(&[("a.rs", "f(x)\nfxx\r\nF(X)\r\n")]);
    assert_eq!(world.found(&literal("f(x)")), ["a.rs:1:1:f(x)"]);
    assert_eq!(world.found(&TextQuery { ignore_case: true, ..literal("f(x)") }).len(), 2);
    assert_eq!(world.found(&regex(r"^f(x+)$")), ["a.rs:2:1:fxx"]);
    assert_eq!(world.found(&regex(r"f\(x\)$")), ["a.rs:1:1:f(x)"]);
}

#[test]
fn a_pattern_that_cannot_be_says_why() {
    let world = World::new(&[]);
    let words = |query: &TextQuery| world.search().text(query, &CancellationToken::new()).unwrap_err().to_string();
    assert!(words(&regex("f(")).contains("unclosed group"), "{}", words(&regex("f(")));
    assert!(words(&regex("f(")).ends_with("set `regex` to false."));
    assert!(words(&regex(r"a\nb")).contains("spans lines"), "{}", words(&regex(r"a\nb")));
    assert!(words(&literal("a\nb")).contains("spans lines"));
    assert!(words(&literal("")).contains("it is empty"));
    let nowhere = TextQuery { scope: Scope { path: Some(world.path("no")), glob: None }, ..literal("x") };
    assert!(words(&nowhere).ends_with("no does not exist"));
}

#[test]
fn unsaved_and_pending_text_is_searched_in_the_place_of_the_disk() {
    let world = World::new(&[
        ("typed.rs", "needle on disk"),
        ("both.rs", "needle on disk"),
        ("deleted.rs", "needle on disk"),
        ("disk.rs", "needle on disk"),
        (".gitignore", "ignored.rs"),
        ("ignored.rs", ""),
    ]);
    world.open("typed.rs", "a\r\nneedle typed\r\n");
    world.open("both.rs", "needle typed");
    world.open("only-open.rs", "needle, never saved");
    world.open("ignored.rs", "needle in what git ignores");
    let search = world.search_with(Proposes(vec![
        (world.path("both.rs"), Pending::Text("needle proposed".into())),
        (world.path("deleted.rs"), Pending::Deleted),
        (world.path("sub/new.rs"), Pending::Text("needle in a new file".into())),
    ]));
    let found = |scope: Scope| {
        let query = TextQuery { scope, ..literal("needle") };
        world.shown(&search.text(&query, &CancellationToken::new()).unwrap())
    };
    assert_eq!(
        found(Scope::default()),
        [
            "both.rs:1:1:needle proposed",
            "disk.rs:1:1:needle on disk",
            "only-open.rs:1:1:needle, never saved",
            "sub/new.rs:1:1:needle in a new file",
            "typed.rs:2:1:needle typed",
        ]
    );
    let file = |name: &str| Scope { path: Some(world.path(name)), glob: None };
    assert_eq!(found(file("sub/new.rs")), ["sub/new.rs:1:1:needle in a new file"]);
    assert_eq!(found(file("ignored.rs")), ["ignored.rs:1:1:needle in what git ignores"]);
    assert_eq!(
        search.text(&TextQuery { scope: file("deleted.rs"), ..literal("x") }, &CancellationToken::new()).unwrap_err(),
        SearchError::NotFound { path: world.path("deleted.rs") }
    );
    let files = search.files(&Scope::default(), &CancellationToken::new()).unwrap().paths;
    let names: Vec<_> = files.iter().map(|path| world.name(path)).collect();
    assert_eq!(names, [".gitignore", "both.rs", "disk.rs", "only-open.rs", "sub/new.rs", "typed.rs"]);
}

#[test]
fn a_document_whose_text_is_not_known_is_counted_and_not_searched_on_disk_instead() {
    let world = World::new(&[("a.rs", "needle")]);
    world.open("a.rs", "typed");
    world.buffers.change(&paths::to_uri(&world.path("a.rs")), 0, &[], crate::text::PositionEncoding::Utf8).unwrap_err();
    let found = world.search().text(&literal("needle"), &CancellationToken::new()).unwrap();
    assert_eq!((found.total_matches, found.unreadable), (0, 1));
    assert_eq!(world.files(&Scope::default()), ["a.rs"]);
}

#[test]
fn lines_around_matches_are_given_once() {
    let world = World::new(&[("a", "1\n2\nx3\n4\nx5\n6\n7\n8\nx9\n")]);
    let query = TextQuery { context: 1, ..literal("x") };
    assert_eq!(world.found(&query), ["a-2-2", "a:3:1:x3", "a-4-4", "a:5:1:x5", "a-6-6", "a-8-8", "a:9:1:x9"]);
}

#[test]
fn a_range_of_lines_limits_the_search() {
    let world = World::new(&[("a", "x1\nx2\n3\nx4\n5\nx6\n")]);
    let query = TextQuery { lines: Some(2..=4), context: 1, ..literal("x") };
    assert_eq!(world.found(&query), ["a:2:1:x2", "a-3-3", "a:4:1:x4", "a-5-5"]);
}

#[test]
fn the_first_matches_are_given_and_all_are_counted_whatever_the_threads_do() {
    let files: Vec<_> = (100..300).map(|number| (format!("d{}/{number}.txt", number % 7), "x\ny\nx\n")).collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let world = World::new(&files);
    let all = world.found(&TextQuery { limit: 1000, ..literal("x") });
    assert_eq!(all.len(), 400);
    assert!(all.is_sorted());
    for limit in [0, 1, 7, 50] {
        let query = TextQuery { limit, ..literal("x") };
        let found = world.search().text(&query, &CancellationToken::new()).unwrap();
        assert_eq!(world.shown(&found), all[..limit]);
        assert_eq!((found.total_matches, found.total_files, found.given()), (400, 200, limit));
    }
    let query = TextQuery { limit: 3, context: 1, ..literal("x") };
    assert_eq!(
        world.found(&query),
        ["d0/105.txt:1:1:x", "d0/105.txt-2-y", "d0/105.txt:3:1:x", "d0/112.txt:1:1:x", "d0/112.txt-2-y"]
    );
}

#[test]
fn of_a_very_long_line_what_stands_around_the_match_is_given() {
    let line = format!("{}needle{}", "é".repeat(600), "z".repeat(600));
    let world = World::new(&[("min.js", &line)]);
    let [found] = world.found(&literal("needle")).try_into().unwrap();
    let text = found.strip_prefix("min.js:1:601:").unwrap();
    assert!(text.starts_with("…é") && text.ends_with("z…") && text.contains("éneedlez"), "{text}");
    assert!(text.len() <= MAX_LINE_BYTES + 8, "{}", text.len());
}

#[test]
fn other_encodings_are_searched_as_far_as_they_can_be() {
    let world = World::new(&[]);
    let write = |name: &str, bytes: &[u8]| {
        let mut file = tempfile::NamedTempFile::new_in(world.path("")).unwrap();
        io::Write::write_all(&mut file, bytes).unwrap();
        file.persist(world.path(name)).unwrap();
    };
    use std::io;
    write("latin1", b"caf\xE9 needle\n");
    write("utf16", &[0xFF, 0xFE, b'n', 0, b'e', 0, b'e', 0, b'd', 0, b'l', 0, b'e', 0]);
    write("bom", b"\xEF\xBB\xBFneedle");
    assert_eq!(world.found(&regex("needle")), ["bom:1:1:needle", "latin1:1:6:caf\u{FFFD} needle", "utf16:1:1:needle"]);
    assert_eq!(world.found(&regex("^needle")).len(), 2);
}

#[test]
fn a_folder_that_only_pending_and_unsaved_files_are_in_can_be_searched() {
    let world = World::new(&[("a.rs", "needle")]);
    world.open("typed/b.rs", "needle typed");
    let search = world.search_with(Proposes(vec![
        (world.path("new/deep/c.rs"), Pending::Text("needle proposed".into())),
        (world.path("gone/d.rs"), Pending::Deleted),
    ]));
    let below = |name: &str| Scope { path: Some(world.path(name)), glob: None };
    let files = |name: &str| search.files(&below(name), &CancellationToken::new());
    assert_eq!(files("new").unwrap().paths, [world.path("new/deep/c.rs")]);
    assert_eq!((files("new/deep").unwrap().paths.len(), files("new").unwrap().unreadable), (1, 0));
    assert_eq!(files("typed").unwrap().paths, [world.path("typed/b.rs")]);
    assert_eq!(files("gone").unwrap_err(), SearchError::NotFound { path: world.path("gone") });
    let query = TextQuery { scope: below("new"), ..literal("needle") };
    let found = search.text(&query, &CancellationToken::new()).unwrap();
    assert_eq!((world.shown(&found), found.unreadable), (vec!["new/deep/c.rs:1:1:needle proposed".to_owned()], 0));
}

#[test]
fn new_files_are_ignored_as_those_on_disk_are() {
    let world = World::new(&[(".gitignore", "out/\n*.log\n!keep.log\n"), ("src/.ignore", "draft.*\n"), ("a.rs", "")]);
    for name in ["node_modules/q.js", ".git/draft", "out/new.js", "x.log", "src/draft.rs", "src/keep.log", "src/new.rs"]
    {
        world.open(name, "needle");
    }
    assert_eq!(world.files(&Scope::default()), [".gitignore", "a.rs", "src/.ignore", "src/keep.log", "src/new.rs"]);
    assert_eq!(world.found(&literal("needle")), ["src/keep.log:1:1:needle", "src/new.rs:1:1:needle"]);
    let inside = Scope { path: Some(world.path("node_modules")), glob: None };
    assert_eq!(world.files(&inside), ["node_modules/q.js"], "on purpose it can be searched");
}

#[test]
fn a_glob_holds_for_a_single_file_too() {
    let world = World::new(&[("a.rs", "x"), ("a.md", "x")]);
    let single = |glob: &str| Scope { path: Some(world.path("a.rs")), glob: Some(glob.into()) };
    assert_eq!(world.files(&single("*.rs")), ["a.rs"]);
    assert!(world.files(&single("*.md")).is_empty());
    assert!(world.found(&TextQuery { scope: single("*.md"), ..literal("x") }).is_empty());
}

#[test]
fn with_several_folders_a_glob_may_begin_with_the_name_of_one() {
    let world = World::new(&[("one/src/a.rs", ""), ("two/src/b.rs", ""), ("two/c.rs", "")]);
    let roots = Arc::new(Roots::new([world.path("one"), world.path("two")]).unwrap());
    let search = Search::new(roots, Reader::new(world.buffers.clone(), Arc::new(NoOverlay)));
    let files = |glob: &str| {
        let scope = Scope { path: None, glob: Some(glob.into()) };
        let files = search.files(&scope, &CancellationToken::new()).unwrap();
        files.paths.iter().map(|path| world.name(path)).collect::<Vec<_>>()
    };
    assert_eq!(files("one/src/*.rs"), ["one/src/a.rs"]);
    assert_eq!(files("TWO/*.rs"), ["two/c.rs"]);
    assert_eq!(files("{one,two}/src/*"), ["one/src/a.rs", "two/src/b.rs"]);
    assert_eq!(files("src/*.rs"), ["one/src/a.rs", "two/src/b.rs"]);
    assert!(files("three/src/*.rs").is_empty());
}

#[test]
fn what_may_not_be_shown_is_left_out_and_counted_but_can_be_mentioned() {
    let world = World::new(&[("a.rs", "needle"), (".env", "needle"), ("sub/.env", "needle")]);
    world.open("new/.env", "needle");
    let may_read: Arc<MayRead> = Arc::new(|named| {
        let named = named.map(Path::to_path_buf);
        Box::new(move |path| !path.ends_with(".env") || named.as_deref() == Some(path))
    });
    let search = world.search().showing_only(may_read);
    let text =
        |scope: Scope| search.text(&TextQuery { scope, ..literal("needle") }, &CancellationToken::new()).unwrap();
    let found = text(Scope::default());
    assert_eq!((world.shown(&found), found.left_out, found.unreadable), (vec!["a.rs:1:1:needle".to_owned()], 3, 0));
    let named = text(Scope { path: Some(world.path(".env")), glob: None });
    assert_eq!((world.shown(&named), named.left_out), (vec![".env:1:1:needle".to_owned()], 0));
    let files = search.files(&Scope { path: None, glob: Some("*.rs".into()) }, &CancellationToken::new()).unwrap();
    assert_eq!((files.paths.len(), files.left_out), (1, 0), "what was not asked for is not counted");
    assert_eq!(search.files(&Scope::default(), &CancellationToken::new()).unwrap().left_out, 3);
    assert!(search.near(&world.path(".evn"), &CancellationToken::new()).unwrap().is_empty());
    assert_eq!(search.suggest(".env", &CancellationToken::new()).unwrap().len(), 3);
}

#[test]
fn a_huge_file_of_nothing_is_passed_over() {
    let world = World::new(&[("a", "needle")]);
    tempfile::NamedTempFile::new_in(world.path(""))
        .unwrap()
        .persist(world.path("huge"))
        .unwrap()
        .set_len(3 << 30)
        .unwrap();
    assert_eq!(world.found(&literal("needle")), ["a:1:1:needle"]);
}

#[test]
fn a_file_that_is_one_huge_line_is_counted_as_unreadable_and_the_rest_is_searched() {
    let world = World::new(&[("a", "needle"), ("huge", &"x".repeat(MAX_HELD_LINE + 1)), ("z", "needle")]);
    let found = world.search().text(&literal("needle"), &CancellationToken::new()).unwrap();
    assert_eq!((world.shown(&found), found.unreadable), (vec!["a:1:1:needle".to_owned(), "z:1:1:needle".into()], 1));
}

#[test]
fn a_cancelled_search_says_so() {
    let world = World::new(&[("a", "needle")]);
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    assert_eq!(world.search().text(&literal("needle"), &cancelled).unwrap_err(), SearchError::Cancelled);
    assert_eq!(world.search().files(&Scope::default(), &cancelled).unwrap_err(), SearchError::Cancelled);
}

#[test]
fn mentions_find_files_and_new_ones_once_the_index_is_forgotten() {
    let world = World::new(&[("src/main.rs", ""), ("src/lib.rs", "")]);
    let search = world.search();
    let suggest = |typed: &str| {
        let paths = search.suggest(typed, &CancellationToken::new()).unwrap();
        paths.iter().map(|path| world.name(path)).collect::<Vec<_>>()
    };
    assert_eq!(suggest("mrs"), ["src/main.rs"]);
    world.open("src/mars.rs", "");
    assert_eq!(suggest("mars."), Vec::<String>::new());
    search.forget_files();
    assert_eq!(suggest("mars."), ["src/mars.rs"]);
}

#[cfg(target_os = "linux")]
#[test]
fn what_the_kernel_tells_as_files_is_not_walked_with_the_folder_that_it_lies_in() {
    assert!(Path::new("/proc/self").exists() && Path::new("/sys/kernel").exists());
    let found = folders(Path::new("/"), 2, 100_000);
    let is_inside = |path: &&PathBuf| ["/proc/", "/sys/"].iter().any(|top| path.to_string_lossy().starts_with(top));
    assert_eq!(found.iter().filter(is_inside).count(), 0);
    assert!(found.iter().any(|path| path.starts_with("/usr/lib")), "the rest is");
}
