//! Checks whether the records of a file are exactly as a writer writes them, so that they can be copied.

use super::Loader;
use super::current::Kind;
use crate::block::Block;
use crate::format::sink::Field;

impl Loader {
    /// Where the open key's metakeys would start, if its name and value are where a writer puts them after the
    /// previous key.
    #[inline]
    pub(super) fn record(&self) -> Option<u64> {
        let current = &self.current;
        let (layout, name, value) = (self.block.layout, current.name, current.value);
        let binary = current.kind == Kind::Binary;
        let at_name = self.record_end + layout.before_name(binary, name.len, value.len);
        let at_value = name.end() + layout.before_value(value.len);
        let in_place = self.verbatim && at_name == name.at && at_value == value.at;
        let start = self.record_end as usize;
        let in_place =
            in_place && layout.is_command(&self.block.bytes[start..at_name as usize], value.len);
        in_place.then(|| layout.metas_after(value.end()))
    }
}

/// The end of a key's record after this metakey, if that is where a writer puts it after `end`.
#[inline]
pub(super) fn meta_record(
    block: &Block,
    end: u64,
    name: Field<'_>,
    value: Field<'_>,
) -> Option<u64> {
    let layout = block.layout;
    let (name_len, value_len) = (name.bytes.len() as u32, value.bytes.len() as u32);
    let at_name = end + layout.before_meta_name(name_len, value_len);
    let at_value = at_name + u64::from(name_len) + layout.before_meta_value(value_len);
    let in_place = at_name == name.offset && at_value == value.offset;
    let in_place =
        in_place && layout.is_command(&block.bytes[end as usize..at_name as usize], value_len);
    in_place.then(|| at_value + u64::from(value_len) + layout.after_meta())
}
