//! What XML 1.0 can say: the characters that it has, the names of elements, and text without markup.
//!
//! Source: XML 1.0 (<https://www.w3.org/TR/xml/>), productions `Char`, `NameStartChar` and `NameChar`, and Namespaces in XML 1.0
//! (<https://www.w3.org/TR/xml-names/>), production `NCName`.

/// The first character that XML has no way to write, not even as a reference.
pub(crate) fn foreign(text: &str) -> Option<char> {
    // Of ASCII all but the control characters are in XML, and nearly all text is of these.
    text.chars().find(|c| !is_char(*c))
}

fn is_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Whether a text is a name without a colon.
pub(crate) fn is_nc_name(text: &str) -> bool {
    text.starts_with(is_name_start) && text.chars().all(is_name_char)
}

/// Where the longest name without a colon that ends a text begins.
pub(crate) fn name_at_end(text: &str) -> Option<usize> {
    let indices = text.char_indices().rev().take_while(|(_, c)| is_name_char(*c));
    indices.filter(|(_, c)| is_name_start(*c)).last().map(|(at, _)| at)
}

fn is_name_start(c: char) -> bool {
    matches!(c,
        'A'..='Z' | '_' | 'a'..='z'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}'
        | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
        | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

fn is_name_char(c: char) -> bool {
    is_name_start(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// Appends text for an element or a quoted attribute. White space other than blanks is written as references, since a reader
/// replaces it otherwise (XML 1.0, sections 2.11 and 3.3.3).
pub(crate) fn escape(text: &str, to: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'&' => to.extend_from_slice(b"&amp;"),
            b'<' => to.extend_from_slice(b"&lt;"),
            b'>' => to.extend_from_slice(b"&gt;"),
            b'"' => to.extend_from_slice(b"&quot;"),
            b'\t' => to.extend_from_slice(b"&#9;"),
            b'\n' => to.extend_from_slice(b"&#10;"),
            b'\r' => to.extend_from_slice(b"&#13;"),
            byte => to.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_at_the_end() {
        for (text, name) in [
            ("http://e.x/p", Some("p")),
            ("http://e.x/12ab", Some("ab")),
            ("http://e.x/a:b-1.c", Some("b-1.c")),
            ("http://e.x/é\u{b7}", Some("é\u{b7}")),
            ("http://e.x/%C3p", Some("C3p")),
            ("http://e.x/1_", Some("_")),
            ("http://e.x/123", None),
            ("http://e.x/a/", None),
            ("http://e.x/a(b)", None),
            ("urn:1", None),
            ("", None),
        ] {
            assert_eq!(name_at_end(text).map(|at| &text[at..]), name, "{text}");
            assert!(name.is_none_or(is_nc_name), "{text}");
        }
        for text in ["", "1a", "a:b", "a b", "-a", "\u{b7}a"] {
            assert!(!is_nc_name(text), "{text}");
        }
    }

    #[test]
    fn characters_that_xml_lacks_are_found() {
        for c in ['\0', '\u{1}', '\u{1f}', '\u{fffe}', '\u{ffff}'] {
            assert_eq!(foreign(&format!("a{c}b")), Some(c));
        }
        assert_eq!(foreign("a\t\n\r \u{7f}\u{85}\u{d7ff}\u{e000}\u{fffd}\u{10ffff}"), None);
    }
}
