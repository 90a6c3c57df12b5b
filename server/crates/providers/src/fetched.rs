//! A value that is fetched by one request at a time, such as an access token, while all others wait for it.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

/// The value that was fetched last, for the key by which it was found, and the last failure.
pub(crate) struct Fetched<K, V, E> {
    state: Mutex<State<K, V, E>>,
    /// The number of fetches that failed.
    failures: AtomicU64,
}

struct State<K, V, E> {
    kept: Option<(K, V)>,
    /// The number of the last failure, and the failure.
    failed: Option<(u64, K, E)>,
}

/// How long a value still counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    /// For a while.
    Fresh,
    /// For a moment, so another is to be fetched.
    Old,
    /// No more.
    Over,
}

impl<K: Clone + PartialEq, V: Clone, E: Clone> Fetched<K, V, E> {
    /// The value for a key: the one that is kept if it is fresh, else a fetched one. If none can be fetched, an old one
    /// is good enough, and the failure comes with it. Whoever waited while a fetch failed shares its failure: else a
    /// server that is down would be asked by each of them in turn.
    ///
    /// # Errors
    /// The fetch failed, and no value counts.
    pub(crate) async fn get(
        &self,
        key: &K,
        age: impl Fn(&V) -> Age,
        fetch: impl AsyncFnOnce() -> Result<V, E>,
    ) -> Result<(V, Option<E>), E> {
        let before = self.failures.load(Ordering::Acquire);
        let mut state = self.state.lock().await;
        let kept = state.kept.as_ref().filter(|(of, _)| of == key).map(|(_, value)| value.clone());
        let age = kept.as_ref().map_or(Age::Over, age);
        if let Some(kept) = kept.as_ref().filter(|_| age == Age::Fresh) {
            return Ok((kept.clone(), None));
        }
        let shared = state.failed.as_ref().filter(|(number, of, _)| *number > before && of == key);
        let failure = match shared {
            Some((_, _, failure)) => failure.clone(),
            None => match fetch().await {
                Ok(value) => {
                    *state = State { kept: Some((key.clone(), value.clone())), failed: None };
                    return Ok((value, None));
                }
                Err(failure) => {
                    let number = self.failures.fetch_add(1, Ordering::AcqRel) + 1;
                    state.failed = Some((number, key.clone(), failure.clone()));
                    failure
                }
            },
        };
        match kept.filter(|_| age == Age::Old) {
            Some(kept) => Ok((kept, Some(failure))),
            None => Err(failure),
        }
    }

    /// True if a fresh value is kept for a key, or somebody fetches one just now.
    pub(crate) fn has(&self, key: &K, age: impl Fn(&V) -> Age) -> bool {
        let Ok(state) = self.state.try_lock() else { return true };
        state.kept.as_ref().is_some_and(|(of, value)| of == key && age(value) == Age::Fresh)
    }

    /// Forgets the value that is kept if it is this one.
    pub(crate) async fn forget(&self, is_it: impl Fn(&V) -> bool) {
        self.state.lock().await.kept.take_if(|(_, kept)| is_it(kept));
    }
}

impl<K, V, E> Default for Fetched<K, V, E> {
    fn default() -> Self {
        Self { state: Mutex::new(State { kept: None, failed: None }), failures: AtomicU64::new(0) }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures_util::future::join_all;

    use super::*;

    /// Asks for the value of a key by a fetch that takes a moment and counts itself.
    async fn ask(
        fetched: &Fetched<&'static str, u32, &'static str>,
        key: &'static str,
        asked: &Cell<u32>,
        outcome: Result<u32, &'static str>,
    ) -> Result<(u32, Option<&'static str>), &'static str> {
        let age = |value: &u32| [Age::Over, Age::Old, Age::Fresh][*value as usize];
        let fetch = async || {
            asked.set(asked.get() + 1);
            tokio::task::yield_now().await;
            outcome
        };
        fetched.get(&key, age, fetch).await
    }

    #[tokio::test]
    async fn whoever_waited_shares_a_failure_and_whoever_comes_later_asks_anew() {
        let (fetched, asked) = (Fetched::default(), Cell::new(0));
        let all = join_all((0..5).map(|_| ask(&fetched, "key", &asked, Err("down")))).await;
        assert!(all.iter().all(|outcome| *outcome == Err("down")));
        assert_eq!(asked.get(), 1);
        assert_eq!(ask(&fetched, "key", &asked, Ok(2)).await, Ok((2, None)));
        assert_eq!(asked.get(), 2);
        // It is fresh, so nothing is fetched.
        assert_eq!(ask(&fetched, "key", &asked, Err("down")).await, Ok((2, None)));
        assert_eq!(asked.get(), 2);
    }

    #[tokio::test]
    async fn a_failure_is_none_of_another_key() {
        let (fetched, asked) = (Fetched::default(), Cell::new(0));
        let (one, other) =
            tokio::join!(ask(&fetched, "one", &asked, Err("down")), ask(&fetched, "other", &asked, Ok(2)));
        assert_eq!((one, other, asked.get()), (Err("down"), Ok((2, None)), 2));
    }

    #[tokio::test]
    async fn an_old_value_is_good_enough_with_each_failure_and_one_that_is_over_is_not() {
        let (fetched, asked) = (Fetched::default(), Cell::new(0));
        assert_eq!(ask(&fetched, "key", &asked, Ok(1)).await, Ok((1, None)));
        let all = join_all((0..5).map(|_| ask(&fetched, "key", &asked, Err("down")))).await;
        assert!(all.iter().all(|outcome| *outcome == Ok((1, Some("down")))));
        assert_eq!(asked.get(), 2);
        assert_eq!(ask(&fetched, "key", &asked, Ok(0)).await, Ok((0, None)));
        assert_eq!(ask(&fetched, "key", &asked, Err("down")).await, Err("down"));
        fetched.forget(|value| *value == 0).await;
        assert_eq!(ask(&fetched, "key", &asked, Ok(2)).await, Ok((2, None)));
    }
}
