//! The caller, for a handler behind [`authenticate`](super::authenticate); and what the caller's ticket is used for.
//!
//! Invariant: a handler gets the caller from one of these types only, so each route declares how it uses a ticket.

use axum::extract::{FromRequestParts, Request};
use axum::http::Method;
use axum::http::request::Parts;
use cenote_store::{Caller, TicketUse};

use super::ticket::ShownTicket;
use crate::app::App;
use crate::problem::{Problem, ProblemKind};

/// The caller, and the ticket that has not been used yet.
#[derive(Clone)]
pub(super) struct Authenticated {
    pub(super) caller: Caller,
    pub(super) ticket: Option<ShownTicket>,
}

/// Defines a type of caller; the function returns what a request uses its ticket for.
macro_rules! caller_extractors {
    ($($(#[$about:meta])* $name:ident: $what:expr;)*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone)]
        pub(crate) struct $name(pub(crate) Caller);

        impl FromRequestParts<App> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
                let what: fn(&Parts, &ShownTicket) -> Result<TicketUse, Problem> = $what;
                with_ticket(parts, app, what).map(Self)
            }
        }
    )*};
}

caller_extractors! {
    /// Queries resources.
    Viewer: |_, _| Ok(TicketUse::Look);
    /// Reads contents; with HEAD, only queries resources.
    Reader: |parts, _| Ok(match parts.method {
        Method::HEAD => TicketUse::Look,
        _ => TicketUse::Read,
    });
    /// Changes something without sending contents.
    Changer: |_, _| Ok(TicketUse::Write(0));
    /// Writes the bytes of the body.
    Writer: |_, ticket| ticket.length().map(TicketUse::Write);
    /// Continues an upload, which was counted when it began.
    Uploader: |_, _| Ok(TicketUse::More(0));
    /// Continues an upload by sending the bytes of the body.
    PartWriter: |_, ticket| ticket.length().map(TicketUse::More);
}

/// The caller of a request in a change set, where a ticket has no use.
pub(crate) fn caller_of(request: &Request) -> Result<Caller, Problem> {
    match request.extensions().get::<Authenticated>() {
        Some(Authenticated { caller, ticket: None }) => Ok(caller.clone()),
        Some(_) => {
            Err(Problem::new(ProblemKind::Changeset, "a ticket cannot be used in a change set")
                .with_hint("make the request without the ticket, or without the change set"))
        }
        None => Err(Problem::new(ProblemKind::Internal, "the route has no authentication")),
    }
}

/// The caller, with what the ticket of the request opens.
fn with_ticket(
    parts: &Parts,
    app: &App,
    what: impl FnOnce(&Parts, &ShownTicket) -> Result<TicketUse, Problem>,
) -> Result<Caller, Problem> {
    let authenticated = parts.extensions.get::<Authenticated>().cloned();
    let Authenticated { caller, ticket } = authenticated
        .ok_or_else(|| Problem::new(ProblemKind::Internal, "the route has no authentication"))?;
    let Some(shown) = ticket else { return Ok(caller) };
    let what = what(parts, &shown)?;
    let grant = app.quick(|store| {
        store.in_place(|store| store.use_ticket(&caller, &shown.ticket, &shown.host, what))
    })?;
    Ok(caller.with_ticket(grant))
}
