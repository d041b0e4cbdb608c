//! Where this opening's resources are on the web: their addresses, and the IRIs of descriptions as text has them.
//!
//! Invariant: the same resource has an address below each mount point, under each name of the server. All of them are read as that
//! resource; what is written has the one of the request.

use std::borrow::Cow;
use std::cell::RefCell;

use axum::http::{Extensions, HeaderMap, Uri, header};
use cenote_store::{StorePath, iri_of, path_of};

use crate::layer::Secure;
use crate::ldp::dialect::{self, Dialect};
use crate::ldp::request::target::RESERVED;
use crate::statements::Iris;

/// The address of the root for one request, without a slash at its end.
#[derive(Debug, Clone)]
pub(crate) struct Web {
    /// Scheme and authority.
    origin: String,
    mount: &'static str,
}

impl Web {
    /// The one of the request.
    pub(crate) fn of(
        dialect: &Dialect,
        uri: &Uri,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Self {
        let scheme = if extensions.get::<Secure>().is_some() { "https" } else { "http" };
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let host = uri.authority().map(|authority| authority.as_str()).or(host);
        let origin = format!("{scheme}://{}", host.unwrap_or("localhost"));
        Self { origin, mount: dialect.mount }
    }

    /// The one with this scheme and authority.
    pub(crate) fn at(origin: &str, dialect: &Dialect) -> Self {
        Self { origin: origin.to_owned(), mount: dialect.mount }
    }

    /// The address of a resource.
    pub(crate) fn address(&self, path: &StorePath) -> String {
        format!("{}{}{}", self.origin, self.mount, path_part(&iri_of(path)))
    }

    /// The address of something about a resource, below it, such as `fcr:versions`.
    pub(crate) fn part(&self, path: &StorePath, about: &str) -> String {
        format!("{}/{about}", self.address(path).trim_end_matches('/'))
    }

    /// The address of what describes the terms of this server that a request may not set.
    pub(crate) fn constraints(&self) -> String {
        format!("{}/info/ldp_constraints", self.origin)
    }

    /// The path and the fragment of an address of a resource of this server.
    pub(crate) fn named(&self, iri: &str) -> Option<(StorePath, String)> {
        let rest = iri.strip_prefix(self.origin.as_str())?;
        let rest = dialect::ALL.iter().find_map(|mount| rest.strip_prefix(mount.mount))?;
        let is_named = rest.is_empty() || rest.starts_with(['/', '#']);
        let (path, fragment) = rest.split_at(rest.find('#').unwrap_or(rest.len()));
        if !is_named || path.contains('?') || path.contains(RESERVED) {
            return None;
        }
        let path = path.trim_end_matches('/');
        let path = if path.is_empty() { "/" } else { path };
        let (path, _) = path_of(&format!("cenote:{path}"))?;
        Some((path, fragment.to_owned()))
    }
}

/// What follows the scheme of an IRI by path.
fn path_part(iri: &str) -> &str {
    iri.strip_prefix("cenote:").unwrap_or(iri)
}

/// The IRIs of the description of one resource.
#[derive(Debug)]
pub(crate) struct OwnIris<'a> {
    web: &'a Web,
    path: &'a StorePath,
    address: String,
    /// The last translation in each direction. A description often names one resource many times.
    last_outward: RefCell<Option<Translation>>,
    last_inward: RefCell<Option<Translation>>,
}

/// An IRI, and what it is in the other form.
#[derive(Debug)]
struct Translation {
    from: String,
    to: String,
}

impl Translation {
    /// The translation of an IRI by `translate`, unless it is the last one; none if the IRI stays as it is.
    fn of(
        last: &RefCell<Option<Self>>,
        iri: &str,
        translate: impl FnOnce() -> Option<String>,
    ) -> Option<String> {
        if let Some(known) = last.borrow().as_ref().filter(|known| known.from == iri) {
            return Some(known.to.clone());
        }
        let to = translate()?;
        last.replace(Some(Self { from: iri.to_owned(), to: to.clone() }));
        Some(to)
    }
}

impl<'a> OwnIris<'a> {
    pub(crate) fn new(web: &'a Web, path: &'a StorePath) -> Self {
        let (last_outward, last_inward) = Default::default();
        Self { web, path, address: web.address(path), last_outward, last_inward }
    }

    /// The address of the resource.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

impl Iris for OwnIris<'_> {
    fn outward<'i>(&self, iri: &'i str) -> Cow<'i, str> {
        if iri.is_empty() || iri.starts_with('#') {
            return [self.address.as_str(), iri].concat().into();
        }
        let address = || {
            let (path, fragment) = path_of(iri)?;
            Some(self.web.address(&path) + fragment)
        };
        Translation::of(&self.last_outward, iri, address).map_or(iri.into(), Cow::Owned)
    }

    fn inward<'i>(&self, iri: &'i str) -> Cow<'i, str> {
        // Nearly every subject is this one.
        if iri == self.address {
            return "".into();
        }
        let named = || match self.web.named(iri)? {
            (path, fragment) if path == *self.path => Some(fragment),
            (path, fragment) => Some(iri_of(&path) + &fragment),
        };
        Translation::of(&self.last_inward, iri, named).map_or(iri.into(), Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn web() -> Web {
        Web { origin: "http://h:8".to_owned(), mount: "/rest" }
    }

    #[test]
    fn addresses_under_each_mount_point_name_the_same_resource() {
        let (web, own): (_, StorePath) = (web(), "/a".parse().unwrap());
        let iris = OwnIris::new(&web, &own);
        for (text, kept) in [
            ("http://h:8/rest/a", ""),
            ("http://h:8/ldp/a/", ""),
            ("http://h:8/w3c/a#x", "#x"),
            ("http://h:8/rest/b%20c", "cenote:/b%20c"),
            ("http://h:8/rest", "cenote:/"),
            ("http://h:8/ldp/", "cenote:/"),
            ("http://h:8/rest/a/b#x", "cenote:/a/b#x"),
            ("http://h:8/rest/a/fcr:metadata", "http://h:8/rest/a/fcr:metadata"),
            ("http://h:8/rest/a?x", "http://h:8/rest/a?x"),
            ("http://h:8/restful", "http://h:8/restful"),
            ("http://other/rest/a", "http://other/rest/a"),
            ("urn:x", "urn:x"),
        ] {
            assert_eq!(iris.inward(text), kept, "{text}");
        }
        assert_eq!(iris.outward("cenote:/"), "http://h:8/rest/");
        assert_eq!(iris.outward("cenote:tag"), "cenote:tag");
    }

    proptest! {
        #[test]
        fn written_addresses_round_trip(name in "[^/\0]{1,6}", fragment in "(#[a-z]{0,2})?") {
            let Ok(path) = format!("/{name}").parse::<StorePath>() else { return Ok(()) };
            prop_assume!(!name.contains(RESERVED));
            let (web, own) = (web(), "/a".parse().unwrap());
            let iris = OwnIris::new(&web, &own);
            let kept = if path == own { fragment.clone() } else { iri_of(&path) + &fragment };
            // Again, and with another one in between: the last translation is cached.
            for kept in [kept.as_str(), kept.as_str(), "cenote:/a/b", kept.as_str()] {
                let written = iris.outward(kept).into_owned();
                prop_assert_eq!(iris.inward(&written), kept);
                prop_assert_eq!(iris.inward(&written), kept);
                prop_assert_eq!(&written, &OwnIris::new(&web, &own).outward(kept));
            }
        }
    }
}
