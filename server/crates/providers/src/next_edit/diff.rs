//! The user's last edits as models read them.

use ports::complete::Edited;

/// The most lines that are repeated before and after a change.
const AROUND: usize = 3;

/// An edit as a hunk of a unified diff, without a line end at its end; none if it changes nothing.
pub(crate) fn hunk(edit: &Edited) -> Option<String> {
    if edit.before == edit.after {
        return None;
    }
    let (old, new): (Vec<_>, Vec<_>) = (edit.before.lines().collect(), edit.after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - same;
    let last = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let (first, end) = (same.saturating_sub(AROUND), last.min(AROUND));
    let parts = [
        (' ', old.get(first..same)),
        ('-', old.get(same..old.len() - last)),
        ('+', new.get(same..new.len() - last)),
        (' ', old.get(old.len() - last..old.len() - last + end)),
    ];
    let count = |all: &[&str]| all.len() - first - (last - end);
    let line = edit.line + first + 1;
    let mut text = format!("@@ -{line},{} +{line},{} @@", count(&old), count(&new));
    for (mark, lines) in parts {
        for line in lines.unwrap_or_default() {
            text.push('\n');
            text.push(mark);
            text.push_str(line);
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edit(before: &str, after: &str) -> Edited {
        Edited { path: "a".into(), line: 9, before: before.into(), after: after.into() }
    }

    #[test]
    fn a_hunk_has_the_changed_lines_and_a_few_around_them() {
        let text = hunk(&edit("1\n2\n3\n4\nold\n6\n7\n8\n9\n", "1\n2\n3\n4\nnew\n\n6\n7\n8\n9\n")).unwrap();
        assert_eq!(text, "@@ -11,7 +11,8 @@\n 2\n 3\n 4\n-old\n+new\n+\n 6\n 7\n 8");
        assert_eq!(hunk(&edit("", "a\n")).unwrap(), "@@ -10,0 +10,1 @@\n+a");
        assert_eq!(hunk(&edit("\n", "")).unwrap(), "@@ -10,1 +10,0 @@\n-");
        assert_eq!(hunk(&edit("a", "a")), None);
    }

    proptest! {
        #[test]
        fn a_hunk_counts_its_lines(before in "([ab]?\n){0,12}", after in "([ab]?\n){0,12}") {
            prop_assume!(before != after);
            let text = hunk(&edit(&before, &after)).unwrap();
            let (head, body) = text.split_once('\n').unwrap();
            let count = |marks: [char; 2]| body.lines().filter(|line| line.starts_with(marks)).count();
            let numbers: Vec<usize> = head.split(' ').filter_map(|word| word.split_once(',')?.1.parse().ok()).collect();
            prop_assert_eq!(numbers, vec![count([' ', '-']), count([' ', '+'])], "{}", text);
        }
    }
}
