//! The header of a damaged file, reconstructed as far as possible.

use crate::error::{Error, Result};
use crate::header::{HEADER_SIZE, Header, Version};
use crate::source::Source;

/// A header as read, or as reconstructed.
pub(super) struct FoundHeader {
    pub(super) header: Header,
    pub(super) damaged: bool,
    pub(super) version_known: bool,
    /// Whether the end of the header is damaged, so that the damage may extend beyond it.
    pub(super) damage_may_go_on: bool,
}

pub(super) fn find(source: &dyn Source, size: u64) -> Result<FoundHeader> {
    if size < HEADER_SIZE as u64 {
        return Err(Error::NotGsd("shorter than the 256 bytes of a header"));
    }
    let mut bytes = [0; HEADER_SIZE];
    source.read_at(0, &mut bytes)?;
    let has_magic = Header::has_magic(&bytes);
    let version_known = Header::version_of(&bytes).is_known();
    Header::mend(&mut bytes, (!version_known).then_some(Version::CURRENT));
    let header = Header::decode(&bytes)?;
    let [application, schema] =
        [header.application(), header.schema()].map(|text| (text, is_text(text)));
    let places = [header.index_block().0, header.name_block().0];
    let inside = places.iter().all(|at| (HEADER_SIZE as u64..size).contains(at));
    let damaged = !has_magic || !version_known || !application.1 || !schema.1 || !inside;
    let ends_sound = schema.1 && !schema.0.is_empty() && header.reserved_is_zero();
    let kept = |(text, sound): (&[u8], bool)| if sound { text.to_vec() } else { Vec::new() };
    let (application, schema) = (kept(application), kept(schema));
    Ok(FoundHeader {
        header: header.renamed(&application, &schema),
        damaged,
        version_known,
        damage_may_go_on: damaged && !ends_sound,
    })
}

/// Whether these bytes are plausible as a name given by a program.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| !text.chars().any(char::is_control))
}
