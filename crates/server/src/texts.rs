//! The index of texts, for the openings that search for words.
//!
//! Invariant: it is taken before the state of the store that is searched with it.

use std::sync::Arc;

use cenote_store::{ErrorKind, TextLead};
use cenote_text::{Lead, NotReady};

use crate::app::App;
use crate::problem::{Problem, ProblemKind};

/// The index at present, after a wait of at most as long as a query may take. None where there is none that can be used: words are then
/// looked for in all resources.
pub(crate) fn lead(app: &App) -> Result<Option<Arc<Lead>>, Problem> {
    let end = app.store().now().plus(app.limits().query_seconds.get());
    lead_for(app, &|| app.store().now() < end)
}

/// The same with another patience.
pub(crate) fn lead_for(
    app: &App,
    is_patient: &dyn Fn() -> bool,
) -> Result<Option<Arc<Lead>>, Problem> {
    let Some(texts) = app.texts() else { return Ok(None) };
    match texts.lead(app.store(), is_patient) {
        Ok(lead) => Ok(Some(lead)),
        Err(making @ NotReady::Making(_)) => {
            Err(Problem::new(ProblemKind::Store(ErrorKind::Unavailable), making.to_string())
                .with_hint("search again: it goes on from there"))
        }
        Err(NotReady::Store(error)) => Err(error.into()),
        Err(NotReady::Files(fault)) => {
            tracing::warn!(target: "cenote", %fault, "words are looked for without the index of texts");
            Ok(None)
        }
    }
}

/// The lead as the store takes it.
pub(crate) fn as_lead(lead: Option<&Arc<Lead>>) -> Option<&dyn TextLead> {
    lead.map(|lead| lead.as_ref() as &dyn TextLead)
}
