//! The work of a session as its log tells it, without a model's help: a fold of its events.

use std::collections::{BTreeMap, HashMap};

use ports::facts::{Facts, FailedCommand, FileFacts};
use project::paths;
use protocol::checkpoint::{Direction, RestoreOutcome};
use protocol::content::{PlanEntry, ToolKind};
use protocol::permission::PermissionRequest;
use protocol::review::HunkState;
use protocol::terminal::TerminalInfo;
use protocol::{Event, ProposalId, SessionId, ToolCallId};

/// Of what a failed command printed its end is kept, in characters.
const TAIL: usize = 2_000;

/// The fold.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// The files, by URI.
    files: HashMap<String, File>,
    /// The number of the last thing that was done to a file.
    last: u64,
    /// The changes of each proposal: its file, and the hunks in the file, waiting and rejected.
    changes: BTreeMap<ProposalId, (String, [usize; 3])>,
    /// The calls that run, with their kinds.
    reading: HashMap<ToolCallId, ToolKind>,
    /// The command that a call runs, and how it ended.
    commands: HashMap<ToolCallId, (String, Option<Option<i32>>)>,
    /// The sessions that calls started, whose calls have not ended.
    children: BTreeMap<ToolCallId, SessionId>,
    failed: Option<FailedCommand>,
}

/// A file.
#[derive(Debug, Default)]
struct File {
    /// The number of the last thing that was done to it.
    last: u64,
    read: bool,
    by_command: bool,
    taken_back: bool,
}

impl Gathered {
    /// Takes in the next event.
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::ToolCallStarted { tool_call_id, kind, .. } => {
                self.reading.insert(tool_call_id.clone(), *kind);
            }
            Event::ToolCallEnded { result, locations, .. } => {
                let kind = self.reading.remove(&result.tool_call_id);
                if kind == Some(ToolKind::Read) && !result.is_error {
                    locations.iter().for_each(|location| self.touch(&location.uri).read = true);
                }
                self.children.remove(&result.tool_call_id);
                if let Some((command, Some(exit_code))) = self.commands.remove(&result.tool_call_id) {
                    self.ran(command, exit_code, &result.text);
                }
            }
            Event::ProposalChanged { proposal } => {
                let count =
                    |states: &[HunkState]| proposal.hunks.iter().filter(|hunk| states.contains(&hunk.state)).count();
                let counts = [
                    count(&[HunkState::Accepted, HunkState::Unverified]),
                    count(&[HunkState::Pending, HunkState::Applying, HunkState::Conflicted]),
                    count(&[HunkState::Rejected]),
                ];
                let file = self.touch(&proposal.uri);
                file.by_command |= proposal.landed;
                file.taken_back |= count(&[HunkState::Undone]) > 0;
                self.changes.insert(proposal.proposal_id.clone(), (proposal.uri.clone(), counts));
            }
            Event::FilesChanged { files, .. } => {
                files.iter().for_each(|file| self.touch(&file.uri).by_command = true);
            }
            Event::CheckpointRestored { direction, files, .. } => {
                let is_done = |outcome: &_| matches!(outcome, RestoreOutcome::Done | RestoreOutcome::Unverified);
                for file in files.iter().filter(|file| is_done(&file.outcome)) {
                    self.touch(&file.uri).taken_back = *direction == Direction::Undo;
                }
            }
            Event::TerminalStarted { tool_call_id, command, .. } => {
                self.commands.insert(tool_call_id.clone(), (command.clone(), None));
            }
            Event::TerminalEnded { tool_call_id, exit_code, .. } => {
                if let Some((_, ended)) = self.commands.get_mut(tool_call_id) {
                    *ended = Some(*exit_code);
                }
            }
            // One that is late works for nobody any more.
            Event::ChildWorked { tool_call_id, child, .. } if self.reading.contains_key(tool_call_id) => {
                self.children.insert(tool_call_id.clone(), child.clone());
            }
            Event::TurnEnded { .. } => {
                self.reading.clear();
                self.commands.clear();
                self.children.clear();
            }
            _ => {}
        }
    }

    /// The facts as they are now. The plan, the questions and the commands in the background are kept elsewhere.
    pub(super) fn facts<'s>(
        &self,
        folders: &[String],
        plan: &[PlanEntry],
        questions: impl Iterator<Item = &'s PermissionRequest>,
        jobs: impl Iterator<Item = &'s TerminalInfo>,
    ) -> Facts {
        Facts {
            files: self.files(folders),
            plan: plan.to_vec(),
            questions: questions.map(|question| format!("{} {}", question.title, question.detail)).collect(),
            jobs: jobs.map(|job| format!("`{}` (id `{}`)", job.title, job.terminal_id)).collect(),
            children: self.children.values().map(|child| format!("conversation `{child}`")).collect(),
            failed: self.failed.clone(),
        }
    }

    fn files(&self, folders: &[String]) -> Vec<FileFacts> {
        let folders: Vec<_> = folders.iter().filter_map(|folder| paths::from_uri(folder).ok()).collect();
        let mut counts: HashMap<&str, [usize; 3]> = HashMap::new();
        for (uri, more) in self.changes.values() {
            let known = counts.entry(uri).or_default();
            known.iter_mut().zip(more).for_each(|(known, more)| *known += more);
        }
        let mut files: Vec<_> = self.files.iter().collect();
        files.sort_by_key(|(_, file)| file.last);
        let facts = |(uri, file): (&String, &File)| {
            let [accepted, pending, rejected] = counts.get(uri.as_str()).copied().unwrap_or_default();
            let path = paths::from_uri(uri).map_or_else(
                |_| uri.clone(),
                |path| {
                    let inside = folders.iter().find_map(|folder| path.strip_prefix(folder).ok());
                    inside.unwrap_or(&path).display().to_string()
                },
            );
            let File { read, by_command, taken_back, .. } = *file;
            FileFacts { path, read, accepted, pending, rejected, by_command, taken_back }
        };
        files.into_iter().map(facts).collect()
    }

    fn touch(&mut self, uri: &str) -> &mut File {
        self.last += 1;
        let file = self.files.entry(uri.to_owned()).or_default();
        file.last = self.last;
        file
    }

    /// A command came to its end.
    fn ran(&mut self, command: String, exit_code: Option<i32>, printed: &str) {
        if exit_code == Some(0) {
            self.failed.take_if(|failed| failed.command == command);
        } else {
            let from = printed.char_indices().rev().nth(TAIL - 1).map_or(0, |(at, _)| at);
            let end = printed.get(from..).unwrap_or_default();
            // Half of a secret would not be known for one, so it begins with a whole line.
            let whole = if from == 0 { Some(end) } else { end.split_once('\n').map(|(_, rest)| rest) };
            let tail = whole.unwrap_or_default().to_owned();
            self.failed = Some(FailedCommand { command, exit_code, tail });
        }
    }
}

#[cfg(test)]
mod tests;
