//! The `Prefer` header (RFC 7240): which triples a representation has, and how strictly a request is read.
//!
//! Source: LDP 1.0 section 7.2, the Fedora API section 3.2, and LAKEsuperior's words for the same. A header that has an unknown word, or
//! the same one included and omitted, has no effect, as the preferences of RFC 7240 may.

use axum::http::HeaderMap;

use crate::ldp::dialect::Dialect;
use crate::ldp::representation::vocabulary::{FCREPO, LDP};

/// A group of triples that a client may want or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Containment,
    Membership,
    Managed,
    Inbound,
    /// Of a container, all that is not about what it contains and what its members are.
    Minimal,
    /// Representations of what it contains; none are embedded, as the specification allows.
    Embedded,
}

/// What a client prefers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Preferences {
    /// The statements about the resource itself.
    pub(crate) stated: bool,
    pub(crate) containment: bool,
    pub(crate) membership: bool,
    pub(crate) managed: bool,
    pub(crate) inbound: bool,
    /// What the server manages may be in a request, and is ignored.
    pub(crate) lenient: bool,
    /// Removed resources leave no tombstone.
    pub(crate) no_tombstone: bool,
    /// So many members in a page, at most (LDP Paging).
    pub(crate) max_members: Option<usize>,
    /// The applied preferences, in the form of `Preference-Applied`.
    pub(crate) applied: Option<String>,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            stated: true,
            containment: true,
            membership: true,
            managed: true,
            inbound: false,
            lenient: false,
            no_tombstone: false,
            max_members: None,
            applied: None,
        }
    }
}

impl Preferences {
    /// The preferences in the headers of a request.
    pub(crate) fn read(headers: &HeaderMap, dialect: &Dialect) -> Self {
        let mut preferences = Self::default();
        let values = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
        for preference in values.flat_map(|value| split(value, ',')) {
            preferences.apply(preference, dialect);
        }
        preferences
    }

    fn apply(&mut self, preference: &str, dialect: &Dialect) {
        let mut parts = split(preference, ';').into_iter().map(pair);
        match parts.next() {
            Some(("handling", "lenient")) => self.lenient = true,
            Some(("no-tombstone", _)) => self.no_tombstone = true,
            Some(("return", "minimal")) => self.minimal(),
            Some(("return", "representation")) => {
                let (mut include, mut omit) = (Vec::new(), Vec::new());
                for (name, value) in parts {
                    match name {
                        "include" => include.extend(value.split_ascii_whitespace()),
                        "omit" => omit.extend(value.split_ascii_whitespace()),
                        "max-member-count" => self.max_members = value.parse().ok(),
                        _ => {}
                    }
                }
                self.represent(&include, &omit, dialect);
            }
            _ => {}
        }
    }

    fn minimal(&mut self) {
        (self.containment, self.membership, self.managed) = (false, false, false);
        self.applied = Some("return=\"minimal\"".to_owned());
    }

    fn represent(&mut self, include: &[&str], omit: &[&str], dialect: &Dialect) {
        let is_known = include.iter().chain(omit).all(|iri| group(iri).is_some());
        if !is_known || include.iter().any(|iri| omit.contains(iri)) {
            return;
        }
        let includes = |wanted| include.iter().any(|iri| group(iri) == Some(wanted));
        // A minimal container has only the groups that are also named.
        if includes(Group::Minimal) {
            self.containment = includes(Group::Containment);
            self.membership = includes(Group::Membership);
        }
        self.inbound = includes(Group::Inbound);
        for iri in omit {
            match group(iri) {
                Some(Group::Containment) => self.containment = false,
                Some(Group::Membership) => self.membership = false,
                // Containment is managed by the server, too.
                Some(Group::Managed) => (self.managed, self.containment) = (false, false),
                Some(Group::Inbound) => self.inbound = false,
                Some(Group::Minimal) => self.stated = false,
                Some(Group::Embedded) | None => {}
            }
        }
        self.applied = Some(applied(include, omit, dialect));
    }
}

fn applied(include: &[&str], omit: &[&str], dialect: &Dialect) -> String {
    let mut text = "return=representation".to_owned();
    for (name, listed) in [("include", include), ("omit", omit)] {
        if dialect.lists_preferences && !listed.is_empty() {
            text += &format!("; {name}=\"{}\"", listed.join(" "));
        }
    }
    text
}

fn group(iri: &str) -> Option<Group> {
    let ldp = |name: &str| match name {
        "PreferContainment" => Some(Group::Containment),
        "PreferMembership" => Some(Group::Membership),
        "PreferMinimalContainer" | "PreferEmptyContainer" => Some(Group::Minimal),
        _ => None,
    };
    let fedora = |name: &str| match name {
        "Children" => Some(Group::Containment),
        "ServerManaged" => Some(Group::Managed),
        "InboundReferences" | "PreferInboundReferences" => Some(Group::Inbound),
        "EmbedResources" => Some(Group::Embedded),
        _ => None,
    };
    let contained = "http://www.w3.org/ns/oa#PreferContainedDescriptions";
    let named = iri.strip_prefix(LDP).and_then(ldp);
    let named = named.or_else(|| iri.strip_prefix(FCREPO).and_then(fedora));
    named.or_else(|| (iri == contained).then_some(Group::Embedded))
}

/// A name and its value, without quotes.
fn pair(text: &str) -> (&str, &str) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    (name.trim(), value.trim().trim_matches('"').trim())
}

/// The parts between separators that are not in quotes, trimmed.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut is_quoted = false;
    let parts = text.split(|c: char| {
        is_quoted ^= c == '"';
        c == separator && !is_quoted
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ldp::dialect::{FEDORA_API, LAKESUPERIOR};

    fn read(value: &str, dialect: &Dialect) -> Preferences {
        let mut headers = HeaderMap::new();
        if let Ok(value) = value.parse() {
            headers.insert("prefer", value);
        }
        Preferences::read(&headers, dialect)
    }

    fn representation(parameters: &str) -> String {
        let ldp = "http://www.w3.org/ns/ldp#Prefer";
        let fcrepo = "http://fedora.info/definitions/fcrepo#";
        let parameters = parameters.replace("ldp:", ldp).replace("fcrepo:", fcrepo);
        format!("return=representation; {parameters}")
    }

    #[test]
    fn groups_are_included_and_omitted() {
        for (parameters, shown) in [
            ("", [true, true, true, false]),
            ("include=\"ldp:Containment\"", [true, true, true, false]),
            ("include=\"ldp:MinimalContainer\"", [false, false, true, false]),
            ("include=\"ldp:MinimalContainer ldp:Containment\"", [true, false, true, false]),
            ("omit=\"ldp:Containment\"", [false, true, true, false]),
            ("omit=\"ldp:Membership ldp:Containment\"", [false, false, true, false]),
            ("omit=\"fcrepo:ServerManaged\"", [false, true, false, false]),
            ("include=\"fcrepo:InboundReferences\"", [true, true, true, true]),
            ("include=\"urn:x\"; omit=\"ldp:Containment\"", [true, true, true, false]),
            ("include=\"ldp:Containment\"; omit=\"ldp:Containment\"", [true, true, true, false]),
        ] {
            let read = read(&representation(parameters), &FEDORA_API);
            let groups = [read.containment, read.membership, read.managed, read.inbound];
            assert_eq!(groups, shown, "{parameters}");
        }
    }

    #[test]
    fn applied_preferences_are_reported_in_the_dialect() {
        let header = representation("omit=\"fcrepo:Children\"");
        let plain = read(&header, &FEDORA_API).applied;
        assert_eq!(plain.as_deref(), Some("return=representation"));
        let listed =
            "return=representation; omit=\"http://fedora.info/definitions/fcrepo#Children\"";
        assert_eq!(read(&header, &LAKESUPERIOR).applied.as_deref(), Some(listed));
        assert_eq!(
            read("return=\"minimal\"", &LAKESUPERIOR).applied.as_deref(),
            Some("return=\"minimal\"")
        );
        assert_eq!(read(&representation("omit=\"urn:x\""), &LAKESUPERIOR).applied, None);
    }

    #[test]
    fn several_preferences_in_one_header() {
        let read = read("handling=lenient, no-tombstone, return=minimal", &FEDORA_API);
        assert!(read.lenient && read.no_tombstone && !read.managed);
    }

    proptest! {
        #[test]
        fn any_header_is_read(value in "([a-z]{0,3}|return=representation|include=|\"|;|,| ){0,12}") {
            let _ = read(&value, &FEDORA_API);
        }
    }
}
