//! Folders of a project: absolute paths, whose root is the project.
//!
//! Runs of `/` are one, and a `/` at the end counts for nothing. A folder is the collection of the same path below that of the
//! project; so its names are those of the store, and have no `/` in them.

use cenote_store::{Name, StorePath};

use super::fault::Fault;
use super::input::Input;

/// The names of a folder, from that of the project down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Folder(pub(crate) Vec<Name>);

/// The most names a folder may have, and the bytes of its path.
const DEPTH: usize = 128;
const LENGTH: usize = 10_240;

impl Folder {
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let wrong = |why: &str| Fault::input(format!("{why}: {text:.64?}"));
        if !text.starts_with('/') {
            return Err(wrong("a folder must be an absolute path"));
        }
        let names = text.split('/').filter(|name| !name.is_empty()).map(name);
        let names = names.collect::<Result<Vec<_>, _>>()?;
        match names.len() > DEPTH || text.len() >= LENGTH {
            true => Err(wrong("a folder has at most 128 names and 10,239 bytes")),
            false => Ok(Self(names)),
        }
    }

    /// A member of the input.
    pub(crate) fn member(input: Input<'_>, key: &str) -> Result<Option<Self>, Fault> {
        input.text(key)?.map(Self::parse).transpose()
    }

    pub(crate) fn need(input: Input<'_>, key: &str) -> Result<Self, Fault> {
        Self::parse(input.need(key)?)
    }

    /// Its path in the store.
    pub(crate) fn below(&self, project: &StorePath) -> Result<StorePath, Fault> {
        let joined = self.0.iter().try_fold(project.clone(), |path, name| path.join(name.clone()));
        Ok(joined?)
    }

    /// That of a collection below the project.
    pub(crate) fn of(project: &StorePath, path: &StorePath) -> Self {
        Self(path.names().get(project.names().len()..).unwrap_or_default().to_vec())
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The folder that it is in, and its name there.
    pub(crate) fn split(&self) -> Option<(Self, &Name)> {
        let (name, above) = self.0.split_last()?;
        Some((Self(above.to_vec()), name))
    }

    pub(crate) fn join(&self, name: Name) -> Self {
        Self(self.0.iter().cloned().chain([name]).collect())
    }

    pub(crate) fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }
}

/// A name of a folder.
pub(crate) fn name(text: &str) -> Result<Name, Fault> {
    match text.bytes().any(|byte| byte < 0x20) {
        true => Err(Fault::input(format!("a name cannot contain control characters: {text:.64?}"))),
        false => Name::new(text).map_err(|error| Fault::input(error.to_string())),
    }
}

impl std::fmt::Display for Folder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return f.write_str("/");
        }
        self.0.iter().try_for_each(|name| write!(f, "/{name}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn slashes_collapse_and_relative_paths_are_refused() {
        for (text, folder) in
            [("/", "/"), ("//", "/"), ("/a//b////c/", "/a/b/c"), ("/a b/ü", "/a b/ü")]
        {
            assert_eq!(Folder::parse(text).unwrap().to_string(), folder);
        }
        for text in
            ["", "a", "a/b", "./a", "/a/../b", "/.", "/a\u{1}", &format!("/{}", "a/".repeat(129))]
        {
            assert!(Folder::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_and_the_result_round_trips(text in "/?\\PC{0,20}(/\\PC{0,5}){0,3}") {
            if let Ok(folder) = Folder::parse(&text) {
                prop_assert_eq!(Folder::parse(&folder.to_string()).unwrap(), folder);
            }
        }
    }
}
