//! Waiting that a cancelled turn ends.

use std::future::Future;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// How long something that must not be torn off, such as a tool that ends its process, may go on after a cancel.
const GRACE: Duration = Duration::from_secs(5);

/// Returns the output of the future; none if the cancel comes first. The future is dropped then.
pub(crate) async fn until_cancelled<T>(cancel: &CancellationToken, future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        value = future => Some(value),
    }
}

/// Returns the output of the future; none if it is not done a while after the cancel. It is not begun once that has
/// come.
pub(crate) async fn with_grace<T>(cancel: &CancellationToken, future: impl Future<Output = T>) -> Option<T> {
    if cancel.is_cancelled() { None } else { at_any_rate(cancel, future).await }
}

/// Returns the output of the future; none if it is not done a while after the cancel. It is begun even then.
pub(crate) async fn at_any_rate<T>(cancel: &CancellationToken, future: impl Future<Output = T>) -> Option<T> {
    tokio::pin!(future);
    tokio::select! {
        biased;
        value = &mut future => Some(value),
        () = cancel.cancelled() => tokio::time::timeout(GRACE, future).await.ok(),
    }
}
