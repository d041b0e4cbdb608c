//! What a PUT or POST carries: a graph or bytes, and of which interaction model the resource is to be.

use axum::body::Body;
use axum::http::{StatusCode, header};
use cenote_rdf::{Limits, ReadError, Syntax, Triple};
use cenote_store::{
    Algorithm, At, Draft, ErrorKind, Graph, Kind, PutOptions, Rights, Store, StorePath, path_of,
};
use http_body::Body as _;

use crate::ldp::representation::managed::{Sieve, class};
use crate::ldp::representation::members::value;
use crate::ldp::representation::membership::Inferred;
use crate::ldp::representation::model::Model;
use crate::ldp::representation::resource::LoadedResource;
use crate::ldp::representation::vocabulary::MEMBERSHIP_RESOURCE;
use crate::ldp::representation::web::OwnIris;
use crate::ldp::request::call::{Call, is_empty};
use crate::ldp::request::digest::{self, DigestAlgorithm};
use crate::ldp::request::fault::Fault;
use crate::ldp::request::target::Part;
use crate::statements::statement;

/// More than a description may have is refused by the store, with its own words.
const LIMITS: Limits = Limits { triples: 100_001, term: 1 << 20 };

/// The part `file` of a form, with its type and name, as if it had been sent by itself; any other body as it is.
pub(crate) async fn unfolded(mut call: Call, body: Body) -> Result<(Call, Body), Fault> {
    let media_type = call.header(header::CONTENT_TYPE).unwrap_or_default();
    if !media_type.starts_with("multipart/form-data") {
        return Ok((call, body));
    }
    let wrong = |error: multer::Error| Fault::bad(format!("the form: {error}"));
    let boundary = multer::parse_boundary(media_type).map_err(wrong)?;
    let mut form = multer::Multipart::new(body.into_data_stream(), boundary);
    while let Some(part) = form.next_field().await.map_err(wrong)? {
        if part.name() == Some("file") {
            for name in [header::CONTENT_TYPE, header::CONTENT_DISPOSITION] {
                let of_part = part.headers().get(&name).cloned();
                call.headers.remove(&name);
                call.headers.extend(of_part.map(|value| (name, value)));
            }
            return Ok((call, Body::from_stream(part)));
        }
    }
    Err(Fault::bad("the form has no part `file`"))
}

/// The kind of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// A graph in a syntax.
    Graph(Syntax),
    /// Bytes of any type.
    Bytes,
}

impl Sent {
    /// The body of a request, according to its media type and the requested model.
    pub(crate) fn of(call: &Call, body: &Body, requested: Option<Model>) -> Result<Self, Fault> {
        let media_type = media_type(call);
        let syntax = media_type.as_deref().and_then(Syntax::from_media_type);
        let is_container = requested.is_some_and(|model| model != Model::Binary);
        match (syntax, requested) {
            (_, Some(Model::Binary)) => Ok(Self::Bytes),
            (Some(syntax), _) => Ok(Self::Graph(syntax)),
            (None, _) if call.target.part == Part::Description => Err(unsupported("a description")),
            (None, _) if media_type.is_none() && is_empty(body) => {
                match is_container || call.dialect.empty_is_container {
                    true => Ok(Self::Graph(Syntax::Turtle)),
                    false => Ok(Self::Bytes),
                }
            }
            (None, _) if is_container => Err(unsupported("an RDF source")),
            (None, _) => Ok(Self::Bytes),
        }
    }
}

fn unsupported(what: &str) -> Fault {
    let known = Syntax::ALL.map(Syntax::media_type).join(", ");
    Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("{what} is sent as one of {known}"))
}

/// The media type that was set; that of forms is sent by clients unintentionally.
fn media_type(call: &Call) -> Option<String> {
    let declared = call.header(header::CONTENT_TYPE)?.trim();
    let is_form = declared.starts_with("application/x-www-form-urlencoded");
    (!declared.is_empty() && !is_form).then(|| declared.to_owned())
}

/// The triples of a body, about the resource at an address.
pub(crate) fn triples(bytes: &[u8], syntax: Syntax, address: &str) -> Result<Vec<Triple>, Fault> {
    cenote_rdf::read(bytes, syntax, address, LIMITS).map_err(|error| {
        let status = match error {
            ReadError::TooMany(_) | ReadError::TooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ReadError::Syntax { .. } | ReadError::Malformed(_) => StatusCode::BAD_REQUEST,
        };
        Fault::new(status, format!("the body is not valid {}: {error}", syntax.media_type()))
    })
}

/// The description for these triples.
pub(crate) fn described(
    call: &Call,
    store: &Store,
    path: &StorePath,
    triples: Vec<Triple>,
) -> Result<Graph, Fault> {
    let iris = OwnIris::new(&call.web, path);
    let statements = triples.into_iter().map(|triple| statement(triple, &iris));
    let described: Graph = statements.collect();
    require_describable(call, store, path, &described)?;
    Ok(described)
}

/// Refuses to have a container add members to a resource that the caller may not describe.
fn require_describable(
    call: &Call,
    store: &Store,
    path: &StorePath,
    described: &Graph,
) -> Result<(), Fault> {
    let resource = value(described, MEMBERSHIP_RESOURCE).and_then(path_of);
    let Some((resource, _)) = resource.filter(|(resource, _)| resource != path) else {
        return Ok(());
    };
    match store.rights(&call.caller, &At::from(&resource)) {
        Ok(rights) if rights.contains(Rights::ADD_DESCRIPTION) => Ok(()),
        Ok(_) => {
            let detail =
                format!("a container with members of {resource} needs add_description there");
            Err(Fault::new(StatusCode::FORBIDDEN, detail))
        }
        // What the caller does not see is as if it were missing: the members are not shown there.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// How a resource is created.
pub(crate) struct New {
    /// The model that the `Link` header names.
    pub(crate) requested: Option<Model>,
    /// Whether the containers that are missing on the way are created, too.
    pub(crate) parents: bool,
    /// What follows of it from others.
    pub(crate) inferred: Option<Inferred>,
}

/// Creates an RDF source where the call is.
pub(crate) fn create_graph(
    call: &Call,
    store: &Store,
    triples: Vec<Triple>,
    new: New,
) -> Result<LoadedResource, Fault> {
    let (path, address) = (call.path(), call.address());
    let New { requested, parents, inferred } = new;
    let model = model(call, &triples, &address, requested)?;
    let kept = Sieve::new(call, &address, model).sift(triples)?;
    let mut description = described(call, store, path, kept)?;
    if matches!(model, Model::Direct | Model::Indirect) {
        description.insert(model.statement());
    }
    let draft = if model.is_container() { Draft::Collection } else { Draft::Description };
    let options = cenote_store::CreateOptions { parents, ..Default::default() };
    let described = (&description, call.dialect.dangling);
    let made = store.create_described(&call.caller, path, &draft, options, described)?;
    Ok(LoadedResource::created(&call.caller, made, inferred))
}

/// The model of a new RDF source: what the Link header says, or the body.
fn model(
    call: &Call,
    triples: &[Triple],
    address: &str,
    requested: Option<Model>,
) -> Result<Model, Fault> {
    let stated = class(triples, address).filter(|_| call.dialect.class_in_body);
    match (requested, stated) {
        (Some(requested), Some(stated)) if requested != stated => Err(Fault::new(
            StatusCode::CONFLICT,
            "the body and the Link header name different interaction models",
        )),
        (requested, stated) => Ok(requested.or(stated).unwrap_or(Model::Basic)),
    }
}

/// How bytes are put.
pub(crate) fn put_options(call: &Call, body: &Body) -> Result<PutOptions, Fault> {
    let mut expected = digest::expected(&call.headers)?;
    expected.length = body.size_hint().exact();
    let also = call.dialect.digest.and_then(DigestAlgorithm::algorithm);
    let is_new = |also: &Algorithm| !expected.others.iter().any(|(other, _)| other == also);
    expected.also = also.filter(is_new).into_iter().collect();
    Ok(PutOptions { expected, media_type: media_type(call), ..Default::default() })
}

/// Whether a resource of this kind is a graph.
pub(crate) fn is_graph(kind: Kind) -> bool {
    kind != Kind::Object
}
