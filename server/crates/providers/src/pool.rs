//! Several keys and accounts of the user's at one provider, and with which of them a request goes out.
//!
//! A session keeps the one that it began with, so that the vendor's cache of its prompt stays of use. One that has
//! reached a limit or was refused rests, for every session, and for every process of the user's that keeps its texts
//! in the same place. See decision 0025.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ports::model::{ModelErrorKind, OtherAccount};
use protocol::model::{AccountSwitch, SwitchReason};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::keep::KeepLists;
use crate::secret::Secret;

/// Until a limit that is renewed sooner, a request waits: another account has nothing of the prompt in its cache.
const SHORT: Duration = Duration::from_secs(20);
/// The rest of one whose vendor names no time; each further one in a row is twice as long.
const FIRST_REST: Duration = Duration::from_secs(60);
/// The longest such rest, and that of one that was refused: the user may give it back its rights at any time.
const LONGEST_REST: Duration = Duration::from_secs(3_600);
/// The longest rest that a vendor may ask for.
const LONGEST: Duration = Duration::from_secs(31 * 86_400);
/// So many sessions are remembered; one that is forgotten begins again.
const SESSIONS: usize = 1_000;

/// A key or an account of several at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// The user's name for it: a variable, or the name of an account.
    pub(crate) name: String,
    /// Stands for it in the store and in the tags of what the vendor wants back.
    pub(crate) id: String,
    /// True if it is a sign-in, which is billed otherwise than a key.
    pub(crate) is_sign_in: bool,
    /// The key; none if it is an account, which is asked for its key.
    pub(crate) key: Option<Secret>,
}

impl Member {
    /// A key by this name.
    pub(crate) fn key(name: &str, key: &Secret) -> Self {
        let (name, id) = (name.to_owned(), id_of(key.expose()));
        Self { name, id, is_sign_in: false, key: Some(key.clone()) }
    }

    /// Its source, for words.
    pub(crate) fn source(&self) -> String {
        match self.key {
            Some(_) => self.name.clone(),
            None => format!("the account `{}` (`azimuth auth list`)", self.name),
        }
    }
}

/// The text that stands for a key or an account.
pub(crate) fn id_of(account: &str) -> String {
    let hash = Sha256::digest(format!("an account of several\0{account}"));
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The keys and accounts at a provider of which a request uses one, in the user's order.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    /// The provider's name.
    pub(crate) provider: String,
    /// True if new sessions use them in turn; else each uses the first that does not rest.
    pub(crate) in_turn: bool,
    /// The members; there is one.
    pub(crate) members: Vec<Member>,
}

/// The rest of a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rest {
    /// Its begin, in milliseconds since 1970.
    #[serde(default)]
    since: u64,
    /// Its end, likewise.
    pub(crate) until: u64,
    /// Why it rests.
    pub(crate) reason: SwitchReason,
    /// The number of rests in a row.
    #[serde(default)]
    in_a_row: u32,
}

/// The rests of keys and accounts, and what sessions use. Clones share it.
#[derive(Clone, Default)]
pub struct Pools(Arc<All>);

#[derive(Default)]
struct All {
    clock: OnceLock<Box<dyn Fn() -> u64 + Send + Sync>>,
    keeper: OnceLock<Arc<dyn KeepLists>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The rests by the members' ids, also those that are over, until the member answers.
    rests: HashMap<String, Rest>,
    /// The provider, the session and the id of the member that it uses; the last that chose one is the last.
    sessions: VecDeque<(String, String, String)>,
    /// When a session began with each member last, as a number that grows.
    begun: HashMap<String, u64>,
    count: u64,
}

impl fmt::Debug for Pools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pools").finish()
    }
}

impl Pools {
    /// Reads the time from this clock, in milliseconds since 1970. Only the first call counts.
    pub fn set_clock(&self, clock: impl Fn() -> u64 + Send + Sync + 'static) {
        let _ = self.0.clock.set(Box::new(clock));
    }

    /// Has rests kept beyond this process, where others find them. Only the first call counts.
    pub fn keep_by(&self, keeper: Arc<dyn KeepLists>) {
        let _ = self.0.keeper.set(keeper);
    }

    /// The member that a request of this session goes out with; the next one for a request of none.
    pub(crate) async fn choose(&self, pool: &Pool, session: &str) -> Option<Member> {
        self.look(&pool.members).await;
        self.state().choose(pool, session, self.now()).cloned()
    }

    /// Has a session use one that does not rest, and tells if that is another one than before. After a failure it is
    /// none of those that were `tried`.
    pub(crate) async fn go_on(
        &self,
        pool: &Pool,
        session: &str,
        failed: Option<ModelErrorKind>,
        tried: &[String],
    ) -> Option<OtherAccount> {
        self.look(&pool.members).await;
        let now = self.now();
        let before = self.state().of_session(pool, session).cloned();
        let is_at_rest = |member: &Member| self.state().rest(&member.id, now).is_some();
        // One that has no right to a model may have it to others, so that is no rest.
        if let (Some(before), Some(kind)) = (&before, failed.filter(|kind| *kind != ModelErrorKind::NoSuchModel))
            && !is_at_rest(before)
        {
            let asked = match kind {
                // The retries that there were did not help, so a shorter wait is no rest.
                ModelErrorKind::RateLimited { retry_after } => retry_after.filter(|asked| *asked > SHORT),
                _ => None,
            };
            self.begin_rest(before, kind, asked).await;
        }
        let (now, mut state) = (self.now(), self.state());
        let next = match (&before, failed) {
            (_, None) => state.choose(pool, session, now)?.clone(),
            (None, Some(_)) => return None,
            (Some(before), Some(_)) => {
                let may = |it: &&Member| it.id != before.id && !tried.contains(&it.name);
                let usable = pool.members.iter().filter(may).filter(|it| state.rest(&it.id, now).is_none());
                let members = usable.cloned().collect();
                state.choose(&Pool { members, ..pool.clone() }, session, now)?.clone()
            }
        };
        let before = before.filter(|before| before.id != next.id)?;
        let rest = state.rest(&before.id, now);
        let reason = rest.map(|rest| rest.reason).or_else(|| failed?.switch_reason())?;
        let switch = AccountSwitch { name: next.name, instead_of: before.name };
        Some(OtherAccount { switch, reason, until: rest.map(|rest| rest.until) })
    }

    /// Takes in that a request with this member failed so. `asked` is the time that the vendor names. One that has
    /// reached a limit, or was refused, rests from now on. Gives the time until which all rest, if they do.
    pub(crate) async fn failed(
        &self,
        pool: &Pool,
        member: &Member,
        kind: ModelErrorKind,
        asked: Option<Duration>,
    ) -> Option<Duration> {
        let is_limit = match kind {
            ModelErrorKind::RateLimited { .. } => asked.is_some_and(|asked| asked > SHORT),
            ModelErrorKind::QuotaUsedUp | ModelErrorKind::Unauthorized => true,
            _ => false,
        };
        if !is_limit {
            return None;
        }
        self.begin_rest(member, kind, asked).await;
        let (state, now) = (self.state(), self.now());
        let rests: Vec<_> = pool.members.iter().map(|member| state.rest(&member.id, now)).collect();
        // One that was refused is not waited for.
        let waited_for = rests.iter().flatten().filter(|rest| rest.reason != SwitchReason::Unauthorized);
        let first = waited_for.map(|rest| rest.until).min()?;
        rests.iter().all(Option::is_some).then(|| Duration::from_millis(first.saturating_sub(now)))
    }

    /// Takes in that a request with this member, which began then, was answered. A rest that began later goes on.
    pub(crate) async fn answered(&self, member: &Member, began: u64) {
        if !self.state().rests.contains_key(&member.id) {
            return;
        }
        self.look(std::slice::from_ref(member)).await;
        let is_over = {
            let rests = &mut self.state().rests;
            let is_over = rests.get(&member.id).is_some_and(|rest| rest.since <= began);
            is_over && rests.remove(&member.id).is_some()
        };
        if is_over {
            self.keep(&member.id, String::new()).await;
        }
    }

    /// Each member with its rest, and true for the one that a new session would begin with.
    pub(crate) async fn standing(&self, pool: &Pool) -> Vec<(Member, Option<Rest>, bool)> {
        self.look(&pool.members).await;
        let (state, now) = (self.state(), self.now());
        let next = state.next(pool, now).map(|next| next.id.clone());
        let all = pool.members.iter();
        all.map(|it| (it.clone(), state.rest(&it.id, now).cloned(), Some(&it.id) == next.as_ref())).collect()
    }

    async fn begin_rest(&self, member: &Member, kind: ModelErrorKind, asked: Option<Duration>) {
        let Some(reason) = kind.switch_reason() else { return };
        let rest = self.state().begin_rest(&member.id, reason, asked, self.now());
        // The name is the user's word for it, and no secret.
        tracing::info!(account = member.name, ?reason, until = rest.until, "a key or account rests");
        if let Ok(text) = serde_json::to_string(&rest) {
            self.keep(&member.id, text).await;
        }
    }

    /// Takes in the rests that other processes have found out, and those that an answer has ended.
    async fn look(&self, members: &[Member]) {
        let Some(keeper) = self.0.keeper.get().cloned() else { return };
        let ids: Vec<_> = members.iter().map(|member| member.id.clone()).collect();
        let read = move || ids.into_iter().map(|id| (keeper.kept(&name_of(&id)), id)).collect::<Vec<_>>();
        let Ok(kept) = tokio::task::spawn_blocking(read).await else { return };
        let mut state = self.state();
        for (text, id) in kept {
            // A store that has nothing, since it fails or is full, ends no rest.
            let Some(text) = text else { continue };
            // A text that says no rest, as after an answer, or that cannot be read, is none.
            match serde_json::from_str::<Rest>(&text) {
                Ok(rest) if state.rests.get(&id).is_some_and(|known| known.since > rest.since) => {}
                Ok(rest) => drop(state.rests.insert(id, rest)),
                Err(_) => drop(state.rests.remove(&id)),
            }
        }
    }

    async fn keep(&self, id: &str, text: String) {
        let Some(keeper) = self.0.keeper.get().cloned() else { return };
        let name = name_of(id);
        let _ = tokio::task::spawn_blocking(move || keeper.keep(&name, &text)).await;
    }

    /// The time, in milliseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        let system = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis);
        self.0.clock.get().map_or_else(system, |clock| clock())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The rest of a member; none if it does not rest.
    fn rest(&self, id: &str, now: u64) -> Option<&Rest> {
        // A rest that begins later, or is longer than any, is of a clock that was wrong.
        let longest = now.saturating_add(millis(LONGEST));
        self.rests.get(id).filter(|rest| rest.since <= now && rest.until > now && rest.until <= longest)
    }

    fn begin_rest(&mut self, id: &str, reason: SwitchReason, asked: Option<Duration>, now: u64) -> Rest {
        let in_a_row = self.rests.get(id).map_or(0, |rest| rest.in_a_row.saturating_add(1));
        let lasting = match (asked, reason) {
            (Some(asked), _) if !asked.is_zero() => asked.min(LONGEST),
            (_, SwitchReason::Unauthorized) => LONGEST_REST,
            _ => FIRST_REST.saturating_mul(2_u32.saturating_pow(in_a_row)).min(LONGEST_REST),
        };
        let rest = Rest { since: now, until: now.saturating_add(millis(lasting)), reason, in_a_row };
        self.rests.insert(id.to_owned(), rest.clone());
        rest
    }

    /// The member that a session uses; none if it has none yet.
    fn of_session<'a>(&self, pool: &'a Pool, session: &str) -> Option<&'a Member> {
        let known = self.sessions.iter().find(|(provider, of, _)| *provider == pool.provider && of == session)?;
        pool.members.iter().find(|member| member.id == known.2)
    }

    /// The member that a session goes on with: the one that it has, unless that rests and another one does not.
    fn choose<'a>(&mut self, pool: &'a Pool, session: &str, now: u64) -> Option<&'a Member> {
        if session.is_empty() {
            return self.next(pool, now);
        }
        let known = self.of_session(pool, session);
        if let Some(known) = known.filter(|known| self.rest(&known.id, now).is_none()) {
            return Some(known);
        }
        let next = self.next(pool, now)?;
        // If all rest, nothing is won by another one.
        if let Some(known) = known.filter(|_| self.rest(&next.id, now).is_some()) {
            return Some(known);
        }
        self.sessions.retain(|(provider, of, _)| *provider != pool.provider || of != session);
        self.sessions.push_back((pool.provider.clone(), session.to_owned(), next.id.clone()));
        if self.sessions.len() > SESSIONS {
            self.sessions.pop_front();
        }
        self.count += 1;
        self.begun.insert(next.id.clone(), self.count);
        Some(next)
    }

    /// The member for whoever has none: of those that do not rest the first, or in turn those that are billed alike and
    /// stand side by side. If all rest, the one whose rest ends first.
    fn next<'a>(&self, pool: &'a Pool, now: u64) -> Option<&'a Member> {
        let usable = |member: &&Member| self.rest(&member.id, now).is_none();
        let Some(first) = pool.members.iter().position(|member| usable(&member)) else {
            let until = |member: &&Member| self.rest(&member.id, now).map_or(0, |rest| rest.until);
            return pool.members.iter().min_by_key(until);
        };
        let from = pool.members.get(first..).unwrap_or_default();
        let is_sign_in = from.first()?.is_sign_in;
        let alike = from.iter().take_while(|member| member.is_sign_in == is_sign_in).filter(usable);
        let begun = |member: &&Member| self.begun.get(&member.id).copied().unwrap_or_default();
        if pool.in_turn { alike.min_by_key(begun) } else { from.first() }
    }
}

/// The name under which a rest is kept.
fn name_of(id: &str) -> String {
    format!("rest_of {id}")
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
