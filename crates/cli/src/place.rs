//! Where something is: here, or in the store.
//!
//! Invariant: where both are possible, a path in the store has a colon before it (`:/lab/x`),
//! and nothing without one is ever taken for a path in the store.

use std::path::PathBuf;

use crate::error::{CliError, Kind, Result};

/// A path of either side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// On this machine.
    Local(PathBuf),
    /// Standard input or output.
    Standard,
    /// In the store.
    Store(StorePath),
}

impl Place {
    /// For arguments that may be on either side.
    pub(crate) fn parse(argument: &str) -> Result<Self> {
        match argument {
            "" => Err(CliError::new(Kind::Usage, "a path is empty")),
            "-" => Ok(Self::Standard),
            _ if argument.starts_with(':') => Ok(Self::Store(StorePath::parse(argument)?)),
            _ => Ok(Self::Local(argument.into())),
        }
    }

    /// For arguments that are on this machine.
    pub(crate) fn parse_local(argument: &str) -> Result<Self> {
        match Self::parse(argument)? {
            Self::Store(path) => {
                let message = format!("not a path on this machine: :{}", path.as_str());
                Err(CliError::new(Kind::Usage, message)
                    .hint(format!("for a local file of that name write ./:{}", path.as_str())))
            }
            place => Ok(place),
        }
    }
}

/// An absolute path in the store, without a `/` at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StorePath {
    path: String,
    /// It was written with a trailing `/`, or is the root: sources are put into it.
    into: bool,
}

impl StorePath {
    /// For arguments that are in the store: the colon may be left out.
    pub(crate) fn parse(argument: &str) -> Result<Self> {
        let path = argument.strip_prefix(':').unwrap_or(argument);
        if !path.starts_with('/') {
            let message = format!("not a path in the store: {argument}");
            return Err(CliError::new(Kind::Usage, message)
                .hint("paths in the store begin with `/`, as in `/lab/run7` or `:/lab/run7`"));
        }
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        if let Some(name) = names.iter().find(|name| !is_name(name)) {
            let message =
                format!("`{}` is not a valid name in the store: {argument}", name.escape_debug());
            return Err(CliError::new(Kind::Usage, message).hint("give the full path"));
        }
        Ok(Self { path: format!("/{}", names.join("/")), into: path.ends_with('/') })
    }

    /// The path itself.
    pub(crate) fn as_str(&self) -> &str {
        &self.path
    }

    /// Whether it names a collection to put sources into, rather than the target itself.
    pub(crate) fn is_into(&self) -> bool {
        self.into
    }

    /// What is called `relative` below it.
    pub(crate) fn join(&self, relative: &str) -> Self {
        Self { path: join(&self.path, relative), into: false }
    }
}

impl std::str::FromStr for StorePath {
    type Err = CliError;

    fn from_str(argument: &str) -> Result<Self> {
        Self::parse(argument)
    }
}

impl std::fmt::Display for StorePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.path)
    }
}

/// Whether something in a store may be called so.
pub(crate) fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])
}

/// The path of what is called `relative` below `base`.
pub(crate) fn join(base: &str, relative: &str) -> String {
    match relative {
        "" => base.to_owned(),
        relative => format!("{}/{relative}", base.trim_end_matches('/')),
    }
}

/// The path below `base`, if it is below.
pub(crate) fn below<'a>(path: &'a str, base: &str) -> Option<&'a str> {
    path.strip_prefix(base.trim_end_matches('/'))?.strip_prefix('/').filter(|rest| !rest.is_empty())
}

/// The relative paths above one, the nearest first.
pub(crate) fn above(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('/').map(|(above, _)| above)).skip(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colon_decides_the_side() {
        let store = |path| Place::Store(StorePath::parse(path).unwrap());
        assert_eq!(Place::parse(":/lab/x").unwrap(), store("/lab/x"));
        assert_eq!(Place::parse("/lab/x").unwrap(), Place::Local("/lab/x".into()));
        assert_eq!(Place::parse("./:/x").unwrap(), Place::Local("./:/x".into()));
        assert_eq!(Place::parse("-").unwrap(), Place::Standard);
        for wrong in ["", ":", ":lab", ":./x", ":/a/../b"] {
            assert!(Place::parse(wrong).is_err(), "{wrong}");
        }
        assert!(Place::parse_local(":/x").is_err());
    }

    #[test]
    fn only_a_trailing_slash_matters() {
        let path = StorePath::parse(":/lab//run7/").unwrap();
        assert_eq!((path.as_str(), path.is_into()), ("/lab/run7", true));
        let root = StorePath::parse("/").unwrap();
        assert_eq!((root.as_str(), root.is_into()), ("/", true));
        assert_eq!(root.join("a").as_str(), "/a");
    }

    #[test]
    fn ancestors_are_listed_up_to_the_root() {
        assert_eq!(above("a/b/c").collect::<Vec<_>>(), ["a/b", "a"]);
        assert_eq!(above("a").count(), 0);
    }

    #[test]
    fn names_cannot_escape_the_directory() {
        assert!(["a", "..a", "...", "a b", "ä"].iter().all(|name| is_name(name)));
        assert!(!["", ".", "..", "a/b", "/", "a\0"].iter().any(|name| is_name(name)));
    }

    #[test]
    fn a_common_prefix_is_not_an_ancestor() {
        assert_eq!(below("/lab/a/b", "/lab"), Some("a/b"));
        assert_eq!(below("/a", "/"), Some("a"));
        assert_eq!(below("/laboratory", "/lab"), None);
        assert_eq!(below("/lab", "/lab"), None);
    }
}
