//! Tickets: access to one resource and everything below it, for everybody who presents them.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use cenote_store::Rights;

use crate::app::App;
use crate::layer::{Changer, Viewer};
use crate::native::json::{
    MadeTicket, NewTicket, Target, Ticket, TicketLevel, Tickets, WhichTicket,
};
use crate::native::request::address::at;
use crate::native::request::extract::Json;
use crate::native::request::query::Params;
use crate::problem::Problem;

/// Creates a ticket for a resource.
#[utoipa::path(post, path = "/v1/tickets", tag = "access", request_body = NewTicket,
    responses((status = 201, body = MadeTicket)))]
pub(crate) async fn add(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<NewTicket>,
) -> Result<(StatusCode, Json<MadeTicket>), Problem> {
    let at = at(question.path.as_deref(), question.id)?;
    let new = cenote_store::NewTicket {
        rights: match question.level {
            TicketLevel::Read => Rights::READ_OBJECT,
            TicketLevel::Write => Rights::MODIFY_OBJECT,
        },
        uses: question.uses,
        writes: question.writes,
        bytes: question.bytes,
        lifetime: question.expires_in.map(Duration::from_secs),
        persons: question.persons,
        hosts: question.hosts,
    };
    app.blocking(move |store| {
        let (secret, ticket) = store.add_ticket(&caller, &at, &new)?;
        let about = Ticket::of(ticket, store)?;
        Ok((StatusCode::CREATED, Json(MadeTicket { ticket: secret, about })))
    })
    .await
}

/// The tickets on a resource, or all tickets that the caller created.
#[utoipa::path(get, path = "/v1/tickets", tag = "access", params(Target),
    responses((status = 200, body = Tickets)))]
pub(crate) async fn list(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Params(target): Params<Target>,
) -> Result<Json<Tickets>, Problem> {
    let at = match (&target.path, target.id) {
        (None, None) => None,
        (path, id) => Some(at(path.as_deref(), id)?),
    };
    app.blocking(move |store| {
        let tickets = match at {
            Some(at) => store.tickets(&caller, &at)?,
            None => store.all_tickets(&caller)?,
        };
        let items = tickets.into_iter().map(|ticket| Ticket::of(ticket, store));
        Ok(Json(Tickets { items: items.collect::<Result<_, _>>()? }))
    })
    .await
}

/// Removes a ticket, which is given completely or by its id.
#[utoipa::path(delete, path = "/v1/tickets", tag = "access", params(WhichTicket),
    responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(
    State(app): State<App>,
    Changer(caller): Changer,
    Params(which): Params<WhichTicket>,
) -> Result<StatusCode, Problem> {
    app.blocking(move |store| store.remove_ticket(&caller, &which.ticket)).await?;
    Ok(StatusCode::NO_CONTENT)
}
