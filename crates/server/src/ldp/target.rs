//! What an address names: a resource, or one of the things about it that Fedora's addresses have below `fcr:`.

use axum::http::StatusCode;
use cenote_store::StorePath;
use percent_encoding::percent_decode_str;

use super::fault::Fault;

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
    /// `fcr:tombstone`: what is left of it after its removal.
    Tombstone,
}

/// What the names of such addresses begin with; no resource that this opening makes has such a name.
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
            _ => return Err(Fault::missing(format!("no such address: {address}"))),
        };
        Ok(Self { path: path(names)?, part })
    }
}

fn decoded(segment: &str) -> Result<String, Fault> {
    let name = percent_decode_str(segment).decode_utf8();
    name.map(|name| name.into_owned()).map_err(|_| Fault::bad("the address is not UTF-8"))
}

fn path(names: &[String]) -> Result<StorePath, Fault> {
    if let Some(name) = names.iter().find(|name| name.contains('/')) {
        return Err(Fault::new(StatusCode::BAD_REQUEST, format!("a name has no slash: {name:?}")));
    }
    Ok(format!("/{}", names.join("/")).parse()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_names_a_resource_and_what_about_it() {
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
        ] {
            let target = Target::parse(address).unwrap();
            assert_eq!((target.path.to_string().as_str(), target.part), (path, part), "{address}");
        }
        for address in ["/a/fcr:other", "/a/fcr:metadata/b", "/%ff", "/a%2fb", "/a/..", "/%00"] {
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
