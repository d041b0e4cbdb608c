//! The headers by which an answer says what a resource is, and what can be done with it.

use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use cenote_rdf::Syntax;
use cenote_store::{ContentHead, Time};

use super::call::Call;
use super::dialect::Dialect;
use super::model::Model;
use super::seen::Seen;
use super::target::Part;
use super::vocabulary::LDP;
use crate::layer::conditional::{http_date, quoted};

pub(crate) const ACCEPT_PATCH: HeaderName = HeaderName::from_static("accept-patch");
pub(crate) const ACCEPT_POST: HeaderName = HeaderName::from_static("accept-post");
pub(crate) const DIGEST: HeaderName = HeaderName::from_static("digest");
pub(crate) const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
/// The media type of SPARQL Update.
pub(crate) const SPARQL_UPDATE: &str = "application/sparql-update";

/// Headers being gathered; what HTTP cannot say in a header is left out.
#[derive(Debug, Default)]
pub(crate) struct Headers(pub(crate) HeaderMap);

impl Headers {
    pub(crate) fn add(&mut self, name: HeaderName, value: &str) {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.0.append(name, value);
        }
    }

    /// What every answer about a resource says: its types, what it is described by, its methods.
    pub(crate) fn about(call: &Call, seen: &Seen) -> Self {
        let mut headers = Self::default();
        headers.types(call, seen);
        headers.described_by(call, seen);
        headers.add(header::ALLOW, allow(call, seen));
        if can_patch(call, seen) {
            headers.add(ACCEPT_PATCH, SPARQL_UPDATE);
        }
        if seen.model.is_container() {
            headers.add(ACCEPT_POST, &accept_post());
        }
        headers
    }

    /// Its interaction model; of the description of a binary, that of the description.
    fn types(&mut self, call: &Call, seen: &Seen) {
        let link = |iri: &str| format!("<{iri}>;rel=\"type\"");
        if seen.model == Model::Binary && call.target.part == Part::Description {
            for name in Model::Source.types(true) {
                self.add(header::LINK, &link(&format!("{LDP}{name}")));
            }
            return;
        }
        for class in seen.types(call.dialect) {
            // LAKEsuperior links to LDP's types only.
            if class.starts_with(LDP) || call.dialect.says_basic {
                self.add(header::LINK, &link(&class));
            }
        }
    }

    fn described_by(&mut self, call: &Call, seen: &Seen) {
        let address = call.web.address(seen.path());
        match (seen.model, &call.target.part) {
            (Model::Binary, Part::Description) => {
                self.add(header::LINK, &format!("<{address}>; rel=describes"));
            }
            (Model::Binary, _) => self.add(
                header::LINK,
                &format!("<{address}/fcr:metadata>;rel=\"describedby\";anchor=\"{address}\""),
            ),
            _ => {}
        }
    }

    /// The validators of bytes.
    pub(crate) fn content_validators(&mut self, dialect: &Dialect, tag: &str, written: Time) {
        match dialect.quotes_tags {
            true => self.add(header::ETAG, &quoted(tag)),
            false => self.add(header::ETAG, tag),
        }
        if let Some(date) = http_date(written) {
            self.add(header::LAST_MODIFIED, &date);
        }
    }

    /// The digest that the dialect tells unasked, if it is known.
    pub(crate) fn digest(&mut self, dialect: &Dialect, head: &ContentHead) {
        let known = dialect.digest.and_then(|known| Some((known, known.of(&head.digests)?)));
        if let Some((known, digest)) = known {
            self.add(DIGEST, &known.shown(&digest, dialect.digests));
        }
    }

    /// The validators of a graph.
    pub(crate) fn graph_validators(&mut self, dialect: &Dialect, seen: &Seen) {
        if dialect.tags_graphs {
            self.add(header::ETAG, &quoted(&seen.tag()));
        }
        if let Some(date) = http_date(seen.changed()) {
            self.add(header::LAST_MODIFIED, &date);
        }
    }
}

/// What can be posted to a container.
pub(crate) fn accept_post() -> String {
    Syntax::ALL.map(Syntax::media_type).join(",") + ",*/*"
}

fn can_patch(call: &Call, seen: &Seen) -> bool {
    seen.model != Model::Binary || call.target.part == Part::Description
}

/// The methods of what a request names.
pub(crate) fn allow(call: &Call, seen: &Seen) -> &'static str {
    match (seen.model, &call.target.part) {
        (Model::Binary, Part::Description) => "GET,HEAD,OPTIONS,PUT,PATCH",
        (Model::Binary, _) => "GET,HEAD,OPTIONS,PUT,DELETE",
        (Model::Source, _) => "GET,HEAD,OPTIONS,PUT,PATCH,DELETE",
        _ if seen.path().names().is_empty() => "GET,HEAD,OPTIONS,POST,PATCH",
        _ => "GET,HEAD,OPTIONS,PUT,POST,PATCH,DELETE",
    }
}
