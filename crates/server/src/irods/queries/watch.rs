//! Running queries: each has a deadline, and stops when it is abandoned.

use std::time::Duration;

use cenote_query::genquery::{Limits, Stop};
use cenote_store::{Error, Store, Time};
use tokio_util::sync::CancellationToken;

use crate::irods::call::code::Refusal;
use crate::irods::call::request::Call;

/// Decides when a query has to stop.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    gone: CancellationToken,
    end: Time,
}

impl Watch {
    /// Whether the query has to stop, and why.
    pub(crate) fn stop(&self, now: Time) -> Option<Stop> {
        match self.gone.is_cancelled() {
            true => Some(Stop::Gone),
            false => (now >= self.end).then_some(Stop::Late),
        }
    }
}

impl Call {
    /// Makes a store call that may take long, within the configured limits. `limits.stop` reports when the
    /// client has disconnected.
    pub(crate) async fn query<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Store, Limits<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Refusal> {
        let settings = self.settings();
        let (rows, bytes) = (settings.query_rows, settings.query_bytes);
        let gone = CancellationToken::new();
        let time = Duration::from_secs(settings.query_seconds);
        let token = gone.clone();
        // Dropped with this call, whether it was answered or cancelled.
        let _waiting = gone.drop_guard();
        self.blocking(move |store| {
            let watch = Watch { gone: token, end: store.now().plus(time) };
            question(store, Limits { rows, bytes, stop: &|| watch.stop(store.now()) })
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_stops_at_its_deadline_or_when_abandoned() {
        let gone = CancellationToken::new();
        let waiting = gone.clone().drop_guard();
        let watch = |end: Time| Watch { gone: gone.clone(), end };
        let (before, end) = (Time::from_secs(9), Time::from_secs(10));
        assert_eq!(watch(end).stop(before), None);
        assert_eq!(watch(end).stop(end), Some(Stop::Late));
        drop(waiting);
        assert_eq!(watch(end).stop(before), Some(Stop::Gone));
    }
}
