//! The projects in a bill: the first folder of each session.

use std::collections::HashMap;

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
    // The number of paths with each end. A path is once among the rows.
    let mut paths_with = HashMap::<String, usize>::new();
    for line in lines.iter() {
        ends(&line.name).for_each(|end| *paths_with.entry(end).or_default() += 1);
    }
    for line in lines {
        if line.name.is_empty() {
            (line.name, line.deleted) = (DELETED.to_owned(), true);
            continue;
        }
        let short = ends(&line.name).find(|end| paths_with.get(end) == Some(&1));
        // One that is as long as the path tells no more than the path.
        line.title = short.filter(|end| end.len() + 1 < line.name.len());
    }
}

/// The ends of a path, the shortest first.
fn ends(path: &str) -> impl Iterator<Item = String> {
    let parts: Vec<_> = path.split(['/', '\\']).filter(|part| !part.is_empty()).map(str::to_owned).collect();
    (1..=parts.len()).map(move |count| parts[parts.len() - count..].join("/"))
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
