//! Parts of other files, in front of a text, for models that know only one file.

use ports::complete::Excerpt;

/// The beginnings of a line of comment that are not `//`, with the editor's identifiers of the languages.
const COMMENTS: &[(&str, &[&str])] = &[
    (
        "#",
        &[
            "python",
            "ruby",
            "shellscript",
            "bash",
            "sh",
            "zsh",
            "fish",
            "perl",
            "r",
            "yaml",
            "toml",
            "makefile",
            "make",
            "dockerfile",
            "elixir",
            "julia",
            "nix",
            "powershell",
            "cmake",
            "coffeescript",
            "terraform",
            "properties",
        ],
    ),
    ("--", &["lua", "sql", "haskell", "ada", "elm"]),
    (";", &["lisp", "clojure", "scheme", "ini", "asm"]),
    ("%", &["latex", "tex", "erlang", "matlab", "prolog"]),
    ("\"", &["vim", "viml"]),
];

/// The excerpts one after the other, each after a comment that names its file; empty if there are none. The languages
/// of the other files are not known, so the comments are those of the file's own.
pub(crate) fn commented(excerpts: &[Excerpt], language: &str) -> String {
    let mark = COMMENTS.iter().find(|(_, languages)| languages.contains(&language)).map_or("//", |(mark, _)| *mark);
    let one = |excerpt: &Excerpt| format!("{mark} {}\n{}\n\n", excerpt.path, excerpt.text.trim_end_matches('\n'));
    excerpts.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_named_in_a_comment_of_the_language() {
        let excerpts = [Excerpt { path: "b".into(), text: "x\n".into() }];
        assert_eq!(commented(&excerpts, "rust"), "// b\nx\n\n");
        assert_eq!(commented(&excerpts, "python"), "# b\nx\n\n");
        assert_eq!(commented(&excerpts, "lua"), "-- b\nx\n\n");
        assert_eq!(commented(&[], "lua"), "");
    }
}
