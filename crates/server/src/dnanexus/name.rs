//! Names: what the protocol allows, and the unique names that objects have in the tree.
//!
//! Several objects of one name may be in a folder, and an object and a folder may share a name. The tree has one of each name:
//! the object that comes second is `NAME (2)` there, or `STEM (2).EXT`, and its note has the name that is shown. In the tree,
//! `/` is `___`, as dxfuse shows it.

use std::collections::BTreeSet;

use cenote_store::{At, Caller, Error, ErrorKind, ListOptions, Name, Result, Stat, Store};

use super::call::fault::Fault;

/// The longest name of an object, in bytes.
const LONGEST: usize = 512;
/// The longest name in the tree for an object: it leaves room for a number.
const LONGEST_GIVEN: usize = 900;

/// A name of an object or a project.
pub(crate) fn checked(name: &str) -> std::result::Result<&str, Fault> {
    match name.is_empty() || name.len() > LONGEST || name.contains('\0') {
        true => Err(Fault::input("a name has 1 to 512 bytes, and no NUL")),
        false => Ok(name),
    }
}

/// A name for the tree, split into what comes before and behind a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stem {
    stem: String,
    extension: String,
}

impl Stem {
    pub(crate) fn of(name: &str) -> Self {
        let mut plain = name.replace('/', "___").replace('\0', "_");
        if plain.is_empty() || plain == "." || plain == ".." {
            plain = plain.replace('.', "_") + "_";
        }
        while plain.len() > LONGEST_GIVEN {
            plain.pop();
        }
        let dot = plain.rfind('.').filter(|at| *at > 0);
        let (stem, extension) = plain.split_at(dot.unwrap_or(plain.len()));
        Self { stem: stem.to_owned(), extension: extension.to_owned() }
    }

    /// The name with a number; without one for the first.
    pub(crate) fn numbered(&self, number: usize) -> String {
        let Self { stem, extension } = self;
        match number {
            0 | 1 => format!("{stem}{extension}"),
            _ => format!("{stem} ({number}){extension}"),
        }
    }

    /// What the numbered names begin with.
    fn prefix(&self) -> String {
        format!("{} (", self.stem)
    }

    /// The number of a name.
    fn number(&self, name: &str) -> Option<usize> {
        if name == self.numbered(1) {
            return Some(1);
        }
        let rest = name.strip_prefix(&self.prefix())?.strip_suffix(&self.extension)?;
        let digits = rest.strip_suffix(')')?;
        digits.parse().ok().filter(|number| *number > 1 && self.numbered(*number) == name)
    }
}

/// The names that objects shown as `name` can have in a folder: the name itself and the numbered ones, as far as they
/// exist.
pub(crate) fn taken(store: &Store, caller: &Caller, folder: &At, name: &str) -> Result<Vec<Stat>> {
    let stem = Stem::of(name);
    let mut found = Vec::new();
    found.extend(first(store, caller, folder, &stem)?);
    let mut after = Name::new(stem.prefix()).ok();
    while let Some(from) = after {
        let options = ListOptions { after: Some(from), limit: 1_000 };
        let page = store.list(caller, folder, &options)?;
        let all = page.entries.len();
        let numbered = |stat: &Stat| stat.resource.name.starts_with(&stem.prefix());
        found.extend(page.entries.into_iter().take_while(numbered));
        let past = |next: &Name| next.as_str().starts_with(&stem.prefix());
        after = page.next.filter(past).filter(|_| all > 0);
    }
    found.retain(|stat| stem.number(&stat.resource.name).is_some());
    Ok(found)
}

fn first(store: &Store, caller: &Caller, folder: &At, stem: &Stem) -> Result<Option<Stat>> {
    let collection = store.stat(caller, folder)?;
    let name = Name::new(stem.numbered(1))?;
    match store.stat(caller, &At::Child(collection.id, name)) {
        Ok(stat) => Ok(Some(stat)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The first numbered name that nothing has that the caller may see. It may be taken nevertheless: then the next one is tried.
pub(crate) fn free(
    store: &Store,
    caller: &Caller,
    folder: &At,
    name: &str,
) -> Result<impl Iterator<Item = Name> + use<>> {
    let stem = Stem::of(name);
    let taken: BTreeSet<usize> = taken(store, caller, folder, name)?
        .iter()
        .filter_map(|stat| stem.number(&stat.resource.name))
        .collect();
    let numbers = (1..).filter(move |number| !taken.contains(number));
    Ok(numbers.filter_map(move |number| Name::new(stem.numbered(number)).ok()).take(ATTEMPTS))
}

/// How often to try another name if one is taken concurrently, or hidden from the caller.
const ATTEMPTS: usize = 100;

/// Does something with the first free name that is still free then.
pub(crate) fn with_free_name<T>(
    (store, caller, folder): (&Store, &Caller, &At),
    name: &str,
    mut work: impl FnMut(&Name) -> Result<T>,
) -> Result<T> {
    let mut last = None;
    for name in free(store, caller, folder, name)? {
        match work(&name) {
            Err(error) if error.kind() == ErrorKind::Exists => last = Some(error),
            done => return done,
        }
    }
    Err(last.unwrap_or_else(|| Error::new(ErrorKind::Exists, "no free name was found")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_precede_the_extension() {
        for (name, second) in [
            ("X.txt", "X (2).txt"),
            ("reads.fastq.gz", "reads.fastq (2).gz"),
            (".bashrc", ".bashrc (2)"),
            ("a/b.txt", "a___b (2).txt"),
            ("plain", "plain (2)"),
            (".", "__ (2)"),
            ("..", "___ (2)"),
        ] {
            assert_eq!(Stem::of(name).numbered(2), second);
        }
    }

    proptest! {
        #[test]
        fn every_name_has_names_in_the_tree(name in "\\PC{1,20}|[./ü]{1,4}|[a-z]{600}|ü{512}", number in 1usize..50) {
            let stem = Stem::of(&name);
            let given = Name::new(stem.numbered(number)).unwrap();
            prop_assert_eq!(stem.number(given.as_str()), Some(number));
        }
    }
}
