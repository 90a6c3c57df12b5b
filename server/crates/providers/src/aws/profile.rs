//! The files in which the programs of AWS keep keys and settings by profile
//! (docs.aws.amazon.com/sdkref/latest/guide/file-format.html).

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::own_file::text;

/// The settings of a section. They may be keys, so they are shown nowhere.
pub(super) type Section = BTreeMap<String, String>;

/// The two files, and the profile that is read in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) profile: String,
    pub(super) credentials: Option<PathBuf>,
    pub(super) config: Option<PathBuf>,
    /// The folder of the usual files, which are the user's own.
    pub(super) usual: Option<PathBuf>,
}

/// A profile, with what each file says of it.
#[derive(Default)]
pub(super) struct Profile {
    pub(super) credentials: Section,
    pub(super) config: Section,
    /// True if one of the files has it, even without a setting.
    pub(super) is_there: bool,
    /// The find in each file, for words.
    pub(super) looked: Vec<String>,
    /// A file that a variable names and that is not the user's own. It is not read.
    pub(super) foreign: Option<PathBuf>,
    /// The lines that were skipped, and files that cannot be read: file, line, and what is wrong.
    pub(super) warnings: Vec<String>,
}

/// A line that is no section, no setting, no comment and no continuation.
#[derive(Debug, PartialEq, Eq)]
struct Damaged {
    /// Counted from 1.
    line: usize,
    problem: &'static str,
}

impl Files {
    /// The usual files in the home folder, unless AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name others, and the
    /// profile of AWS_PROFILE, else `default`.
    pub(super) fn of_environment(lookup: impl Fn(&str) -> Option<String>, home: Option<&Path>) -> Self {
        let file = |variable: &str, usual: &str| match lookup(variable) {
            Some(named) => match (named.strip_prefix("~/"), home) {
                (Some(rest), Some(home)) => Some(home.join(rest)),
                _ => Some(PathBuf::from(named)),
            },
            None => home.map(|home| home.join(".aws").join(usual)),
        };
        Self {
            usual: home.map(|home| home.join(".aws")),
            profile: lookup("AWS_PROFILE").unwrap_or_else(|| "default".to_owned()),
            credentials: file("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
            config: file("AWS_CONFIG_FILE", "config"),
        }
    }

    /// Reads the profile, in files that lie in the usual folder or are the user's own by this test. What cannot be read
    /// is left out, and told in its warnings.
    pub(super) fn read(&self, is_users_own: &dyn Fn(&Path) -> bool) -> Profile {
        let mut profile = Profile::default();
        let (shown, name) = (crate::keys::left_out(&self.profile).into_owned(), self.profile.as_str());
        for (path, is_config) in [(&self.credentials, false), (&self.config, true)] {
            let Some(path) = path else { continue };
            let at = path.display();
            // It would be another file in each folder that the server is started in: that of a workspace, which could
            // name a program.
            if path.is_relative() {
                profile.warnings.push(format!("{at} is not read, since it is not named from the root on"));
                continue;
            }
            // A project could name a program in it all the same.
            if path.parent() != self.usual.as_deref() && !is_users_own(path) {
                profile.warnings.push(format!(
                    "{at} is not read, since a project or a command may have written it; keep it in a folder of your own"
                ));
                profile.foreign = Some(path.clone());
                continue;
            }
            let text = match text(path) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    profile.looked.push(format!("{at}: there is no such file"));
                    continue;
                }
                Err(error) => {
                    profile.warnings.push(format!("{at} cannot be read: {error}"));
                    continue;
                }
            };
            let (mut sections, damaged) = parse(&text);
            let damaged = damaged.iter().map(|Damaged { line, problem }| format!("{at}, line {line}: {problem}"));
            profile.warnings.extend(damaged);
            let prefixed = is_config.then(|| sections.remove(&format!("profile {name}"))).flatten();
            // In the config file only `default` may stand alone, and counts less than `profile default`.
            let may_be_plain = !is_config || name == "default";
            let plain = sections.remove(name);
            let is_misnamed = !may_be_plain && plain.is_some() && prefixed.is_none();
            let section = prefixed.or(plain.filter(|_| may_be_plain));
            profile.looked.push(match &section {
                Some(_) => format!("{at}: the profile `{shown}` is there"),
                None if is_misnamed => {
                    format!("{at}: [{shown}] is no profile in this file; it is written [profile {shown}]")
                }
                None => format!("{at}: there is no profile `{shown}`"),
            });
            profile.is_there |= section.is_some();
            let of_file = if is_config { &mut profile.config } else { &mut profile.credentials };
            *of_file = section.unwrap_or_default();
        }
        profile
    }
}

impl Profile {
    /// A setting, which counts in the file of credentials before that of the configuration.
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        setting(&self.credentials, name).or_else(|| setting(&self.config, name))
    }
}

/// A setting that has a value.
pub(super) fn setting<'a>(section: &'a Section, name: &str) -> Option<&'a str> {
    section.get(name).map(String::as_str).filter(|value| !value.is_empty())
}

/// Reads sections of settings. A section's name is that between its brackets, with one blank between words and without
/// quotation marks; the names of settings are in small letters. Of two values of one setting, the later one counts.
fn parse(text: &str) -> (BTreeMap<String, Section>, Vec<Damaged>) {
    const NO_SECTION: &str = "it is no section such as [default]; it is skipped, with the settings below it";
    const NO_SETTING: &str = "it is no setting such as `region = eu-central-1`; it is skipped";
    const NO_TEXT: &str = "it is not UTF-8; it is skipped";
    const OUTSIDE: &str = "the setting is in no section; it is skipped";
    /// Where a setting belongs.
    enum Within {
        Nothing,
        Damaged,
        Section(String),
    }
    let mut sections: BTreeMap<String, Section> = BTreeMap::new();
    let (mut damaged, mut within) = (Vec::new(), Within::Nothing);
    // The setting above, and its indentation: a line that is further in goes on with its value.
    let mut above: Option<(String, usize)> = None;
    for (at, whole) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = whole.trim();
        let indented = whole.len() - whole.trim_start().len();
        let mut damage = |problem| damaged.push(Damaged { line: at + 1, problem });
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let (Within::Section(section), Some((name, by))) = (&within, &above)
            && indented > *by
        {
            if let Some(value) = sections.get_mut(section).and_then(|section| section.get_mut(name)) {
                value.push('\n');
                value.push_str(line);
            }
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            above = None;
            within = match rest.split_once(']').map(|(name, _)| section_name(name)) {
                Some(name) if !name.is_empty() => {
                    sections.entry(name.clone()).or_default();
                    Within::Section(name)
                }
                _ => {
                    damage(NO_SECTION);
                    Within::Damaged
                }
            };
            continue;
        }
        let pair = line.split_once('=').map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim()));
        match (&within, pair.filter(|(name, _)| !name.is_empty())) {
            (_, None) => damage(NO_SETTING),
            (_, Some(_)) if line.contains(char::REPLACEMENT_CHARACTER) => damage(NO_TEXT),
            (Within::Nothing, _) => damage(OUTSIDE),
            // That its section cannot be read has been said.
            (Within::Damaged, _) => {}
            (Within::Section(section), Some((name, value))) => {
                sections.entry(section.clone()).or_default().insert(name.clone(), value.to_owned());
                above = Some((name, indented));
            }
        }
    }
    (sections, damaged)
}

fn section_name(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let text = words.join(" ");
    match text.split_once(' ') {
        Some((kind, name)) => format!("{kind} {}", name.trim_matches(['"', '\''])),
        None => text.trim_matches(['"', '\'']).to_owned(),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write files")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn files(folder: &Path, profile: &str) -> Files {
        let folder = folder.display();
        Files::of_environment(
            |name| match name {
                "AWS_SHARED_CREDENTIALS_FILE" => Some(format!("{folder}/credentials")),
                "AWS_CONFIG_FILE" => Some(format!("{folder}/config")),
                "AWS_PROFILE" => Some(profile.to_owned()),
                _ => None,
            },
            None,
        )
    }

    fn read(credentials: &str, config: &str, profile: &str) -> Profile {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("credentials"), credentials).unwrap();
        std::fs::write(folder.path().join("config"), config).unwrap();
        files(folder.path(), profile).read(&|_| true)
    }

    #[test]
    fn the_files_are_those_of_the_home_folder_unless_others_are_named() {
        let home = Path::new("/home/ada");
        let usual = Files::of_environment(|_| None, Some(home));
        assert_eq!(usual.profile, "default");
        assert_eq!(usual.credentials.as_deref(), Some(Path::new("/home/ada/.aws/credentials")));
        assert_eq!(usual.config.as_deref(), Some(Path::new("/home/ada/.aws/config")));
        let named = Files::of_environment(|name| (name == "AWS_CONFIG_FILE").then(|| "~/c".into()), Some(home));
        assert_eq!(named.config.as_deref(), Some(Path::new("/home/ada/c")));
        assert_eq!(Files::of_environment(|_| None, None).config, None);
    }

    #[test]
    fn a_profile_has_its_prefix_in_one_file_and_none_in_the_other() {
        let credentials = "[work]\naws_access_key_id = of work\n[profile work]\naws_access_key_id = of nobody\n";
        let config = "[work]\nregion = wrong\n[ profile   \"work\" ] ; mine\r\nRegion=eu-west-1\r\n";
        let profile = read(credentials, config, "work");
        assert_eq!(profile.setting("aws_access_key_id"), Some("of work"));
        assert_eq!(profile.setting("region"), Some("eu-west-1"));
        assert!(profile.is_there && profile.warnings.is_empty(), "{:?}", profile.warnings);
        let misnamed = read("", "[work]\nregion = x\n", "work");
        assert!(!misnamed.is_there && misnamed.looked[1].contains("[profile work]"), "{:?}", misnamed.looked);
        for config in ["[default]\nregion = b\n", "[profile default]\nregion = b\n[default]\nregion = a\n"] {
            assert_eq!(read("", config, "default").setting("region"), Some("b"), "{config}");
        }
        assert_eq!(read("[default]\nregion = a\n", "[default]\nregion = b\n", "default").setting("region"), Some("a"));
    }

    #[test]
    fn comments_blanks_line_ends_and_continued_lines_are_read() {
        let text = "\u{feff}# a comment\r\n; another\r\n\r\n  [default]  # here\r\n  region   =  eu-west-1  \r\n  \
                    aws_secret_access_key=a=b#c;d\r\n  # between\r\n  s3 =\r\n    max = 10\r\n  empty =\r\n\
                    credential_process = one\r\n\ttwo\r\n";
        let (sections, damaged) = parse(text);
        assert_eq!(damaged, []);
        let default = &sections["default"];
        assert_eq!(default["region"], "eu-west-1");
        assert_eq!(default["aws_secret_access_key"], "a=b#c;d");
        assert_eq!(default["credential_process"], "one\ntwo");
        assert_eq!((setting(default, "empty"), default.contains_key("max")), (None, false));
    }

    #[test]
    fn damaged_lines_are_skipped_with_a_warning_that_names_file_and_line_and_shows_nothing() {
        let mut bytes = b"hunter2 = 1\n[default]\nhunter2\n= hunter2\nregion = x\nkey = hunter2\xff\n[hunter2\n\
                          region = hunter2\n[]\n[other]\nregion = y\n"
            .to_vec();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config"), &bytes).unwrap();
        let profile = files(folder.path(), "default").read(&|_| true);
        assert_eq!(profile.setting("region"), Some("x"));
        let lines: Vec<_> = [1, 3, 4, 6, 7, 9].map(|line| format!("config, line {line}: ")).to_vec();
        assert_eq!(profile.warnings.len(), lines.len(), "{:?}", profile.warnings);
        for (warning, line) in profile.warnings.iter().zip(lines) {
            assert!(warning.contains(&line) && !warning.contains("hunter2"), "{warning}");
        }
        // A file that is no text at all is no reason to fail.
        bytes.extend([0, 159, 146, 150]);
        std::fs::write(folder.path().join("config"), &bytes).unwrap();
        assert_eq!(files(folder.path(), "default").read(&|_| true).setting("region"), Some("x"));
    }

    #[test]
    fn what_is_no_file_is_named_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("config")).unwrap();
        let profile = files(folder.path(), "default").read(&|_| true);
        assert!(profile.looked[0].contains("credentials: there is no such file"), "{:?}", profile.looked);
        assert!(profile.warnings[0].contains("config cannot be read"), "{:?}", profile.warnings);
    }

    #[test]
    fn a_file_that_a_variable_names_is_read_only_if_it_is_the_users_own() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        for file in ["config", ".aws/config", ".aws/work"] {
            std::fs::write(home.path().join(file), "[default]\nregion = x\n").unwrap();
        }
        let usual = [("~/.aws/config", true), ("~/.aws/work", true)];
        for (named, is_read) in [("~/config", false), ("~/.aws/../config", false)].into_iter().chain(usual) {
            let lookup = |name: &str| (name == "AWS_CONFIG_FILE").then(|| named.to_owned());
            let profile = Files::of_environment(lookup, Some(home.path())).read(&|_| false);
            assert_eq!((profile.setting("region").is_some(), profile.foreign.is_none()), (is_read, is_read), "{named}");
        }
    }

    proptest! {
        #[test]
        fn settings_that_are_written_are_read_whatever_surrounds_them(
            value in "[!-~]([ -~]{0,30}[!-~])?",
            before in "\\PC{0,40}",
            blanks in "[ \t]{0,3}",
        ) {
            let (sections, _) = parse(&format!("{before}\n[default]\nkey{blanks}={blanks}{value}{blanks}\r\n"));
            prop_assert_eq!(&sections["default"]["key"], &value);
        }

        #[test]
        fn no_text_is_too_damaged(text in "([\\[\\]=#;a \t\r\n]|\\PC){0,200}") {
            let (_, damaged) = parse(&text);
            let lines = text.lines().count();
            prop_assert!(damaged.iter().all(|damaged| (1..=lines).contains(&damaged.line)));
        }
    }
}
