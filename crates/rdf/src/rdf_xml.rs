//! Limits for RDF/XML: entities, each of which may refer to several others, so that a short text could
//! make gigabytes.
//!
//! Invariant: what passes becomes a small multiple of its size.

use std::collections::HashMap;

use crate::ReadError;

/// How much larger entities may make a text, and what a short one may become anyway.
const GROWTH: usize = 16;
const ALWAYS: usize = 64 << 10;

/// Refuses text whose entities make it much larger than it is.
pub(crate) fn check(text: &[u8]) -> Result<(), ReadError> {
    // The reader refuses bytes that are not UTF-8.
    let text = std::str::from_utf8(text).unwrap_or_default();
    let mut entities = HashMap::new();
    // In document order, as by the reader: each entity may use those declared before it.
    for declared in text.split("<!ENTITY").skip(1) {
        if let Some((name, value)) = declaration(declared) {
            entities.insert(name, grown(value, &entities));
        }
    }
    let most = text.len().saturating_mul(GROWTH).max(ALWAYS);
    match grown(text, &entities) > most {
        true => Err(ReadError::Malformed("its entities expand to too much text".to_owned())),
        false => Ok(()),
    }
}

/// The name and the value of an entity, from what stands behind the keyword.
fn declaration(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let text = text.strip_prefix('%').unwrap_or(text).trim_start();
    let (name, rest) = text.split_once(|c: char| c.is_ascii_whitespace())?;
    let (value, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
    Some((name, value))
}

/// The bytes of text once its entities stand for what they are.
fn grown(text: &str, entities: &HashMap<&str, usize>) -> usize {
    let named = text.split('&').skip(1).filter_map(|rest| rest.split_once(';'));
    let sizes = named.filter_map(|(name, _)| entities.get(name));
    sizes.fold(text.len(), |sum, size| sum.saturating_add(*size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(entities: &str, body: &str) -> String {
        format!("<!DOCTYPE d [{entities}]><d xmlns='a:'><p>{body}</p></d>")
    }

    #[test]
    fn namespace_entities_are_accepted() {
        let entities = r#"<!ENTITY owl "http://www.w3.org/2002/07/owl#"><!ENTITY o "&owl;Thing">"#;
        for body in ["&o;".repeat(100_000), "&amp;&lt;&#32;&none;".repeat(100_000)] {
            assert!(check(document(entities, &body).as_bytes()).is_ok(), "{body:.20}");
        }
    }

    #[test]
    fn expanding_entities_are_refused() {
        let nested: String = (1..12)
            .map(|n| format!("<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(10)))
            .collect();
        let nested = format!("<!ENTITY e0 \"0123456789\">{nested}");
        let long = format!("<!ENTITY % e11 \"{}\">", "x".repeat(100_000));
        for (entities, count) in [(nested, 1), (long, 1_000)] {
            let text = document(&entities, &"&e11;".repeat(count));
            assert!(check(text.as_bytes()).is_err(), "{entities:.40}");
        }
    }
}
