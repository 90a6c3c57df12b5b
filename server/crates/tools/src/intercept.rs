//! Commands that do what a tool does better: with the setting `intercept_commands` they are not run, and the
//! model is told the call that does the same.
//!
//! Only a line that is one plain command, all of whose words are known, is looked at, and only options that the tool
//! has too: what a tool cannot do is left to the shell, and so are pipelines, whose parts do what no tool does.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use permission::{ShellLine, SimpleCommand, Word};
use ports::tool_names;
use project::paths::Roots;
use serde_json::{Map, Value, json};

/// The tools to which commands are pointed: a switch, since what a model is offered may differ from turn to turn.
/// Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Intercept(Arc<RwLock<HashSet<String>>>);

impl Intercept {
    /// From now on commands are pointed to these tools; with none, all commands run.
    pub fn set(&self, offered: impl IntoIterator<Item = String>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = offered.into_iter().collect();
    }

    /// Why a command is not run, in words for the model; none if it is.
    pub(crate) fn refusal(&self, line: &str, parsed: &ShellLine, cwd: &Path, roots: &Roots) -> Option<String> {
        let offered = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if offered.is_empty() {
            return None;
        }
        let call = instead(line, parsed, &Place { cwd, roots }, &|tool| offered.contains(tool))?;
        let (tool, input) = (call.tool, Value::Object(call.input));
        let words = match call.words {
            "" => format!("call {tool} with {input}"),
            words => format!("call {tool} with {input}, {words}"),
        };
        Some(format!("Not run: `{}`. A tool does this, and sees what is unsaved in the editor: {words}.", line.trim()))
    }
}

/// The call that does what a command would.
#[derive(Debug, PartialEq)]
struct Instead {
    tool: &'static str,
    input: Map<String, Value>,
    /// The words for what the input leaves open.
    words: &'static str,
}

/// Where a command would run.
struct Place<'a> {
    cwd: &'a Path,
    roots: &'a Roots,
}

impl Place<'_> {
    /// The name of a path in the workspace, as tools take it.
    fn name(&self, path: &str) -> Option<String> {
        let path = self.roots.resolve(self.cwd.join(path).to_str()?).ok()?;
        Some(self.roots.display(&path))
    }

    fn file(&self, path: &str) -> Option<String> {
        self.cwd.join(path).is_file().then(|| self.name(path)).flatten()
    }
}

fn known(word: &Word) -> Option<&str> {
    match word {
        Word::Known(word) => Some(word),
        Word::Unknown(_) => None,
    }
}

/// Returns the call that does the same as a line, among the tools that are offered.
fn instead(line: &str, parsed: &ShellLine, place: &Place<'_>, offered: &dyn Fn(&str) -> bool) -> Option<Instead> {
    let ShellLine::Commands(commands) = parsed else { return None };
    let [SimpleCommand { words, assignments, redirects }] = commands.as_slice() else { return None };
    let words: Vec<_> = words.iter().map(known).collect::<Option<_>>()?;
    let (name, arguments) = words.split_first()?;
    // The parser also lists what stands in loops and behind `time`; what begins with the command's name is it alone.
    let is_alone = line.trim_start().starts_with(name) && !line.trim_end().ends_with('&');
    if !is_alone || !assignments.is_empty() {
        return None;
    }
    let edit = [tool_names::EDIT_REPLACE_EXACT, tool_names::EDIT_APPLY_PATCH, tool_names::EDIT_HASHLINE]
        .into_iter()
        .find(|tool| offered(tool));
    let call = match redirects.as_slice() {
        [] if line.trim().contains('\n') => None,
        [] => match *name {
            "cat" | "less" | "more" | "bat" | "nl" => whole_file(arguments, place),
            "head" => head(arguments, place),
            "tail" => tail(arguments, place),
            "sed" => sed(arguments, place, edit),
            "perl" => in_place(arguments, place, edit),
            "grep" | "egrep" | "fgrep" | "rg" => search(name, arguments, place),
            "find" => find(arguments, place),
            "ls" | "tree" => list(name, arguments, place),
            _ => None,
        },
        [redirect] if redirect.writes && matches!(*name, "echo" | "printf" | "cat") => {
            // Text that is copied from a file is not the model's.
            let is_text = *name != "cat" || arguments.is_empty();
            let target = known(&redirect.target).filter(|_| is_text)?;
            written(target, line, place, edit, offered)
        }
        _ => None,
    };
    call.filter(|call| offered(call.tool))
}

fn call(tool: &'static str, input: Value) -> Option<Instead> {
    let Value::Object(input) = input else { return None };
    Some(Instead { tool, input, words: "" })
}

fn whole_file(arguments: &[&str], place: &Place<'_>) -> Option<Instead> {
    match arguments {
        [path] | ["-n", path] => call(tool_names::READ_FILE, json!({ "path": place.file(path)? })),
        _ => None,
    }
}

/// The number of lines that `-n N`, `-nN` or `-N` ask for, and the only other argument.
fn lines<'a>(arguments: &[&'a str]) -> Option<(&'a str, &'a str)> {
    match arguments {
        [path] => Some(("10", path)),
        ["-n", number, path] => Some((number, path)),
        [number, path] => {
            Some((number.strip_prefix("-n").or(number.strip_prefix("--lines=")).or(number.strip_prefix('-'))?, path))
        }
        _ => None,
    }
}

fn head(arguments: &[&str], place: &Place<'_>) -> Option<Instead> {
    let (number, path) = lines(arguments)?;
    let number: u64 = number.parse().ok()?;
    call(tool_names::READ_FILE, json!({ "path": place.file(path)?, "start_line": 1, "end_line": number.max(1) }))
}

fn tail(arguments: &[&str], place: &Place<'_>) -> Option<Instead> {
    let (number, path) = lines(arguments)?;
    let path = place.file(path)?;
    match number.strip_prefix('+') {
        Some(first) => {
            call(tool_names::READ_FILE, json!({ "path": path, "start_line": first.parse::<u64>().ok()?.max(1) }))
        }
        None => {
            number.parse::<u64>().ok()?;
            let words = "and `start_line` for its last lines: the result says how many there are";
            Some(Instead { words, ..call(tool_names::READ_FILE, json!({ "path": path }))? })
        }
    }
}

fn sed(arguments: &[&str], place: &Place<'_>, edit: Option<&'static str>) -> Option<Instead> {
    if let ["-n", script, path] = arguments {
        let range = script.strip_suffix('p')?;
        let (first, last) = range.split_once(',').unwrap_or((range, range));
        let first: u64 = first.trim().parse().ok()?;
        let input = match last.trim() {
            "$" => json!({ "path": place.file(path)?, "start_line": first }),
            last => json!({ "path": place.file(path)?, "start_line": first, "end_line": last.parse::<u64>().ok()? }),
        };
        return call(tool_names::READ_FILE, input);
    }
    in_place(arguments, place, edit)
}

/// `sed -i` and `perl -i`, with any script.
fn in_place(arguments: &[&str], place: &Place<'_>, edit: Option<&'static str>) -> Option<Instead> {
    let in_place = |argument: &&str| {
        argument.starts_with("--in-place")
            || (argument.starts_with('-') && !argument.starts_with("--") && argument.contains('i'))
    };
    let (path, options) = arguments.split_last()?;
    if !options.iter().any(in_place) {
        return None;
    }
    place.file(path)?;
    edited(edit, place.name(path)?)
}

fn edited(edit: Option<&'static str>, path: String) -> Option<Instead> {
    let tool = edit?;
    let words = "and its edit, which the user reviews";
    let input = if tool == tool_names::EDIT_REPLACE_EXACT { json!({ "path": path }) } else { json!({}) };
    Some(Instead { words, ..call(tool, input)? })
}

fn search(name: &str, arguments: &[&str], place: &Place<'_>) -> Option<Instead> {
    let mut input = Map::new();
    let (mut plain, mut regex, mut recursive) = (Vec::new(), name != "fgrep", name == "rg");
    let mut is_basic = name == "grep";
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let is_short = argument.len() > 1 && argument.starts_with('-') && !argument.starts_with("--");
        match *argument {
            "-e" | "--regexp" => plain.insert(0, *rest.next()?),
            "-A" | "-B" | "-C" => drop(input.insert("context_lines".into(), json!(around(rest.next()?)?))),
            "-g" | "--glob" => drop(input.insert("glob".into(), json!(rest.next()?))),
            "--ignore-case" => drop(input.insert("ignore_case".into(), json!(true))),
            "--fixed-strings" => regex = false,
            "--recursive" => recursive = true,
            "--extended-regexp" => is_basic = false,
            "--line-number" | "--no-heading" | "--with-filename" => {}
            "--" => {
                plain.extend(rest.by_ref());
            }
            option if option.starts_with("--color") => {}
            option if option.starts_with("--include=") => {
                let glob = option.strip_prefix("--include=")?;
                // Two of them cannot be said in one call.
                if input.insert("glob".into(), json!(glob)).is_some() {
                    return None;
                }
            }
            option if option.starts_with("--") => return None,
            option if is_short => {
                let (letters, number) =
                    option.split_at(option.find(|c: char| c.is_ascii_digit()).unwrap_or(option.len()));
                if !number.is_empty() {
                    let last = letters.chars().next_back()?;
                    (matches!(last, 'A' | 'B' | 'C') && letters.len() == 2).then_some(())?;
                    input.insert("context_lines".into(), json!(around(number)?));
                    continue;
                }
                for letter in letters.chars().skip(1) {
                    match letter {
                        'r' | 'R' if name != "rg" => recursive = true,
                        'n' | 'H' | 'I' | 's' => {}
                        'E' if name != "rg" => is_basic = false,
                        'i' => drop(input.insert("ignore_case".into(), json!(true))),
                        'F' => regex = false,
                        // A command that counts, names, turns round or prints otherwise is no search of lines.
                        _ => return None,
                    }
                }
            }
            word => plain.push(word),
        }
    }
    let (query, paths) = plain.split_first()?;
    match paths {
        [] if recursive => {}
        [path] if recursive || place.cwd.join(path).is_file() => {
            let name = place.name(path)?;
            if name != "." && !name.is_empty() {
                input.insert("path".into(), json!(name));
            }
        }
        _ => return None,
    }
    if !regex || !query.contains(|c: char| r"\.+*?()|[]{}^$".contains(c)) {
        regex = false;
    } else if is_basic && query.contains(['\\', '+', '?', '|', '(', '{']) {
        // A basic expression means something else by these.
        return None;
    }
    input.insert("query".into(), json!(query));
    if regex {
        input.insert("regex".into(), json!(true));
    }
    call(tool_names::SEARCH_TEXT, Value::Object(input))
}

/// Lines around a match, as many as the tool gives.
fn around(number: &str) -> Option<u64> {
    number.parse().ok().filter(|number| *number <= 5)
}

fn find(arguments: &[&str], place: &Place<'_>) -> Option<Instead> {
    let (path, mut tests) = match arguments.split_first() {
        Some((path, tests)) if !path.starts_with('-') => (*path, tests),
        _ => (".", arguments),
    };
    let mut pattern = None;
    while let [test, value, rest @ ..] = tests {
        match (*test, *value) {
            ("-type", "f") => {}
            ("-name" | "-iname", glob) if pattern.is_none() => pattern = Some(glob),
            _ => return None,
        }
        tests = rest;
    }
    if !tests.is_empty() {
        return None;
    }
    let path = place.name(path)?;
    let mut input = Map::new();
    if path != "." && !path.is_empty() {
        input.insert("path".into(), json!(path));
    }
    match pattern {
        Some(pattern) => {
            input.insert("pattern".into(), json!(pattern));
            call(tool_names::FIND_FILES, Value::Object(input))
        }
        None => call(tool_names::LIST_FILES, Value::Object(input)),
    }
}

fn list(name: &str, arguments: &[&str], place: &Place<'_>) -> Option<Instead> {
    let (options, paths): (Vec<&str>, Vec<&str>) = arguments.iter().partition(|argument| argument.starts_with('-'));
    let is_deep = name == "tree" || options.iter().any(|option| option.contains('R'));
    let is_known =
        options.iter().all(|option| name == "ls" && option.chars().skip(1).all(|letter| "R1aAp".contains(letter)));
    let path = match paths.as_slice() {
        [] => ".",
        [path] => path,
        _ => return None,
    };
    let path = place.name(path).filter(|_| is_deep && is_known)?;
    call(tool_names::LIST_FILES, if path == "." || path.is_empty() { json!({}) } else { json!({ "path": path }) })
}

/// Text of the model's that goes to a file.
fn written(
    target: &str,
    line: &str,
    place: &Place<'_>,
    edit: Option<&'static str>,
    offered: &dyn Fn(&str) -> bool,
) -> Option<Instead> {
    let path = place.name(target)?;
    let is_there = place.cwd.join(target).is_file();
    if is_there && line.contains(">>") {
        return edited(edit, path);
    }
    if !offered(tool_names::EDIT_CREATE_FILE) {
        return edited(edit, path);
    }
    let input = if is_there { json!({ "path": path, "overwrite": true }) } else { json!({ "path": path }) };
    Some(Instead {
        words: "and the text as `content`, which the user reviews",
        ..call(tool_names::EDIT_CREATE_FILE, input)?
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use shell::parse;

    use super::*;
    use crate::fixture::{World, call};

    const OFFERED: [&str; 7] =
        ["read_file", "list_files", "find_files", "search_text", "edit_replace_exact", "edit_create_file", "shell_run"];

    fn world() -> World {
        World::new(&[("src/main.rs", "fn main() {}\n"), ("a b.txt", "x\n")])
    }

    fn pointed(world: &World, line: &str, offered: &[&str]) -> Option<(&'static str, Value)> {
        let services = world.services();
        let (cwd, roots) = (world.path(""), &services.roots);
        let place = Place { cwd: &cwd, roots };
        let call = instead(line, &parse(line), &place, &|tool| offered.contains(&tool))?;
        Some((call.tool, Value::Object(call.input)))
    }

    #[test]
    fn what_a_tool_does_is_pointed_to_the_tool_with_the_input_that_does_the_same() {
        let world = world();
        let main = "src/main.rs";
        let cases = [
            ("cat src/main.rs", "read_file", json!({ "path": main })),
            ("cat -n 'src/main.rs'", "read_file", json!({ "path": main })),
            ("cat \"a b.txt\"", "read_file", json!({ "path": "a b.txt" })),
            ("cat ./src/../src/main.rs", "read_file", json!({ "path": main })),
            ("head src/main.rs", "read_file", json!({ "path": main, "start_line": 1, "end_line": 10 })),
            ("head -n 40 src/main.rs", "read_file", json!({ "path": main, "start_line": 1, "end_line": 40 })),
            ("head -40 src/main.rs", "read_file", json!({ "path": main, "start_line": 1, "end_line": 40 })),
            ("tail -n20 src/main.rs", "read_file", json!({ "path": main })),
            ("tail -n +20 src/main.rs", "read_file", json!({ "path": main, "start_line": 20 })),
            ("sed -n '3,9p' src/main.rs", "read_file", json!({ "path": main, "start_line": 3, "end_line": 9 })),
            ("sed -n 3p src/main.rs", "read_file", json!({ "path": main, "start_line": 3, "end_line": 3 })),
            ("sed -n '3,$p' src/main.rs", "read_file", json!({ "path": main, "start_line": 3 })),
            ("grep -rn needle .", "search_text", json!({ "query": "needle" })),
            (
                "grep -rniE 'fn (a|b)' src",
                "search_text",
                json!({ "query": "fn (a|b)", "regex": true, "ignore_case": true, "path": "src" }),
            ),
            ("grep -n main src/main.rs", "search_text", json!({ "query": "main", "path": main })),
            (
                "grep -rn --include='*.rs' -C2 main src/",
                "search_text",
                json!({ "query": "main", "path": "src", "glob": "*.rs", "context_lines": 2 }),
            ),
            ("rg -F 'a.b'", "search_text", json!({ "query": "a.b" })),
            (
                "rg 'fn \\w+' src -g '*.rs'",
                "search_text",
                json!({ "query": "fn \\w+", "regex": true, "path": "src", "glob": "*.rs" }),
            ),
            ("find . -name '*.rs'", "find_files", json!({ "pattern": "*.rs" })),
            ("find src -type f -name '*.rs'", "find_files", json!({ "pattern": "*.rs", "path": "src" })),
            ("find src -type f", "list_files", json!({ "path": "src" })),
            ("ls -R", "list_files", json!({})),
            ("ls -aR src", "list_files", json!({ "path": "src" })),
            ("tree", "list_files", json!({})),
            ("sed -i 's/a/b/' src/main.rs", "edit_replace_exact", json!({ "path": main })),
            ("perl -pi -e 's/a/b/' src/main.rs", "edit_replace_exact", json!({ "path": main })),
            ("echo hello > new.txt", "edit_create_file", json!({ "path": "new.txt" })),
            ("echo hello > 'a b.txt'", "edit_create_file", json!({ "path": "a b.txt", "overwrite": true })),
            ("echo hello >> 'a b.txt'", "edit_replace_exact", json!({ "path": "a b.txt" })),
            ("cat > src/new.rs <<'EOF'\nfn new() {}\nEOF", "edit_create_file", json!({ "path": "src/new.rs" })),
        ];
        for (line, tool, input) in cases {
            assert_eq!(pointed(&world, line, &OFFERED), Some((tool, input)), "{line}");
        }
    }

    #[test]
    fn what_no_tool_does_is_run() {
        let world = world();
        for line in [
            "cat src/main.rs | wc -l",
            "cat src/main.rs; ls",
            "cat src/main.rs &",
            "cat src/main.rs nowhere.txt",
            "cat src/*.rs",
            "cat $FILE",
            "cat nowhere.txt",
            "cat /etc/hostname",
            "cat -A src/main.rs",
            "for n in 1 2; do cat src/main.rs; done",
            "( cat src/main.rs )",
            "X=1 cat src/main.rs",
            "cat src/main.rs > copy.rs",
            "cat < src/main.rs",
            "tail -f src/main.rs",
            "head -c 100 src/main.rs",
            "sed 's/a/b/' src/main.rs",
            "sed -n '/a/p' src/main.rs",
            "sed -i s/a/b/ /etc/hostname",
            "grep needle",
            "grep -rc needle .",
            "grep -rl needle .",
            "grep -rv needle .",
            "grep -rn 'a\\|b' .",
            "grep -rn -C9 needle .",
            "grep -rn needle src tests",
            "grep -rn needle /usr/include",
            "rg --json needle",
            "rg -t rust needle",
            "find . -name '*.rs' -delete",
            "find . -mtime -1",
            "find . -type d",
            "find / -name '*.rs'",
            "ls",
            "ls -la src",
            "tree -L 2",
            "echo hello",
            "echo hello > /tmp/x",
            "echo $HOME > new.txt",
            "cargo test",
            "git grep needle",
            "echo 'unfinished",
        ] {
            assert_eq!(pointed(&world, line, &OFFERED), None, "{line}");
        }
    }

    #[test]
    fn a_tool_that_the_model_is_not_offered_is_no_help() {
        let world = world();
        assert_eq!(pointed(&world, "cat src/main.rs", &["search_text"]), None);
        assert_eq!(pointed(&world, "sed -i s/a/b/ src/main.rs", &["read_file"]), None);
        let patches = ["edit_apply_patch"];
        assert_eq!(pointed(&world, "sed -i s/a/b/ src/main.rs", &patches), Some(("edit_apply_patch", json!({}))));
        assert_eq!(pointed(&world, "echo x > new.txt", &patches), Some(("edit_apply_patch", json!({}))));
    }

    #[tokio::test]
    async fn the_model_is_told_what_to_call_and_nothing_runs_or_is_asked() {
        let world = world();
        let services = world.services();
        let run = |command: &str| call(&services, "shell_run", json!({ "command": command }));
        assert!(run("cat src/main.rs").await.unwrap().text.starts_with("fn main() {}\n"), "it is off unless it is set");
        services.intercept.set(OFFERED.map(str::to_owned));
        assert_eq!(
            run("cat src/main.rs").await.unwrap_err().to_string(),
            "Not run: `cat src/main.rs`. A tool does this, and sees what is unsaved in the editor: call read_file with \
             {\"path\":\"src/main.rs\"}."
        );
        let refused = run("echo x > new.txt").await.unwrap_err().to_string();
        assert!(
            refused.ends_with("with {\"path\":\"new.txt\"}, and the text as `content`, which the user reviews."),
            "{refused}"
        );
        assert!(!world.path("new.txt").exists());
        run("cd src").await.unwrap();
        let refused = run("cat main.rs").await.unwrap_err().to_string();
        assert!(refused.contains("{\"path\":\"src/main.rs\"}"), "{refused}");
        services.intercept.set([]);
        assert!(run("cat main.rs").await.is_ok());
    }
}
