//! The targets of resources of the source: below the migrated address, the rest of each address is unchanged.

use std::borrow::Cow;

use percent_encoding::{percent_decode_str, utf8_percent_encode};

use crate::text::SEGMENT;

/// The prefix of the names in addresses of a resource's metadata.
const RESERVED: &str = "fcr:";

/// The address of something, and the resources below it.
#[derive(Debug, Clone)]
pub(super) struct Root {
    /// Scheme, host and port.
    origin: String,
    /// Without a slash at its end.
    path: String,
}

impl Root {
    pub(super) fn new(origin: &str, path: &str) -> Self {
        let path = path.trim_end_matches('/').to_owned();
        Self { origin: origin.trim_end_matches('/').to_owned(), path }
    }

    /// The path of an address as it is sent; none if it is on another server.
    pub(super) fn sent<'a>(&self, address: &'a str) -> Option<&'a str> {
        match address.strip_prefix(&self.origin) {
            Some(path) if path.starts_with('/') => Some(path),
            _ => Some(address).filter(|address| address.starts_with('/')),
        }
    }

    /// Where a resource is below the root; none if it is not a resource there.
    pub(super) fn place(&self, address: &str) -> Option<Place> {
        let rest = self.sent(address)?.strip_prefix(&self.path)?;
        let rest = match rest.trim_end_matches('/') {
            "" => return Some(Place(Vec::new())),
            rest => rest.strip_prefix('/')?,
        };
        let name = |name: &str| {
            let name = percent_decode_str(name).decode_utf8().ok()?.into_owned();
            let is_name = !matches!(name.as_str(), "" | "." | "..") && !name.contains('/');
            (is_name && !name.starts_with(RESERVED)).then_some(name)
        };
        let is_address = !rest.contains(['?', '#']);
        is_address.then(|| rest.split('/').map(name).collect::<Option<_>>()).flatten().map(Place)
    }

    /// The path of a resource as it is sent.
    pub(super) fn path_of(&self, place: &Place) -> String {
        place.0.iter().fold(self.path.clone(), |path, name| path + "/" + &encoded(name))
    }

    /// An IRI that leads below this root, as one that leads to the same place below another one. Names are encoded in one way.
    pub(super) fn moved<'a>(&self, iri: &'a str, to: &Self) -> Cow<'a, str> {
        let (address, rest) = iri.split_at(iri.find(['?', '#']).unwrap_or(iri.len()));
        let Some(address) = address.strip_prefix(&self.origin) else { return iri.into() };
        let Some(names) = address.strip_prefix(&self.path) else { return iri.into() };
        let names = match names.trim_end_matches('/') {
            "" => "",
            below if below.starts_with('/') => below,
            _ => return iri.into(),
        };
        let mut moved = format!("{}{}", to.origin, to.path);
        for name in names.split('/').skip(1) {
            let Ok(name) = percent_decode_str(name).decode_utf8() else { return iri.into() };
            // As they occur in the addresses of a resource's metadata.
            let name = match name.starts_with(RESERVED) {
                true => name,
                false => encoded(&name).into(),
            };
            moved = moved + "/" + &name;
        }
        (moved + rest).into()
    }
}

/// Names from a root down to a resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Place(Vec<String>);

impl Place {
    pub(super) fn root() -> Self {
        Self(Vec::new())
    }

    pub(super) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Below a collection.
    pub(super) fn below(&self, collection: &str) -> String {
        let collection = collection.trim_end_matches('/');
        let path = self.0.iter().fold(collection.to_owned(), |path, name| path + "/" + name);
        if path.is_empty() { "/".to_owned() } else { path }
    }
}

/// A name, or all names of a path, as in an address.
pub(super) fn encoded(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn source() -> Root {
        Root::new("http://h:1", "/rest/lab/")
    }

    #[test]
    fn addresses_below_the_root_have_a_path() {
        for (address, place) in [
            ("http://h:1/rest/lab", Some("/")),
            ("http://h:1/rest/lab/", Some("/")),
            ("/rest/lab/a%20b/c/", Some("/a b/c")),
            ("http://h:1/rest/lab/a/fcr:metadata", None),
            ("http://h:1/rest/laboratory", None),
            ("http://h:1/rest/lab/../x", None),
            ("http://h:1/rest/lab/a%2Fb", None),
            ("http://h:1/rest/lab/a#h", None),
            ("http://other/rest/lab/a", None),
            ("http://h:10/rest/lab/a", None),
        ] {
            let found = source().place(address).map(|place| place.below("/"));
            assert_eq!(found.as_deref(), place, "{address}");
        }
    }

    #[test]
    fn links_below_the_root_are_translated_to_the_new_root() {
        let to = Root::new("http://s", "/rest/x");
        for (iri, moved) in [
            ("http://h:1/rest/lab", "http://s/rest/x"),
            ("http://h:1/rest/lab/a%2cb/#h", "http://s/rest/x/a%2Cb#h"),
            ("http://h:1/rest/lab/a/fcr:metadata", "http://s/rest/x/a/fcr:metadata"),
            ("http://h:1/rest/laboratory", "http://h:1/rest/laboratory"),
            ("http://h:1/other", "http://h:1/other"),
            ("urn:x", "urn:x"),
        ] {
            assert_eq!(source().moved(iri, &to), moved);
        }
    }

    proptest! {
        #[test]
        fn a_path_round_trips(names in proptest::collection::vec("[^/\\x00]{1,6}", 0..4), any: String) {
            let _ = (source().place(&any), source().moved(&any, &source()));
            let place = Place(names.clone());
            let is_named = |name: &String| name != "." && name != ".." && !name.starts_with(RESERVED);
            if names.iter().all(is_named) {
                prop_assert_eq!(source().place(&source().path_of(&place)), Some(place));
            }
        }
    }
}
