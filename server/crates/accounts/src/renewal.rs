//! The renewals that run in this process: one at a time for each sign-in, in a task of its own. A turn that is
//! cancelled does not cut it off between the vendor's answer and the file, and the end of the process waits for it.

use std::future::Future;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use providers::{KeyProblem, Secret};
use tokio::sync::watch;

use crate::credential::Credential;
use crate::oauth::OAuthError;
use crate::store::StoreError;
use crate::vendor::Vendor;

/// The time for which a failure counts again, so that not every request waits for a vendor that does not answer.
const MEMORY: Duration = Duration::from_secs(10);

/// The next access token, or the problem and what to do.
type Outcome = Result<Secret, KeyProblem>;

/// The renewals that run, and those that failed a moment ago. There is one list for the process, as a new configuration
/// brings new `Accounts`.
static RENEWALS: Mutex<Vec<Renewal>> = Mutex::new(Vec::new());

/// A sign-in that is to be renewed, with all that the outcome depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The file that it is in.
    pub(crate) file: PathBuf,
    /// The way to sign in at its provider.
    pub(crate) vendor: Option<Vendor>,
    /// The sign-in.
    pub(crate) known: Credential,
}

struct Renewal {
    asked: Asked,
    /// True if the provider has refused the access token.
    is_refused: bool,
    outcome: watch::Receiver<Option<(Instant, Outcome)>>,
}

impl Renewal {
    /// True if it runs.
    fn runs(&self) -> bool {
        // A task that was cut off has no sender any more.
        self.outcome.borrow().is_none() && self.outcome.has_changed().is_ok()
    }

    /// The problem, if it failed a moment ago.
    fn problem(&self) -> Option<KeyProblem> {
        match &*self.outcome.borrow() {
            Some((at, Err(problem))) if at.elapsed() < MEMORY => Some(problem.clone()),
            _ => None,
        }
    }
}

/// Renews a sign-in by this work. If that is being done, its outcome is waited for, and a failure of the last seconds
/// counts again. `is_refused` says that the provider has refused the access token.
///
/// # Errors
/// The work failed, or the process ends.
pub(crate) async fn renew<W>(asked: Asked, is_refused: bool, work: impl FnOnce() -> W) -> Outcome
where
    W: Future<Output = Outcome> + Send + 'static,
{
    let mut outcome = begin(asked, is_refused, work);
    let ending = || Err(KeyProblem::Passing("the sign-in could not be renewed: Azimuth is ending".to_owned()));
    let done = outcome.wait_for(Option::is_some).await;
    done.ok().and_then(|done| done.as_ref().map(|(_, outcome)| outcome.clone())).unwrap_or_else(ending)
}

/// The problem of a sign-in whose access token the provider has refused, and that could not be renewed a moment ago.
pub(crate) fn refused_lately(asked: &Asked) -> Option<KeyProblem> {
    renewals().iter().find(|it| it.is_refused && it.asked == *asked)?.problem()
}

/// Waits until no sign-in is being renewed any more, for at most this long. A process does so before it ends: a vendor
/// may have replaced a refresh token that is not in the file yet.
pub async fn finish_renewals(patience: Duration) {
    let running: Vec<_> = renewals().iter().map(|it| it.outcome.clone()).collect();
    let all = async {
        for mut outcome in running {
            // One that was cut off has come to its end too.
            let _ = outcome.wait_for(Option::is_some).await;
        }
    };
    let _ = tokio::time::timeout(patience, all).await;
}

fn begin<W>(asked: Asked, is_refused: bool, work: impl FnOnce() -> W) -> watch::Receiver<Option<(Instant, Outcome)>>
where
    W: Future<Output = Outcome> + Send + 'static,
{
    let mut renewals = renewals();
    renewals.retain(|it| it.runs() || it.problem().is_some());
    if let Some(same) = renewals.iter_mut().find(|it| it.asked == asked) {
        same.is_refused |= is_refused;
        return same.outcome.clone();
    }
    let (done, outcome) = watch::channel(None);
    renewals.push(Renewal { asked, is_refused, outcome: outcome.clone() });
    let work = work();
    tokio::spawn(async move {
        let outcome = work.await;
        done.send_replace(Some((Instant::now(), outcome)));
    });
    outcome
}

/// The failure of a renewal, for whoever wants the key.
pub(crate) fn problem(error: OAuthError) -> KeyProblem {
    let text = error.to_string();
    match error {
        OAuthError::Unreachable { .. } | OAuthError::Answer(..) | OAuthError::NoRandom => KeyProblem::Passing(text),
        OAuthError::Store(StoreError::Busy(_)) => KeyProblem::Passing(text),
        _ => KeyProblem::Refused(text),
    }
}

fn renewals() -> MutexGuard<'static, Vec<Renewal>> {
    RENEWALS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::credential::Proof;

    fn asked(file: &str) -> Asked {
        let proof = Proof::Key(Secret::new("k"));
        let known = Credential { provider: "p".into(), label: "l".into(), origin: "o".into(), proof };
        Asked { file: file.into(), vendor: None, known }
    }

    #[tokio::test]
    async fn whoever_asks_while_it_runs_and_shortly_after_it_failed_gets_the_same_outcome() {
        let runs = Arc::new(AtomicUsize::new(0));
        let fail = || {
            let runs = Arc::clone(&runs);
            async move {
                tokio::task::yield_now().await;
                runs.fetch_add(1, Ordering::Relaxed);
                Err(KeyProblem::Passing("away".to_owned()))
            }
        };
        let (first, second) = tokio::join!(renew(asked("same"), false, fail), renew(asked("same"), false, fail));
        let away = KeyProblem::Passing("away".into());
        assert_eq!((first, second), (Err(away.clone()), Err(away.clone())));
        assert_eq!(refused_lately(&asked("same")), None);
        assert_eq!(renew(asked("same"), true, fail).await, Err(away.clone()));
        assert_eq!((runs.load(Ordering::Relaxed), refused_lately(&asked("same"))), (1, Some(away)));
        // Another sign-in is another matter, and so is one that could be renewed.
        let good = || async { Ok(Secret::new("next")) };
        for _ in 0..2 {
            assert_eq!(renew(asked("other"), true, good).await, Ok(Secret::new("next")));
        }
        assert_eq!(refused_lately(&asked("other")), None);
    }

    #[tokio::test]
    async fn a_renewal_outlives_whoever_asked_and_the_end_waits_for_it() {
        let (go, wait) = tokio::sync::oneshot::channel::<()>();
        let kept = Arc::new(AtomicUsize::new(0));
        let of_task = Arc::clone(&kept);
        let work = || async move {
            let _ = wait.await;
            of_task.store(1, Ordering::Relaxed);
            Ok(Secret::new("next"))
        };
        let asking = renew(asked("slow"), false, work);
        assert!(tokio::time::timeout(Duration::from_millis(10), asking).await.is_err());
        finish_renewals(Duration::from_millis(10)).await;
        assert_eq!(kept.load(Ordering::Relaxed), 0);
        go.send(()).unwrap();
        finish_renewals(Duration::from_secs(60)).await;
        assert_eq!(kept.load(Ordering::Relaxed), 1);
    }
}
