//! Cascading lookup, with and without a specification (`ksLookup`).

use std::cell::Cell;

use super::KeySet;
use super::pieces::Position;
use crate::Namespace;
use crate::key::{Key, KeyRef};
use crate::name::KeyName;

/// The namespaces that a cascading lookup tries, in this order, which is not the order of keys.
const CASCADE: [Namespace; 5] =
    [Namespace::Proc, Namespace::Dir, Namespace::User, Namespace::System, Namespace::Default];

/// Maximum number of overrides and fallbacks that one lookup follows; those that refer to each other would never end.
const MAX_LINKS: u32 = 1000;

impl KeySet {
    /// Looks up the key for a name. A cascading name is looked up according to its specification if there is one,
    /// else in the namespaces proc, dir, user, system and default, then literally.
    ///
    /// If a specification provides only a default, a key `default:/…` with it is added to the set.
    pub fn lookup(&mut self, name: &KeyName) -> Option<KeyRef<'_>> {
        match self.resolve(name, &Cell::new(MAX_LINKS), true)? {
            Resolved::Key(found) => Some(self.pieces.key(found)),
            Resolved::Default(key) => {
                let name = key.name().to_name();
                self.append(key);
                self.get(&name)
            }
        }
    }

    /// The key that a lookup finds.
    fn resolve(&self, name: &KeyName, links: &Cell<u32>, defaults: bool) -> Option<Resolved> {
        if name.namespace() != Namespace::Cascading {
            return self.pieces.find(name.borrow()).map(Resolved::Key);
        }
        if let Some(spec) = self.get(&name.with_namespace(Namespace::Spec)) {
            return self.resolve_by_spec(name, spec, links, defaults);
        }
        self.resolve_in(name, CASCADE).or_else(|| {
            let itself = defaults.then(|| self.pieces.find(name.borrow())).flatten();
            itself.map(Resolved::Key)
        })
    }

    fn resolve_in(
        &self,
        name: &KeyName,
        namespaces: impl IntoIterator<Item = Namespace>,
    ) -> Option<Resolved> {
        let mut names = namespaces.into_iter().map(|namespace| name.with_namespace(namespace));
        names.find_map(|name| self.pieces.find(name.borrow())).map(Resolved::Key)
    }

    fn resolve_by_spec(
        &self,
        name: &KeyName,
        spec: KeyRef<'_>,
        links: &Cell<u32>,
        defaults: bool,
    ) -> Option<Resolved> {
        let by_namespace = || match namespaces(spec) {
            Some(namespaces) => self.resolve_in(name, namespaces),
            None => self.resolve_in(name, CASCADE),
        };
        self.resolve_links(name, spec, "override", links)
            .or_else(by_namespace)
            .or_else(|| self.resolve_links(name, spec, "fallback", links))
            .or_else(|| defaults.then(|| self.default_of(name, spec)).flatten())
    }

    /// Follows the names listed in `kind/#0`, `kind/#1`, ….
    fn resolve_links(
        &self,
        name: &KeyName,
        spec: KeyRef<'_>,
        kind: &str,
        links: &Cell<u32>,
    ) -> Option<Resolved> {
        for link in elements(spec, kind) {
            let link = KeyName::new(link).ok()?;
            links.set(links.get().checked_sub(1)?);
            if link == *name {
                return None;
            }
            let found = self.resolve(&link, links, false);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn default_of(&self, name: &KeyName, spec: KeyRef<'_>) -> Option<Resolved> {
        let name = name.with_namespace(Namespace::Default);
        if let Some(found) = self.pieces.find(name.borrow()) {
            return Some(Resolved::Key(found));
        }
        let mut key = Key::new(name);
        key.set_string(spec.meta_value("default")?).ok()?;
        Some(Resolved::Default(key))
    }
}

enum Resolved {
    Key(Position),
    Default(Key),
}

/// The namespaces listed in a specification, up to the first unknown one.
fn namespaces(spec: KeyRef<'_>) -> Option<Vec<Namespace>> {
    spec.meta_value("namespace/#0")?;
    Some(elements(spec, "namespace").map_while(Namespace::from_word).collect())
}

/// The values of the metakeys `kind/#0`, `kind/#1`, …, up to the first missing or empty one.
fn elements<'a>(spec: KeyRef<'a>, kind: &str) -> impl Iterator<Item = &'a [u8]> {
    (0_u64..)
        .map_while(move |index| spec.meta_value(format!("{kind}/#{index}")))
        .take_while(|value| !value.is_empty())
}
