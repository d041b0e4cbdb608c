//! Paths that become part of an address, where a server does not see what is wrong with them.

use cenote_client::{Error, Kind};

/// The path, if it begins with a slash and has no empty names; otherwise it would be that of another resource.
pub(super) fn checked(path: String) -> Result<String, Error> {
    let names = path.strip_prefix('/').map(|names| names.strip_suffix('/').unwrap_or(names));
    match names
        .is_some_and(|names| names.is_empty() || names.split('/').all(|name| !name.is_empty()))
    {
        true => Ok(path),
        false => Err(Error::new(Kind::Invalid, format!("not a path: {path:.64?}"))
            .with_hint("a path begins with `/`, and its names are separated by one `/`")),
    }
}
