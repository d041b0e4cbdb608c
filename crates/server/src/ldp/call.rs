//! One request: the caller, what it names, and the method that answers it.

use axum::body::{Body, HttpBody};
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cenote_store::{At, Caller, Error, ErrorKind, Store, StorePath};

use super::conditions;
use super::dialect::Dialect;
use super::fault::Fault;
use super::methods::{delete, options, patch, post, put, read, tombstone};
use super::prefer::Preferences;
use super::seen::{Seen, rfc3339};
use super::target::{Part, Target};
use super::web::Web;
use crate::app::App;
use crate::layer::{Admission, Asker, Changer, NotGathered, Reader, Writer, gather};
use crate::problem::{Problem, ProblemKind};

/// A request, without its body.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) app: App,
    pub(crate) dialect: &'static Dialect,
    pub(crate) web: Web,
    pub(crate) target: Target,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) caller: Caller,
    pub(crate) preferences: Preferences,
    admission: Admission,
}

/// Answers every request.
pub(crate) async fn answer(app: App, dialect: &'static Dialect, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    match Call::read(app, dialect, &mut parts).await {
        Ok(call) => {
            let is_anonymous = call.caller.is_anonymous();
            let answer = call.run(body).await;
            answer.unwrap_or_else(|fault| refusal(fault, is_anonymous))
        }
        Err(fault) => fault.into_response(),
    }
}

/// A refusal; callers without a login are asked for one where another caller may be allowed to.
fn refusal(fault: Fault, is_anonymous: bool) -> Response {
    if is_anonymous && fault.status() == StatusCode::FORBIDDEN {
        let kind = ProblemKind::Store(ErrorKind::Unauthenticated);
        return Problem::new(kind, "this needs a login").into_response();
    }
    fault.into_response()
}

impl Call {
    async fn read(app: App, dialect: &'static Dialect, parts: &mut Parts) -> Result<Self, Fault> {
        let web = Web::of(dialect, &parts.uri, &parts.headers, &parts.extensions);
        let address = parts.uri.path().strip_prefix(dialect.mount).unwrap_or_default();
        let target = Target::parse(address)?;
        if !dialect.quotes_tags {
            conditions::quote_tags(&mut parts.headers);
        }
        let admission = Admission::of(&parts.extensions)?;
        let caller = caller(&app, parts).await?;
        Ok(Self {
            app,
            dialect,
            web,
            target,
            method: parts.method.clone(),
            preferences: Preferences::read(&parts.headers, dialect),
            headers: std::mem::take(&mut parts.headers),
            caller,
            admission,
        })
    }

    async fn run(self, body: Body) -> Result<Response, Fault> {
        if self.target.part == Part::Tombstone {
            return tombstone::answer(self).await;
        }
        match self.method.as_str() {
            "GET" | "HEAD" => read::read(self).await,
            "OPTIONS" => options::options(self).await,
            "PUT" => put::put(self, body).await,
            "POST" => post::post(self, body).await,
            "PATCH" => patch::patch(self, body).await,
            "DELETE" => delete::delete(self).await,
            _ => Err(Fault::new(StatusCode::METHOD_NOT_ALLOWED, "there is no such method")),
        }
    }

    pub(crate) fn path(&self) -> &StorePath {
        &self.target.path
    }

    pub(crate) fn at(&self) -> At {
        At::from(&self.target.path)
    }

    /// The address that the request names, as it is written in text.
    pub(crate) fn address(&self) -> String {
        self.web.address(&self.target.path)
    }

    /// Runs work of the store on a thread that may block.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store, &Self) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let call = self.clone();
        self.app.blocking(move |store| Ok(work(store, &call))).await?
    }

    /// A header as text, if it is there and is text.
    pub(crate) fn header(&self, name: impl axum::http::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Reads a whole body of a graph or an update into memory.
    pub(crate) async fn gather(&self, body: Body) -> Result<Bytes, Fault> {
        let gathered = gather(&self.admission, body, self.app.limits().json_bytes).await;
        gathered.map_err(|why| match why {
            NotGathered::TooLarge(most) => Fault::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the body is larger than {most} bytes"),
            ),
            NotGathered::Early(error) => Fault::bad(format!("the body ended early: {error}")),
            NotGathered::Refused(problem) => Fault::Shared(problem),
        })
    }

    /// What the request names.
    ///
    /// # Errors
    /// Those of [`Call::missing`] if nothing is there.
    pub(crate) fn seen(&self, store: &Store) -> Result<Seen, Fault> {
        Seen::read(store, &self.caller, &self.at()).map_err(|error| self.missing(store, error))
    }

    /// The refusal of a request about something that is not there: 410 if it was removed and left a tombstone.
    pub(crate) fn missing(&self, store: &Store, error: Error) -> Fault {
        if error.kind() != ErrorKind::NotFound {
            return error.into();
        }
        match store.tombstone(&self.caller, self.path()) {
            Ok(None) => error.into(),
            Ok(Some(left)) => {
                let at = &left.removed;
                let detail = format!("it was removed: {}, at {}", at.path, rfc3339(at.removed));
                let fault = Fault::new(StatusCode::GONE, detail);
                let link = format!("<{}/fcr:tombstone>; rel=\"hasTombstone\"", self.address());
                match left.id == at.id {
                    true => fault.with(axum::http::header::LINK, &link),
                    false => fault,
                }
            }
            Err(other) => other.into(),
        }
    }

    /// The refusal of a change of what the server manages.
    pub(crate) fn violation(&self, detail: impl Into<String>) -> Fault {
        Fault::new(self.dialect.managed, detail).constrained(&self.web.constraints())
    }
}

/// Whether a body is known to have no bytes.
pub(crate) fn is_empty(body: &Body) -> bool {
    body.size_hint().exact() == Some(0)
}

/// The caller, with what the ticket of the request is used for.
async fn caller(app: &App, parts: &mut Parts) -> Result<Caller, Problem> {
    match parts.method.as_str() {
        "GET" | "HEAD" => Ok(Reader::from_request_parts(parts, app).await?.0),
        "PUT" | "POST" => Ok(Writer::from_request_parts(parts, app).await?.0),
        "PATCH" | "DELETE" => Ok(Changer::from_request_parts(parts, app).await?.0),
        _ => Ok(Asker::from_request_parts(parts, app).await?.0),
    }
}
