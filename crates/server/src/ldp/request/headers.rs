//! The headers of a response with the type of a resource, and the supported methods.

use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use cenote_rdf::Syntax;
use cenote_store::{ContentHead, Time};

use crate::layer::conditional::{http_date, quoted};
use crate::ldp::acl;
use crate::ldp::dialect::Dialect;
use crate::ldp::external;
use crate::ldp::representation::model::Model;
use crate::ldp::representation::resource::LoadedResource;
use crate::ldp::representation::vocabulary::LDP;
use crate::ldp::request::call::Call;
use crate::ldp::request::target::Part;
use crate::ldp::versions;

pub(crate) const ACCEPT_PATCH: HeaderName = HeaderName::from_static("accept-patch");
pub(crate) const ACCEPT_POST: HeaderName = HeaderName::from_static("accept-post");
pub(crate) const DIGEST: HeaderName = HeaderName::from_static("digest");
pub(crate) const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
const STATE_TOKEN: HeaderName = HeaderName::from_static("x-state-token");
pub(crate) const IF_STATE_TOKEN: HeaderName = HeaderName::from_static("x-if-state-token");
/// The media type of SPARQL Update.
pub(crate) const SPARQL_UPDATE: &str = "application/sparql-update";

/// Headers being collected; values that HTTP cannot represent are omitted.
#[derive(Debug, Default)]
pub(crate) struct Headers(pub(crate) HeaderMap);

impl Headers {
    pub(crate) fn add(&mut self, name: HeaderName, value: &str) {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.0.append(name, value);
        }
    }

    /// The media type of a graph; only those of `text/` have a character set.
    pub(crate) fn syntax(&mut self, syntax: Syntax) {
        let media_type = syntax.media_type();
        let charset = if media_type.starts_with("text/") { ";charset=utf-8" } else { "" };
        self.add(header::CONTENT_TYPE, &format!("{media_type}{charset}"));
    }

    /// The headers of every response about a resource: its types, its description, its methods.
    pub(crate) fn about(call: &Call, loaded: &LoadedResource) -> Self {
        let mut headers = Self::default();
        headers.types(call, loaded);
        headers.described_by(call, loaded);
        headers.add(header::ALLOW, allow(call, loaded));
        if can_patch(call, loaded) {
            headers.add(ACCEPT_PATCH, SPARQL_UPDATE);
        }
        if loaded.model.is_container() {
            headers.add(ACCEPT_POST, &accept_post());
        }
        versions::original(call, &mut headers);
        acl::link(call, &mut headers);
        external::advertise(call, &mut headers);
        headers
    }

    /// Its interaction model; of the description of a binary, that of the description.
    fn types(&mut self, call: &Call, loaded: &LoadedResource) {
        let link = |iri: &str| format!("<{iri}>;rel=\"type\"");
        if loaded.model == Model::Binary && call.target.part == Part::Description {
            for name in Model::Source.types(true) {
                self.add(header::LINK, &link(&format!("{LDP}{name}")));
            }
            return;
        }
        for class in loaded.types(call.dialect) {
            // LAKEsuperior links only to the types of LDP.
            if class.starts_with(LDP) || call.dialect.states_basic_container {
                self.add(header::LINK, &link(&class));
            }
        }
    }

    fn described_by(&mut self, call: &Call, loaded: &LoadedResource) {
        let address = call.web.address(loaded.path());
        match (loaded.model, &call.target.part) {
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
        self.state_token(dialect, tag);
        if let Some(date) = http_date(written) {
            self.add(header::LAST_MODIFIED, &date);
        }
    }

    /// The additional tag of the Fedora API (section 3.10), in dialects that have it.
    fn state_token(&mut self, dialect: &Dialect, tag: &str) {
        if dialect.has_state_tokens {
            self.add(STATE_TOKEN, tag);
        }
    }

    /// The digest that the dialect sends without being requested, if it is known.
    pub(crate) fn digest(&mut self, dialect: &Dialect, head: &ContentHead) {
        let known = dialect.digest.and_then(|known| Some((known, known.of(&head.digests)?)));
        if let Some((known, digest)) = known {
            self.add(DIGEST, &known.shown(&digest, dialect.digests));
        }
    }

    /// The validators of a graph.
    pub(crate) fn graph_validators(&mut self, dialect: &Dialect, loaded: &LoadedResource) {
        if dialect.tags_graphs {
            self.add(header::ETAG, &quoted(&loaded.tag()));
            self.state_token(dialect, &loaded.tag());
        }
        if let Some(date) = http_date(loaded.validated()) {
            self.add(header::LAST_MODIFIED, &date);
        }
    }
}

/// What can be posted to a container.
pub(crate) fn accept_post() -> String {
    Syntax::ALL.map(Syntax::media_type).join(",") + ",*/*"
}

fn can_patch(call: &Call, loaded: &LoadedResource) -> bool {
    loaded.model != Model::Binary || call.target.part == Part::Description
}

/// The methods of what a request names.
pub(crate) fn allow(call: &Call, loaded: &LoadedResource) -> &'static str {
    match (loaded.model, &call.target.part) {
        (Model::Binary, Part::Description) => "GET,HEAD,OPTIONS,PUT,PATCH",
        (Model::Binary, _) => "GET,HEAD,OPTIONS,PUT,DELETE",
        (Model::Source, _) => "GET,HEAD,OPTIONS,PUT,PATCH,DELETE",
        _ if loaded.path().names().is_empty() => "GET,HEAD,OPTIONS,POST,PATCH",
        _ => "GET,HEAD,OPTIONS,PUT,POST,PATCH,DELETE",
    }
}
