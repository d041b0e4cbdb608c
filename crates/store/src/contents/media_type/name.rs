//! The media type according to the extension of a name.

/// What the general table does not know, or takes for something that few researchers mean.
const OWN: [(&str, &str); 4] = [
    ("gsd", "application/x-gsd"),
    ("ipynb", "application/x-ipynb+json"),
    ("pdb", "chemical/x-pdb"),
    ("stl", "model/stl"),
];

/// The media type of an extension that is known and says more than that there are bytes.
pub(super) fn by_name(name: &str) -> Option<&'static str> {
    let (stem, extension) = name.rsplit_once('.')?;
    if stem.is_empty() {
        return None;
    }
    let own = OWN.iter().find(|(known, _)| known.eq_ignore_ascii_case(extension));
    let known = match own {
        Some((_, kind)) => Some(*kind),
        None => mime_guess::from_ext(extension).first_raw(),
    };
    known.filter(|kind| *kind != "application/octet-stream")
}
