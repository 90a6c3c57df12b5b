#![expect(clippy::disallowed_methods, reason = "what a command does is done here")]

use project::paths::to_uri;
use protocol::ProposalId;
use protocol::review::FileChange;
use store::SqliteStore;
use tempfile::TempDir;

use super::*;
use crate::session::overlay::Overlay;

const LONG: Duration = Duration::from_secs(60);

/// A watch over a project of one file, which has been looked at.
struct World {
    watch: Watch,
    buffers: Arc<Buffers>,
    client: ClientId,
    _own: mpsc::UnboundedReceiver<Own>,
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (project, private) = (folder.path().join("project"), folder.path().join("private"));
        std::fs::create_dir_all(&project).unwrap();
        std::fs::create_dir_all(&private).unwrap();
        std::fs::write(project.join("a.txt"), "one\n").unwrap();
        let (roots, buffers) = (Arc::new(Roots::new([&project]).unwrap()), Arc::<Buffers>::default());
        let reader = Arc::new(Reader::new(Arc::clone(&buffers), Arc::new(Overlay::default())));
        let seen = Seen {
            baseline: Arc::new(Baseline::new(&private)),
            search: Search::new(Arc::clone(&roots), Reader::clone(&reader)),
            reader,
            roots,
            rules: InForce::default(),
            store: Arc::new(SqliteStore::open(&folder.path().join("data")).unwrap()),
        };
        let (own, inbox) = mpsc::unbounded_channel();
        let mut world = Self { watch: Watch::new(seen, own), buffers, client: ClientId::next(), _own: inbox, folder };
        let look = world.watch.look_back("turn-1".into(), Vec::new(), Some(world.client));
        assert!(look.remember(LONG).unwrap(), "all files are remembered");
        world.follow();
        world
    }

    /// A command begins.
    fn follow(&mut self) {
        self.watch.follow(std::iter::empty(), true);
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("project/a.txt")
    }

    fn write(&self, text: &str) {
        std::fs::write(self.path(), text).unwrap();
    }

    /// The file as a look finds it after a command: what it was and is, as hashes; none if it is not found.
    fn found(&mut self) -> Option<(Option<String>, Option<String>)> {
        assert!(self.watch.since_command().is_some());
        let look = self.watch.look_back("turn-1".into(), vec!["call".into()], Some(self.client));
        let Found { mut files, failed, .. } = look.find(Some(LONG));
        assert!(!failed && files.len() <= 1);
        files.pop().map(|file| (file.before.map(|it| it.hash), file.after.map(|it| it.hash)))
    }

    fn ours(&self, target: &str) -> Application {
        Application {
            proposal_id: ProposalId::from("proposal"),
            path: self.path(),
            hunk_ids: Vec::new(),
            calls: Vec::new(),
            change: FileChange::Modify,
            moved_to: None,
            base_hash: Some(hash("one\n")),
            base_text: Some("one\n".into()),
            target_text: Some(target.into()),
            edits: Vec::new(),
        }
    }
}

fn of(text: &str) -> Option<String> {
    Some(hash(text).0)
}

#[test]
fn what_a_command_changes_is_found_with_what_it_was() {
    let mut world = World::new();
    world.write("two\n");
    assert_eq!(world.found(), Some((of("one\n"), of("two\n"))));
    world.follow();
    std::fs::remove_file(world.path()).unwrap();
    assert_eq!(world.found(), Some((of("two\n"), None)));
}

#[test]
fn what_we_write_meanwhile_is_not_the_commands() {
    let mut world = World::new();
    let ours = world.ours("ours\n");
    world.watch.changed_by_us(&ours);
    world.write("ours\n");
    world.watch.no_longer_coming(&ours, true);
    assert_eq!(world.found(), None);
}

#[test]
fn what_did_not_come_after_all_is_the_commands() {
    let mut world = World::new();
    let ours = world.ours("ours\n");
    world.watch.changed_by_us(&ours);
    world.watch.no_longer_coming(&ours, false);
    world.write("theirs\n");
    assert_eq!(world.found(), Some((of("one\n"), of("theirs\n"))));
}

#[test]
fn what_the_user_saves_meanwhile_is_theirs() {
    let mut world = World::new();
    let (path, uri) = (world.path(), to_uri(&world.path()));
    world.buffers.open(&uri, "text", 1, "saved\n").unwrap();
    world.buffers.save(&uri, None).unwrap();
    world.watch.note_saved(world.client, &world.buffers, &path);
    world.write("saved\n");
    assert_eq!(world.found(), None);
}

#[test]
fn while_nothing_is_followed_nothing_is_called_a_commands() {
    let mut world = World::new();
    world.watch.forget();
    assert!(world.watch.since_command().is_none() && !world.watch.follows_others());
    world.write("two\n");
    let look = world.watch.look_back("turn-1".into(), vec!["call".into()], None);
    assert!(look.find(Some(LONG)).files.is_empty());
}

#[test]
fn a_look_that_comes_too_late_says_so() {
    let mut world = World::new();
    world.write("two\n");
    let look = world.watch.look_back("turn-1".into(), vec!["call".into()], None);
    let found = look.find(None);
    assert!(found.failed && found.warning.is_some_and(|text| text.contains("takes too long")));
}
