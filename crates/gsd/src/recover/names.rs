//! Recovers the name list of a damaged file. Ids are ordinals, so in a list of contiguous names those after a lost
//! one are lost, too; but outgrown lists remain in the file.

use std::collections::HashSet;

use super::areas::Areas;
use super::block::Block;
use super::header::is_text;
use super::{Damaged, FoundIndex};
use crate::entry::ENTRY_SIZE;
use crate::error::Result;
use crate::header::{HEADER_SIZE, NAME_CELL, until_nul};
use crate::reader::MAX_NAME_CELLS;

/// The location of the name list in a fresh file, and its maximum size there in bytes.
const FRESH: (u64, u64) = (4352, 128 * NAME_CELL);

/// The known names, by id.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundNames {
    names: Vec<Option<Vec<u8>>>,
    /// Whether it continues with unknown names.
    cut: bool,
    /// Whether it is the list that the header refers to.
    claimed: bool,
    pub(super) location: u64,
    pub(super) end: u64,
}

impl FoundNames {
    /// The number of ids.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn get(&self, id: u16) -> Option<&[u8]> {
        self.names.get(usize::from(id))?.as_deref()
    }

    /// The known names.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().flatten().map(Vec::as_slice)
    }

    /// Size of the list in bytes, with an estimate for each lost name.
    pub(super) fn bytes(&self) -> u64 {
        self.names.iter().map(|name| name.as_ref().map_or(12, |name| name.len() as u64 + 1)).sum()
    }

    /// Whether no name is lost.
    pub(super) fn is_whole(&self) -> bool {
        !self.cut && self.known() == self.len()
    }

    fn known(&self) -> usize {
        self.iter().count()
    }

    fn begins_with(&self, other: &Self) -> bool {
        let mut both = self.names.iter().zip(&other.names);
        self.known() > 0 && both.all(|(ours, others)| others.is_none() || ours == others)
    }

    /// Whether `other` is plausible as a list that this one outgrew, or as this one itself if the header does not
    /// give its location: the bytes of a chunk may look like a name, too.
    fn may_have_outgrown(&self, other: &Self, used: usize) -> bool {
        if self.claimed && (self.location..self.end).contains(&other.location) {
            return false;
        }
        let mut both = self.names.iter().zip(&other.names);
        both.any(|(ours, others)| ours.is_some() && ours == others)
            || other.location == FRESH.0
            || !self.claimed && other.len() >= used && other.iter().all(|name| name.len() > 1)
    }

    /// Restores lost names from an outgrown list.
    fn fill(&mut self, other: &Self) {
        let agree =
            self.names.iter().zip(&other.names).all(|(a, b)| a.is_none() || b.is_none() || a == b);
        if !agree {
            return;
        }
        self.names.resize(self.names.len().max(other.names.len()), None);
        for (ours, other) in self.names.iter_mut().zip(&other.names) {
            *ours = ours.take().or_else(|| other.clone());
        }
    }
}

/// Finds the names; there are at least as many as the entries use.
pub(super) fn find(file: &Damaged<'_>, index: &FoundIndex) -> Result<FoundNames> {
    let mut names = claimed(file, index)?;
    let used = used(index, names.len());
    if names.cut || used > names.len() || names.known() < names.len() {
        for other in elsewhere(file, index)? {
            if !names.may_have_outgrown(&other, used) {
                continue;
            }
            if other.len() > names.len() && other.begins_with(&names) {
                names = other;
            } else {
                names.fill(&other);
            }
        }
    }
    let used = self::used(index, names.len());
    if used > names.len() {
        names.cut_short(used);
    }
    Ok(names)
}

impl FoundNames {
    /// The list has more names than the known ones: the last known one may be only the start of a name.
    fn cut_short(&mut self, used: usize) {
        if let Some(last) = self.names.last_mut() {
            *last = None;
        }
        self.names.resize(used, None);
    }
}

/// The number of names including those beyond the known ones that entries use: every new name is used at once, so an
/// id without any entry is a sign of damage.
fn used(index: &FoundIndex, known: usize) -> usize {
    let ids: HashSet<u16> = index.blocks[0].entries().map(|(_, raw)| raw.id).collect();
    let mut used = known;
    while u16::try_from(used).is_ok_and(|id| ids.contains(&id)) {
        used += 1;
    }
    used
}

/// The list that the header refers to, or that of a fresh file unless its bytes belong to something else.
fn claimed(file: &Damaged<'_>, index: &FoundIndex) -> Result<FoundNames> {
    let (location, cells) = file.header.header.name_block();
    let inside = location >= HEADER_SIZE as u64 && location < file.size;
    if inside && (1..=MAX_NAME_CELLS).contains(&cells) {
        let end = location.saturating_add(cells * NAME_CELL);
        let list = read(file, location, end.min(file.size))?;
        return Ok(FoundNames { claimed: true, end: end.min(file.size), ..list });
    }
    let (location, bytes) = FRESH;
    let entries = || index.blocks.iter().flat_map(Block::entries);
    let data = entries().map(|(_, raw)| raw.location).filter(|at| *at > location).min();
    let end = (location + bytes).min(file.size).min(data.unwrap_or(file.size));
    let taken = index.blocks.iter().any(|block| block.used().contains(&location));
    if taken || end <= location { Ok(FoundNames::default()) } else { read(file, location, end) }
}

/// Lists in the bytes that are not accounted for: each starts where data end, or after an index block.
fn elsewhere(file: &Damaged<'_>, index: &FoundIndex) -> Result<Vec<FoundNames>> {
    let blocks = index.blocks.iter();
    let data = index.blocks.iter().flat_map(Block::entries).filter_map(|(_, raw)| raw.area());
    let owned = data.chain(blocks.map(Block::used));
    let owned = Areas::new(owned.chain(std::iter::once(0..HEADER_SIZE as u64)), file.size);
    let mut found = Vec::new();
    for gap in owned.gaps() {
        let end = gap.end.min(gap.start.saturating_add(MAX_NAME_CELLS * NAME_CELL));
        let Some(start) = first_byte(file, gap.start..end)? else { continue };
        // Anywhere else, the bytes may be the remains of a name.
        let after_block = |block: &Block| is_end_of_block(start.saturating_sub(block.start));
        if start != gap.start && !index.blocks.iter().any(after_block) {
            continue;
        }
        let list = read(file, start, end)?;
        if list.known() > 0 {
            found.push(list);
        }
    }
    Ok(found)
}

/// Whether an index block can have this size.
fn is_end_of_block(bytes: u64) -> bool {
    bytes.is_power_of_two() && bytes >= 128 * ENTRY_SIZE as u64
}

/// The first byte that is not 0.
fn first_byte(file: &Damaged<'_>, range: std::ops::Range<u64>) -> Result<Option<u64>> {
    let mut bytes = Vec::new();
    for at in range.clone().step_by(1 << 16) {
        bytes.resize((range.end - at).min(1 << 16) as usize, 0);
        file.source.read_at(at, &mut bytes)?;
        if let Some(found) = bytes.iter().position(|&byte| byte != 0) {
            return Ok(Some(at + found as u64));
        }
    }
    Ok(None)
}

fn read(file: &Damaged<'_>, start: u64, end: u64) -> Result<FoundNames> {
    let mut block = vec![0; end.saturating_sub(start) as usize];
    file.source.read_at(start, &mut block)?;
    let v1 = file.header.header.gsd_version().is_v1();
    let lists = [decode_v2(&block), decode_v1(&block)];
    let [second, first] = lists;
    let list = match file.header.version_known {
        true if v1 => first,
        true => second,
        // A single name looks the same in both formats; cells are padded with zeros.
        false if first.known() > second.known() && !first.cut => first,
        false => second,
    };
    Ok(FoundNames { location: start, end: start + list.end, ..list })
}

/// Cells of 64 bytes.
fn decode_v1(block: &[u8]) -> FoundNames {
    let mut list = FoundNames::default();
    let cells: Vec<_> = block.chunks_exact(NAME_CELL as usize).map(until_nul).collect();
    let used = cells.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1);
    for name in &cells[..used] {
        list.names.push(sound(name));
        list.cut |= name.len() == NAME_CELL as usize;
    }
    let padded = |cell: &[u8]| cell[until_nul(cell).len()..].iter().all(|&byte| byte == 0);
    list.cut |= !block.chunks_exact(NAME_CELL as usize).all(padded);
    // The name before a hole may be truncated.
    for i in 1..list.names.len() {
        if list.names[i].is_none() {
            list.names[i - 1] = None;
        }
    }
    list.end = block.len() as u64;
    list
}

/// Contiguous names. Those next to damage may be incomplete.
fn decode_v2(block: &[u8]) -> FoundNames {
    let mut list = FoundNames::default();
    let mut at = 0;
    while let Some(name) = block.get(at..).map(until_nul).filter(|name| !name.is_empty()) {
        let Some(name) = sound(name) else { break };
        at += name.len() + 1;
        list.names.push(Some(name));
    }
    let rest = block.get(at..).unwrap_or_default();
    list.cut = rest.iter().any(|&byte| byte != 0);
    if list.cut {
        list.names.pop();
    }
    list.end = ((at as u64 / NAME_CELL) + 1).next_power_of_two().max(16) * NAME_CELL;
    list.end = list.end.min(block.len() as u64);
    list
}

/// A name, if it is plausible.
fn sound(name: &[u8]) -> Option<Vec<u8>> {
    (!name.is_empty() && is_text(name)).then(|| name.to_vec())
}
