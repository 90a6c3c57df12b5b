//! Where hunks go, and when they do not.

use spent::Spent;

use super::*;

const FILE: &str = "\
import os

class A:
    def first(self):
        x = 1
        return x

    def second(self):
        y = 2
        return x

class B:
    def first(self):
        x = 1
        return x

def end():
    pass
";

/// The file with its line, from 1, replaced by another text.
fn with_line(line: usize, new: &str) -> String {
    let lines = lines(FILE).enumerate().map(|(at, it)| if at + 1 == line { new } else { it });
    lines.filter(|line| *line != "GONE").flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn a_hunk_goes_where_its_lines_are() {
    assert_eq!(updated(FILE, "@@\n-        y = 2\n+        y = 3\n").unwrap(), with_line(9, "        y = 3"));
    let patch = "--- a/a\n+++ b/a\n@@ -1,3 +1,4 @@\n     def second(self):\n+        z = 0\n         y = 2\n         return x\n";
    let stale = edited(FILE, patch).unwrap();
    assert_eq!(stale, with_line(8, "    def second(self):\n        z = 0"), "stale numbers do not matter");
}

#[test]
fn several_places_are_refused_with_all_of_them() {
    let words = updated(FILE, "@@\n-        x = 1\n+        x = 2\n").unwrap_err();
    assert_eq!(
        words,
        "1 hunk does not apply. Nothing was changed.\nThe hunk at line 3 of the patch: it fits in 2 places:\n  line 5: x \
         = 1\n  line 14: x = 1\n  Add lines around the place you mean, or name the class or function it is in with `@@` \
         (line numbers do not count).\nRead those places with read_file and write the hunks from what the file has; all \
         of them are needed again."
    );
    let words = edited(FILE, "--- a/a\n+++ b/a\n@@ -5 +5 @@\n-        x = 1\n+        x = 2\n").unwrap_err();
    assert!(words.contains("fits in 2 places"), "a number alone is no ground: {words}");
}

#[test]
fn anchors_tell_in_which_class_and_method() {
    let change = "-        x = 1\n+        x = 2\n";
    assert_eq!(updated(FILE, &format!("@@ class B:\n{change}")).unwrap(), with_line(14, "        x = 2"));
    assert_eq!(updated(FILE, &format!("@@ class A:\n{change}")).unwrap(), with_line(5, "        x = 2"));
    assert_eq!(updated(FILE, &format!("@@ class A\n@@ def first\n{change}")).unwrap(), with_line(5, "        x = 2"));
    assert_eq!(updated(FILE, &format!("@@ class B @@ def first\n{change}")).unwrap(), with_line(14, "        x = 2"));
    let returns = "-        return x\n+        return y\n";
    assert_eq!(updated(FILE, &format!("@@ def second\n{returns}")).unwrap(), with_line(10, "        return y"));
    let words = updated(FILE, &format!("@@ class A\n{returns}")).unwrap_err();
    assert!(words.contains("fits in 2 places:\n  line 6: return x\n  line 10: return x\n"), "{words}");
    let words = updated(FILE, &format!("@@ def first\n{change}")).unwrap_err();
    assert!(words.contains("fits in 2 places"), "both classes have one: {words}");
}

#[test]
fn the_first_line_that_stays_may_be_the_anchor_itself() {
    let patch = "@@ def second(self):\n     def second(self):\n-        y = 2\n+        y = 3\n";
    assert_eq!(updated(FILE, patch).unwrap(), with_line(9, "        y = 3"));
}

#[test]
fn an_anchor_that_is_not_there_or_is_below_is_refused() {
    let words = updated(FILE, "@@ class C:\n-        y = 2\n").unwrap_err();
    assert!(
        words.contains("its anchor `class C:` is not in the file, or not where the one before it says.\n"),
        "{words}"
    );
    assert!(words.contains("line 3: class A:"), "{words}");
    let words = updated(FILE, "@@ class B:\n-        y = 2\n").unwrap_err();
    assert!(words.contains("not where its anchor `class B:` says, only here:\n  line 9: y = 2\n"), "{words}");
    let words = updated(FILE, "@@ def second\n@@ class A\n-        y = 2\n").unwrap_err();
    assert!(words.contains("its anchor `class A`"), "{words}");
}

#[test]
fn a_place_that_is_elsewhere_letter_by_letter_is_not_taken_for_the_one_under_the_anchor() {
    let text = "def a():\n    x  = 1\n\ndef b():\n    x = 1\n";
    let words = updated(text, "@@ def a\n-    x = 1\n+    x = 2\n").unwrap_err();
    assert!(words.contains("fits in 2 places:\n  line 2: x  = 1\n  line 5: x = 1\n"), "{words}");
}

#[test]
fn a_hunk_never_leaves_the_scope_that_its_anchor_names() {
    let text = "def a():\n    return 0\n\ndef b():\n    return None\n";
    let outside =
        "its lines are in the file, but not where its anchor `def a():` says, only here:\n  line 5: return None\n";
    let words = updated(text, "@@ def a():\n-    return None\n+    return 1\n").unwrap_err();
    assert!(words.contains(outside), "{words}");
    let words = updated(text, "@@ def a():\n-    return  None\n+    return  1\n").unwrap_err();
    assert!(words.contains(outside), "in another spelling too: {words}");
    // A line that has nothing indented below it is no scope, only a place to look from.
    assert_eq!(updated(text, "@@ return 0\n-    return None\n+    return 1\n").unwrap(), text.replace("None", "1"));
    // But it is in one itself if the anchors say so.
    let words = updated(text, "@@ def a():\n@@ return 0\n-    return None\n+    return 1\n").unwrap_err();
    assert!(words.contains("not where its anchor `return 0` says, only here:\n  line 5: return None\n"), "{words}");
    let words = updated(FILE, "@@ class B:\n@@ def end():\n-    pass\n").unwrap_err();
    assert!(
        words.contains("its anchor `def end():` is not in the file, or not where the one before it says"),
        "{words}"
    );
    let c = "int a() {\n    x();\n#ifdef Y\n    y();\n#endif\n}\n\nint b() {\n    y();\n}\n";
    assert_eq!(updated(c, "@@ int a() {\n-    y();\n+    z();\n").unwrap(), c.replacen("y()", "z()", 1));
    let table = "const A = [\n  [1],\n];\nconst B = [\n  [2],\n];\n";
    let words = updated(table, "@@ const A = [\n-  [2],\n+  [3],\n").unwrap_err();
    assert!(words.contains("only here:\n  line 5: [2],\n"), "{words}");
}

#[test]
fn the_heading_of_git_tells_places_apart_but_need_not_be_true() {
    let patch = |heading: &str| format!("--- a/a\n+++ b/a\n@@ -70 +70 @@ {heading}\n-        x = 1\n+        x = 2\n");
    assert_eq!(edited(FILE, &patch("class B:")).unwrap(), with_line(14, "        x = 2"));
    assert!(edited(FILE, &patch("class C:")).unwrap_err().contains("fits in 2 places"));
    let unique = "--- a/a\n+++ b/a\n@@ -70 +70 @@ class C:\n-        y = 2\n+        y = 3\n";
    assert_eq!(edited(FILE, unique).unwrap(), with_line(9, "        y = 3"));
}

#[test]
fn the_order_of_hunks_tells_which_place_is_meant() {
    let patch = "@@\n-        y = 2\n+        y = 3\n@@\n-        x = 1\n+        x = 2\n";
    assert_eq!(updated(FILE, patch).unwrap(), with_line(14, "        x = 2").replace("y = 2", "y = 3"));
    let patch = "@@\n-        x = 1\n+        x = 7\n@@\n-        x = 1\n+        x = 8\n";
    let both = with_line(5, "        x = 7").replace("x = 1", "x = 8");
    assert_eq!(updated(FILE, patch).unwrap(), both, "two of them for two places");
}

#[test]
fn hunks_may_come_in_any_order_where_each_has_one_place() {
    let patch = "@@\n-    pass\n+    ...\n@@\n-import os\n+import re\n";
    assert_eq!(updated(FILE, patch).unwrap(), with_line(1, "import re").replace("    pass", "    ..."));
}

#[test]
fn equal_drift_of_the_hunks_around_tells_the_place_in_the_text_that_the_patch_is_for() {
    let body = "item\nitem\nitem\nitem\nitem\n";
    let text = format!("new\ntop\n{body}end\n");
    let patch = |last: usize| {
        format!(
            "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-top\n+TOP\n@@ -4 +4 @@\n-item\n+here\n@@ -{last} +{last} @@\n-end\n+END\n"
        )
    };
    assert_eq!(edited(&text, &patch(7)).unwrap(), "new\nTOP\nitem\nitem\nhere\nitem\nitem\nEND\n");
    assert!(edited(&text, &patch(8)).unwrap_err().contains("fits in 5 places"));
    let [Operation::Update { hunks, .. }] = &parse(&patch(7)).unwrap()[..] else { panic!() };
    assert!(
        apply(&text, hunks, false).unwrap_err().to_string().contains("fits in 5 places"),
        "the text is another by now"
    );
}

#[test]
fn hunks_may_share_lines_that_stay_but_change_no_line_twice() {
    let patch = "@@\n         y = 2\n-        return x\n+        return y\n \n@@\n \n-class B:\n+class C:\n     def first(self):\n";
    assert_eq!(updated(FILE, patch).unwrap(), with_line(10, "        return y").replace("class B", "class C"));
    let patch = "@@\n-        y = 2\n+        y = 3\n@@\n         y = 2\n-        return x\n+        return y\n";
    let words = updated(FILE, patch).unwrap_err();
    assert!(
        words.contains("it changes lines from line 9 of the file that the hunk at line 3 of the patch changes too"),
        "{words}"
    );
}

#[test]
fn lines_that_are_only_added_need_a_place() {
    let added = "+import re\n";
    assert!(updated(FILE, &format!("@@\n{added}")).unwrap_err().contains("nothing says where"));
    assert!(
        edited(FILE, &format!("--- a/a\n+++ b/a\n@@ -1,0 +2 @@\n{added}")).unwrap_err().contains("nothing says where")
    );
    assert_eq!(updated(FILE, &format!("@@ import os\n{added}")).unwrap(), with_line(1, "import os\nimport re"));
    assert_eq!(updated(FILE, &format!("@@\n{added}*** End of File\n")).unwrap(), format!("{FILE}import re\n"));
    assert_eq!(updated("", added).unwrap(), "import re\n");
    assert!(updated(FILE, &format!("@@ os\n{added}")).unwrap_err().contains("nothing says where"));
    let words = updated(FILE, &format!("@@ return x\n{added}")).unwrap_err();
    assert!(words.contains("fits in 3 places"), "{words}");
}

#[test]
fn the_end_mark_is_held_to_the_end_of_the_file() {
    let change = "-        x = 1\n+        x = 2\n*** End of File\n";
    let words = updated(FILE, change).unwrap_err();
    assert!(
        words.contains("its place is not at the end of the file, as it says, but here:\n  line 5: x = 1\n"),
        "{words}"
    );
    let text = "class A:\n    a = 1\n\nclass B:\n    b = 1\n";
    let added = "+    c = 1\n*** End of File\n";
    let words = updated(text, &format!("@@ class A:\n{added}")).unwrap_err();
    assert!(
        words.contains("its place is not at the end of the file, as it says, but here:\n  line 1: class A:"),
        "{words}"
    );
    assert_eq!(updated(text, &format!("@@ class B:\n{added}")).unwrap(), format!("{text}    c = 1\n"));
    let text = "a\nb\na\nb\n\n";
    assert_eq!(updated(text, " a\n-b\n+c\n*** End of File\n").unwrap(), "a\nb\na\nc\n\n");
}

#[test]
fn the_final_line_break_stays_as_it_is_unless_the_patch_is_about_it() {
    assert_eq!(updated("a\nb", "-b\n+c\n").unwrap(), "a\nc");
    assert_eq!(updated("a\nb", " b\n+c\n").unwrap(), "a\nb\nc");
    assert_eq!(updated("a\nb", "+c\n*** End of File\n").unwrap(), "a\nb\nc");
    assert_eq!(updated("a\nb\n", "-a\n-b\n").unwrap(), "");
    let mark = "\\ No newline at end of file\n";
    let git = |body: &str| format!("--- a/a\n+++ b/a\n@@ -2 +2 @@\n{body}");
    assert_eq!(edited("a\nb", &git(&format!("-b\n{mark}+b\n"))).unwrap(), "a\nb\n");
    assert_eq!(edited("a\nb\n", &git(&format!("-b\n+b\n{mark}"))).unwrap(), "a\nb");
    assert_eq!(edited("a\nb", &git(&format!("-b\n{mark}+c\n{mark}"))).unwrap(), "a\nc");
}

#[test]
fn what_differs_in_white_space_and_quotes_only_is_found_and_stays_the_files() {
    let text = "fn a() {\n\tone(\"x\");  \n\ttwo(1,  2);\n}\n";
    let patch = "@@\n fn a() {\n     one(“x”);\n-    two(1, 2);\n+    two(1, 3);\n+    if b {\n+        three(“y”);\n+    }\n }\n";
    assert_eq!(
        updated(text, patch).unwrap(),
        "fn a() {\n\tone(\"x\");  \n\ttwo(1,  3);\n\tif b {\n\t\tthree(\"y\");\n\t}\n}\n"
    );
}

#[test]
fn a_line_that_stays_and_may_lack_its_space_can_be_in_two_places() {
    let text = "a\n    * since 3\nb\n     * since 3\nc\n";
    let words = updated(text, "     * since 3\n+     * new\n").unwrap_err();
    assert!(words.contains("fits in 2 places:\n  line 2: * since 3\n  line 4: * since 3\n"), "{words}");
    assert!(updated(text, "     * since 3\n+    * new\n b\n").is_ok(), "a line without indentation has its mark");
}

#[test]
fn new_lines_are_indented_with_certainty_or_refused() {
    // The lines that stay have lost their indentation, perhaps alone and perhaps with the new one.
    let hunk = |new: &str| updated(FILE, &format!(" y = 2\n+{new}\n return x\n"));
    let words = hunk("        # new").unwrap_err();
    assert!(words.contains("how it would indent your line `# new` is not certain"), "{words}");
    assert_eq!(hunk("# new").unwrap(), with_line(9, "        y = 2\n        # new"));
    // The second hunk is indented by tabs, as the file is not, and so may be the first.
    let hunks = |new: &str| format!("@@\n import os\n+def new():\n+{new}\n@@\n-\ty = 2\n+\ty = 3\n");
    let text = "import os\n\n\ndef a():\n    y = 2\n";
    let words = updated(text, &hunks("\tpass")).unwrap_err();
    assert!(words.contains("how it would indent your line `pass` is not certain"), "{words}");
    assert_eq!(updated(text, &hunks("# pass")).unwrap(), "import os\ndef new():\n# pass\n\n\ndef a():\n    y = 3\n");
}

#[test]
fn lines_that_stay_may_lack_their_space() {
    let patch = "def end():\n-    pass\n+    return 1\n";
    assert_eq!(updated(FILE, patch).unwrap(), with_line(18, "    return 1"));
    // Without the space, the line that stays seems to be indented by three.
    let patch = "    def second(self):\n-        y = 2\n+        y = 3\n        return x\n";
    assert_eq!(updated(FILE, patch).unwrap(), with_line(9, "        y = 3"));
    let patch = "    def second(self):\n+        z = 2\n        y = 2\n";
    assert_eq!(updated(FILE, patch).unwrap(), with_line(8, "    def second(self):\n        z = 2"));
    let words = updated(FILE, "    def second(self):\n+         z = 2\n        y = 2\n").unwrap_err();
    assert!(words.contains("its lines that stay have a space less than the file at line 8"), "{words}");
    let words = updated(FILE, "def  end():\n-    pass\n").unwrap_err();
    assert!(
        words.contains("its line `def end():` has no mark") || words.contains("its line `def  end():` has no mark"),
        "{words}"
    );
}

#[test]
fn a_hunk_that_is_not_found_shows_what_it_wants_and_what_comes_nearest() {
    let words = updated(FILE, "@@\n     def second(self):\n-        y = 7\n+        y = 3\n@@\n-gone\n").unwrap_err();
    assert!(
        words.starts_with(
            "2 hunks do not apply. Nothing was changed.\nThe hunk at line 3 of the patch: its lines are not in the file. It \
             wants to find:\n    |    def second(self):\n    |        y = 7\n  The file comes nearest at line 8:\n    |    def \
             second(self):\n    |        y = 2\n"
        ),
        "{words}"
    );
    assert!(words.contains("column 13: the file has '2', the hunk has '7'"), "{words}");
    assert!(words.contains("The hunk at line 7 of the patch: its lines are not in the file."), "{words}");
    let many = updated(FILE, &"@@\n-gone\n".repeat(30)).unwrap_err();
    assert!(many.starts_with("30 hunks do not apply.") && many.contains("… and 25 more.\n"), "{many}");
}

#[test]
fn hunks_that_change_nothing_are_said_to() {
    let nothing = "the patch changes nothing: the file has that text already";
    assert_eq!(updated(FILE, " import os\n").unwrap_err(), nothing);
    assert_eq!(updated(FILE, "-import os\n+import os\n").unwrap_err(), nothing);
    assert_eq!(updated(FILE, "@@\n nowhere\n@@\n-import os\n+import re\n").unwrap(), with_line(1, "import re"));
}

#[test]
fn a_deleted_line_is_gone() {
    assert_eq!(updated(FILE, "-        y = 2\n").unwrap(), with_line(9, "GONE"));
}

#[test]
fn hostile_patches_are_refused_in_bounded_time() {
    let started = Spent::start();
    let same = "same\n".repeat(5_000);
    // Many hunks that each fit everywhere, one that almost fits everywhere, anchors that are everywhere, long lines.
    assert!(updated(&same, &"@@\n-same\n+other\n".repeat(5_000)).is_err());
    assert!(updated(&same, &format!("@@\n{}-other\n", " same\n".repeat(2_500))).is_err());
    assert!(updated(&same, &format!("@@\n{}-same \n", " same\n".repeat(2_500))).is_err());
    assert!(updated(&same, &"@@ same\n@@ same\n@@ am\n-same\n".repeat(500)).is_err());
    assert!(updated(&same, &"@@\n- same\n+x\n".repeat(3_000)).is_err());
    let brackets = format!("{}y\n", "{ x\n".repeat(20_000));
    assert!(updated(&brackets, &"@@ { x\n-z\n".repeat(500)).is_err());
    let nested: String = (0..3_000).map(|depth| format!("{}x\n", " ".repeat(depth))).collect();
    assert!(updated(&nested, "@@ x\n-y\n").is_err());
    let long = "x".repeat(1 << 20);
    assert!(updated(&format!("{long}\n{long}y\n"), &format!("@@ {long}\n-{long}z\n")).is_err());
    let different: String = (0..20_000).map(|n| format!("{n} \n")).collect();
    let all: String = (0..20_000).map(|n| format!("-{n}\n+{n}x\n")).collect();
    assert!(updated(&different, &all).is_err());
    let each: String = (0..20_000).map(|n| format!("@@\n-{n}\n+{n}x\n")).collect();
    assert_eq!(updated(&different, &each).unwrap().lines().count(), 20_000);
    assert!(parse(&"*** Update File: a\n@@\n".repeat(100_000)).is_err());
    assert!(parse(&"-".repeat(9 << 20)).unwrap_err().to_string().contains("longer than 8 MiB"));
    assert!(started.elapsed().as_secs() < 60, "it took {:?}", started.elapsed());
}
