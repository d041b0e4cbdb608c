//! How resources and managed terms are spelled at each address.
//!
//! Invariant: whatever an answer calls a resource, a query may call it, too; and a query may use any of the forms.

use std::borrow::Cow;

use axum::http::header;
use axum::http::request::Parts;
use cenote_query::sparql::{Graphs, Words};
use cenote_store::{Version, iri_of, path_of};

use super::prefixes::{self, Prefixes};
use crate::layer::Secure;
use crate::ldp::version_name;

/// Where queries are answered, and in which words.
#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) path: &'static str,
    resources: Resources,
    fedora: &'static str,
    states_basic_container: bool,
    graphs: Graphs,
    pub(super) prefixes: Prefixes,
}

/// What resources are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resources {
    /// By their address below this mount point.
    Web(&'static str),
    /// `info:fcres/path`.
    Info,
    /// `cenote:/path`.
    Paths,
}

/// For anybody; the words are those of `/rest`.
const COMMON: Address = Address {
    path: "/sparql",
    resources: Resources::Web("/rest"),
    fedora: "http://fedora.info/definitions/v4/repository#",
    states_basic_container: true,
    graphs: Graphs::Resources,
    prefixes: &[],
};

/// As LAKEsuperior has it.
const LAKESUPERIOR: Address = Address {
    path: "/query/sparql",
    resources: Resources::Info,
    fedora: "http://fedora.info/definitions/fcrepo#",
    states_basic_container: false,
    graphs: Graphs::Parts,
    prefixes: &prefixes::LAKESUPERIOR,
};

/// LAKEsuperior's term search, which uses its own addresses of resources.
pub(crate) const TERM_SEARCH: Address =
    Address { resources: Resources::Web("/ldp"), ..LAKESUPERIOR };

pub(crate) const ALL: [&Address; 2] = [&COMMON, &LAKESUPERIOR];

/// The mount points of linked data.
const MOUNTS: [&str; 3] = ["/rest", "/ldp", "/w3c"];
/// Names of this prefix are no resources there.
const RESERVED: &str = "/fcr:";
const INFO: &str = "info:fcres";
const PATHS: &str = "cenote:";

/// The words of one request.
#[derive(Debug, Clone)]
pub(crate) struct Spelling {
    address: &'static Address,
    resources: Resources,
    /// Scheme and authority.
    origin: String,
}

impl Address {
    /// The words of a request; `paths`, if it prefers paths to addresses.
    pub(crate) fn spelling(&'static self, parts: &Parts, paths: bool) -> Spelling {
        let resources = if paths { Resources::Paths } else { self.resources };
        Spelling { address: self, resources, origin: origin(parts) }
    }
}

/// Scheme and authority of the address that a request was sent to.
pub(crate) fn origin(parts: &Parts) -> String {
    let scheme = if parts.extensions.get::<Secure>().is_some() { "https" } else { "http" };
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = parts.uri.authority().map(|authority| authority.as_str()).or(host);
    format!("{scheme}://{}", host.unwrap_or("localhost"))
}

impl Spelling {
    /// What relative IRIs of a query are resolved against: the root.
    pub(crate) fn base(&self) -> String {
        self.outward("cenote:/").into_owned()
    }

    /// The path with its fragment that an IRI names at one of the mount points, or in LAKEsuperior's own form.
    fn named<'a>(&self, iri: &'a str) -> Option<&'a str> {
        if let Some(rest) = iri.strip_prefix(INFO) {
            return Some(rest);
        }
        let rest = iri.strip_prefix(self.origin.as_str())?;
        let rest = MOUNTS.iter().find_map(|mount| rest.strip_prefix(mount))?;
        let is_named = rest.is_empty() || rest.starts_with(['/', '#']);
        (is_named && !rest.contains('?') && !rest.contains(RESERVED)).then_some(rest)
    }
}

impl Words for Spelling {
    fn outward<'a>(&self, iri: &'a str) -> Cow<'a, str> {
        if path_of(iri).is_none() {
            return iri.into();
        }
        let rest = iri.strip_prefix(PATHS).unwrap_or(iri);
        match self.resources {
            Resources::Info => format!("{INFO}{rest}").into(),
            Resources::Web(mount) => format!("{}{mount}{rest}", self.origin).into(),
            Resources::Paths => iri.into(),
        }
    }

    fn inward<'a>(&self, iri: &'a str) -> Cow<'a, str> {
        let Some(rest) = self.named(iri) else { return iri.into() };
        let (path, fragment) = rest.split_at(rest.find('#').unwrap_or(rest.len()));
        let path = if path.is_empty() { "/" } else { path };
        match path_of(&format!("{PATHS}{path}")) {
            Some((path, _)) => format!("{}{fragment}", iri_of(&path)).into(),
            None => iri.into(),
        }
    }

    fn fedora(&self) -> &str {
        self.address.fedora
    }

    fn states_basic_container(&self) -> bool {
        self.address.states_basic_container
    }

    fn graphs(&self) -> Graphs {
        self.address.graphs
    }

    fn version(&self, version: &Version) -> String {
        version_name(version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_spelling_identifies_the_same_resource() {
        let origin = "http://h:8".to_owned();
        let spelling = |address: &'static Address| Spelling {
            address,
            resources: address.resources,
            origin: origin.clone(),
        };
        for address in ALL {
            let spelling = spelling(address);
            for (iri, path) in [
                ("http://h:8/rest/a%20b#x", "cenote:/a%20b#x"),
                ("http://h:8/ldp", "cenote:/"),
                ("http://h:8/w3c/a/", "cenote:/a"),
                ("info:fcres/a", "cenote:/a"),
                ("info:fcres/", "cenote:/"),
                ("cenote:/a", "cenote:/a"),
                ("http://h:8/rest/a/fcr:metadata", "http://h:8/rest/a/fcr:metadata"),
                ("http://h:8/rest/a?b", "http://h:8/rest/a?b"),
                ("http://other/rest/a", "http://other/rest/a"),
                ("http://h:8/restful", "http://h:8/restful"),
            ] {
                assert_eq!(spelling.inward(iri), path, "{iri}");
                let outward = spelling.outward(path);
                assert_eq!(spelling.inward(&outward), path);
            }
        }
        assert_eq!(spelling(&COMMON).outward("cenote:/a#x"), "http://h:8/rest/a#x");
        assert_eq!(spelling(&LAKESUPERIOR).outward("cenote:/"), "info:fcres/");
        assert_eq!(spelling(&COMMON).outward("cenote:tag"), "cenote:tag");
    }
}
