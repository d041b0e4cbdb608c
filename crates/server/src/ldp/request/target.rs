//! What an address names: a resource, or one of the things about it that Fedora's addresses have below `fcr:`.

use axum::http::StatusCode;
use cenote_store::StorePath;
use percent_encoding::percent_decode_str;

use crate::ldp::request::fault::Fault;

/// A resource, and what about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// Where the resource is.
    pub(crate) path: StorePath,
    /// What about it.
    pub(crate) part: Part,
}

/// What of a resource an address names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// The resource itself.
    Whole,
    /// `fcr:metadata`: its description.
    Description,
    /// `fcr:content`: its bytes.
    Content,
    /// `fcr:tombstone`: its remains after its removal.
    Tombstone,
    /// `fcr:acl`: its access list.
    Acl,
    /// `fcr:fixity`: whether its bytes still have the digests that are kept of them.
    Fixity,
    /// `fcr:events`: what happens to it and below it, as it happens.
    Events,
    /// `fcr:versions`: the list of the versions.
    Versions(Side),
    /// `fcr:versions/NAME`: one of them.
    Version(Side, String),
    /// `fcr:search` of the root: where resources are searched for.
    Search,
    /// `fcr:sparql`: it and all below it, to be updated together.
    Sparql,
    /// `fcr:tx` of the root: where transactions are started.
    Transactions,
    /// `fcr:tx/ID`: one of them.
    Transaction(String),
}

/// What versions are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The resource itself.
    Whole,
    /// Its description, where that is not the resource itself.
    Description,
}

/// The prefix of such addresses; this opening creates no resource with such a name.
pub(crate) const RESERVED: &str = "fcr:";

impl Target {
    /// What the path of an address names, after the mount point.
    pub(crate) fn parse(address: &str) -> Result<Self, Fault> {
        let segments: Vec<String> = address
            .split('/')
            .filter(|segment| !segment.is_empty())
            .map(decoded)
            .collect::<Result<_, _>>()?;
        let names = segments.iter().take_while(|name| !name.starts_with(RESERVED)).count();
        let (names, rest) = segments.split_at(names);
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        let part = match rest.as_slice() {
            [] => Part::Whole,
            ["fcr:metadata"] => Part::Description,
            ["fcr:content"] => Part::Content,
            ["fcr:tombstone"] => Part::Tombstone,
            ["fcr:fixity"] => Part::Fixity,
            ["fcr:events"] => Part::Events,
            ["fcr:sparql"] => Part::Sparql,
            ["fcr:search"] if names.is_empty() => Part::Search,
            ["fcr:tx"] if names.is_empty() => Part::Transactions,
            ["fcr:tx", id] if names.is_empty() => Part::Transaction((*id).to_owned()),
            ["fcr:acl"] | ["fcr:metadata", "fcr:acl"] => Part::Acl,
            [rest @ .., "fcr:versions"] => Part::Versions(side(rest, address)?),
            [rest @ .., "fcr:versions", name] => {
                Part::Version(side(rest, address)?, (*name).to_owned())
            }
            _ => return Err(unknown(address)),
        };
        Ok(Self { path: path(names)?, part })
    }
}

fn side(about: &[&str], address: &str) -> Result<Side, Fault> {
    match about {
        [] => Ok(Side::Whole),
        ["fcr:metadata"] => Ok(Side::Description),
        _ => Err(unknown(address)),
    }
}

fn unknown(address: &str) -> Fault {
    Fault::missing(format!("there is no such address: {address}"))
}

fn decoded(segment: &str) -> Result<String, Fault> {
    let name = percent_decode_str(segment).decode_utf8();
    name.map(|name| name.into_owned()).map_err(|_| Fault::bad("the address is not UTF-8"))
}

fn path(names: &[String]) -> Result<StorePath, Fault> {
    if let Some(name) = names.iter().find(|name| name.contains('/')) {
        return Err(Fault::new(
            StatusCode::BAD_REQUEST,
            format!("a name cannot contain a slash: {name:?}"),
        ));
    }
    Ok(format!("/{}", names.join("/")).parse()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_identifies_a_resource_and_its_aspect() {
        for (address, path, part) in [
            ("", "/", Part::Whole),
            ("/", "/", Part::Whole),
            ("/a/b", "/a/b", Part::Whole),
            ("/a/b/", "/a/b", Part::Whole),
            ("//a%20b", "/a b", Part::Whole),
            ("/a/fcr:metadata", "/a", Part::Description),
            ("/a/fcr%3Ametadata", "/a", Part::Description),
            ("/fcr:tombstone", "/", Part::Tombstone),
            ("/a/fcr:content", "/a", Part::Content),
            ("/a/fcr:fixity", "/a", Part::Fixity),
            ("/a/fcr:events", "/a", Part::Events),
            ("/a/fcr:sparql", "/a", Part::Sparql),
            ("/fcr:search", "/", Part::Search),
            ("/fcr:tx", "/", Part::Transactions),
            ("/fcr:tx/1", "/", Part::Transaction("1".to_owned())),
            ("/a/fcr:versions/", "/a", Part::Versions(Side::Whole)),
            ("/a/fcr:metadata/fcr:versions", "/a", Part::Versions(Side::Description)),
            ("/a/fcr:versions/v%201", "/a", Part::Version(Side::Whole, "v 1".to_owned())),
        ] {
            let target = Target::parse(address).unwrap();
            assert_eq!((target.path.to_string().as_str(), target.part), (path, part), "{address}");
        }
        for address in [
            "/a/fcr:other",
            "/a/fcr:metadata/b",
            "/a/fcr:search",
            "/a/fcr:tx",
            "/fcr:tx/1/2",
            "/fcr:versions/a/b",
            "/%ff",
            "/a%2fb",
            "/a/..",
            "/%00",
        ] {
            assert!(Target::parse(address).is_err(), "{address}");
        }
    }

    proptest! {
        #[test]
        fn any_address_is_read_or_refused(address in "(/|fcr:|%[0-9a-f]{2}|\\PC){0,8}") {
            let _ = Target::parse(&address);
        }
    }
}
