//! How much there is of what no counter has: resources by kind, statements, versions.
//!
//! Cost: a read of every record, description and version, of one state of the catalog; of each only what is counted is decoded, and it takes
//! the memory of one.

use cenote_kv::{KeyRange, ScanOptions};
use minicbor::Decode;

use crate::access::Act;
use crate::catalog::{GraphLength, View, decoded, keys};
use crate::model::{Kind, ResourceId};
use crate::waiting::go_on;
use crate::{Bytes, Caller, Result, Store};

/// What the whole store has, with everything that was removed and can be restored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Collections, the root not counted.
    pub collections: u64,
    /// Objects.
    pub objects: u64,
    /// Bytes of their contents; those of versions and copies in several places do not count.
    pub bytes: u64,
    /// Resources with a description only.
    pub descriptions: u64,
    /// Symbolic links.
    pub links: u64,
    /// Statements in descriptions.
    pub statements: u64,
    /// Resources that have versions.
    pub versioned: u64,
    /// Their versions.
    pub versions: u64,
}

impl Store {
    /// Counts what the whole store has. Needs [`Act::Inspect`].
    pub fn inventory(&self, caller: &Caller) -> Result<Inventory> {
        caller.require(Act::Inspect)?;
        let view = self.view()?;
        let mut inventory = Inventory::default();
        each(&view, keys::resources(), |key, value| inventory.add_resource(key, value))?;
        each(&view, keys::graphs(), |_, value| {
            inventory.statements += decoded::<_, GraphLength>(value, &mut ())?.0;
            Ok(())
        })?;
        let mut last = None;
        each(&view, keys::all_versions(), |key, _| {
            let of = keys::first_id(key);
            inventory.versions += 1;
            inventory.versioned += u64::from(last != of);
            last = of;
            Ok(())
        })?;
        Ok(inventory)
    }
}

fn each(
    view: &View,
    range: KeyRange,
    mut row: impl FnMut(&Bytes, &Bytes) -> Result<()>,
) -> Result<()> {
    for found in view.snapshot.scan(&range, ScanOptions::default()) {
        go_on()?;
        let (key, value) = found?;
        row(&key, &value)?;
    }
    Ok(())
}

impl Inventory {
    fn add_resource(&mut self, key: &Bytes, value: &Bytes) -> Result<()> {
        if keys::last_id(key) == Some(ResourceId::ROOT.0) {
            return Ok(());
        }
        let outline: Outline = decoded(value, &mut ())?;
        let count = match outline.kind {
            Kind::Collection => &mut self.collections,
            Kind::Object => &mut self.objects,
            Kind::Description => &mut self.descriptions,
            Kind::Link => &mut self.links,
        };
        *count += 1;
        self.bytes = self.bytes.saturating_add(outline.content.map_or(0, |head| head.size));
        Ok(())
    }
}

/// Fields of a resource's record, with its numbers.
#[derive(Decode)]
struct Outline {
    #[n(2)]
    kind: Kind,
    #[n(9)]
    content: Option<Head>,
}

/// The same of a content's head.
#[derive(Decode)]
struct Head {
    #[n(1)]
    size: u64,
}
