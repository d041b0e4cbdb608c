//! The index of statements: who states what, in four orders.
//!
//! | order | entry | of |
//! |---|---|---|
//! | by predicate and object | predicate, object, id | each statement |
//! | by object | object, id | each statement whose object is an IRI |
//! | by subject | subject, id | each statement about an IRI that is not relative |
//!
//! A literal is hardly ever looked for without its predicate: it is then found in the first order, from predicate to predicate
//! ([`WithAnyPredicate`]), and has no entry by object.
//!
//! A fourth order, by path, has the IRIs that name a path of this store and are not bound to a resource: text that becomes a link
//! once the path exists, if the collection has that setting.
//!
//! What a description states of its resource (no subject) and of its parts (`#part`) is found by the id that the IRI names, and a
//! blank node by the description that it is in.
//!
//! Invariants: several terms may share a key, so a match is verified in the graph. A link to a resource is found by the resource
//! in each order, and in the last two also by the path that was written. Statements with the same IRI share an entry by object, and so do
//! those with the same predicate and equal numbers or moments; a change that has read only a part of a description looks whether one that
//! it removes is shared ([`sharing`]). Others share none: what is stated about the resource itself, none by predicate with what is stated
//! about anything else.

mod any_predicate;
pub(in crate::metadata) mod order;
mod scan;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use bytes::Bytes;
use cenote_kv::KeyRange;
use xxhash_rust::xxh3::xxh3_64;

pub(super) use self::any_predicate::WithAnyPredicate;
pub(super) use self::order::text_key;
use self::order::{is_plain, link_key, plain_key};
pub(super) use self::scan::Scan;
use super::links::{self, Link, Links};
use super::vocabulary::predicates_of;
use crate::catalog::{Reads, keys};
use crate::model::{Graph, ResourceId, Statement, StorePath, Term};
use crate::{Caller, Result};

/// The index entries of a description, in all orders.
pub(crate) fn entries(id: u64, graph: &Graph) -> BTreeSet<Bytes> {
    graph.iter().flat_map(|statement| entries_of(id, statement)).collect()
}

/// Those of one statement.
pub(super) fn entries_of(id: u64, statement: &Statement) -> impl Iterator<Item = Bytes> {
    let objects = object_keys(&statement.object);
    let predicate = predicate_key(&statement.predicate, statement.subject.is_none());
    let by_predicate =
        objects.clone().take(1).map(move |object| keys::statement(predicate, object, id));
    let is_iri = matches!(statement.object, Term::Iri(_));
    let subject = statement.subject.as_deref().filter(|subject| is_global(subject));
    let subjects = subject.into_iter().flat_map(iri_keys);
    by_predicate
        .chain(objects.filter(move |_| is_iri).map(move |object| keys::object(object, id)))
        .chain(subjects.map(move |subject| keys::subject(subject, id)))
        .chain(named_paths(statement).filter_map(move |path| keys::named_path(&path, id)))
}

/// Where other statements of a description are that may share an entry with this one; none if only those of the same text can.
pub(super) fn sharing(id: u64, statement: &Statement) -> Option<KeyRange> {
    match &statement.object {
        Term::Iri(_) => Some(keys::quads(id)),
        object if is_plain(object.text()) => None,
        _ => Some(keys::quads_of(id, 0, hash(&statement.predicate), None)),
    }
}

/// The paths that a statement names as text.
fn named_paths(statement: &Statement) -> impl Iterator<Item = StorePath> {
    links::iris(statement).filter_map(|iri| links::path_of(iri).map(|(path, _)| path))
}

/// The key of a predicate, in a statement about the resource itself or about anything else: two neighbours.
fn predicate_key(predicate: &str, own: bool) -> u64 {
    hash(predicate) & !1 | u64::from(!own)
}

/// The keys of a predicate whatever is stated with it.
pub(super) fn predicate_keys(predicate: &str) -> [u64; 2] {
    [true, false].map(|own| predicate_key(predicate, own))
}

/// Where the index has all that is stated with a predicate.
pub(super) fn of_predicate(predicate: &str) -> Vec<KeyRange> {
    predicate_keys(predicate).map(keys::statements).into()
}

/// The same as one range.
pub(super) fn with_predicate(predicate: &str) -> KeyRange {
    let [own, other] = predicate_keys(predicate).map(keys::statements);
    KeyRange { end: other.end, ..own }
}

/// Where the index has what is stated with a predicate, of objects with these keys.
pub(super) fn of_predicate_between(
    predicate: &str,
    objects: &[RangeInclusive<u64>],
) -> Vec<KeyRange> {
    let of = |predicate| {
        objects.iter().map(move |objects| keys::statements_between(predicate, objects.clone()))
    };
    predicate_keys(predicate).into_iter().flat_map(of).collect()
}

/// The entries of which the index has one, if a description states a text that is no link with a predicate.
pub(super) fn of_statement(predicate: &str, object: &str, id: u64) -> [Bytes; 2] {
    predicate_keys(predicate).map(|predicate| keys::statement(predicate, text_key(object), id))
}

/// The position in the index of what is shown as an attribute, with objects of these keys.
pub(super) fn of_attribute(attribute: &str, objects: &[RangeInclusive<u64>]) -> Vec<KeyRange> {
    let predicates = predicates_of(attribute).into_iter().map(|it| predicate_key(&it, true));
    let of = |predicate| {
        objects.iter().map(move |objects| keys::statements_between(predicate, objects.clone()))
    };
    predicates.flat_map(of).collect()
}

/// Whether an IRI or `_:label` means the same in every description.
fn is_global(subject: &str) -> bool {
    !subject.starts_with(['#', '_'])
}

/// The keys of an object: that of the resource first, if it is a link.
fn object_keys(object: &Term) -> impl Iterator<Item = u64> + Clone + use<> {
    let keys = match object {
        Term::Iri(iri) => keys_of_iri(iri),
        Term::Literal { value, .. } => [Some(text_key(value)), None],
        Term::Blank(label) => [Some(text_key(label)), None],
    };
    keys.into_iter().flatten()
}

/// The same of a subject.
fn iri_keys(iri: &str) -> impl Iterator<Item = u64> + use<> {
    keys_of_iri(iri).into_iter().flatten()
}

fn keys_of_iri(iri: &str) -> [Option<u64>; 2] {
    match Link::of(iri) {
        Some(link) => [Some(link_key(link.id)), Some(plain_key(&link.written_path()))],
        None => [Some(written_key(iri)), None],
    }
}

/// The key of an IRI as it was written: that of a resource's path without the fragment.
pub(super) fn written_key(iri: &str) -> u64 {
    match links::path_of(iri) {
        Some((path, _)) => plain_key(&links::iri_of(&path)),
        None => text_key(iri),
    }
}

/// The keys of what one caller is shown as a text.
pub(super) struct Sought {
    /// In each order.
    keys: Vec<u64>,
    /// In the orders by object and by subject: of links to what the caller may not see.
    written: Option<u64>,
}

impl Sought {
    pub(super) fn new(links: &Links<'_, impl Reads>, text: &str) -> Result<Self> {
        let mut keys = vec![text_key(text)];
        let mut written = None;
        if links::names_resource(text) {
            let key = written_key(text);
            let id = links.named(text)?;
            keys.extend([key].into_iter().chain(id.map(link_key)));
            written = Some(key).filter(|_| id.is_none());
        }
        keys.dedup();
        Ok(Self { keys, written })
    }

    /// What a caller is shown as the IRI of a resource by its path, which is likely there.
    pub(super) fn likely(iri: &str, id: ResourceId) -> Self {
        let mut keys = vec![text_key(iri), written_key(iri), link_key(id)];
        keys.dedup();
        Self { keys, written: None }
    }

    /// Whether an entry with this object can be of one of them.
    pub(super) fn may_be(&self, object: u64) -> bool {
        self.written.is_some() || self.keys.contains(&object)
    }

    /// Where the index has them as objects that are IRIs.
    pub(super) fn objects(&self) -> Vec<KeyRange> {
        self.keys.iter().chain(&self.written).map(|key| keys::objects(*key)).collect()
    }

    /// The same of statements with a predicate.
    pub(super) fn of_predicate(&self, predicate: &str) -> Vec<KeyRange> {
        let between = |object: u64| {
            let of = move |predicate| keys::statements_between(predicate, object..=object);
            predicate_keys(predicate).map(of)
        };
        let by_predicate = self.keys.iter().flat_map(|object| between(*object));
        by_predicate.chain(self.written.map(keys::objects)).collect()
    }

    /// The same for what is shown as an attribute.
    pub(super) fn of_attribute(&self, attribute: &str) -> Vec<KeyRange> {
        let objects: Vec<_> = self.keys.iter().map(|key| *key..=*key).collect();
        let mut ranges = of_attribute(attribute, &objects);
        ranges.extend(self.written.map(keys::objects));
        ranges
    }

    /// Where the index has them as subjects.
    pub(super) fn subjects(&self) -> Vec<KeyRange> {
        self.keys.iter().chain(&self.written).map(|key| keys::subjects(*key)).collect()
    }
}

/// Ids that the index has for an attribute, a value, or both; none if neither is given, or if there are more than `limit`
/// entries.
pub(crate) fn stating(
    reads: &impl Reads,
    caller: &Caller,
    attribute: Option<&str>,
    value: Option<&str>,
    limit: usize,
) -> Result<Option<BTreeSet<u64>>> {
    let sought = value.map(|value| Sought::new(&Links::new(reads, caller), value)).transpose()?;
    let ranges = match (sought, attribute) {
        (Some(sought), Some(attribute)) => sought.of_attribute(attribute),
        (Some(sought), None) => sought.objects(),
        (None, Some(attribute)) => of_attribute(attribute, &[0..=u64::MAX]),
        (None, None) => return Ok(None),
    };
    let literal = value.filter(|_| attribute.is_none());
    let (mut ids, mut left) = (BTreeSet::new(), limit);
    for range in ranges {
        let rows = reads.rows(&range, left.saturating_add(1))?;
        if rows.len() > left {
            return Ok(None);
        }
        left -= rows.len();
        ids.extend(rows.iter().filter_map(|(key, _)| keys::last_id(key)));
    }
    for entry in literal.into_iter().flat_map(|text| WithAnyPredicate::new(reads, text)) {
        let entry = entry?;
        if left == 0 {
            return Ok(None);
        }
        left -= 1;
        ids.extend(keys::last_id(&entry));
    }
    Ok(Some(ids))
}

/// The hash by which the catalog knows a text.
pub(in crate::metadata) fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}
