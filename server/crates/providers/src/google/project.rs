//! The names of projects in Google Cloud.

use net::Url;

/// The variables that the project is taken from, the first that is set. The second is that of Anthropic's own programs
/// (npm `@anthropic-ai/vertex-sdk` 1.1).
const PROJECT: [&str; 2] = ["GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID"];
/// The longest name of a project. Google's own have 30 letters, and those of a domain begin with its name.
const LONGEST: usize = 120;

/// The project that an environment names: that of the first variable that is set.
///
/// # Errors
/// Its value is no project; gives its name.
pub(crate) fn project_of(environment: &dyn Fn(&str) -> Option<String>) -> Result<Option<String>, &'static str> {
    let named = PROJECT.iter().find_map(|name| {
        let project = environment(name)?.trim().to_owned();
        (!project.is_empty()).then_some((*name, project))
    });
    match named {
        Some((name, project)) if !is_project(&project) => Err(name),
        named => Ok(named.map(|(_, project)| project)),
    }
}

/// True if a text may be the id or the number of a project: it becomes a part of addresses.
pub fn is_project(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':');
    (1..=LONGEST).contains(&text.len()) && text.chars().all(is_plain) && text.contains(char::is_alphanumeric)
}

/// The project at Google, and the location, that an address names itself, as those of gateways do
/// (`…/projects/P/locations/L/…`).
pub(crate) fn place_in(base_url: &str) -> Option<(String, String)> {
    let url = Url::parse(base_url.trim()).ok()?;
    let folders: Vec<_> = url.path_segments()?.collect();
    folders.windows(4).find_map(|window| match window {
        ["projects", project, "locations", location] if is_project(project) && is_location(location) => {
            Some(((*project).to_owned(), location.to_ascii_lowercase()))
        }
        _ => None,
    })
}

fn is_location(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
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
        assert_eq!(project_of(&both), Ok(Some("p".to_owned())));
        let blank = environment(&[("GOOGLE_CLOUD_PROJECT", " "), ("ANTHROPIC_VERTEX_PROJECT_ID", "q")]);
        assert_eq!(project_of(&blank), Ok(Some("q".to_owned())));
        let wrong = environment(&[("GOOGLE_CLOUD_PROJECT", "../p"), ("ANTHROPIC_VERTEX_PROJECT_ID", "q")]);
        assert_eq!(project_of(&wrong), Err("GOOGLE_CLOUD_PROJECT"), "no other project is billed");
        assert_eq!(project_of(&environment(&[])), Ok(None));
    }

    #[test]
    fn an_address_may_name_a_project_itself() {
        let named = "https://gate.example/v1/projects/p-1/locations/eu/publishers/google";
        assert_eq!(place_in(named), Some(("p-1".to_owned(), "eu".to_owned())));
        for other in [
            "https://gate.example/v1",
            "https://gate.example/projects/",
            "https://gate.example/projects/of-the-team/v1",
            "https://gate.example/projects/%20/locations/eu",
            "https://gate.example/projects/p-1/locations/",
            "https://projects",
            "nothing",
        ] {
            assert_eq!(place_in(other), None, "{other}");
        }
    }
}
