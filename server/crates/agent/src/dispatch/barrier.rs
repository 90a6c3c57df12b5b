//! The command barrier: a command sees the disk, so what is not there yet is settled before one runs.

use ports::session::Unsettled;
use ports::tool::Description;
use protocol::permission::{PermissionAbout, PermissionOptionKind};

use super::question::{Question, Reply};
use super::{Gate, Outcome};
use crate::history::OpenCall;
use crate::wait::with_grace;

const SETTLE: &str = "settle_and_run";
const WITHOUT: &str = "run_without";

impl Gate {
    /// Brings to the disk what may be brought there, and says in `remarks` what the command does not see. A command
    /// that only reads is not worth a question: it runs on the disk as it is.
    pub(super) async fn settle(
        &self,
        call: &OpenCall,
        description: &Description,
        only_reads: bool,
        remarks: &mut Vec<String>,
    ) -> Result<(), Outcome> {
        let mut unsettled = self.unsettled().await?;
        if unsettled.pending_hunks > 0 {
            let accepts = !only_reads
                && (!self.mode.asks() || self.choose(hunks_question(call, &unsettled), description, remarks).await?);
            if accepts {
                let failures =
                    with_grace(&self.cancel, self.session.accept_all()).await.ok_or_else(Outcome::cancelled)?;
                remarks.extend(failures.into_iter().map(|failure| format!("an edit could not be applied: {failure}")));
            }
            // The user may have decided otherwise meanwhile.
            unsettled = self.unsettled().await?;
            if unsettled.pending_hunks > 0 {
                let files = unsettled.pending_files.join(", ");
                remarks.push(format!("the command saw these files without your pending edits: {files}"));
            }
        }
        let mut save_own = false;
        if !unsettled.own.is_empty() {
            // Nothing is asked in mode `bypass`; what the user has not saved stays theirs to save.
            let asks = !only_reads && self.mode.asks();
            save_own = asks && self.choose(own_question(call, &unsettled), description, remarks).await?;
            if !save_own {
                let files = unsettled.own.join(", ");
                remarks.push(format!("the command saw these files without the user's unsaved text: {files}"));
            }
        }
        if save_own || !unsettled.ours.is_empty() {
            let failures =
                with_grace(&self.cancel, self.session.save(save_own)).await.ok_or_else(Outcome::cancelled)?;
            remarks.extend(failures.into_iter().map(|failure| format!("a file could not be saved: {failure}")));
        }
        Ok(())
    }

    async fn unsettled(&self) -> Result<Unsettled, Outcome> {
        with_grace(&self.cancel, self.session.unsettled()).await.ok_or_else(Outcome::cancelled)
    }

    /// Asks whether to settle first; an error if the command is not to run.
    async fn choose(
        &self,
        question: Question,
        description: &Description,
        remarks: &mut Vec<String>,
    ) -> Result<bool, Outcome> {
        match self.ask(question).await {
            Reply::Chosen(option, said) => {
                remarks.extend(said.map(|said| format!("the user said: {said}")));
                Ok(option == SETTLE)
            }
            Reply::Moot => Ok(false),
            Reply::Rejected(text) => Err(Outcome::refused(&description.title, text)),
            Reply::Cancelled => Err(Outcome::cancelled()),
        }
    }
}

fn hunks_question(call: &OpenCall, unsettled: &Unsettled) -> Question {
    let count = unsettled.pending_hunks;
    let hunks = if count == 1 { "1 pending hunk".to_owned() } else { format!("{count} pending hunks") };
    Question {
        call: call.id.clone(),
        about: PermissionAbout::PendingEdits,
        title: "Accept the pending edits before the command runs?".to_owned(),
        detail: format!("{hunks} in {}", unsettled.pending_files.join(", ")),
        reason: "a command sees the files on disk, without edits that wait for review".to_owned(),
        options: vec![
            (SETTLE, format!("Accept {hunks} and run"), PermissionOptionKind::AllowOnce),
            (WITHOUT, "Run without them".to_owned(), PermissionOptionKind::AllowOnce),
        ],
    }
}

fn own_question(call: &OpenCall, unsettled: &Unsettled) -> Question {
    Question {
        call: call.id.clone(),
        about: PermissionAbout::UnsavedText,
        title: "Save your own changes before the command runs?".to_owned(),
        detail: unsettled.own.join(", "),
        reason: "a command sees the files on disk, without unsaved text".to_owned(),
        options: vec![
            (SETTLE, "Save them and run".to_owned(), PermissionOptionKind::AllowOnce),
            (WITHOUT, "Run without saving".to_owned(), PermissionOptionKind::AllowOnce),
        ],
    }
}
