//! One request: the caller, what it names, and the method that answers it.

use axum::body::{Body, HttpBody};
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cenote_store::{
    At, Caller, Conditions, Error, ErrorKind, Foreseen, Graph, Reading, Stat, Store, StorePath,
    Tombstone,
};

use crate::app::App;
use crate::front::{prompt_for_login, wants_page};
use crate::layer::{Admission, Changer, NotGathered, Reader, Viewer, Writer, gather};
use crate::ldp::acl;
use crate::ldp::dialect::Dialect;
use crate::ldp::external::{self, Elsewhere};
use crate::ldp::fixity;
use crate::ldp::methods::{delete, options, patch, post, put, read, subtree, tombstone};
use crate::ldp::notifications;
use crate::ldp::representation::model::Model;
use crate::ldp::representation::paging;
use crate::ldp::representation::resource::{LoadedResource, rfc3339};
use crate::ldp::representation::vocabulary::MEMBERSHIP_RESOURCE;
use crate::ldp::representation::web::Web;
use crate::ldp::request::conditions;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::prefer::Preferences;
use crate::ldp::request::target::{Part, Target};
use crate::ldp::request::transactions;
use crate::ldp::search;
use crate::ldp::versions;
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
    /// What follows the question mark of the address.
    pub(crate) query: String,
    pub(crate) caller: Caller,
    pub(crate) preferences: Preferences,
    /// Where the bytes are, if not in the request.
    pub(crate) elsewhere: Option<Elsewhere>,
    /// Whether the answer is about a version, and not about the resource that has it.
    pub(crate) is_memento: bool,
    admission: Admission,
}

/// Answers every request.
pub(crate) async fn answer(app: App, dialect: &'static Dialect, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let call = match Call::read(app, dialect, &mut parts).await {
        Ok(call) => call,
        Err(fault) => return fault.into_response(),
    };
    match transactions::named(&call) {
        Ok(None) => judged(call, |call| call.run(body)).await,
        Ok(Some(id)) => transactions::within(call, id, body).await,
        Err(fault) => fault.into_response(),
    }
}

/// The answer to a call; its refusal as this caller is answered one.
pub(in crate::ldp) async fn judged<F>(call: Call, run: impl FnOnce(Call) -> F) -> Response
where
    F: Future<Output = Result<Response, Fault>>,
{
    let check = acl::AccessCheck::of(&call);
    let (status, constraints) = (call.dialect.managed, call.web.constraints());
    let is_browsed = matches!(call.method, Method::GET | Method::HEAD) && wants_page(&call.headers);
    match run(call).await {
        Ok(answer) => answer,
        Err(fault) => {
            let fault = match fault.of_store() {
                Some(ErrorKind::Dangling) => fault.with_status(status).constrained(&constraints),
                _ => fault,
            };
            let answer = refusal(check.judged(fault).await, check.is_anonymous());
            match is_browsed && check.is_anonymous() {
                true => prompt_for_login(answer),
                false => answer,
            }
        }
    }
}

/// A refusal; callers without a login are prompted for one if another caller may be allowed to.
fn refusal(fault: Fault, is_anonymous: bool) -> Response {
    if is_anonymous && fault.status() == StatusCode::FORBIDDEN {
        let kind = ProblemKind::Store(ErrorKind::Unauthenticated);
        return Problem::new(kind, "this needs a login").into_response();
    }
    fault.into_response()
}

impl Call {
    pub(in crate::ldp) async fn read(
        app: App,
        dialect: &'static Dialect,
        parts: &mut Parts,
    ) -> Result<Self, Fault> {
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
            query: parts.uri.query().unwrap_or_default().to_owned(),
            preferences: Preferences::read(&parts.headers, dialect),
            headers: std::mem::take(&mut parts.headers),
            caller,
            elsewhere: None,
            is_memento: false,
            admission,
        })
    }

    pub(in crate::ldp) async fn run(self, body: Body) -> Result<Response, Fault> {
        match &self.target.part {
            Part::Tombstone => return tombstone::answer(self).await,
            Part::Acl => return acl::answer(self, body).await,
            Part::Fixity => return fixity::answer(self).await,
            Part::Versions(_) | Part::Version(..) => return versions::answer(self, body).await,
            Part::Events => return notifications::answer(self).await,
            Part::Search => return search::answer(self).await,
            Part::Sparql => return subtree::answer(self, body).await,
            Part::Transactions => return transactions::begin(self).await,
            Part::Transaction(id) => {
                let id = id.clone();
                return transactions::answer(self, &id).await;
            }
            Part::Whole | Part::Description | Part::Content => {}
        }
        match self.method.as_str() {
            "GET" | "HEAD" => match versions::gate(&self).await? {
                Some(way) => Ok(way),
                None if paging::is_wanted(&self) => paging::answer(self).await,
                None => read::read(self).await,
            },
            "OPTIONS" => options::options(self).await,
            "PUT" | "POST" => {
                acl::refuse_link(&self)?;
                let (call, body) = external::taken_in(self, body).await?;
                match call.method == Method::PUT {
                    true => put::put(call, body).await,
                    false => post::post(call, body).await,
                }
            }
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

    /// Waits for something that is not work of this request.
    pub(in crate::ldp) async fn aside<T>(
        &self,
        something: impl Future<Output = T>,
    ) -> Result<T, Fault> {
        Ok(self.admission.aside(something).await?)
    }

    /// What follows the change feed for this request.
    pub(in crate::ldp) fn follower(&self) -> (App, Caller, Admission) {
        (self.app.clone(), self.caller.clone(), self.admission.clone())
    }

    /// A header as text, if it is present and is text.
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
    /// Those of [`Call::missing`] if it does not exist.
    pub(crate) fn load(&self, store: &Store) -> Result<LoadedResource, Fault> {
        self.load_in(&self.reading(store)?, store)
    }

    /// The same with as much of its description as headers need.
    pub(crate) fn headings(&self, store: &Store) -> Result<LoadedResource, Fault> {
        self.headings_in(&self.reading(store)?, store)
    }

    /// The state of the store, for an answer about all that is shown of what the request names.
    pub(crate) fn reading(&self, store: &Store) -> Result<Reading, Fault> {
        let reading = store.reading_of(&self.caller, &self.at(), &self.foreseen())?;
        Ok(reading.ruled(self.dialect.dangling))
    }

    /// Changes a description, with the dialect's rule for links to missing resources.
    pub(crate) fn change_graph(
        &self,
        store: &Store,
        at: &At,
        conditions: &Conditions,
        change: impl Fn(&Graph) -> cenote_store::Result<Graph>,
    ) -> cenote_store::Result<Stat> {
        store.change_graph_with(&self.caller, at, conditions, self.dialect.dangling, change)
    }

    /// What an answer needs to show a graph, or to compare what was sent with it.
    fn foreseen(&self) -> Foreseen<'static> {
        let is_of = |methods: &[Method]| {
            self.target.part != Part::Content && methods.contains(&self.method)
        };
        let (is_shown, is_changed) = (is_of(&[Method::GET]), is_of(&[Method::PUT, Method::PATCH]));
        let Preferences { containment, managed, .. } = self.preferences;
        let is_tagged = self.target.part != Part::Content;
        Foreseen {
            children: is_shown && containment,
            versions: self.dialect.mentions_versions && (is_changed || is_shown && managed),
            collection: is_tagged,
            object_of: is_tagged.then_some(MEMBERSHIP_RESOURCE),
            removed: true,
            ..Foreseen::default()
        }
    }

    /// The same in one state of the store.
    pub(crate) fn load_in(
        &self,
        reading: &Reading,
        store: &Store,
    ) -> Result<LoadedResource, Fault> {
        self.completed(LoadedResource::read(reading, &self.at()), reading, store)
    }

    /// [`Call::headings`] in one state of the store.
    pub(crate) fn headings_in(
        &self,
        reading: &Reading,
        store: &Store,
    ) -> Result<LoadedResource, Fault> {
        self.completed(LoadedResource::read_headings(reading, &self.at()), reading, store)
    }

    fn completed(
        &self,
        read: cenote_store::Result<LoadedResource>,
        reading: &Reading,
        store: &Store,
    ) -> Result<LoadedResource, Fault> {
        let loaded = read.map_err(|error| self.missing(store, error))?;
        match loaded.model == Model::Binary && self.target.part != Part::Description {
            true => Ok(loaded),
            false => Ok(loaded.with_inferred(reading)?),
        }
    }

    /// The refusal of a request about something that is not there: 410 if it was removed and left a tombstone, and also below a tombstone
    /// for what would create something there.
    pub(crate) fn missing(&self, store: &Store, error: Error) -> Fault {
        if error.kind() != ErrorKind::NotFound {
            return error.into();
        }
        let creates = matches!(self.method, Method::PUT | Method::POST);
        match store.tombstone(&self.caller, self.path()) {
            Ok(Some(left)) if creates || left.id.is_some() => self.gone(&left),
            Ok(_) => error.into(),
            Err(other) => other.into(),
        }
    }

    fn gone(&self, left: &Tombstone) -> Fault {
        let at = &left.removed;
        let detail = format!("it was removed: {}, at {}", at.path, rfc3339(at.removed));
        let fault = Fault::new(StatusCode::GONE, detail);
        let link =
            format!("<{}>; rel=\"hasTombstone\"", self.web.part(self.path(), "fcr:tombstone"));
        match left.id == Some(at.id) {
            true => fault.with(axum::http::header::LINK, &link),
            false => fault,
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
        _ => Ok(Viewer::from_request_parts(parts, app).await?.0),
    }
}
