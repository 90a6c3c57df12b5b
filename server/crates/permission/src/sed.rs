//! Scripts of `sed`, and whether one only prints. It may also write files (`w`), read others (`r`) and run commands
//! (`e`), so only scripts that are read to their end are known to do none of it.

use std::iter::Peekable;
use std::str::Chars;

/// Options that change how lines are read or shown.
const PLAIN: &[&str] = &["--quiet", "--regexp-extended", "--separate", "--silent", "--null-data"];

/// Letters of the same.
const LETTERS: &str = "nErsz";

/// Commands without an argument that print, change what is in memory, or end.
const COMMANDS: &str = "pPdDnNgGhHxl=qQ";

/// True if `sed` with these arguments only prints.
pub(super) fn only_reads(arguments: &[&str]) -> bool {
    let Some(parts) = Parts::of(arguments) else { return false };
    let mut scripts = parts.scripts.iter().filter_map(|at| arguments.get(*at));
    !parts.scripts.is_empty() && scripts.all(|script| prints(script))
}

/// The last argument that is a script; none if it cannot be told.
pub(super) fn script_at(arguments: &[&str]) -> Option<usize> {
    Parts::of(arguments)?.scripts.last().copied()
}

/// The parts of the arguments.
struct Parts {
    /// The places of the scripts.
    scripts: Vec<usize>,
}

impl Parts {
    /// None if an option is not known: it may take the next word, or name a file that is written or holds a script.
    fn of(arguments: &[&str]) -> Option<Self> {
        let (mut scripts, mut operands, mut is_script) = (Vec::new(), Vec::new(), false);
        for (at, argument) in arguments.iter().enumerate() {
            if is_script {
                scripts.push(at);
                is_script = false;
                continue;
            }
            match argument.strip_prefix('-') {
                None | Some("") => operands.push(at),
                Some(_) if PLAIN.contains(argument) => {}
                Some(letters) => {
                    let plain = letters.strip_suffix('e').unwrap_or(letters);
                    if !plain.chars().all(|letter| LETTERS.contains(letter)) {
                        return None;
                    }
                    is_script = plain.len() < letters.len();
                }
            }
        }
        if scripts.is_empty() {
            scripts.extend(operands.first());
        }
        (!is_script).then_some(Self { scripts })
    }
}

/// True if a script only prints.
fn prints(script: &str) -> bool {
    // A letter that is not ASCII may count as one letter or as several, depending on the language that is set.
    script.is_ascii() && Script { rest: script.chars().peekable(), depth: 0 }.prints()
}

struct Script<'a> {
    rest: Peekable<Chars<'a>>,
    /// How many braces are open.
    depth: usize,
}

impl Script<'_> {
    fn prints(mut self) -> bool {
        loop {
            while self.rest.next_if(|c| matches!(c, ' ' | '\t' | ';' | '\n')).is_some() {}
            if self.rest.peek().is_none() {
                return self.depth == 0;
            }
            if self.command().is_none() {
                return false;
            }
        }
    }

    /// Reads a command with its addresses, up to what ends it. None if it does more than print, or is not
    /// understood.
    fn command(&mut self) -> Option<()> {
        if self.address()? {
            self.blank();
            if self.rest.next_if_eq(&',').is_some() {
                self.blank();
                // `+3` and `~4` count from the first one.
                let _ = self.rest.next_if(|c| matches!(c, '+' | '~'));
                self.address()?.then_some(())?;
            }
        }
        self.blank();
        while self.rest.next_if(|c| matches!(c, '!' | ' ')).is_some() {}
        match self.rest.next()? {
            '{' => {
                self.depth += 1;
                return Some(());
            }
            '}' => self.depth = self.depth.checked_sub(1)?,
            's' => self.substitution()?,
            'y' => {
                let delimiter = self.delimiter()?;
                self.replacement(delimiter)?;
                self.replacement(delimiter)?;
            }
            command if COMMANDS.contains(command) => {}
            _ => return None,
        }
        self.blank();
        matches!(self.rest.peek(), None | Some(';' | '\n' | '}')).then_some(())
    }

    /// Reads an address. Gives whether there is one.
    fn address(&mut self) -> Option<bool> {
        match self.rest.peek() {
            Some('$') => {
                self.rest.next();
                Some(true)
            }
            Some(c) if c.is_ascii_digit() => {
                self.digits();
                if self.rest.next_if_eq(&'~').is_some() {
                    self.digits();
                }
                Some(true)
            }
            Some('/') => {
                self.rest.next();
                self.pattern('/')?;
                while self.rest.next_if(|c| matches!(c, 'I' | 'M')).is_some() {}
                Some(true)
            }
            _ => Some(false),
        }
    }

    /// `s/…/…/`, without the flags by which it writes a file or runs what comes of it.
    fn substitution(&mut self) -> Option<()> {
        let delimiter = self.delimiter()?;
        self.pattern(delimiter)?;
        self.replacement(delimiter)?;
        while self.rest.next_if(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'M')).is_some() {}
        Some(())
    }

    fn delimiter(&mut self) -> Option<char> {
        self.rest.next().filter(|c| "/|,#@:!%_+~".contains(*c))
    }

    /// Reads a regular expression and the delimiter behind it. Some programs take a delimiter in brackets for one, and
    /// some do not, so that is not understood.
    fn pattern(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.rest.next()? {
                '\n' => return None,
                '\\' => {
                    self.rest.next().filter(|c| *c != '\n')?;
                }
                '[' => self.brackets(delimiter)?,
                c if c == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    fn brackets(&mut self, delimiter: char) -> Option<()> {
        let _ = self.rest.next_if_eq(&'^');
        let _ = self.rest.next_if_eq(&']');
        loop {
            match self.rest.next()? {
                ']' => return Some(()),
                '\n' => return None,
                '\\' => {
                    self.rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '.')?;
                }
                '[' => match self.rest.peek() {
                    Some(':') => self.class()?,
                    Some('.' | '=') => return None,
                    _ => {}
                },
                c if c == delimiter => return None,
                _ => {}
            }
        }
    }

    /// `[:alpha:]`, behind its bracket.
    fn class(&mut self) -> Option<()> {
        self.rest.next();
        while self.rest.next_if(char::is_ascii_lowercase).is_some() {}
        self.rest.next_if_eq(&':')?;
        self.rest.next_if_eq(&']').map(|_| ())
    }

    /// Reads what takes the place of something, and the delimiter behind it.
    fn replacement(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.rest.next()? {
                '\n' => return None,
                '\\' => {
                    self.rest.next().filter(|c| *c != '\n')?;
                }
                c if c == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    fn digits(&mut self) {
        while self.rest.next_if(char::is_ascii_digit).is_some() {}
    }

    fn blank(&mut self) {
        while self.rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_prints_is_told_from_one_that_writes_reads_or_runs() {
        for script in [
            "10,20p",
            "$p",
            "/a/,/b/p",
            "/fn main/,/^}/p",
            "1~2p",
            "/a/,+3p",
            "0,/x/d",
            "/^#/d",
            "/a/!d",
            "/a/Ip",
            "s/a/b/g",
            "s|/usr|/opt|2p",
            "s/[^a-z[:space:]]*\\/x/\\1/gI",
            "/a/{s/x/y/;p}",
            "/a/{n;p;}",
            "5q",
            "y/abc/xyz/",
            "p;p\np",
            "1!G;h;$!d",
        ] {
            assert!(prints(script), "{script}");
        }
        for script in [
            "w x",
            "/a/w x",
            "s/a/b/w x",
            "s/a/b/gw x",
            "s/a/b/e",
            "1e date",
            "e",
            "/a/{p;e}",
            "p;w x",
            "p\nw x",
            "r x",
            "R x",
            "W x",
            "p w x",
            "s/[/]/w x/",
            "s/[\\]/x/;w y/]/z/",
            "s/a/b\\/;w x",
            "sxaxbxw y",
            "/a/{p",
            "p}",
            "\\%a%w x",
            "a text",
            "1,p",
            "s/a/b",
            "F",
            "v",
            "s/\u{e9}/x/",
        ] {
            assert!(!prints(script), "{script}");
        }
    }

    #[test]
    fn an_option_that_is_not_known_is_not_let_through() {
        for line in ["-n p f", "p f g", "-nE /a/p f", "-ne p f", "-e p -e 5q f", "p", "--quiet p f", "-s -n $p f g"] {
            assert!(only_reads(&line.split(' ').collect::<Vec<_>>()), "{line}");
        }
        for line in [
            "-i p f",
            "-ni p f",
            "-n p f -i",
            "-f x f",
            "-nf x f",
            "--in-place p f",
            "--expression=p f",
            "-e",
            "-E",
            "-i.bak p",
            "-n -e p -i f",
            "--file=x f",
            "-- p f",
            "-en f",
        ] {
            assert!(!only_reads(&line.split(' ').collect::<Vec<_>>()), "{line}");
        }
    }
}
