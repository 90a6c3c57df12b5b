use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

const LIMIT: ModelErrorKind = ModelErrorKind::RateLimited { retry_after: None };

/// A store that two processes share.
#[derive(Default)]
struct Shared(Mutex<BTreeMap<String, String>>);

impl KeepLists for Shared {
    fn kept(&self, name: &str) -> Option<String> {
        self.0.lock().unwrap().get(name).cloned()
    }

    fn keep(&self, name: &str, text: &str) {
        self.0.lock().unwrap().insert(name.to_owned(), text.to_owned());
    }
}

/// A process at a time that the test sets, in seconds.
fn process(time: &Arc<AtomicU64>, shared: Option<&Arc<Shared>>) -> Pools {
    let (pools, time) = (Pools::default(), Arc::clone(time));
    pools.set_clock(move || time.load(Ordering::Relaxed) * 1_000);
    if let Some(shared) = shared {
        pools.keep_by(Arc::clone(shared) as Arc<dyn KeepLists>);
    }
    pools
}

fn of(names: &[&str], in_turn: bool) -> Pool {
    let member = |name: &&str| Member {
        is_sign_in: name.starts_with("plan"),
        ..Member::key(name, &Secret::new(&format!("sk-{name}")))
    };
    Pool { provider: "p".into(), in_turn, members: names.iter().map(member).collect() }
}

async fn name(pools: &Pools, pool: &Pool, session: &str) -> String {
    pools.choose(pool, session).await.unwrap().name
}

async fn fails(pools: &Pools, pool: &Pool, name: &str, kind: ModelErrorKind, seconds: Option<u64>) -> Option<u64> {
    let member = pool.members.iter().find(|member| member.name == name).unwrap();
    let first = pools.failed(pool, member, kind, seconds.map(Duration::from_secs)).await;
    first.map(|first| first.as_secs())
}

#[tokio::test]
async fn new_sessions_take_listed_keys_in_turn_and_keep_theirs_until_it_rests() {
    let time = Arc::new(AtomicU64::new(1_000));
    let (pools, pool) = (process(&time, None), of(&["a", "b"], true));
    assert_eq!(name(&pools, &pool, "one").await, "a");
    assert_eq!(name(&pools, &pool, "two").await, "b");
    assert_eq!(name(&pools, &pool, "three").await, "a");
    assert_eq!(name(&pools, &pool, "one").await, "a", "the cache of its prompt is there");
    assert_eq!(pools.go_on(&pool, "one", None, &[]).await, None);

    assert_eq!(fails(&pools, &pool, "a", LIMIT, Some(10)).await, None, "that is waited for");
    assert_eq!(name(&pools, &pool, "one").await, "a");
    assert_eq!(fails(&pools, &pool, "a", LIMIT, Some(600)).await, None, "the other one can be asked");
    let switch = AccountSwitch { name: "b".into(), instead_of: "a".into() };
    let other = OtherAccount { switch, reason: SwitchReason::RateLimited, until: Some(1_600_000) };
    assert_eq!(pools.go_on(&pool, "one", Some(LIMIT), &[]).await, Some(other.clone()));
    assert_eq!(pools.go_on(&pool, "three", None, &[]).await, Some(other), "it learns that before it asks");
    assert_eq!(name(&pools, &pool, "four").await, "b");
    time.fetch_add(600, Ordering::Relaxed);
    assert_eq!(name(&pools, &pool, "one").await, "b", "it has its cache there by now");
    assert_eq!(name(&pools, &pool, "five").await, "a");
}

#[tokio::test]
async fn without_a_list_the_first_counts_and_the_next_stands_in_while_it_rests() {
    let time = Arc::new(AtomicU64::new(1_000));
    let (pools, pool) = (process(&time, None), of(&["a", "b"], false));
    for session in ["one", "two"] {
        assert_eq!(name(&pools, &pool, session).await, "a");
    }
    fails(&pools, &pool, "a", ModelErrorKind::QuotaUsedUp, None).await;
    assert_eq!(name(&pools, &pool, "three").await, "b");
    // Each further one in a row is twice as long.
    for (after, used) in [(59, "b"), (1, "a")] {
        time.fetch_add(after, Ordering::Relaxed);
        assert_eq!(name(&pools, &pool, "").await, used);
    }
    fails(&pools, &pool, "a", ModelErrorKind::QuotaUsedUp, None).await;
    for (after, used) in [(119, "b"), (1, "a")] {
        time.fetch_add(after, Ordering::Relaxed);
        assert_eq!(name(&pools, &pool, "").await, used);
    }
    pools.answered(&pool.members[0], pools.now()).await;
    fails(&pools, &pool, "a", ModelErrorKind::QuotaUsedUp, None).await;
    time.fetch_add(60, Ordering::Relaxed);
    assert_eq!(name(&pools, &pool, "").await, "a", "it had answered in between");
}

#[tokio::test]
async fn a_key_stands_in_for_a_plan_only_after_it_and_one_that_was_refused_is_passed_over() {
    let time = Arc::new(AtomicU64::new(1_000));
    let (pools, pool) = (process(&time, None), of(&["plan", "a", "b"], true));
    for session in ["one", "two"] {
        assert_eq!(name(&pools, &pool, session).await, "plan", "what costs more is not used in turn with it");
    }
    fails(&pools, &pool, "plan", LIMIT, Some(3_600)).await;
    assert_eq!(name(&pools, &pool, "three").await, "a");
    assert_eq!(name(&pools, &pool, "four").await, "b");
    fails(&pools, &pool, "a", ModelErrorKind::Unauthorized, None).await;
    assert_eq!(name(&pools, &pool, "three").await, "b");
    let standing = pools.standing(&pool).await;
    let told: Vec<_> = standing.iter().map(|(_, rest, in_use)| (rest.as_ref().map(|it| it.reason), *in_use)).collect();
    let (limited, refused) = (SwitchReason::RateLimited, SwitchReason::Unauthorized);
    assert_eq!(told, [(Some(limited), false), (Some(refused), false), (None, true)]);
    // A failure of another kind is nobody's rest.
    for kind in [ModelErrorKind::Transient, ModelErrorKind::Rejected, ModelErrorKind::ContextOverflow] {
        assert_eq!(fails(&pools, &pool, "b", kind, None).await, None);
    }
    assert_eq!(name(&pools, &pool, "three").await, "b");
}

#[tokio::test]
async fn if_all_rest_the_first_that_is_there_again_is_waited_for() {
    let time = Arc::new(AtomicU64::new(1_000));
    let (pools, pool) = (process(&time, None), of(&["a", "b", "c"], true));
    assert_eq!(name(&pools, &pool, "one").await, "a");
    fails(&pools, &pool, "c", ModelErrorKind::Unauthorized, None).await;
    fails(&pools, &pool, "b", LIMIT, Some(60)).await;
    assert_eq!(fails(&pools, &pool, "a", LIMIT, Some(7_200)).await, Some(60), "one that was refused is not waited for");
    assert_eq!(pools.go_on(&pool, "one", Some(LIMIT), &[]).await, None);
    assert_eq!(name(&pools, &pool, "one").await, "a", "whoever does not want to wait asks its own");
    assert_eq!(name(&pools, &pool, "new").await, "b");
    time.fetch_add(60, Ordering::Relaxed);
    assert_eq!(pools.go_on(&pool, "one", None, &[]).await.unwrap().switch.name, "b");
}

#[tokio::test]
async fn two_processes_share_rests_and_what_cannot_be_read_is_none() {
    let (time, shared) = (Arc::new(AtomicU64::new(1_000)), Arc::<Shared>::default());
    let (one, two) = (process(&time, Some(&shared)), process(&time, Some(&shared)));
    let pool = of(&["a", "b"], false);
    fails(&one, &pool, "a", LIMIT, Some(600)).await;
    assert_eq!(name(&two, &pool, "s").await, "b");
    let kept = format!("{:?}", shared.0.lock().unwrap());
    assert!(!kept.contains("sk-") && kept.contains("rate_limited"), "{kept}");
    two.answered(&pool.members[0], two.now()).await;
    assert_eq!(name(&one, &pool, "t").await, "a", "it has answered");

    let id = &pool.members[0].id;
    let future = r#"{"until":99999999999999,"reason":"failed"}"#;
    for damaged in ["", "{", "7", r#"{"until":-1}"#, r#"{"until":1e9,"reason":"nothing"}"#, future] {
        shared.keep(&name_of(id), damaged);
        assert_eq!(name(&one, &pool, "").await, "a", "{damaged}");
    }
}

/// A store that is full.
struct Full;

impl KeepLists for Full {
    fn kept(&self, _: &str) -> Option<String> {
        None
    }

    fn keep(&self, _: &str, _: &str) {}
}

#[tokio::test]
async fn a_key_rests_although_the_store_keeps_nothing() {
    let time = Arc::new(AtomicU64::new(1_000));
    let (pools, pool) = (process(&time, None), of(&["a", "b"], false));
    pools.keep_by(Arc::new(Full));
    fails(&pools, &pool, "a", LIMIT, Some(600)).await;
    assert_eq!(name(&pools, &pool, "s").await, "b");
    assert_eq!(fails(&pools, &pool, "b", LIMIT, Some(60)).await, Some(60), "all rest, and none is asked at once");
}

#[tokio::test]
async fn a_rest_goes_on_after_the_answer_to_an_earlier_request_and_one_of_a_clock_that_was_ahead_is_none() {
    let time = Arc::new(AtomicU64::new(1_000));
    let (pools, pool) = (process(&time, Some(&Arc::default())), of(&["a", "b"], false));
    let began = pools.now();
    time.fetch_add(5, Ordering::Relaxed);
    fails(&pools, &pool, "a", LIMIT, Some(600)).await;
    pools.answered(&pool.members[0], began).await;
    assert_eq!(name(&pools, &pool, "s").await, "b", "it was sent before the limit was reached");
    time.store(900, Ordering::Relaxed);
    assert_eq!(name(&pools, &pool, "t").await, "a", "the clock was ahead");
}

#[tokio::test]
async fn a_model_that_a_key_may_not_use_is_asked_for_with_each_other_key_once_and_none_of_them_rests() {
    let time = Arc::new(AtomicU64::new(1_000));
    let (pools, pool) = (process(&time, None), of(&["a", "b", "c"], true));
    assert_eq!(name(&pools, &pool, "one").await, "a");
    let mut tried = vec!["a".to_owned()];
    for next in ["b", "c"] {
        let other = pools.go_on(&pool, "one", Some(ModelErrorKind::NoSuchModel), &tried).await.unwrap();
        assert_eq!((other.switch.name.as_str(), other.until), (next, None));
        tried.push(other.switch.name);
    }
    assert_eq!(pools.go_on(&pool, "one", Some(ModelErrorKind::NoSuchModel), &tried).await, None);
    assert!(pools.standing(&pool).await.iter().all(|(_, rest, _)| rest.is_none()));
    assert_eq!(name(&pools, &pool, "one").await, "c", "it stays with the last one");
}
