//! From JSON to an inventory.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use super::check::{check, digests};
use super::pairs::Pairs;
use super::{Inventory, Spec, User, Version};
use crate::{Algorithm, Fault, Faults, VersionNumber};

const CONTENT: &str = "content";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    id: Option<String>,
    r#type: Option<String>,
    digest_algorithm: Option<String>,
    head: Option<String>,
    content_directory: Option<String>,
    manifest: Option<Pairs<Vec<String>>>,
    versions: Option<Pairs<RawVersion>>,
    fixity: Option<Pairs<Pairs<Vec<String>>>>,
}

#[derive(Deserialize)]
struct RawVersion {
    created: Option<String>,
    state: Option<Pairs<Vec<String>>>,
    message: Option<String>,
    user: Option<RawUser>,
}

#[derive(Deserialize)]
struct RawUser {
    name: Option<String>,
    address: Option<String>,
}

/// Reads an inventory, or reports what is wrong with it; `at` is its path.
pub(crate) fn parse(text: &[u8], at: &str) -> Result<Inventory, Faults> {
    let raw: Raw = serde_json::from_slice(text)
        .map_err(|error| Fault::new("E033", at, format!("not an inventory: {error}")))?;
    let mut reading = Reading { at, faults: Vec::new() };
    let inventory = reading.inventory(raw);
    if let Some(inventory) = &inventory {
        check(inventory, at, &mut reading.faults);
    }
    match inventory {
        Some(inventory) if reading.faults.is_empty() => Ok(inventory),
        _ => Err(Faults(reading.faults)),
    }
}

/// What was found wrong so far.
struct Reading<'a> {
    at: &'a str,
    faults: Vec<Fault>,
}

impl Reading<'_> {
    fn wrong(&mut self, code: &'static str, what: impl Into<String>) {
        self.faults.push(Fault::new(code, self.at, what));
    }

    fn required<T>(&mut self, value: Option<T>, code: &'static str, name: &str) -> Option<T> {
        if value.is_none() {
            self.wrong(code, format!("{name} is missing"));
        }
        value
    }

    fn inventory(&mut self, raw: Raw) -> Option<Inventory> {
        let id = self.required(raw.id.filter(|id| !id.is_empty()), "E036", "the id");
        let spec = self.spec(raw.r#type);
        let algorithm = self.algorithm(raw.digest_algorithm);
        let manifest = self.required(raw.manifest, "E041", "the manifest");
        let manifest = digests(manifest?.0, "E096", self.at, &mut self.faults);
        let head = self.required(raw.head, "E036", "the head");
        let versions = self.required(raw.versions, "E043", "the block of versions");
        let (head, versions) = self.versions(&head?, versions?)?;
        let fixity = raw.fixity.unwrap_or_default().0.into_iter().map(|(name, block)| {
            let block = digests(block.0, "E097", self.at, &mut self.faults);
            (name, block)
        });
        Some(Inventory {
            fixity: fixity.collect(),
            id: id?,
            spec: spec?,
            algorithm: algorithm?,
            head,
            content_directory: raw.content_directory.unwrap_or_else(|| CONTENT.to_owned()),
            manifest,
            versions,
        })
    }

    fn spec(&mut self, named: Option<String>) -> Option<Spec> {
        let named = self.required(named, "E036", "the type")?;
        let known =
            [Spec::V1_0, Spec::V1_1].into_iter().find(|spec| spec.inventory_type() == named);
        if known.is_none() {
            self.wrong("E038", format!("the type {named:?} is not that of OCFL 1.0 or 1.1"));
        }
        known
    }

    fn algorithm(&mut self, named: Option<String>) -> Option<Algorithm> {
        let named = self.required(named, "E036", "the digest algorithm")?;
        let known = Algorithm::named(&named).filter(|algorithm| algorithm.is_for_content());
        if known.is_none() {
            self.wrong("E025", format!("the digest algorithm {named:?} is not sha512 or sha256"));
        }
        known
    }

    /// The versions in their order, which are those from 1 to the head.
    fn versions(
        &mut self,
        head: &str,
        raw: Pairs<RawVersion>,
    ) -> Option<(VersionNumber, Vec<Version>)> {
        let mut known = BTreeMap::new();
        for (name, version) in raw.0 {
            match VersionNumber::parse(&name) {
                None => self.wrong("E046", format!("{name:?} is not a version number")),
                Some(number) => {
                    let version = self.version(&name, version);
                    if known.insert(number.number(), (number, version)).is_some() {
                        self.wrong("E011", format!("version {} is there twice", number.number()));
                    }
                }
            }
        }
        let Some((last, (newest, _))) = known.last_key_value() else {
            self.wrong("E008", "there is no version");
            return None;
        };
        let (last, newest) = (*last, *newest);
        if usize::try_from(last).ok() != Some(known.len()) {
            self.wrong("E010", format!("of versions 1 to {last} some are missing"));
        }
        if known.values().any(|(number, _)| !number.is_like(newest)) {
            self.wrong("E012", "version numbers have zeros in front, and have not");
        }
        if head != newest.to_string() {
            self.wrong("E040", format!("the head is {head:?}, and the newest version {newest}"));
        }
        let versions: Option<Vec<_>> = known.into_values().map(|(_, version)| version).collect();
        Some((newest, versions?))
    }

    fn version(&mut self, name: &str, raw: RawVersion) -> Option<Version> {
        let created = self.required(raw.created, "E048", &format!("the time of {name}"));
        let created = created.and_then(|created| {
            let read = moment(&created);
            if read.is_none() {
                let what = format!("{created:?} of {name} is not a time of RFC 3339");
                self.wrong("E049", what);
            }
            read
        });
        let state = self.required(raw.state, "E048", &format!("the state of {name}"));
        let state = self.state(name, state?);
        let user = match raw.user {
            Some(RawUser { name: user, address }) => {
                let user = user.filter(|user| !user.is_empty());
                let user = self.required(user, "E054", &format!("the name of the user of {name}"));
                Some(User { name: user?, address })
            }
            None => None,
        };
        Some(Version { created: created?, message: raw.message, user, state })
    }

    fn state(&mut self, name: &str, raw: Pairs<Vec<String>>) -> BTreeMap<String, String> {
        let mut state = BTreeMap::new();
        let mut seen = std::collections::BTreeSet::new();
        for (digest, paths) in raw.0 {
            if !seen.insert(digest.to_ascii_lowercase()) {
                self.wrong("E050", format!("{name} has the digest {digest} twice"));
            }
            for path in paths {
                if let Some(path) = state.insert(path.clone(), digest.clone()).map(|_| path) {
                    self.wrong("E095", format!("{name} has the path {path:?} twice"));
                }
            }
        }
        state
    }
}

/// A time with seconds and an offset.
fn moment(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let is_whole = bytes.len() >= 20 && bytes[10].eq_ignore_ascii_case(&b'T') && bytes[16] == b':';
    is_whole.then(|| text.parse().ok()).flatten()
}
