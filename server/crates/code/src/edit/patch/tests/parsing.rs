//! The forms of patches, and the slips that models make in them.

use super::*;

fn parsed(patch: &str) -> Vec<Operation> {
    parse(patch).unwrap_or_else(|error| panic!("{error}\n{patch}"))
}

fn refused(patch: &str) -> String {
    parse(patch).expect_err(patch).to_string()
}

/// The hunks of a patch about one file.
fn hunks(patch: &str) -> Vec<Hunk> {
    match parsed(patch).remove(0) {
        Operation::Update { hunks, .. } => hunks,
        other => panic!("{other:?}"),
    }
}

/// A hunk's lines with their marks; a line without one has a dot.
fn shown(hunk: &Hunk) -> Vec<String> {
    let mark = |mark| match mark {
        Mark::Keep => ' ',
        Mark::Bare => '.',
        Mark::Remove => '-',
        Mark::Add => '+',
    };
    hunk.lines.iter().map(|line| format!("{}{}", mark(line.mark), line.text)).collect()
}

const ENVELOPE: &str = "*** Begin Patch
*** Add File: new.rs
+fn new() {}
+
*** Update File: src/a.rs
*** Move to: src/b.rs
@@ class Foo
@@ def bar
 context
-old
+new
*** End of File
*** Delete File: gone.rs
*** End Patch
";

#[test]
fn the_codex_envelope_adds_updates_moves_and_deletes() {
    let operations = parsed(ENVELOPE);
    let [Operation::Add { path, text }, Operation::Update { path: from, move_to, hunks }, gone] = &operations[..]
    else {
        panic!("{operations:?}")
    };
    assert_eq!((path.as_str(), text.as_str()), ("new.rs", "fn new() {}\n\n"));
    assert_eq!((from.as_str(), move_to.as_deref()), ("src/a.rs", Some("src/b.rs")));
    assert_eq!(*gone, Operation::Delete { path: "gone.rs".into(), text: None });
    let [hunk] = hunks.as_slice() else { panic!("{hunks:?}") };
    assert_eq!(hunk.anchors, ["class Foo", "def bar"]);
    assert_eq!(shown(hunk), [" context", "-old", "+new"]);
    assert!(hunk.end_of_file);
    assert_eq!(hunk.line, 7);
}

const GIT: &str = "diff --git a/src/old name.rs b/src/new.rs
similarity index 90%
rename from src/old name.rs
rename to src/new.rs
index 0123456..789abcd 100644
--- a/src/old name.rs
+++ b/src/new.rs
@@ -3,3 +3,4 @@ fn main() {
 a
-b
+c
+d
 e
@@ -10 +11,0 @@
-x
diff --git a/new.txt b/new.txt
new file mode 100644
index 0000000..257cc56
--- /dev/null
+++ b/new.txt
@@ -0,0 +1,2 @@
+one
+two
\\ No newline at end of file
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
index 257cc56..0000000
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-text
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
diff --git a/moved b/there
similarity index 100%
rename from moved
rename to there
";

#[test]
fn git_diffs_add_delete_rename_and_change_files() {
    let operations = parsed(GIT);
    let names: Vec<&str> = operations.iter().map(Operation::path).collect();
    assert_eq!(names, ["src/old name.rs", "new.txt", "gone.txt", "empty", "moved"]);
    let Operation::Update { move_to, hunks, .. } = &operations[0] else { panic!() };
    assert_eq!(move_to.as_deref(), Some("src/new.rs"));
    assert_eq!(shown(&hunks[0]), [" a", "-b", "+c", "+d", " e"]);
    assert_eq!((hunks[0].hint, hunks[0].heading.as_deref()), (Some(2), Some("fn main() {")));
    assert_eq!(hunks[1].hint, Some(9));
    assert_eq!(operations[1], Operation::Add { path: "new.txt".into(), text: "one\ntwo".into() });
    assert_eq!(operations[2], Operation::Delete { path: "gone.txt".into(), text: Some("text\n".into()) });
    assert_eq!(operations[3], Operation::Add { path: "empty".into(), text: String::new() });
    let moved = Operation::Update { path: "moved".into(), move_to: Some("there".into()), hunks: Vec::new() };
    assert_eq!(operations[4], moved);
}

#[test]
fn plain_diffs_of_several_files_are_told_apart() {
    let patch = "diff -ru a/one.c b/one.c\n--- a/one.c\t2024-01-01 10:00:00.000000000 +0100\n+++ b/one.c\t2024-01-02\n@@ \
                 -1,2 +1,2 @@\n a\n-b\n+c\nOnly prose\n";
    assert!(
        refused(&patch.replace("Only prose", "! prose")).starts_with("line 8 of the patch: `! prose` begins with none")
    );
    let patch = "--- one.c.orig\t2024\n+++ one.c\t2024\n@@ -1 +1 @@\n-a\n+b\n--- two.c\n+++ two.c\n@@ -1,2 +1,2 @@\n-- \
                 a\n-- b\n++ c\n++ d\n";
    let operations = parsed(patch);
    assert_eq!(operations.iter().map(Operation::path).collect::<Vec<_>>(), ["one.c", "two.c"]);
    let Operation::Update { hunks, .. } = &operations[1] else { panic!() };
    assert_eq!(shown(&hunks[0]), ["-- a", "-- b", "++ c", "++ d"], "the numbers tell lines from a header");
}

#[test]
fn removed_lines_that_look_like_a_header_are_lines_where_the_numbers_say_so() {
    let patch = "--- a/q.sql\n+++ b/q.sql\n@@ -1,3 +1,3 @@\n x\n--- comment\n+++ comment\n y\n";
    assert_eq!(shown(&hunks(patch)[0]), [" x", "--- comment", "+++ comment", " y"]);
}

#[test]
fn the_prefixes_of_git_are_no_part_of_a_path_but_folders_are() {
    let path =
        |old: &str, new: &str| parsed(&format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n"))[0].path().to_owned();
    assert_eq!(path("a/src/x", "b/src/x"), "src/x");
    assert_eq!(path("a/src/x", "a/src/x"), "a/src/x", "a folder that is called a");
    assert_eq!(path("a/src/x", "src/x"), "src/x");
    assert_eq!(path("\"a/caf\\303\\251 x\"", "\"b/caf\\303\\251 x\""), "café x");
    let patch = "--- one\n+++ two\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(
        refused(patch),
        "line 2 of the patch: `one` and `two` are two files; write the file's own path in both lines. Nothing was changed."
    );
}

#[test]
fn an_envelope_may_be_missing_or_in_a_fence_with_words_around_it() {
    let body = "*** Update File: a\n@@\n-x\n+y\n";
    let want = parsed(body);
    let same = |patch: &str| {
        let mut operations = parsed(patch);
        let (Operation::Update { hunks: got, .. }, Operation::Update { hunks, .. }) = (&mut operations[0], &want[0])
        else {
            panic!()
        };
        got[0].line = hunks[0].line;
        assert_eq!(operations, want, "{patch}");
    };
    same(&format!("*** Begin Patch\n{body}"));
    same(&format!("{body}*** End Patch"));
    same(&format!("Here is the patch:\n\n```diff\n*** Begin Patch\n{body}*** End Patch\n```\nThat changes x.\n"));
    same(&format!("```\n{body}```\n"));
    same(&format!("*** Begin Patch\n{}*** End Patch\n", "--- a/a\n+++ b/a\n@@\n-x\n+y\n"));
    same(&format!("*** Begin Patch\r\n{}", body.replace('\n', "\r\n")));
    same("\u{FEFF}*** update file: `a`\n--- a/a\n+++ b/a\n@@ @@\n-x\n+y\n\n\n*** End Patch ***\n");
}

#[test]
fn blanks_before_a_marker_are_a_slip_where_the_line_can_mean_nothing_else() {
    let patch = |first: &str, inner: &str, last: &str| {
        format!(
            "{first}*** Begin Patch\n{first}*** Add File: n\n+n\n{first}*** Delete File: d\n{first}*** Update File: \
             a\n{first}*** Move to: b\n@@\n-x\n+y\n{inner}*** Update File: c\n@@\n-x\n+y\n{last}*** End Patch\n"
        )
    };
    let want = parsed(&patch("", "", ""));
    for (first, inner, last) in [("", "", " "), ("  ", "", " "), (" ", " ", " "), ("\t", "\t", "\t"), ("  ", "  ", "")]
    {
        assert_eq!(parsed(&patch(first, inner, last)), want, "{first:?} {inner:?} {last:?}");
        assert_eq!(parsed(&format!("```\n{}```\n", patch(first, inner, last))).len(), want.len());
    }
    // These can be lines of the file, in a document on patches.
    let stays = |patch: &str, lines: &[&str]| assert_eq!(shown(&hunks(patch)[0]), lines, "{patch}");
    stays("*** Update File: a\n@@\n-x\n *** End Patch\n", &["-x", " *** End Patch"]);
    stays("*** Begin Patch\n*** Update File: a\n@@\n-x\n *** End Patch\n*** End Patch\n", &["-x", " *** End Patch"]);
    stays("*** Begin Patch\n*** Update File: a\n@@\n *** Update File: b\n-x\n", &[" *** Update File: b", "-x"]);
    stays("*** Begin Patch\n*** Update File: a\n@@\n-x\n *** Rename\n", &["-x", " *** Rename"]);
}

#[test]
fn a_line_that_may_be_a_marker_with_blanks_is_named_where_the_file_does_not_have_it() {
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n *** Update File: b\n@@\n-z\n*** End Patch\n";
    let words = edited("x\nz\n", patch).unwrap_err();
    let told = "Its line `*** Update File: b` has blanks before it, so it counts as a line of the file. If it is to mark \
                something, write it without them.";
    assert!(words.contains(told), "{words}");
    assert_eq!(edited("x\n*** Update File: b\nz\n", patch).unwrap(), "y\n*** Update File: b\n");
}

#[test]
fn an_empty_line_is_an_empty_line_that_stays_but_not_at_the_end() {
    assert_eq!(shown(&hunks("*** Update File: a\n a\n\n-b\n+c\n\n\n*** End Patch\n")[0]), [" a", " ", "-b", "+c"]);
    let unified =
        |count: usize| shown(&hunks(&format!("--- a/a\n+++ b/a\n@@ -1,{count} +1,{count} @@\n-b\n+c\n\n\n"))[0]).len();
    assert_eq!((unified(1), unified(2), unified(3)), (2, 3, 4), "at the end the numbers tell");
    assert_eq!((unified(9), unified(0)), (2, 2), "unless they are wrong");
}

#[test]
fn wrong_numbers_do_not_matter() {
    let hunks =
        hunks("--- a/a\n+++ b/a\n@@ -7,99 +8,1 @@ fn f()\n a\n-b\n+c\n d\n@@ -20,1 @@\n-e\n@@ line 30 @@\n-f\n");
    assert_eq!(hunks.iter().map(|hunk| hunk.lines.len()).collect::<Vec<_>>(), [4, 1, 1]);
    assert_eq!(hunks.iter().map(|hunk| hunk.hint).collect::<Vec<_>>(), [Some(6), Some(19), Some(29)]);
    assert_eq!(hunks[0].heading.as_deref(), Some("fn f()"));
}

#[test]
fn anchors_come_in_one_line_or_in_several() {
    let anchors = |heads: &str| hunks(&format!("*** Update File: a\n{heads}\n-x\n"))[0].anchors.clone();
    assert_eq!(anchors("@@ class A\n@@     def f(self):"), ["class A", "def f(self):"]);
    assert_eq!(anchors("@@ class A @@ def f"), ["class A", "def f"]);
    assert_eq!(anchors("@@ class A @@"), ["class A"]);
    assert_eq!(anchors("@@ ... @@"), [""; 0]);
    assert_eq!(anchors("@@"), [""; 0]);
}

#[test]
fn a_line_that_stays_may_lack_its_space_if_it_can_mean_nothing_else() {
    let patch = "*** Update File: a\nfn a() {\n\tone();\n-    two();\n</div>\n}\n";
    assert_eq!(shown(&hunks(patch)[0]), [".fn a() {", ".\tone();", "-    two();", ".</div>", ".}"]);
    let words = refused("*** Update File: a\n a\n> b\n-c\n");
    assert!(words.starts_with("line 3 of the patch: `> b` begins with none of a space (the line stays)"), "{words}");
    let words = refused("*** Update File: a\n a\n...\n-c\n");
    assert!(words.starts_with("line 3 of the patch: `...` does not stand for lines that are left out"), "{words}");
}

#[test]
fn what_would_change_the_meaning_is_refused_with_its_line() {
    let starts = |patch: &str, with: &str| {
        let words = refused(patch);
        assert!(words.starts_with(with) && words.ends_with(" Nothing was changed."), "{words}");
    };
    starts("*** Begin Patch\n*** Rename File: a\n", "line 2 of the patch: `*** Rename File: a` is no operation");
    starts("*** a/x\n--- b/x\n***************\n", "line 1 of the patch: `*** a/x` is no operation");
    starts("*** Update File:\n-x\n", "line 1 of the patch: the path is missing");
    starts("*** Update File: a\n*** End Patch\n", "line 1 of the patch: nothing is changed in a");
    starts("*** Update File: a\n@@ def f\n*** End Patch\n", "line 2 of the patch: the hunk has no lines");
    starts("*** Move to: b\n", "line 1 of the patch: `*** Move to: b` has no meaning here");
    starts("*** Add File: a\n+x\ny\n", "line 3 of the patch: `y`: every line of a new file begins with `+`");
    starts("-x\n+y\n", "line 1 of the patch: `-x` belongs to no file");
    starts("@@ -1 +1 @@\n-x\n", "line 1 of the patch: `@@ -1 +1 @@` belongs to no file");
    starts("*** Delete File: a\n-x\n", "line 2 of the patch: `-x` belongs to no file");
    starts("just words\n", "line 1 of the patch: there is no change in the patch");
    starts("", "line 1 of the patch: there is no change in the patch");
    starts("*** Update File: a\n-x\n*** End of File\n-y\n", "line 4 of the patch: `-y` has no meaning here");
    starts("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n a\n", "line 3 of the patch: `a`: every line of a new file");
    starts("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n+a\n", "line 3 of the patch: `a`: where a file is deleted");
    starts("diff --git a/x b/x\nindex 1..2\n--- a/x\n@@ -1 +1 @@\n", "line 4 of the patch: after `--- path`");
    starts(
        "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
        "line 2 of the patch: an edit cannot change a file's mode",
    );
    starts("diff --git a/x b/x\nnew file mode 120000\n", "line 2 of the patch: an edit cannot make a symbolic link");
    starts("diff --git a/x b/y\ncopy from x\ncopy to y\n", "line 2 of the patch: a copy cannot be applied");
    starts("diff --git a/x b/x\nBinary files a/x and b/x differ\n", "line 2 of the patch: binary files");
    starts("--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n  a\n", "line 3 of the patch: a combined diff");
}

#[test]
fn a_file_is_named_once_or_updated_twice() {
    let operations = parsed("*** Update File: a\n-x\n+y\n*** Update File: b\n-z\n*** Update File: a\n-v\n");
    let [Operation::Update { hunks, .. }, _] = operations.as_slice() else { panic!("{operations:?}") };
    assert_eq!(hunks.len(), 2);
    let twice = |second: &str| refused(&format!("*** Update File: a\n-x\n+y\n{second}"));
    assert!(twice("*** Delete File: a\n").starts_with("line 4 of the patch: a has been named before, in line 1"));
    assert!(twice("*** Add File: a\n+x\n").starts_with("line 4 of the patch: a has been named before"));
    assert!(twice("*** Update File: b\n*** Move to: a\n").contains("a has been named before"));
    assert!(twice("*** Update File: a\n*** Move to: b\n").contains("a has been named before"));
}

#[test]
fn a_mail_with_a_patch_ends_before_its_signature() {
    let mail = "From 0123 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\nWords.\n---\n a | 2 +-\n\ndiff --git a/a \
                b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n-- \n2.39.5\n\n";
    assert_eq!(shown(&hunks(mail)[0]), ["-x", "+y"]);
}

#[test]
fn a_line_that_may_stay_is_no_marker() {
    // One marker with a blank does not say that those after it have one.
    let patch = " *** Begin Patch\n*** Update File: a\n@@\n *** Delete File: old.txt\n-x\n+y\n*** End Patch\n";
    assert_eq!(shown(&hunks(patch)[0]), [" *** Delete File: old.txt", "-x", "+y"]);
    // A hunk may begin without `@@`.
    let patch = "*** Begin Patch\n*** Update File: a\n *** Move to: b\n-x\n+y\n*** End Patch\n";
    let operations = parsed(patch);
    let [Operation::Update { move_to: None, hunks, .. }] = operations.as_slice() else { panic!("{operations:?}") };
    assert_eq!(shown(&hunks[0]), [" *** Move to: b", "-x", "+y"]);
    // People show in their words what a patch is.
    let words = "Not this:\n    *** Delete File: x\n";
    let patch = "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch\n";
    for patch in [format!("{words}{patch}"), format!("{patch}{words}")] {
        let operations = parsed(&patch);
        assert!(matches!(operations.as_slice(), [Operation::Update { .. }]), "{operations:?}");
    }
}
