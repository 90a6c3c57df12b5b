//! Judging a command line: every simple command of it, and the files it writes to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use protocol::mode::{Edits, Runs};

use super::places::{Places, is_harmless, is_projects_own, package_program};
use super::rule::{Class, Pattern, find, find_counting, find_void};
use super::{
    Case, FOR_A_PERSON, KeyFiles, Links, Redirect, Rule, Rules, ShellLine, SimpleCommand, SourcedRule, Verdict, Word,
    only,
};
use super::{always, destructive, file_commands, key_reads, places, project, read_only, spellings};

/// Programs that run the command in their arguments.
const WRAPPERS: &[&str] = &[
    "builtin",
    "busybox",
    "chroot",
    "chrt",
    "command",
    "doas",
    "env",
    "exec",
    "fakeroot",
    "firejail",
    "flock",
    "ionice",
    "nice",
    "nohup",
    "nsenter",
    "parallel",
    "pkexec",
    "proot",
    "rlwrap",
    "runuser",
    "setsid",
    "ssh",
    "stdbuf",
    "strace",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "unbuffer",
    "unshare",
    "watch",
    "xargs",
    "xvfb-run",
];

/// Programs that run the text after `-c`, or all of it.
const INTERPRETERS: &[&str] = &["bash", "dash", "eval", "fish", "ksh", "sh", "zsh"];

/// Behind a program that runs others, so many places are looked at where the one may begin that a rule is about. Where
/// there are more, it may be about any.
const MOST_PLACES: usize = 16;

/// A command line that is to run.
pub(super) struct Asked<'a> {
    pub(super) line: &'a str,
    pub(super) parsed: &'a ShellLine,
    pub(super) cwd: &'a Path,
    pub(super) links: &'a Links,
    pub(super) keys: &'a KeyFiles,
    /// Why outside the sandbox, where it is to run there.
    pub(super) outside: Option<&'a str>,
}

pub(super) fn judge(rules: &Rules, case: &Case<'_>, asked: &Asked<'_>) -> Verdict {
    let Asked { line, parsed, cwd, links, keys, outside } = *asked;
    // The shell takes a continued line's break out before anything else.
    let joined = line.replace("\\\n", "");
    // Where a line cannot be parsed, its plain words must do to find what is denied.
    let guessed = match parsed {
        ShellLine::Commands(_) => Vec::new(),
        ShellLine::Unparsable { .. } => guess_commands(&joined),
    };
    let commands = match parsed {
        ShellLine::Commands(commands) => commands.as_slice(),
        ShellLine::Unparsable { .. } => guessed.as_slice(),
    };
    let places = Places::of_line(case.folders, cwd, commands, links);
    let is_open = matches!(parsed, ShellLine::Unparsable { .. });
    let line = Line { rules, case, places, text: line, joined: &joined, is_open, cwd, keys, outside };
    if let Some(reason) = line.forbidden(commands) {
        return Verdict::Deny { reason };
    }
    if let Some(rule) = line.find_anywhere(&rules.deny, commands) {
        return Verdict::Deny { reason: rule.to_string() };
    }
    let perhaps = line.find_perhaps(&rules.deny, commands).map(|rule| match parsed {
        ShellLine::Unparsable { reason } => format!("{rule} may be about it: {reason}"),
        ShellLine::Commands(_) => format!("{rule} may be about it"),
    });
    if let Some(reason) = perhaps.as_ref().filter(|_| !case.mode.asks()) {
        // Nobody would be asked.
        return Verdict::Deny { reason: format!("{reason}, and nothing is asked in mode `{}`", case.mode.name()) };
    }
    if case.mode.runs() == Runs::OnlyReading && (outside.is_some() || !line.only_reads(parsed)) {
        return Verdict::Deny { reason: only(case.mode).to_owned() };
    }
    if let Some(reason) = perhaps {
        return line.ask(format!("{reason}; {FOR_A_PERSON}"), Vec::new());
    }
    if let Some(rule) = line.find_anywhere(&rules.ask, commands) {
        return line.ask(format!("asked for by {rule}"), Vec::new());
    }
    if let Some(rule) = line.find_perhaps(&rules.ask, commands) {
        return line.ask(format!("{rule} may be about it"), Vec::new());
    }
    if !case.mode.asks() {
        let reason = format!("nothing is asked in mode `{}`", case.mode.name());
        return Verdict::Allow { reason, only_reads: line.only_reads(parsed) };
    }
    if let Some(rule) = find_counting(&rules.allow, case, |_| false) {
        return Verdict::Allow { reason: format!("allowed by {rule}"), only_reads: line.only_reads(parsed) };
    }
    match parsed {
        ShellLine::Unparsable { reason } => {
            let steers = line.text.to_lowercase().contains(".azimuth");
            let end = if steers { format!("; {FOR_A_PERSON}") } else { String::new() };
            line.ask(format!("it cannot be told for sure what it runs: {reason}{end}"), Vec::new())
        }
        ShellLine::Commands(commands) if commands.is_empty() => {
            line.ask("no command could be found in it".to_owned(), Vec::new())
        }
        ShellLine::Commands(commands) => line.judge_each(commands),
    }
}

struct Line<'a> {
    rules: &'a Rules,
    case: &'a Case<'a>,
    places: Places<'a>,
    text: &'a str,
    /// The same with its continued lines as one.
    joined: &'a str,
    /// True if it could not be parsed, so that it may run more than is known.
    is_open: bool,
    cwd: &'a Path,
    keys: &'a KeyFiles,
    /// Why it is to run outside the sandbox, if it is.
    outside: Option<&'a str>,
}

/// The paths that the words and redirections of a line may name, each once.
pub(super) fn named_paths(parsed: &ShellLine, cwd: &Path) -> BTreeSet<PathBuf> {
    let ShellLine::Commands(commands) = parsed else { return BTreeSet::new() };
    let links = Links::new();
    let places = Places::of_line(&[], cwd, commands, &links);
    let words = commands.iter().flat_map(|command| {
        let redirects = command.redirects.iter().map(|redirect| &redirect.target);
        command.words.iter().skip(1).chain(redirects)
    });
    let written = words.flat_map(|word| {
        let text = project::argument(word).unwrap_or_default();
        let whole = if text.starts_with('-') { text.split_once('=').map(|(_, value)| value) } else { Some(text) };
        project::pieces(text).chain(whole)
    });
    let programs = commands.iter().filter_map(|command| match command.words.first() {
        Some(Word::Known(name)) if name.contains('/') => Some(name.as_str()),
        _ => None,
    });
    let written = written.chain(programs).filter(|text| !text.is_empty() && !is_harmless(text)).map(str::to_owned);
    let fetched = commands.iter().flat_map(|command| {
        let words = command.words.iter().filter_map(project::argument);
        words.skip_while(|word| *word != "npx").filter(|word| !word.contains('/')).map(package_program)
    });
    let written: Vec<String> = written.chain(fetched).collect();
    // As it is written, too: `..` behind a link leads up from where the link leads.
    let both = written.iter().flat_map(|text| [places.resolve(text), places.joined(text)]);
    both.flatten().flatten().collect()
}

/// The fate of one command of a line.
enum Fate {
    Allowed(String),
    Asked { reason: String, always: Option<Rule> },
}

impl Line<'_> {
    fn ask(&self, reason: String, always: Vec<Rule>) -> Verdict {
        let mut detail = format!("{}\nin {}", self.text, self.cwd.display());
        let title = match self.outside {
            Some(why) => {
                detail.push_str(&format!("\nthe model's reason: {why}"));
                "Run a command outside the sandbox?"
            }
            None => "Run a command?",
        };
        Verdict::Ask { title: title.to_owned(), detail, reason, always }
    }

    /// Why nobody can mean this line.
    fn forbidden(&self, commands: &[SimpleCommand]) -> Option<String> {
        let reason = destructive::line(self.text).or_else(|| {
            commands.iter().find_map(|command| {
                let mut forms = forms(command).into_iter();
                let redirect = command.redirects.iter().find_map(destructive::redirect);
                redirect.or_else(|| forms.find_map(|words| destructive::command(&words, &self.places)))
            })
        })?;
        Some(format!("built-in protection: {reason}; if you really want this, run it yourself"))
    }

    /// The first rule that is about any part of the line, in any form: for rules that deny and ask.
    fn find_anywhere<'r>(&self, rules: &'r [SourcedRule], commands: &[SimpleCommand]) -> Option<&'r SourcedRule> {
        let by_words = find(rules, self.case, |pattern| commands.iter().any(|command| is_about(pattern, command)));
        by_words.or_else(|| rules.iter().find(|sourced| self.names_a_file(&sourced.rule, commands)))
    }

    /// The first rule that could be about a part of the line, once what is unknown in it is known, or that is about
    /// editing a file that a command names which does more than read.
    fn find_perhaps<'r>(&self, rules: &'r [SourcedRule], commands: &[SimpleCommand]) -> Option<&'r SourcedRule> {
        let by_words = find(rules, self.case, |pattern| {
            let wanted = pattern.first_words();
            // Text that a program reads from the line itself is part of no command.
            let is_fed = self.text.contains("<<") && commands.iter().any(|command| !is_reading(command));
            let told = || spellings::mentions(self.joined, &wanted) || runs_in_code(self.joined, pattern);
            commands.iter().flat_map(spelled).any(|words| pattern.may_fit_words(&words))
                || commands.iter().any(|command| !self.reads(command) && may_run(command, pattern))
                || (is_fed && wanted.len() > 1 && told())
                || (self.is_open && (told() || may_come_to(self.joined, pattern, true)))
        });
        by_words.or_else(|| rules.iter().find(|sourced| self.may_name_a_file(&sourced.rule, commands)))
    }

    /// True if a rule about files could be about one that the line comes upon, once what is unknown in it is known.
    fn may_name_a_file(&self, rule: &Rule, commands: &[SimpleCommand]) -> bool {
        let Some(pattern) = Pattern::of(rule) else { return false };
        // All that lies in a folder is come upon through it.
        let below = pattern.0.strip_suffix("/**").unwrap_or(pattern.0);
        let is_folder = |text: &str| {
            let name = text.trim_matches('"').trim_matches(['$', '{', '}']);
            // They are folders unless the line sets them to something else.
            matches!(name, "HOME" | "OLDPWD" | "PWD")
                && [format!("${name}"), format!("${{{name}}}")].contains(&text.trim_matches('"').to_owned())
                && self.text.match_indices(name).all(|(at, _)| {
                    let before = self.text.get(..at).unwrap_or_default();
                    before.ends_with('$') || before.ends_with("${") || before.ends_with("$OLD")
                })
        };
        let is_unknown = |word: &Word| match word {
            Word::Known(_) => false,
            // The letters of a plain glob tell what it can become.
            Word::Unknown(text) => read_only::argument(word).is_none() && !is_plain_glob(text) && !is_folder(text),
        };
        let may_be = |word: &Word| {
            let text = spellings::text(word);
            let mut files = spellings::files_in(text).into_iter().chain([text]);
            let is_lost = || matches!(word, Word::Known(_)) && self.places.named(text).is_empty();
            let leads_to = || {
                let named = self.places.named(text);
                named.is_empty() || named.iter().any(|path| pattern.fits_path(path, &self.places))
            };
            (spellings::is_glob(text) || is_lost())
                && (files.any(|file| spellings::may_lead_to(file, below)) || leads_to())
        };
        if Class::Edit.is_named(&rule.tool) {
            let mut writes = commands.iter().flat_map(|command| &command.redirects).filter(|redirect| redirect.writes);
            // Of a line that could not be parsed it is not known what is written to.
            let mut changing = commands.iter().filter(|command| self.is_open || !self.reads(command));
            return writes.any(|redirect| is_unknown(&redirect.target) || may_be(&redirect.target))
                || changing.any(|command| {
                    let is_open = spellings::changes_files(command);
                    let mut words = command.words.iter().skip(1);
                    words.any(|word| self.fits_file(&pattern, word) || may_be(word) || (is_open && is_unknown(word)))
                        || words_in_code(command).iter().any(|word| self.fits_file(&pattern, word))
                });
        }
        if !Class::Read.is_named(&rule.tool) {
            return false;
        }
        let last = pattern.0.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let named = if last.contains('*') { Vec::new() } else { vec![last] };
        let comes_upon = |command: &SimpleCommand| {
            let mut reads = command.redirects.iter().filter(|redirect| !redirect.writes);
            let told = |text: &str| spellings::is_code(text) && spellings::mentions(text, &named);
            let in_code = || {
                spellings::codes(command).iter().any(|code| told(&code.text))
                    || words_in_code(command).iter().any(|word| self.fits_file(&pattern, word))
            };
            let mut set = command.assignments.iter().map(|text| Word::Known(text.clone()));
            // A glob or a variable may come to be the file that must not be read.
            (spellings::shows_files(command)
                && (spellings::file_words(command).iter().any(|word| is_unknown(word) || may_be(word))
                    || spellings::goes_through(command, pattern.0)))
                || (!self.reads(command) && in_code())
                || reads.any(|redirect| is_unknown(&redirect.target) || may_be(&redirect.target))
                || set.any(|text| self.fits_file(&pattern, &text))
        };
        let is_fed = self.text.contains("<<") && commands.iter().any(|command| !is_reading(command));
        let is_open = self.is_open && commands.iter().any(spellings::shows_files);
        commands.iter().any(comes_upon) || is_open || (is_fed && spellings::mentions(self.text, &named))
    }

    fn fits_file(&self, pattern: &Pattern<'_>, word: &Word) -> bool {
        let Word::Known(written) = word else { return false };
        let mut files = spellings::files_in(written).into_iter().chain([written.as_str()]);
        files.any(|file| self.places.named(file).iter().any(|path| pattern.fits_path(path, &self.places)))
    }

    /// True if a rule about files is about one that the line writes to or names.
    fn names_a_file(&self, rule: &Rule, commands: &[SimpleCommand]) -> bool {
        let Some(pattern) = Pattern::of(rule) else { return false };
        let fits = |word: &Word| self.fits_file(&pattern, word);
        let mut redirects = commands.iter().flat_map(|command| &command.redirects);
        if Class::Edit.is_named(&rule.tool) {
            return redirects.any(|redirect| redirect.writes && fits(&redirect.target));
        }
        Class::Read.is_named(&rule.tool)
            && (redirects.any(|redirect| !redirect.writes && fits(&redirect.target))
                || commands.iter().flat_map(|command| &command.words).any(fits))
    }

    fn only_reads(&self, parsed: &ShellLine) -> bool {
        match parsed {
            ShellLine::Commands(commands) => !commands.is_empty() && commands.iter().all(|command| self.reads(command)),
            ShellLine::Unparsable { .. } => false,
        }
    }

    fn judge_each(&self, commands: &[SimpleCommand]) -> Verdict {
        let (mut allowed, mut asked, mut always, mut coverable) = (Vec::new(), Vec::new(), Vec::new(), true);
        for command in commands {
            match self.judge_one(command) {
                Fate::Allowed(reason) if !allowed.contains(&reason) => allowed.push(reason),
                Fate::Allowed(_) => {}
                Fate::Asked { reason, always: rule } => {
                    coverable &= rule.is_some();
                    always.extend(rule.filter(|rule| !always.contains(rule)));
                    if !asked.contains(&reason) {
                        asked.push(reason);
                    }
                }
            }
        }
        if asked.is_empty() {
            return Verdict::Allow {
                reason: allowed.join("; "),
                only_reads: commands.iter().all(|command| self.reads(command)),
            };
        }
        if commands.iter().any(|command| self.steers_us(command)) {
            asked.push(format!("it may change what the agent may do; {FOR_A_PERSON}"));
        }
        // A rule for a part of the line would not keep the question from being asked again.
        self.ask(asked.join("; "), if coverable { always } else { Vec::new() })
    }

    fn judge_one(&self, command: &SimpleCommand) -> Fate {
        let uncovered = command.redirects.iter().find_map(|redirect| self.uncovered(redirect));
        let rule = self.allowing_rule(command);
        match (rule, uncovered) {
            (Some(rule), None) => Fate::Allowed(format!("allowed by {rule}")),
            (_, Some(reason)) => Fate::Asked { reason, always: None },
            (None, None) if self.outside.is_some() => {
                let reason = "outside the sandbox it could reach everything that you can".to_owned();
                Fate::Asked { reason, always: None }
            }
            (None, None) if self.reads(command) => match self.restricts_reading() {
                Some(rule) if !read_only::only_names(&command.words) => Fate::Asked {
                    reason: format!("{rule} is about reading, and this command may read what the rule covers"),
                    always: None,
                },
                _ => match key_reads::shown_by(command, &self.places, self.keys) {
                    Some(file) => {
                        Fate::Asked { reason: format!("`{}` may show {file}", written(command)), always: None }
                    }
                    None => Fate::Allowed("it is known to be read-only".to_owned()),
                },
            },
            (None, None) => match self.allowed_here(command) {
                Some(reason) => Fate::Allowed(reason),
                None => {
                    let (reason, always) = match self.void_rule(command) {
                        Some((rule, why)) => (format!("{rule} would allow `{}`, but {why}", written(command)), None),
                        None => {
                            let always = is_harmlessly_set(command).then(|| always::rule_for(command)).flatten();
                            (format!("no rule allows `{}`", written(command)), always)
                        }
                    };
                    Fate::Asked { reason, always }
                }
            },
        }
    }

    /// Why a command that does more than read needs no rule: the mode, or the sandbox.
    fn allowed_here(&self, command: &SimpleCommand) -> Option<String> {
        let surroundings = self.case.surroundings;
        let mode = self.case.mode;
        if mode.edits() == Edits::Accepted && file_commands::is_plain(command, &self.places) {
            return Some(format!("mode `{}`: it is a plain command on files of the workspace", mode.name()));
        }
        let works = mode.runs() == Runs::Anything;
        let is_safe = works && surroundings.trusted && surroundings.sandboxed && !self.rules.asks_project_commands;
        let name = is_safe.then(|| project::own_command(command, &self.places)).flatten()?;
        Some(format!("runs in the sandbox: `{name}` is one of the project's own commands"))
    }

    /// A rule that keeps some files from being read, if there is one.
    fn restricts_reading(&self) -> Option<&SourcedRule> {
        let mut rules = self.rules.deny.iter().chain(&self.rules.ask);
        rules.find(|sourced| Class::Read.is_named(&sourced.rule.tool) && sourced.rule.pattern.is_some())
    }

    fn allowing_rule(&self, command: &SimpleCommand) -> Option<&SourcedRule> {
        find_counting(&self.rules.allow, self.case, |pattern| is_covered(pattern, command))
    }

    fn void_rule(&self, command: &SimpleCommand) -> Option<(&SourcedRule, &'static str)> {
        find_void(&self.rules.allow, self.case, |pattern| is_covered(pattern, command))
    }

    /// Why an allowed command's redirection still needs asking.
    fn uncovered(&self, redirect: &Redirect) -> Option<String> {
        if !redirect.writes {
            return None;
        }
        match &redirect.target {
            Word::Known(target) if !is_projects_own(Path::new(target)) && !is_harmless(target) => {
                Some(format!("it writes to {target}, which is no file of the project's own"))
            }
            Word::Known(target) if self.places.holds(target) => None,
            Word::Known(target) => Some(format!("it writes to {target}, which is or leads outside the workspace")),
            Word::Unknown(target) => Some(format!("it writes to {target}, which is known only when it runs")),
        }
    }

    fn reads(&self, command: &SimpleCommand) -> bool {
        let quiet = command.redirects.iter().all(|redirect| match &redirect.target {
            Word::Known(target) => is_harmless(target) || (!redirect.writes && self.places.holds(target)),
            // Another command reads what it prints there, and is judged by itself.
            Word::Unknown(target) => !redirect.writes && read_only::is_pipe(target),
        });
        let known_variables = command.assignments.iter().all(|text| matches!(assignment(text), Word::Known(_)));
        let set =
            known_variables && (is_harmlessly_set(command) || is_counter(command) || splits_what_is_read(command));
        quiet
            && (set || is_loop(command, &self.places))
            && (self.case.surroundings.trusted || !self.goes_into_git(command))
            && (command.words.is_empty() || read_only::only_reads(&command.words, &self.places))
            && !(command.words.is_empty() && command.assignments.is_empty())
    }

    /// True if a command that does more than read names something of `.azimuth`.
    fn steers_us(&self, command: &SimpleCommand) -> bool {
        let is_it = |text: &str| {
            text.to_lowercase().contains(".azimuth")
                || self.places.named(text).iter().any(|path| places::steers_us(self.places.relative(path)))
        };
        let may_be = |word: &Word| {
            let text = spellings::text(word);
            let last = |text: &str| text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
            // The shell's own glob matches no name with a dot unless it begins with one.
            let is_open = |text: &str| matches!(word, Word::Unknown(_)) && last(text).starts_with(['*', '?', '[']);
            let mut globs = spellings::alternatives(text).into_iter().filter(|glob| !is_open(glob));
            globs.any(|glob| is_it(&glob) || (spellings::is_glob(&glob) && spellings::may_lead_to(&glob, ".azimuth")))
        };
        let names = |word: &Word| is_it(spellings::text(word)) || may_be(word);
        let texts: Vec<_> = command.words.iter().map(spellings::text).collect();
        let program = texts.split_first().and_then(|(name, arguments)| read_only::program_at(name, arguments));
        // A program is no name, so what could be a glob in it is none.
        let is_named = |(at, word): (usize, &Word)| match program {
            Some(program) if at == program => is_it(spellings::text(word)),
            _ => names(word),
        };
        !self.reads(command)
            && (command.words.iter().skip(1).enumerate().any(is_named)
                || command.redirects.iter().any(|redirect| names(&redirect.target)))
    }

    /// True if a command makes a `.git` the folder that git looks at: what lies there can look like another repository.
    fn goes_into_git(&self, command: &SimpleCommand) -> bool {
        match command.words.as_slice() {
            [Word::Known(name), Word::Known(to), ..] if name == "cd" => self.places.is_in_git(to),
            [Word::Known(name), ..] if name == "git" => self.places.is_in_git("."),
            _ => false,
        }
    }
}

/// True if the pattern of a rule that allows fits a command with the variables that are set before it.
fn is_covered(pattern: &Pattern<'_>, command: &SimpleCommand) -> bool {
    let whole: Vec<_> = command.assignments.iter().map(|text| assignment(text)).chain(command.words.clone()).collect();
    let plain = is_harmlessly_set(command) && !command.words.is_empty();
    pattern.fits_words(&whole) || (plain && pattern.fits_words(&command.words))
}

fn is_harmlessly_set(command: &SimpleCommand) -> bool {
    command.assignments.iter().all(|text| {
        let name = text.split(['=', '+']).next().unwrap_or_default();
        read_only::HARMLESS_VARIABLES.contains(&name)
    })
}

/// True if a command only sets variables such as a loop counts with: of one small letter, to plain words. No program
/// goes by such a name, and a plain word stays one even where the shell would calculate with it.
fn is_counter(command: &SimpleCommand) -> bool {
    let is_plain = |value: &str| {
        value.chars().all(|c| c.is_ascii_alphanumeric() || " ._/,(){}*-".contains(c)) && !value.contains("--")
    };
    let is_value = |value: &str| is_plain(value) && !value.starts_with(EACH_OF);
    let counts = |text: &String| text.split_once('=').is_some_and(|(name, value)| is_letter(name) && is_value(value));
    command.words.is_empty() && command.assignments.iter().all(counts)
}

/// True if a command is a `read` that is only told where to split what it reads.
fn splits_what_is_read(command: &SimpleCommand) -> bool {
    matches!(command.words.first(), Some(Word::Known(name)) if name == "read")
        && command.assignments.iter().all(|text| text.starts_with("IFS="))
}

/// The beginning of the value of a loop's variable.
const EACH_OF: &str = "(each of ";

fn is_letter(name: &str) -> bool {
    matches!(name.as_bytes(), [letter] if letter.is_ascii_lowercase())
}

/// True if this is a loop that goes through plain words, and names of files in the workspace, by a name that no program
/// goes by.
fn is_loop(command: &SimpleCommand, places: &Places<'_>) -> bool {
    let stay = |words: &str| words.split(' ').filter(|word| word.contains('*')).all(|glob| stays(glob, places));
    let are_plain = |words: &str| words.chars().all(|c| c.is_ascii_alphanumeric() || " ._/,{}*-".contains(c));
    let counts = |words: &str| {
        let numbers = words.strip_prefix("$(seq ").and_then(|rest| rest.strip_suffix(')'));
        numbers.is_some_and(|numbers| numbers.chars().all(|c| c.is_ascii_digit() || c == ' '))
    };
    let [set] = command.assignments.as_slice() else { return false };
    let Some((name, value)) = set.split_once('=') else { return false };
    let Some(words) = value.strip_prefix(EACH_OF).and_then(|words| words.strip_suffix(')')) else { return false };
    command.words.is_empty()
        && read_only::is_lines_own(name)
        && ((are_plain(words) && !words.contains("--") && stay(words)) || counts(words))
}

/// True if a glob of a loop's names nothing outside the workspace, whatever its braces make of it.
fn stays(glob: &str, places: &Places<'_>) -> bool {
    if !places.holds(glob) {
        return false;
    }
    let pieces: Vec<_> = glob.split(['{', ',', '}']).collect();
    // Braces can put a way up together, or a path from the root.
    let climbs = |piece: &&str| piece.contains("..") || piece.split('/').any(|part| part == ".");
    let is_rooted = glob.contains("{/") || glob.contains(",/") || ["{,", ",,", ",}"].iter().any(|it| glob.contains(it));
    pieces.len() == 1 || !(is_rooted || pieces.iter().any(climbs))
}

/// True if a word is only a glob, which becomes the names that it matches.
fn is_plain_glob(text: &str) -> bool {
    spellings::is_glob(text) && !text.contains(['$', '`', '{', '<', '>', '(', '\\', '"', '\'', '~'])
}

/// An assignment as a word.
fn assignment(text: &str) -> Word {
    if text.contains(['$', '`']) { Word::Unknown(text.to_owned()) } else { Word::Known(text.to_owned()) }
}

fn written(command: &SimpleCommand) -> String {
    let words = command.words.iter().map(|word| match word {
        Word::Known(text) | Word::Unknown(text) => text.as_str(),
    });
    let redirects = command.redirects.iter().map(|redirect| {
        let sign = if redirect.writes { '>' } else { '<' };
        format!("{sign} {}", spellings::text(&redirect.target))
    });
    let all = command.assignments.iter().map(String::as_str).chain(words).map(str::to_owned).chain(redirects);
    all.collect::<Vec<_>>().join(" ")
}

/// The command as it is and as what it is in truth: without its path, without what wraps it, what an interpreter is
/// told to run.
fn forms(command: &SimpleCommand) -> Vec<Vec<Word>> {
    let mut forms = vec![command.words.clone()];
    let mut at = 0;
    while let Some(words) = forms.get(at).cloned().filter(|_| forms.len() < 64) {
        at += 1;
        let Some(Word::Known(name)) = words.first() else { continue };
        let bare = name.rsplit('/').next().unwrap_or(name);
        if bare != name {
            let mut renamed = words.clone();
            if let Some(first) = renamed.first_mut() {
                *first = Word::Known(bare.to_owned());
            }
            forms.push(renamed);
        } else if WRAPPERS.contains(&bare) {
            let mut words = words.clone();
            let mut names = words.len();
            if matches!(bare, "parallel" | "xargs") {
                let end = words.iter().position(|word| spellings::text(word).starts_with(":::"));
                words.truncate(end.unwrap_or(words.len()));
                // The text that it reads is a program's name only if it is not given one.
                names = words.len() + usize::from(!spellings::names_a_command(&words));
                words.push(Word::Unknown("(what it reads)".to_owned()));
            }
            // It is not for us to know which words are the wrapper's own: each that could be a name is tried.
            let words: Vec<_> = words.iter().map(unquoted).collect();
            forms.extend((1..names.min(8)).filter_map(|from| words.get(from..).map(<[Word]>::to_vec)));
        } else if INTERPRETERS.contains(&bare) {
            for word in words.iter().skip(1) {
                let (Word::Known(text) | Word::Unknown(text)) = word;
                forms.extend(guess_commands(text).into_iter().map(|command| command.words));
            }
            let is_told = words.iter().skip(1).any(|word| {
                let letters = spellings::text(word).strip_prefix('-').filter(|letters| !letters.starts_with('-'));
                letters.is_some_and(|letters| letters.contains('c'))
            });
            let unknown = words.iter().skip(1).filter(|word| is_told && spellings::is_expanded(word));
            forms.extend(unknown.map(|word| vec![unquoted(word)]));
            if bare == "eval" {
                forms.extend(words.get(1..).map(|words| words.iter().map(unquoted).collect()));
            }
        }
    }
    forms
}

/// A word as code, or as one that a program may take apart: in quotes it is one word for the shell alone.
fn unquoted(word: &Word) -> Word {
    match word {
        Word::Unknown(text) if spellings::is_expanded(word) => Word::Unknown(text.replace('"', "")),
        word => word.clone(),
    }
}

/// The same, and each without the options that stand before what it is told to do.
fn spelled(command: &SimpleCommand) -> Vec<Vec<Word>> {
    let mut forms = forms(command);
    let plain: Vec<_> = forms.iter().flat_map(|words| spellings::without_options(words)).collect();
    forms.extend(plain);
    forms
}

/// True if a command could run what a rule is about, as code or behind a program that runs others.
fn may_run(command: &SimpleCommand, pattern: &Pattern<'_>) -> bool {
    let wanted = pattern.first_words();
    let Some(program) = wanted.first() else { return false };
    let is_it = |code: &spellings::Code| {
        let told = || spellings::mentions(&code.text, &wanted);
        // One word alone may be any, so only code is looked at.
        let is_told = if wanted.len() == 1 { spellings::is_code(&code.text) && told() } else { told() };
        let may_fit = || wanted.len() > 1 || code.is_run;
        let comes_to = || runs_in_code(&code.text, pattern) || may_come_to(&code.text, pattern, code.is_run);
        code.may_be_any() || is_told || (may_fit() && comes_to())
    };
    let behind = || {
        let words = spellings::run_words(command);
        let texts: Vec<_> = words.iter().map(spellings::text).collect();
        let begins = words.iter().enumerate().filter(|(_, word)| spellings::bare(spellings::text(word)) == *program);
        let begun: Vec<_> = begins.filter_map(|(at, _)| words.get(at..)).take(MOST_PLACES + 1).collect();
        let mut begun_commands = begun.iter().map(|words| SimpleCommand {
            words: words.to_vec(),
            assignments: Vec::new(),
            redirects: Vec::new(),
        });
        begun.len() > MOST_PLACES
            || begun_commands.any(|command| is_about(pattern, &command))
            || spellings::mentions(&texts.join(" "), &wanted)
    };
    spellings::codes(command).iter().any(is_it) || (wanted.len() > 1 && behind())
}

/// True if a command is a plain one that takes what it is fed for text.
fn is_reading(command: &SimpleCommand) -> bool {
    matches!(command.words.first(), None | Some(Word::Known(_)))
        && command
            .words
            .first()
            .is_none_or(|name| matches!(spellings::text(name), "cat" | "cd" | "echo" | "printf" | "tee"))
}

/// True if a rule is about what code runs, as far as its plain words tell.
fn runs_in_code(text: &str, pattern: &Pattern<'_>) -> bool {
    guess_in_code(text).iter().any(|command| is_about(pattern, command))
}

/// True if a text could run what a rule is about, once what is unknown in it is known: `$git push`, `git pu${x}sh`,
/// `gi? push`. Where it need not be run, a name that is unknown is none; nor is one in quotes, which mostly is an
/// argument.
fn may_come_to(text: &str, pattern: &Pattern<'_>, is_run: bool) -> bool {
    if !is_expanded(text) && !spellings::is_glob(text) {
        return false;
    }
    let wanted = pattern.first_words();
    let is_named = |command: &SimpleCommand| matches!(command.words.first(), Some(Word::Known(_)));
    let may_fit = |command: &SimpleCommand| spelled(command).iter().any(|words| pattern.may_fit_words(words));
    let may_be = |text: &str, is_run: bool| {
        let mut commands = guess_open(text, &wanted).into_iter();
        commands.any(|command| (is_run || is_named(&command)) && may_fit(&command))
    };
    let mut quoted = text.split(['"', '\'']).filter(|piece| *piece != text);
    may_be(text, is_run) || quoted.any(|piece| may_be(piece, false))
}

/// True if a rule is about a command, in any form.
fn is_about(pattern: &Pattern<'_>, command: &SimpleCommand) -> bool {
    spelled(command).iter().any(|words| pattern.fits_words(words))
}

/// Returns the commands that code could run: the same as [`guess_commands`] for text in which that of another shell
/// may stand in quotes.
fn guess_in_code(text: &str) -> Vec<SimpleCommand> {
    let quoted = text.split(['"', '\'']).filter(|piece| *piece != text).flat_map(guess_commands);
    guess_commands(text).into_iter().chain(quoted).collect()
}

/// The words of the code that a command may run.
fn words_in_code(command: &SimpleCommand) -> Vec<Word> {
    let codes = spellings::codes(command);
    codes.iter().flat_map(|code| guess_in_code(&code.text)).flat_map(|command| command.words).collect()
}

/// Returns the commands that a text could run, by its plain words: enough to find what is denied, never to allow.
fn guess_commands(text: &str) -> Vec<SimpleCommand> {
    let pieces = text.split([';', '|', '&', '\n', '(', ')', '{', '}', '`']);
    commands_of(pieces.map(|piece| {
        let words = piece.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>'));
        let words = words.map(|word| word.replace(['"', '\'', '\\'], ""));
        words.filter(|word| !word.is_empty() && word != "$").map(Word::Known).collect()
    }))
}

/// The same with the words that are known only when it runs: those with an expansion, and globs that fit one that is
/// wanted.
fn guess_open(text: &str, wanted: &[&str]) -> Vec<SimpleCommand> {
    const BEFORE: &[&str] = &["!", "do", "elif", "else", "if", "then", "time", "until", "while", "{", "}"];
    let is_open = |word: &str| {
        let could_be = |wanted: &&str| spellings::may_name(spellings::bare(word), wanted);
        is_expanded(word) || (spellings::is_glob(word) && wanted.iter().any(could_be))
    };
    let word = |word: &str| match word.replace(['"', '\'', '\\'], "") {
        plain if is_open(&plain) && word == format!("\"{plain}\"") => Word::Unknown(word.to_owned()),
        plain if is_open(&plain) => Word::Unknown(plain),
        plain => Word::Known(plain),
    };
    let sets = |word: &str| word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !is_expanded(name));
    let whole = spellings::without_substitutions(text);
    let text = spellings::without_braces(text);
    // Each as one word, and what is in it.
    let pieces = whole.split([';', '|', '&', '\n', '(', ')']);
    let run = spellings::without_arithmetic(&text);
    let inner = run.split([';', '|', '&', '\n', '(', ')', '{', '}', '`']);
    commands_of(pieces.chain(inner).map(|piece| {
        let words = piece.split_whitespace().skip_while(|word| BEFORE.contains(word) || sets(word));
        words.map(word).filter(|word| !spellings::text(word).is_empty()).collect()
    }))
}

fn is_expanded(text: &str) -> bool {
    text.contains(['$', '`'])
}

fn commands_of(words: impl Iterator<Item = Vec<Word>>) -> Vec<SimpleCommand> {
    let some = words.filter(|words| !words.is_empty());
    some.map(|words| SimpleCommand { words, assignments: Vec::new(), redirects: Vec::new() }).collect()
}
