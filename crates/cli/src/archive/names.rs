//! What the resources of a collection are called in an archive: by an IRI, below that of the collection.
//!
//! Invariant: a place is a list of valid names; no text of an archive becomes a path that leads out of the collection.

use percent_encoding::{percent_decode_str, utf8_percent_encode};

use crate::place::is_name;
use crate::text::SEGMENT;

/// The prefix of the IRIs of resources in descriptions of the store.
const STORE: &str = "cenote:";

/// A collection, and the IRI that it has in an archive.
#[derive(Debug, Clone)]
pub(super) struct Names {
    /// Without a slash at its end.
    root: String,
    /// Names from the root of the store.
    collection: Place,
}

/// Names, one below the other; none is the beginning itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place(Vec<String>);

impl Place {
    /// A path, in which each name has to be valid in the store.
    pub(super) fn of(path: &str) -> Option<Self> {
        Self::new(path.split('/').filter(|name| !name.is_empty()).map(str::to_owned))
    }

    fn new(names: impl Iterator<Item = String>) -> Option<Self> {
        let names: Vec<_> = names.collect();
        names.iter().all(|name| is_name(name)).then_some(Self(names))
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.0.last().map(String::as_str)
    }

    /// How many names it has.
    pub(super) fn depth(&self) -> usize {
        self.0.len()
    }

    /// What it is in; none for the beginning.
    pub(super) fn parent(&self) -> Option<Self> {
        let (_, above) = self.0.split_last()?;
        Some(Self(above.to_vec()))
    }

    /// Something in it.
    pub(super) fn child(&self, name: &str) -> Option<Self> {
        Self::new(self.0.iter().cloned().chain([name.to_owned()]))
    }

    /// With further names, as in a path.
    pub(super) fn join(&self, path: &str) -> Option<Self> {
        Self::new(self.0.iter().cloned().chain(path.split('/').map(str::to_owned)))
    }

    /// As a path without a slash in front.
    pub(super) fn text(&self) -> String {
        self.0.join("/")
    }

    fn encoded(&self) -> String {
        self.0.iter().fold(String::new(), |path, name| path + "/" + &encoded(name))
    }

    fn decoded(path: &str) -> Option<Self> {
        let decode =
            |name: &str| percent_decode_str(name).decode_utf8().ok().map(|it| it.into_owned());
        let path = path.strip_suffix('/').unwrap_or(path);
        let names = match path {
            "" => Vec::new(),
            path => path.strip_prefix('/')?.split('/').map(decode).collect::<Option<_>>()?,
        };
        Self::new(names.into_iter())
    }

    fn below(&self, above: &Self) -> Option<Self> {
        self.0.strip_prefix(above.0.as_slice()).map(|names| Self(names.to_vec()))
    }
}

impl Names {
    /// The collection at a path, which has this IRI in the archive.
    pub(super) fn new(root: &str, collection: &str) -> Option<Self> {
        Some(Self { root: root.to_owned(), collection: Place::of(collection)? })
    }

    /// The path of a resource in the store.
    pub(super) fn path(&self, place: &Place) -> String {
        format!("/{}", [self.collection.0.as_slice(), &place.0].concat().join("/"))
    }

    /// Where the resource at a path of the store is, if that is in the collection.
    pub(super) fn at(&self, path: &str) -> Option<Place> {
        Place::of(path)?.below(&self.collection)
    }

    /// The IRI of a resource in the archive.
    pub(super) fn iri(&self, place: &Place) -> String {
        format!("{}{}", self.root, place.encoded())
    }

    /// The resource that an IRI of the archive names.
    pub(super) fn place(&self, iri: &str) -> Option<Place> {
        Place::decoded(iri.strip_prefix(self.root.as_str())?)
    }

    /// An IRI of a description in the store as the archive has it.
    pub(super) fn outward(&self, iri: &str) -> Option<String> {
        let (address, fragment) = cut(iri);
        let place = Place::decoded(address.strip_prefix(STORE)?)?.below(&self.collection)?;
        Some(self.iri(&place) + fragment)
    }

    /// An IRI of the archive as a description in the store has it, that of the resource at `own` in short.
    pub(super) fn inward(&self, iri: &str, own: &Place) -> Option<String> {
        let (address, fragment) = cut(iri);
        let place = self.place(address)?;
        let whole = || format!("{STORE}{}{}", self.collection.encoded(), place.encoded());
        let path = if place == *own { String::new() } else { whole() };
        Some(path + fragment)
    }
}

/// An IRI without its fragment, and the fragment with its `#`.
pub(super) fn cut(iri: &str) -> (&str, &str) {
    iri.split_at(iri.find('#').unwrap_or(iri.len()))
}

/// A name as in an IRI.
pub(super) fn encoded(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names() -> Names {
        Names::new("info:fedora", "/lab/x").unwrap()
    }

    #[test]
    fn iris_refer_to_the_same_resource_on_both_sides() {
        let own = Place::of("a b/c").unwrap();
        for (store, archive) in
            [("cenote:/lab/x/a%20b/d#h", "info:fedora/a%20b/d#h"), ("cenote:/lab/x", "info:fedora")]
        {
            assert_eq!(names().outward(store).as_deref(), Some(archive));
            assert_eq!(names().inward(archive, &own).as_deref(), Some(store));
        }
        assert_eq!(names().inward("info:fedora/a%20b/c#h", &own).as_deref(), Some("#h"));
        for elsewhere in ["cenote:/lab/other", "cenote:id/3", "urn:x", "cenote:attribute/x"] {
            assert_eq!(names().outward(elsewhere), None);
        }
        for elsewhere in ["info:fedoras", "info:fedora/../x", "info:fedora/a%2Fb", "info:fedora//a"]
        {
            assert_eq!(names().inward(elsewhere, &own), None, "{elsewhere}");
        }
    }

    proptest! {
        #[test]
        fn a_place_is_found_by_its_iri(path in proptest::collection::vec("[^/\0]{1,6}", 0..4), any: String) {
            let _ = (names().place(&any), names().outward(&any), names().inward(&any, &Place::default()));
            if let Some(place) = Place::of(&path.join("/")) {
                prop_assert_eq!(names().place(&names().iri(&place)), Some(place.clone()));
                prop_assert_eq!(names().at(&names().path(&place)), Some(place));
            }
        }
    }
}
