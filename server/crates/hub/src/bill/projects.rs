//! The projects in a bill: the first folder of each session.

use project::paths;
use protocol::session::SessionInfo;

use super::Line;

/// The row of sessions that were deleted, whose folders are no longer known.
const DELETED: &str = "deleted conversations";

/// The path of a session's project; empty if it has none.
pub(super) fn of(info: &SessionInfo) -> String {
    let first = info.folders.first().map(String::as_str).unwrap_or_default();
    paths::from_uri(first).map_or_else(|_| first.to_owned(), |path| path.display().to_string())
}

/// Gives rows of projects a short name: that of the folder, with as many above it as tell it from the others.
pub(super) fn name(lines: &mut [Line]) {
    let all: Vec<_> = lines.iter().map(|line| line.name.clone()).collect();
    for line in lines {
        if line.name.is_empty() {
            (line.name, line.deleted) = (DELETED.to_owned(), true);
            continue;
        }
        let others = || all.iter().filter(|other| **other != line.name);
        let parts: Vec<_> = line.name.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
        let ends = (1..parts.len()).map(|count| parts[parts.len() - count..].join("/"));
        let is_alone = |end: &String| {
            !others().any(|other| format!("/{}", other.replace('\\', "/")).ends_with(&format!("/{end}")))
        };
        line.title = ends.into_iter().find(is_alone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_have_the_shortest_name_that_tells_them_apart() {
        let paths = ["/home/a/work/app", "/home/a/play/app", "/home/a/site", "", "/srv", "C:\\code\\tool"];
        let mut lines: Vec<_> = paths.iter().map(|path| Line { name: (*path).into(), ..Line::default() }).collect();
        name(&mut lines);
        let names: Vec<_> = lines.iter().map(|line| line.title.as_deref().unwrap_or(&line.name)).collect();
        assert_eq!(names, ["work/app", "play/app", "site", DELETED, "/srv", "tool"]);
        assert_eq!(lines[0].name, paths[0], "the whole path is still there");
        assert!(lines[3].deleted && !lines[0].deleted);
    }
}
