//! The names of projects in Google Cloud.

use net::Url;

/// The variables that the project is taken from, the first that is set. The second is that of Anthropic's own programs
/// (npm `@anthropic-ai/vertex-sdk` 1.1).
const PROJECT: [&str; 2] = ["GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID"];
/// The longest name of a project. Google's own have 30 letters, and those of a domain begin with its name.
const LONGEST: usize = 120;

/// The project that an environment names.
pub(crate) fn project_of(environment: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut named = PROJECT.iter().filter_map(|name| environment(name));
    named.find(|project| is_project(project.trim())).map(|project| project.trim().to_owned())
}

/// True if a text may be the id or the number of a project: it becomes a part of addresses.
pub fn is_project(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':');
    (1..=LONGEST).contains(&text.len()) && text.chars().all(is_plain) && text.contains(char::is_alphanumeric)
}

/// The project at Google that an address names itself, as those of gateways do.
pub(crate) fn project_in(base_url: &str) -> Option<String> {
    let url = Url::parse(base_url.trim()).ok()?;
    let mut folders = url.path_segments()?.skip_while(|folder| *folder != "projects").skip(1);
    folders.next().filter(|project| !project.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_a_name_or_a_number_and_no_part_of_a_path() {
        for project in ["my-project-1", "123456789", "example.com:my-project"] {
            assert!(is_project(project), "{project}");
        }
        for other in ["", "..", ":", "a/b", "a?b", "a%2f", "größe", &"a".repeat(121)] {
            assert!(!is_project(other), "{other}");
        }
        let environment = |pairs: &'static [(&str, &str)]| {
            move |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let both = environment(&[("GOOGLE_CLOUD_PROJECT", " p "), ("ANTHROPIC_VERTEX_PROJECT_ID", "q")]);
        assert_eq!(project_of(&both).as_deref(), Some("p"));
        let wrong = environment(&[("GOOGLE_CLOUD_PROJECT", "../p"), ("ANTHROPIC_VERTEX_PROJECT_ID", "q")]);
        assert_eq!(project_of(&wrong).as_deref(), Some("q"));
    }

    #[test]
    fn an_address_may_name_a_project_itself() {
        let named = "https://gate.example/v1/projects/p-1/locations/eu/publishers/google";
        assert_eq!(project_in(named).as_deref(), Some("p-1"));
        for other in ["https://gate.example/v1", "https://gate.example/projects/", "https://projects", "nothing"] {
            assert_eq!(project_in(other), None, "{other}");
        }
    }
}
