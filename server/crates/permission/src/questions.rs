//! The questions of programs that the model answers unasked: those that are known to be harmless, and no others.
//!
//! A question is known by the program that asks it and by all that it shows, since `Proceed?` has its sense from the
//! line above. So the whole line of commands is known to be one of these programs, everything it has shown since it was
//! last given a line is known too, and the answer is a plain word or a key of a menu:
//!
//! - what sets up a project (`npm init`, `npm create`, `cargo generate`) and asks for names, versions, licences,
//!   frameworks;
//! - `git add -p` and `git reset -p`, which change the index only;
//! - pagers, for keys that turn pages or leave;
//! - tests that watch files, for keys that run them again or leave;
//! - `Press any key to continue`, of any program that shows nothing else.
//!
//! The text above or below a known question is looked at as a person sees it and as it was printed, so that nothing is
//! hidden by what was written over it, by colours or by letters that only look like others. An interpreter's or a
//! debugger's prompt is none of these: what is typed there is code.

use super::{ShellLine, Shown, SimpleCommand, Typing, Word};
use crate::unseen::is_unseen;

/// The longest answer that is plain, in bytes.
const PLAIN: usize = 40;

/// Keys that choose from a menu.
const CHOOSING: &[&str] = &["enter", "escape", "tab", "up", "down", "left", "right"];

/// Commands that print and make folders beside one that asks; none of them reads what is typed.
const SILENT: &[&str] = &[":", "cd", "echo", "ls", "mkdir", "pwd", "true"];

/// The things that programs that set up a project ask for, each as it begins, up to its default.
const ASKED_FOR: &[&str] = &[
    "app name",
    "application name",
    "author",
    "author name",
    "crate name",
    "description",
    "entry point",
    "git repository",
    "homepage",
    "initial version",
    "keywords",
    "licence",
    "license",
    "main",
    "module name",
    "module type",
    "name",
    "package name",
    "package version",
    "private",
    "project description",
    "project name",
    "project version",
    "project_name",
    "project_slug",
    "repository",
    "repository url",
    "test command",
    "type",
    "version",
    "what is the name of your project",
    "what is your project called",
    "what is your project named",
    "would you like your code inside a `src/` directory",
    "would you like your code inside a src/ directory",
    "what type of modules does your project use",
    "where does your code run",
];

/// The beginnings of a choice among parts of a project, and of one that is made by yes or no.
const CHOICES: &[&str] =
    &["choose", "choose a", "choose your", "pick a", "select", "select a", "select an", "select your", "which", "what"];
const OFFERS: &[&str] = &[
    "add",
    "does your project use",
    "enable",
    "how would you like to use",
    "include",
    "use",
    "which do you want to use",
    "do you want to add",
    "do you want to use",
    "would you like to add",
    "would you like to enable",
    "would you like to include",
    "would you like to use",
];

/// The parts to choose among.
const PARTS: &[&str] = &[
    "build script dsl",
    "bundler",
    "crate type",
    "css framework",
    "features",
    "formatter",
    "framework",
    "language",
    "licence",
    "license",
    "linter",
    "module format",
    "open_source_license",
    "preset",
    "project type",
    "style",
    "template",
    "test framework",
    "test runner",
    "variant",
];

/// The technologies that a project may be set up with.
const TECHNOLOGIES: &[&str] = &[
    "app router",
    "biome",
    "cypress",
    "eslint",
    "javascript",
    "jest",
    "jsx",
    "jsx support",
    "pinia",
    "playwright",
    "prettier",
    "pwa",
    "react",
    "react compiler",
    "sass",
    "scss",
    "tailwind",
    "tailwind css",
    "turbopack",
    "typescript",
    "vitest",
    "vue router",
];

/// The text of `npm init` before its first question.
const INTRODUCTION: &[&str] = &[
    "this utility will walk you through creating a package.json file.",
    "it only covers the most common items, and tries to guess sensible defaults.",
    "see `npm help init` for definitive documentation on these fields",
    "and exactly what they do.",
    "use `npm install <pkg>` afterwards to install a package and",
    "save it as a dependency in the package.json file.",
    "press ^c at any time to quit.",
    "this command will guide you through creating your pyproject.toml config.",
];

/// Words that make a question one for the user wherever they stand in what is shown. A second guard: what is not known
/// is asked in any case.
const GRAVE: &[&str] = &[
    "abandon",
    "account",
    "agree",
    "amount",
    "apply",
    "approv",
    "bill",
    "buy",
    "cancel",
    "card",
    "charge",
    "commit",
    "confirm",
    "delet",
    "deploy",
    "destr",
    "discard",
    "drop",
    "eras",
    "execut",
    "exist",
    "force",
    "grant",
    "install",
    "invit",
    "irrevers",
    "kill",
    "login",
    "lose",
    "lost",
    "merg",
    "migrat",
    "order",
    "overw",
    "pass",
    "pay",
    "permanent",
    "publish",
    "purchas",
    "purge",
    "push",
    "reboot",
    "releas",
    "remov",
    "replac",
    "reset",
    "restart",
    "revert",
    "revok",
    "secret",
    "send",
    "share",
    "shut",
    "submit",
    "subscri",
    "terminat",
    "token",
    "transfer",
    "truncat",
    "trust",
    "unsafe",
    "upgrad",
    "upload",
    "wipe",
];

/// True if what is typed is a plain answer to a question that is known to be harmless.
pub(super) fn are_answered_unasked(typing: &Typing) -> bool {
    let ShellLine::Commands(commands) = &typing.parsed else { return false };
    let Some(words) = commands.iter().map(plain_words).collect::<Option<Vec<_>>>() else { return false };
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '+');
    let is_blank = typing.text.trim_matches(' ').is_empty();
    let is_short = typing.text.len() <= PLAIN && (is_blank || typing.text.chars().all(is_word));
    let chooses = typing.key.as_ref().is_none_or(|key| CHOOSING.contains(&key.as_str()));
    if typing.waiting.is_none() || !is_short || !chooses {
        return false;
    }
    let shown = &typing.shown;
    // The part that is not looked at may be a warning.
    if shown.is_cut {
        return false;
    }
    let mut asking = words.iter().filter(|words| !words.first().is_some_and(|name| SILENT.contains(name))).peekable();
    let is_any = asking.peek().is_some();
    let all_are = |is: fn(&[&str]) -> bool| is_any && asking.clone().all(|words| is(words));
    if waits_for_any_key(shown) {
        return is_blank;
    }
    (all_are(sets_up) && is_of_a_set_up(shown, &typing.text, all_are(is_npm_init)))
        || (all_are(stages) && is_about_the_index(shown, &typing.text))
        || (all_are(pages) && is_of_a_pager(shown, &typing.text, &words))
        || (all_are(watches_tests) && is_of_a_watch(shown, &typing.text))
}

/// The words of a command whose words are all known, and before which nothing is set.
fn plain_words(command: &SimpleCommand) -> Option<Vec<&str>> {
    let known = |word: &'_ Word| matches!(word, Word::Known(_));
    let words = command.words.iter().map(|word| match word {
        Word::Known(text) | Word::Unknown(text) => text.as_str(),
    });
    // A word that is not known may be an argument of a pager, and nothing else of what is looked at here.
    let name_is_known = command.words.first().is_some_and(known);
    (name_is_known && command.assignments.is_empty()).then(|| words.collect())
}

/// True if a command sets up a project, and asks what it is to be like.
fn sets_up(words: &[&str]) -> bool {
    let starts = |name: &str| name.starts_with("create-") || name.contains("/create-") || name.contains("/create@");
    match words {
        ["npm" | "pnpm" | "yarn" | "bun", "init" | "create" | "innit", ..]
        | ["cargo", "generate", ..]
        | ["cookiecutter" | "copier" | "yo", ..]
        | ["poetry" | "composer" | "pdm" | "hatch" | "uv", "init" | "new", ..]
        | ["gradle", "init", ..]
        | ["ng" | "nest" | "dotnet", "new", ..]
        | ["vue" | "flutter", "create", ..]
        | ["npx", "eslint", "--init", ..]
        | ["eslint", "--init", ..] => true,
        ["npx" | "bunx", rest @ ..] | ["pnpm" | "yarn", "dlx", rest @ ..] => {
            rest.iter().find(|word| !word.starts_with('-')).is_some_and(|name| starts(name))
        }
        [name, ..] => name.starts_with("create-"),
        [] => false,
    }
}

/// True if it is `npm init` for a file of its own, and not for what another package sets up.
fn is_npm_init(words: &[&str]) -> bool {
    matches!(words, ["npm", "init"])
}

fn is_of_a_set_up(shown: &Shown, text: &str, of_npm: bool) -> bool {
    if of_npm && moves_by_lines(&shown.printed) && is_npms_last(&shown.seen) {
        return true;
    }
    if !moves_by_lines(&shown.printed) || !pieces(&shown.printed).iter().all(|piece| is_light(piece)) {
        return false;
    }
    let lines: Vec<_> = shown.seen.lines().filter(|line| !is_decoration(line)).collect();
    // Below the question there can be its choices; above it what was asked and answered before.
    let Some(at) = lines.iter().rposition(|line| question(line).is_some_and(|(_, rest)| is_open(rest))) else {
        return false;
    };
    let (above, below) = (lines.get(..at).unwrap_or_default(), lines.get(at + 1..).unwrap_or_default());
    // A command would be run later, by a name that looks harmless.
    let is_command = lines.get(at).and_then(|line| question(line)).is_some_and(|(asked, _)| asked.ends_with("command"));
    let first = above.iter().position(|line| question(line).is_some()).unwrap_or(above.len());
    let is_before = |line: &str| question(line).is_some() || is_introduction(line) || is_answer(line);
    above.iter().enumerate().all(|(at, line)| is_before(line) || (at > first && is_choice(line)))
        && below.iter().all(|line| is_choice(line))
        && (!is_command || text.is_empty())
}

/// Returns the known thing that a line asks for, and what follows: its default, its choices or its answer.
fn question(line: &str) -> Option<(String, String)> {
    let line = undecorated(line).to_lowercase();
    let end = line.find(['?', ':', '(', '[', '›', '…', '»']).unwrap_or(line.len());
    let (asked, rest) = line.split_at_checked(end)?;
    let asked = asked.trim().strip_prefix("question ").unwrap_or(asked.trim());
    let asked = asked.trim_end_matches(" to use");
    let offered = |thing: &str| {
        let thing = ["for your project", "in your project", "with your project", "to your project"]
            .iter()
            .find_map(|more| thing.strip_suffix(more))
            .unwrap_or(thing);
        TECHNOLOGIES.contains(&thing.trim())
    };
    let after = |starts: &[&str], is: &dyn Fn(&str) -> bool| {
        starts.iter().any(|start| {
            asked.strip_prefix(start).and_then(|rest| rest.strip_prefix(' ')).is_some_and(|rest| is(rest.trim()))
        })
    };
    let part = |thing: &str| {
        let thing = thing.strip_suffix("would you like").unwrap_or(thing).trim();
        PARTS.contains(&thing.strip_suffix("does your project use").unwrap_or(thing).trim())
    };
    let is_known =
        ASKED_FOR.contains(&asked) || after(CHOICES, &part) || after(OFFERS, &offered) || PARTS.contains(&asked);
    // Of `Select a framework` nothing is left to ask where the line ends, but its choices.
    (is_known && is_light(rest)).then(|| (asked.to_owned(), rest.to_owned()))
}

/// True if what follows a question is only its choices and defaults: `(y/N)`, `[1/2] (1):`, `› No / Yes`.
fn is_open(rest: String) -> bool {
    let mut rest = rest.trim_start_matches([':', '?']).trim();
    while let Some(group) = rest.strip_prefix(['(', '[']) {
        let Some((_, after)) = group.split_once([')', ']']) else { return false };
        rest = after.trim().trim_start_matches([':', '?']).trim();
    }
    rest.is_empty() || rest.starts_with(['›', '…', '»', '>'])
}

/// A line without the marks of prompts before it: `? `, `◆  `, `🤷   `, `[1/4] `.
fn undecorated(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric() && !"([".contains(c));
    let step = line.strip_prefix(['(', '[']).and_then(|rest| rest.split_once([')', ']']));
    match step {
        Some((step, rest)) if step.chars().all(|c| c.is_ascii_digit() || c == '/') => rest.trim_start(),
        _ => line,
    }
}

fn is_decoration(line: &str) -> bool {
    !line.chars().any(char::is_alphanumeric) && !line.contains(['?', '!'])
}

/// True if a line is what was answered, shown again, or how `npx` says what it starts.
fn is_answer(line: &str) -> bool {
    let is_word = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.@+/\"".contains(c));
    if let Some(started) = line.strip_prefix("> ") {
        let is_starter = |word: &str| word == "npx" || word.contains('@') || word.contains("create-");
        return started.split_whitespace().all(|word| is_word(word) && is_starter(word));
    }
    let words = line.trim_start_matches(|c: char| !c.is_alphanumeric()).trim_end();
    words.len() <= PLAIN && is_word(words)
}

fn is_introduction(line: &str) -> bool {
    INTRODUCTION.contains(&line.trim().to_lowercase().as_str())
}

/// True if a line stands in a menu: indented or marked, and short.
fn is_choice(line: &str) -> bool {
    let is_marked = line.starts_with([' ', '\t']) || line.starts_with(|c: char| !c.is_ascii() || "-*>[(".contains(c));
    // A question of its own is no choice.
    is_marked && line.chars().count() <= 100 && !line.contains(['?', '!'])
}

/// True if `npm init` shows the file that it is about to write, and asks for no more.
fn is_npms_last(seen: &str) -> bool {
    let mut lines = seen.lines().filter(|line| !line.trim().is_empty());
    let is_before = |line: &str| question(line).is_some() || is_introduction(line);
    let Some(says) = lines.by_ref().find(|line| !is_before(line)) else { return false };
    let says_where = says.starts_with("About to write to /") && says.trim_end().ends_with("/package.json:");
    let is_json = |line: &str| line.starts_with(['{', '}']) || line.starts_with("  ");
    let mut rest = lines.skip_while(|line| is_json(line));
    says_where && rest.next().is_some_and(|line| line.trim() == "Is this OK? (yes)") && rest.next().is_none()
}

/// True if a command of git's asks hunk by hunk what becomes of the index.
fn stages(words: &[&str]) -> bool {
    matches!(words, ["git", "add" | "reset", options @ ..] if options.iter().any(|word| matches!(*word, "-p" | "--patch")))
}

/// The diff above is no question, whatever it says, and git asks nothing else there.
fn is_about_the_index(shown: &Shown, text: &str) -> bool {
    const LETTERS: &[&str] = &["y", "n", "q", "a", "d", "j", "J", "k", "K", "s", "p", "?"];
    let line = last_line(shown);
    let asked = line.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map(|(_, asked)| asked);
    let Some((asked, choices)) = asked.and_then(|asked| asked.split_once(" [")) else { return false };
    let asks = ["this hunk", "addition", "deletion", "mode change"];
    let is_it = asks.iter().any(|what| asked == format!("Stage {what}") || asked == format!("Unstage {what}"));
    is_it && choices.trim_end().ends_with("]?") && LETTERS.contains(&text)
}

/// True if a command shows its output in a pager.
fn pages(words: &[&str]) -> bool {
    match words {
        ["less" | "more" | "man" | "bat", ..] => true,
        ["git", rest @ ..] => {
            let subcommand = rest.iter().find(|word| !word.starts_with('-'));
            matches!(subcommand, Some(&("log" | "diff" | "show" | "blame" | "reflog" | "branch" | "tag" | "help")))
        }
        _ => false,
    }
}

/// A pager takes other letters for commands: to start an editor, to write a file, to run a program.
fn is_of_a_pager(shown: &Shown, text: &str, words: &[Vec<&str>]) -> bool {
    const LETTERS: &[&str] = &["", " ", "q", "f", "b", "d", "u", "g", "G", "j", "k", "n", "N", "h"];
    let line = last_line(shown);
    let is_named = |line: &str| words.iter().flatten().skip(1).any(|word| !word.is_empty() && *word == line);
    let is_prompt = line == ":"
        || line.ends_with("(END)")
        || (line.starts_with("--More--") && !line.contains([':', '?']))
        || (line.starts_with("Manual page ") && line.contains(" line "))
        || (line.starts_with("lines ") && line.chars().nth(6).is_some_and(|c| c.is_ascii_digit()))
        || is_named(line);
    is_prompt && LETTERS.contains(&text)
}

/// True if a command runs tests anew as files change.
fn watches_tests(words: &[&str]) -> bool {
    let is_runner = |word: &&str| matches!(*word, "jest" | "vitest");
    let runner = match words {
        ["npx" | "bunx", name, ..] | ["pnpm" | "yarn" | "npm", "exec", name, ..] | [name, ..] => name,
        [] => return false,
    };
    is_runner(runner) && words.iter().any(|word| matches!(*word, "--watch" | "--watchAll" | "watch" | "vitest"))
}

/// True if the last line is one of a list of keys. Others than these change files or ask for a pattern, and a test may
/// itself say what to press.
fn is_of_a_watch(shown: &Shown, text: &str) -> bool {
    const KEYS: &[&str] = &[
        "press a to run all tests",
        "press enter to trigger a test run",
        "press f to run only failed tests",
        "press h to show help, press q to quit",
        "press q to quit",
        "press q to quit watch mode",
        "press w to show more",
    ];
    let last = shown.seen.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let says = undecorated(last).to_lowercase().replace('`', "");
    KEYS.contains(&says.trim().trim_end_matches('.')) && matches!(text, "" | "a" | "f" | "q")
}

/// True if a program shows nothing but that it waits for a key.
fn waits_for_any_key(shown: &Shown) -> bool {
    let says = |text: &str| {
        let text = text.trim().trim_end_matches(['.', ' ', '…', ':']).to_lowercase();
        let begun =
            ["press ", "hit ", "(press ", "["].iter().find_map(|start| text.strip_prefix(start)).unwrap_or(&text);
        let key = ["any key", "enter", "return", "<enter>", "[enter]", "the enter key", "space"];
        let rest = key.iter().find_map(|key| begun.strip_prefix(key));
        matches!(rest.map(|rest| rest.trim_end_matches([')', ']'])), Some(" to continue" | " to go on"))
    };
    let whole = pieces(&shown.printed).join(" ");
    says(&shown.seen) && says(&whole)
}

fn last_line(shown: &Shown) -> &str {
    shown.seen.rsplit('\n').next().unwrap_or_default().trim()
}

/// True if a text speaks of nothing that is lost, sent, paid or given, in letters that are what they look like.
fn is_light(text: &str) -> bool {
    // Of how a menu is used, which some say beside it.
    let text = text.to_lowercase().replace("return to submit", "");
    let is_plain = text.chars().all(|c| c.is_ascii() || !c.is_alphanumeric());
    is_plain && !GRAVE.iter().any(|word| text.contains(word))
}

/// Returns what was printed, in pieces between line ends and returns, without escape sequences, controls and what
/// cannot be seen: so also what was written over, or is in the colour of the background.
fn pieces(printed: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut rest = printed.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\x1b' => skip_sequence(&mut rest),
            '\r' | '\n' => pieces.push(String::new()),
            c if c.is_control() || is_unseen(c) => {}
            c => pieces.last_mut().into_iter().for_each(|piece| piece.push(c)),
        }
    }
    pieces.retain(|piece| !piece.trim().is_empty() && !is_introduction(piece));
    pieces
}

/// Passes over an escape sequence, after its ESC. What a string holds (a title, a link) is not shown.
fn skip_sequence(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match rest.next() {
        Some('[') => {
            rest.find(|c| ('\x40'..='\x7e').contains(c));
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = rest.next() {
                if c == '\x07' || (c == '\x1b' && rest.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        _ => {}
    }
}

/// True if a terminal was only written to line by line, as programs do that paint a question anew. Where one goes to
/// another place and writes there, it cannot be told what is seen.
fn moves_by_lines(printed: &str) -> bool {
    let mut is_elsewhere = false;
    printed.split('\x1b').enumerate().all(|(at, piece)| {
        let (sequence, text) = if at == 0 { ("", piece) } else { split_sequence(piece) };
        match (sequence, sequence.chars().last()) {
            ("[G" | "[1G", _) | (_, Some('E' | 'F')) => is_elsewhere = false,
            (_, Some('A' | 'B' | 'C' | 'D' | 'G')) => is_elsewhere = true,
            (_, None | Some('m' | 'K' | 'J' | ']')) => {}
            (sequence, _) if ["[?25h", "[?25l", "[?2004h", "[?2004l"].contains(&sequence) => {}
            _ => return false,
        }
        let in_place = text.find(['\r', '\n']);
        let is_written = is_elsewhere && !text.get(..in_place.unwrap_or(text.len())).unwrap_or_default().is_empty();
        is_elsewhere &= in_place.is_none();
        !is_written
    })
}

/// Splits the text after an ESC: its sequence, of a string only the first character, and the text after that.
fn split_sequence(piece: &str) -> (&str, &str) {
    let end = match piece.chars().next() {
        Some('[') => piece.char_indices().skip(1).find(|(_, c)| ('\x40'..='\x7e').contains(c)).map(|(at, _)| at + 1),
        Some(']') => return ("]", piece.split_once('\x07').map_or("", |(_, text)| text)),
        // The end of a string.
        Some('\\') => return ("", piece.get(1..).unwrap_or_default()),
        _ => None,
    };
    piece.split_at_checked(end.unwrap_or(piece.len())).unwrap_or((piece, ""))
}
