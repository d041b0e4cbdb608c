//! SPARQL 1.1 over HTTP (`docs/sparql.md`): the SPARQL 1.1 Protocol, at a general address and at one for clients of LAKEsuperior.
//!
//! * `request` reads the protocol, `spelling` says how resources are named at each address, `page` has the forms for a browser, `shown` the
//!   results below them, and `service` the description for other programs that send no query;
//! * `term_search` is LAKEsuperior's, written as a query;
//! * `answer` runs a query on a thread of its own, within limits.

mod answer;
mod page;
mod prefixes;
mod request;
mod service;
mod shown;
mod spelling;
mod term_search;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};

use self::request::QueryRequest;
use self::spelling::Address;
use crate::app::App;
use crate::front;
use crate::layer::{Viewer, authenticate, refuse_cross_site};
use crate::problem::Problem;

/// All routes of this opening.
pub(crate) fn router(app: &App) -> Router<App> {
    spelling::ALL
        .into_iter()
        .fold(Router::new(), |router, address| router.route(address.path, at(address)))
        .route(term_search::PATH, get(term_search::term_search).post(term_search::term_search))
        .layer(from_fn_with_state(app.clone(), authenticate))
        .layer(from_fn(refuse_cross_site))
}

fn at(address: &'static Address) -> MethodRouter<App> {
    let answered = move |State(app): State<App>, request: Request| handle(app, address, request);
    get(answered).post(answered)
}

async fn handle(app: App, address: &'static Address, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(introduction) = introduction(address, &parts) {
        return introduction;
    }
    let form = page::Form::sent(&parts);
    let answered = match &form {
        Some(form) if form.wants_page() => shown(app, address, parts, form).await,
        _ => run_query(app, address, parts, body).await,
    };
    match (answered, form) {
        (Err(problem), Some(form)) if page::is_for_people(&problem) => {
            form.refused(address, &problem)
        }
        (answered, _) => answered.unwrap_or_else(IntoResponse::into_response),
    }
}

/// The form that was sent, with the results below.
async fn shown(
    app: App,
    address: &'static Address,
    mut parts: Parts,
    form: &page::Form,
) -> Result<Response, Problem> {
    let caller = Viewer::from_request_parts(&mut parts, &app).await?.0;
    let request = QueryRequest::read(&app, &parts, Body::empty(), address.prefixes).await?;
    let (spelling, format) =
        (address.spelling(&parts, request.paths), shown::format(request.constructs));
    let answer = answer::query(&app, caller, request.query, spelling, format, shown::MOST).await?;
    form.answered(address, format, &answer)
}

/// The answer to a request without a query: a form for a browser, a description for what accepts a graph.
fn introduction(address: &Address, parts: &Parts) -> Option<Response> {
    let is_read = parts.method == Method::GET || parts.method == Method::HEAD;
    if !is_read || !parts.uri.query().unwrap_or_default().is_empty() {
        return None;
    }
    match front::wants_page(&parts.headers) {
        true => Some(page::Form::example().empty(address)),
        false => {
            let own = format!("{}{}", spelling::origin(parts), address.path);
            service::description(&parts.headers, &own)
        }
    }
}

async fn run_query(
    app: App,
    address: &'static Address,
    mut parts: Parts,
    body: Body,
) -> Result<Response, Problem> {
    let caller = Viewer::from_request_parts(&mut parts, &app).await?.0;
    let request = QueryRequest::read(&app, &parts, body, address.prefixes).await?;
    let spelling = address.spelling(&parts, request.paths);
    let format = request.format(&parts.headers)?;
    let most = usize::MAX;
    let text = answer::query(&app, caller, request.query, spelling, format, most).await?;
    let headers = [(header::CONTENT_TYPE, format.media_type()), (header::VARY, "Accept")];
    Ok((headers, text).into_response())
}
