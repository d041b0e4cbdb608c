//! Interaction models: what a resource of the store is in LDP's words.
//!
//! | store | LDP |
//! |---|---|
//! | collection | a container: basic, or of the class that a statement about its type says |
//! | description, symbolic link | an RDF source that is no container |
//! | object | a non-RDF source, whose description is at `fcr:metadata` |

use axum::http::{HeaderMap, header};
use cenote_store::{Graph, Kind, Statement, Term};

use crate::ldp::representation::vocabulary::{LDP, RDF_TYPE};
use crate::ldp::request::fault::Fault;

/// The interaction model of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    Basic,
    Direct,
    Indirect,
    /// An RDF source that is no container.
    Source,
    /// A non-RDF source.
    Binary,
}

impl Model {
    /// That of a resource with this description.
    pub(crate) fn of(kind: Kind, description: &Graph) -> Self {
        match kind {
            Kind::Object => Self::Binary,
            Kind::Link | Kind::Description => Self::Source,
            Kind::Collection => Self::class(description).unwrap_or(Self::Basic),
        }
    }

    /// The class of container that a description says it is of.
    pub(crate) fn class(description: &Graph) -> Option<Self> {
        let is = |class: Self| description.contains(&class.statement());
        [Self::Indirect, Self::Direct].into_iter().find(|class| is(*class))
    }

    /// The one that the `Link` headers of a request name.
    pub(crate) fn requested(headers: &HeaderMap) -> Result<Option<Self>, Fault> {
        let mut requested: Option<Self> = None;
        for iri in linked_types(headers) {
            let Some(model) = iri.strip_prefix(LDP).and_then(Self::named) else { continue };
            requested = match (requested, model) {
                (None | Some(Self::Source), model) => Some(model),
                (Some(model), Self::Source) => Some(model),
                (Some(one), other) if one == other => Some(one),
                _ => return Err(Fault::bad("the Link headers name several interaction models")),
            };
        }
        Ok(requested)
    }

    /// Whether the `Link` headers of a request name only types of LDP that a resource of this model has.
    pub(crate) fn has_linked(self, headers: &HeaderMap) -> bool {
        let own = self.types(true);
        let named = linked_types(headers).filter_map(|iri| iri.strip_prefix(LDP));
        named.filter(|name| Self::named(name).is_some()).all(|name| own.contains(&name))
    }

    fn named(name: &str) -> Option<Self> {
        match name {
            "BasicContainer" | "Container" => Some(Self::Basic),
            "DirectContainer" => Some(Self::Direct),
            "IndirectContainer" => Some(Self::Indirect),
            "RDFSource" | "Resource" => Some(Self::Source),
            "NonRDFSource" => Some(Self::Binary),
            _ => None,
        }
    }

    pub(crate) fn is_container(self) -> bool {
        matches!(self, Self::Basic | Self::Direct | Self::Indirect)
    }

    /// The LDP types of a resource of this model, by their names; `states_basic_container`, if basic containers say that they are.
    pub(crate) fn types(self, states_basic_container: bool) -> &'static [&'static str] {
        match self {
            Self::Basic if states_basic_container => {
                &["Resource", "RDFSource", "Container", "BasicContainer"]
            }
            Self::Basic => &["Resource", "RDFSource", "Container"],
            Self::Direct => &["Resource", "RDFSource", "Container", "DirectContainer"],
            Self::Indirect => &["Resource", "RDFSource", "Container", "IndirectContainer"],
            Self::Source => &["Resource", "RDFSource"],
            Self::Binary => &["Resource", "NonRDFSource"],
        }
    }

    /// The statement by which the description of a container has its class.
    pub(crate) fn statement(self) -> Statement {
        let name = self.types(true).last().unwrap_or(&"Resource");
        Statement {
            subject: None,
            predicate: RDF_TYPE.to_owned(),
            object: Term::Iri(format!("{LDP}{name}")),
            unit: None,
        }
    }
}

/// The targets of `Link` headers with `rel="type"`.
fn linked_types(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    linked(headers, "type").map(|(iri, _)| iri)
}

/// The links of a relation in `Link` headers, each with its parameters.
pub(crate) fn linked<'a>(
    headers: &'a HeaderMap,
    rel: &'static str,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let values = headers.get_all(header::LINK).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(links).filter(move |(_, parameters)| has_rel(parameters, rel))
}

/// The value of a parameter of a link.
pub(crate) fn parameter<'a>(parameters: &'a str, name: &str) -> Option<&'a str> {
    let mut pairs = parameters.split(';').filter_map(|parameter| parameter.split_once('='));
    let value = pairs.find(|(own, _)| own.trim().eq_ignore_ascii_case(name))?.1;
    Some(value.trim().trim_matches('"'))
}

/// The links of a header value, each with its parameters (RFC 8288).
fn links(value: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = value;
    std::iter::from_fn(move || {
        let (_, link) = rest.split_once('<')?;
        let (iri, parameters) = link.split_once('>')?;
        let end = parameters.find(",").and_then(|_| end_of(parameters));
        let (parameters, next) = parameters.split_at(end.unwrap_or(parameters.len()));
        rest = next;
        Some((iri.trim(), parameters))
    })
}

/// Where the next link begins: at a comma that is not in quotes.
fn end_of(parameters: &str) -> Option<usize> {
    let mut is_quoted = false;
    parameters.find(|c: char| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    })
}

fn has_rel(parameters: &str, wanted: &str) -> bool {
    parameters.split(';').any(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or_default();
        name.trim().eq_ignore_ascii_case("rel")
            && value.trim().trim_matches('"').split_ascii_whitespace().any(|rel| rel == wanted)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn requested(links: &[&str]) -> Result<Option<Model>, Fault> {
        let mut headers = HeaderMap::new();
        for link in links {
            headers.append(header::LINK, link.replace("ldp:", LDP).parse().unwrap());
        }
        Model::requested(&headers)
    }

    #[test]
    fn the_link_header_names_the_model() {
        for (links, model) in [
            (&[][..], None),
            (&["<ldp:BasicContainer>; rel=\"type\""], Some(Model::Basic)),
            (&["<ldp:DirectContainer>;rel=type"], Some(Model::Direct)),
            (&["<ldp:Resource>; rel=\"type\""], Some(Model::Source)),
            (
                &["<ldp:Resource>; rel=\"type\", <ldp:BasicContainer>; rel=\"type\""],
                Some(Model::Basic),
            ),
            (
                &["<ldp:IndirectContainer>; rel=\"type\"", "<ldp:Resource>; rel=\"type\""],
                Some(Model::Indirect),
            ),
            (&["<ldp:NonRDFSource>; title=\"a, b\"; rel=\"type\""], Some(Model::Binary)),
            (&["<ldp:BasicContainer>; rel=\"up\""], None),
            (&["<urn:x>; rel=\"type\""], None),
        ] {
            assert_eq!(requested(links).unwrap(), model, "{links:?}");
        }
        let both = ["<ldp:NonRDFSource>;rel=\"type\", <ldp:BasicContainer>;rel=\"type\""];
        assert!(requested(&both).is_err());
    }

    proptest! {
        #[test]
        fn any_header_is_read(value in "[<>a-z:;,=\" ]{0,30}") {
            let _ = requested(&[&value]);
        }
    }
}
