//! Media types: set by a client, or guessed from the name and the first bytes.
//!
//! Invariants: a guess is a function of the name and the first [`FirstBytes::MOST`] bytes alone, and never fails; it is made
//! when a content is published, and never again for the same content; a type that was set is never replaced by a guess.
//! The rules are those of `docs/SEMANTICS.md`, "Media types".

mod bytes;
mod name;

pub(crate) use self::bytes::{FirstBytes, Sniffed};
use self::name::by_name;

/// The media type of a content, and whether it is a guess.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MediaType {
    pub(crate) text: Option<String>,
    pub(crate) guessed: bool,
}

impl MediaType {
    /// The type that was set, otherwise a guess.
    pub(crate) fn stated_or_guessed(stated: Option<&str>, name: &str, sniffed: Sniffed) -> Self {
        match stated {
            Some(stated) => Self { text: Some(stated.to_owned()), guessed: false },
            None => {
                let text = guess(name, sniffed);
                Self { guessed: text.is_some(), text }
            }
        }
    }
}

/// The media type of an object with this name whose content begins like this; none if neither determines it.
pub(crate) fn guess(name: &str, sniffed: Sniffed) -> Option<String> {
    let named = by_name(name).filter(|named| !is_refuted(named, sniffed));
    let essence = match sniffed {
        Sniffed::Empty | Sniffed::Binary => named?,
        Sniffed::Text { .. } => named.unwrap_or("text/plain"),
        Sniffed::Markup { kind, .. } => named.unwrap_or(kind),
        Sniffed::Signature { kind, .. } => {
            named.filter(|named| refines(named, kind)).unwrap_or(kind)
        }
    };
    Some(match sniffed.charset().filter(|_| essence.starts_with("text/")) {
        Some(charset) => format!("{essence}; charset={charset}"),
        None => essence.to_owned(),
    })
}

/// Whether content that begins like this cannot be of this type.
fn is_refuted(named: &str, sniffed: Sniffed) -> bool {
    match sniffed {
        Sniffed::Empty => false,
        Sniffed::Binary => is_text(named),
        Sniffed::Text { .. } | Sniffed::Markup { .. } => {
            !is_text(named) && (is_binary(named) || has_signature(named))
        }
        Sniffed::Signature { kind, text } => {
            named != kind && (has_signature(named) || (!text && is_text(named)))
        }
    }
}

/// Whether contents of this type are text.
fn is_text(kind: &str) -> bool {
    const TEXTS: [&str; 7] = [
        "application/json",
        "application/xml",
        "application/javascript",
        "application/n-triples",
        "application/x-sh",
        "application/x-sql",
        "application/x-tex",
    ];
    kind.starts_with("text/")
        || kind.ends_with("+xml")
        || kind.ends_with("+json")
        || TEXTS.contains(&kind)
}

/// Whether contents of this type are never text. Some formats of images and lists of songs are.
fn is_binary(kind: &str) -> bool {
    const TEXTS: [&str; 3] = ["image/x-portable-", "image/x-x", "audio/x-mpegurl"];
    family(kind) != Family::Other && !TEXTS.iter().any(|text| kind.starts_with(text))
}

/// Whether contents of this type begin with a signature that is known. Documents in a ZIP archive are not always
/// recognised as more than that.
fn has_signature(kind: &str) -> bool {
    const IN_ARCHIVES: [&str; 5] = [
        "application/epub+zip",
        "application/msword",
        "application/vnd.ms-",
        "application/vnd.oasis.",
        "application/vnd.openxmlformats-",
    ];
    infer::is_mime_supported(kind) && !IN_ARCHIVES.iter().any(|start| kind.starts_with(start))
}

/// Whether a name may say more of a content with this signature than the signature: a document is an archive, a raw photo
/// is a TIFF file, and some types have two names.
fn refines(named: &str, kind: &str) -> bool {
    family(named) == family(kind) && !EXACT.contains(&kind)
}

/// Signatures of which no name says more.
const EXACT: [&str; 10] = [
    "application/pdf",
    "application/postscript",
    "application/rtf",
    "application/vnd.elektra.dump",
    "application/vnd.elektra.quickdump",
    "image/bmp",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
];

#[derive(PartialEq, Eq)]
enum Family {
    Image,
    /// Sound, moving pictures, or both: one container may have either.
    Recording,
    Font,
    Other,
}

fn family(kind: &str) -> Family {
    match kind.split('/').next() {
        Some("image") => Family::Image,
        Some("audio" | "video") => Family::Recording,
        Some("font") => Family::Font,
        _ if kind.starts_with("application/font-") => Family::Font,
        _ => Family::Other,
    }
}

#[cfg(test)]
mod tests;
