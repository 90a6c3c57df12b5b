//! Accepted hunks on their way into their files, in the order in which they were accepted.

use std::path::Path;

use workspace::review::Application;

/// What is on its way. Of two that have a file in common the second begins when the first has ended: a file that is moved
/// goes from its place once it is made at the new one, and another is made there once it has gone.
#[derive(Default)]
pub(super) struct Applying(Vec<OnItsWay>);

struct OnItsWay {
    application: Application,
    has_begun: bool,
}

impl Applying {
    /// Puts another behind those that are on their way.
    pub(super) fn push(&mut self, application: Application) {
        self.0.push(OnItsWay { application, has_begun: false });
    }

    /// Those that can begin now, which they have by that.
    pub(super) fn begin(&mut self) -> Vec<Application> {
        let mut begun = Vec::new();
        for at in 0..self.0.len() {
            let (before, rest) = self.0.split_at_mut(at);
            let Some(next) = rest.first_mut().filter(|next| !next.has_begun) else { continue };
            if !before.iter().any(|earlier| share_file(&earlier.application, &next.application)) {
                next.has_begun = true;
                begun.push(next.application.clone());
            }
        }
        begun
    }

    /// One has ended.
    pub(super) fn end(&mut self, ended: &Application) {
        if let Some(at) = self.0.iter().position(|it| it.has_begun && it.application == *ended) {
            self.0.remove(at);
        }
    }

    /// Takes out those that one which failed makes void: they were made for the text that it would have left, or move a
    /// file to where it would have made one.
    pub(super) fn take_void(&mut self, failed: &Application) -> Vec<Application> {
        let is_void = |it: &mut OnItsWay| {
            let Application { path, moved_to, .. } = &it.application;
            !it.has_begun && (*path == failed.path || moved_to.as_ref() == Some(&failed.path))
        };
        self.0.extract_if(.., is_void).map(|it| it.application).collect()
    }

    /// Whether something is on its way into this file.
    pub(super) fn concerns(&self, path: &Path) -> bool {
        self.0.iter().any(|it| files(&it.application).any(|file| file == path))
    }

    /// All that is on its way.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Application> {
        self.0.iter().map(|it| &it.application)
    }
}

/// The files that must be as an application left them, or as it found them.
fn files(application: &Application) -> impl Iterator<Item = &Path> {
    std::iter::once(application.path.as_path()).chain(application.moved_to.as_deref())
}

fn share_file(a: &Application, b: &Application) -> bool {
    files(a).any(|file| files(b).any(|other| other == file))
}
