//! Making the calls of a round, those that read beside each other.

use std::borrow::Cow;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};

use crate::dispatch::{Checked, Ended, Gate};
use crate::history::OpenCall;

/// How many reading calls run at once.
const PARALLEL: usize = 8;

/// A call that an answer makes.
pub(super) struct Asked {
    pub(super) call: OpenCall,
    /// Why it must not be made, for the model.
    pub(super) problem: Option<Cow<'static, str>>,
}

/// Makes calls beside each other, and gives how they ended. They begin in their order, however long each is checked.
pub(super) async fn beside(gate: &Gate, calls: &[Asked]) -> Vec<Ended> {
    // Boxed, so that the compiler can see that the turn may move between threads.
    let checking: Vec<_> = calls.iter().map(|asked| check(gate, asked).boxed()).collect();
    stream::iter(checking).buffered(PARALLEL).buffered(PARALLEL).collect().await
}

/// Checks a call. Gives what makes it, or ends it.
async fn check<'a>(gate: &'a Gate, asked: &'a Asked) -> BoxFuture<'a, Ended> {
    let is_made = asked.problem.is_none() && !gate.cancel.is_cancelled();
    let checked = if is_made { Some(gate.check(&asked.call).await) } else { None };
    pass(gate, asked, checked).boxed()
}

async fn pass(gate: &Gate, Asked { call, problem }: &Asked, checked: Option<Checked>) -> Ended {
    match (problem, checked) {
        (Some(problem), _) if !gate.cancel.is_cancelled() => gate.close(call, problem),
        (None, Some(checked)) if !gate.cancel.is_cancelled() => gate.pass(call, checked).await,
        _ => gate.close_cancelled(call),
    }
}
