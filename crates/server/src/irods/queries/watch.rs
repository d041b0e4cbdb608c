//! Queries under way: each has a time, and stops when nobody waits for it.

use std::time::Duration;

use cenote_query::genquery::{Limits, Stop};
use cenote_store::{Clock, Error, Store, SystemClock, Time};
use tokio_util::sync::CancellationToken;

use crate::irods::call::code::Refusal;
use crate::irods::call::request::Call;

/// When a query has to stop.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    gone: CancellationToken,
    end: Time,
}

impl Watch {
    /// Whether the query has to stop, and why.
    pub(crate) fn stop(&self) -> Option<Stop> {
        match self.gone.is_cancelled() {
            true => Some(Stop::Gone),
            false => (SystemClock.now() >= self.end).then_some(Stop::Late),
        }
    }
}

impl Call {
    /// Asks the store what may take long, within the limits of the settings. When the answer is not waited for any
    /// more, because the client has gone, `limits.stop` says so.
    pub(crate) async fn query<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Store, Limits<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Refusal> {
        let settings = self.settings();
        let (rows, bytes) = (settings.query_rows, settings.query_bytes);
        let gone = CancellationToken::new();
        let end = SystemClock.now().plus(Duration::from_secs(settings.query_seconds));
        let watch = Watch { gone: gone.clone(), end };
        // Dropped with this call, whether it was answered or given up.
        let _waiting = gone.drop_guard();
        self.ask(move |store| question(store, Limits { rows, bytes, stop: &|| watch.stop() })).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_stops_when_it_is_late_or_nobody_waits() {
        let gone = CancellationToken::new();
        let waiting = gone.clone().drop_guard();
        let watch = |end: Time| Watch { gone: gone.clone(), end };
        let later = SystemClock.now().plus(Duration::from_secs(3_600));
        assert_eq!(watch(later).stop(), None);
        assert_eq!(watch(Time::from_secs(1)).stop(), Some(Stop::Late));
        drop(waiting);
        assert_eq!(watch(later).stop(), Some(Stop::Gone));
    }
}
