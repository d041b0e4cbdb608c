//! Which rules hold for a key: its own metakeys, then those of its specification.

use cenote_keyset::{KeyName, KeyRef, KeySet, Namespace};

/// The keys of the namespace `spec`.
pub(super) struct Specification {
    keys: KeySet,
    /// Names with a part `_` or `#`, in parts.
    globs: Vec<(Vec<Vec<u8>>, KeyName)>,
}

/// The rules of one key.
pub(super) struct Rules<'a> {
    own: KeyRef<'a>,
    specified: Option<KeyRef<'a>>,
}

impl Specification {
    pub(super) fn of(keys: &KeySet) -> Self {
        let keys = keys.below(&KeyName::root(Namespace::Spec));
        let globs = keys.iter().map(|key| key.name().to_name()).filter_map(|name| {
            let parts: Vec<_> = name.parts().collect();
            parts.iter().any(|part| is_glob(part)).then_some((parts, name))
        });
        Self { globs: globs.collect(), keys }
    }

    pub(super) fn rules<'a>(&'a self, key: KeyRef<'a>) -> Rules<'a> {
        let name = key.name().to_name();
        let exact = self.keys.get(&name.with_namespace(Namespace::Spec));
        Rules { own: key, specified: exact.or_else(|| self.by_glob(&name)) }
    }

    fn by_glob(&self, name: &KeyName) -> Option<KeyRef<'_>> {
        let parts: Vec<_> = name.parts().collect();
        let (_, spec) = self.globs.iter().find(|(glob, _)| matches(glob, &parts))?;
        self.keys.get(spec)
    }

    /// The cascading names of the keys that must be there.
    pub(super) fn required(&self) -> Vec<KeyName> {
        let required = self.keys.iter().filter(|key| key.meta_value("require").is_some());
        let names = required.map(|key| key.name().to_name());
        names
            .filter(|name| !name.parts().any(|part| is_glob(&part)))
            .map(|name| name.with_namespace(Namespace::Cascading))
            .collect()
    }
}

impl<'a> Rules<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&'a [u8]> {
        let specified = || self.specified.and_then(|key| key.meta_value(name));
        self.own.meta_value(name).or_else(specified)
    }
}

fn is_glob(part: &[u8]) -> bool {
    matches!(part, b"_" | b"#")
}

fn matches(glob: &[Vec<u8>], parts: &[Vec<u8>]) -> bool {
    let is_element = |part: &[u8]| part.len() > 1 && part.starts_with(b"#");
    let fits = |(glob, part): (&Vec<u8>, &Vec<u8>)| match &glob[..] {
        b"_" => !is_element(part),
        b"#" => is_element(part),
        exact => exact == &part[..],
    };
    glob.len() == parts.len() && glob.iter().zip(parts).all(fits)
}
