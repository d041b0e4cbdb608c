//! Limits for JSON-LD, since the library that reads it recurses for each level of nesting and for each term of a context
//! that depends on another one, and copies the context in force for each nested one.
//!
//! Invariant: what passes is read on the stack of any thread, and in a time that follows the size of the text.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::ReadError;

/// How many terms of a context may depend on each other, each on the next.
const LONGEST_CHAIN: usize = 32;
/// How many definitions of terms the reader may make, counting copies.
const MOST_DEFINITIONS: u64 = 20_000_000;

/// Refuses text that nests deeper than `serde_json` reads (128 levels), that is no JSON, or that makes too much work.
pub(crate) fn check(text: &[u8]) -> Result<(), ReadError> {
    let complexity: Complexity =
        serde_json::from_slice(text).map_err(|error| ReadError::Syntax {
            line: error.line() as u64,
            column: error.column() as u64,
            message: error.to_string(),
        })?;
    match complexity.chain > LONGEST_CHAIN || complexity.definitions() > MOST_DEFINITIONS {
        true => Err(ReadError::Malformed("its contexts are too complex".to_owned())),
        false => Ok(()),
    }
}

/// How much work it takes to read a value.
#[derive(Debug, Default)]
struct Complexity {
    /// Contexts, and the definitions of terms that reading them makes: of each its own, and those of all around it.
    contexts: u64,
    work: u64,
    /// All terms of all contexts, and those of contexts that come into force with a term or a type.
    terms: u64,
    scoped: u64,
    /// Values by which such a context may come into force.
    values: u64,
    /// The longest chain of terms.
    chain: usize,
}

impl Complexity {
    fn definitions(&self) -> u64 {
        let scoped = if self.scoped > 0 { self.values.saturating_mul(self.terms) } else { 0 };
        self.work.saturating_add(scoped)
    }

    fn add(&mut self, other: &Self) {
        self.contexts += other.contexts;
        self.work = self.work.saturating_add(other.work);
        self.terms += other.terms;
        self.scoped += other.scoped;
        self.values += other.values;
        self.chain = self.chain.max(other.chain);
    }

    /// The state for an object with its own contexts, which contains the others.
    fn within(mut self, inner: &Self) -> Self {
        let copied = self.terms.saturating_mul(inner.contexts);
        self.add(inner);
        self.work = self.work.saturating_add(copied);
        self
    }

    /// The state for the value of `@context`.
    fn of_context(value: &Value) -> Self {
        let mut complexity = Self::default();
        match value {
            Value::Array(all) => all.iter().for_each(|one| complexity.add(&Self::of_context(one))),
            Value::Object(terms) => complexity.define(terms),
            _ => {}
        }
        complexity
    }

    fn define(&mut self, terms: &Map<String, Value>) {
        let own = terms.len() as u64;
        (self.contexts, self.work, self.terms) =
            (self.contexts + 1, self.work + own, self.terms + own);
        self.chain = Chains::of(terms).longest();
        for scoped in terms.values().filter_map(|term| term.get("@context")) {
            let scoped = Self::of_context(scoped);
            self.scoped += scoped.terms;
            self.add(&scoped);
        }
    }
}

impl<'de> Deserialize<'de> for Complexity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ComplexityVisitor)
    }
}

/// Measures a value without keeping it.
struct ComplexityVisitor;

/// A value with nothing in it.
fn plain<E>() -> Result<Complexity, E> {
    Ok(Complexity { values: 1, ..Complexity::default() })
}

impl<'de> Visitor<'de> for ComplexityVisitor {
    type Value = Complexity;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Complexity, E> {
        plain()
    }

    fn visit_bool<E>(self, _: bool) -> Result<Complexity, E> {
        plain()
    }

    fn visit_i64<E>(self, _: i64) -> Result<Complexity, E> {
        plain()
    }

    fn visit_u64<E>(self, _: u64) -> Result<Complexity, E> {
        plain()
    }

    fn visit_f64<E>(self, _: f64) -> Result<Complexity, E> {
        plain()
    }

    fn visit_str<E>(self, _: &str) -> Result<Complexity, E> {
        plain()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Complexity, A::Error> {
        let mut complexity = Complexity::default();
        while let Some(item) = items.next_element::<Complexity>()? {
            complexity.add(&item);
        }
        Ok(complexity)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Complexity, A::Error> {
        let (mut own, mut inner) =
            (Complexity::default(), Complexity { values: 1, ..Complexity::default() });
        while let Some(key) = entries.next_key::<String>()? {
            match key.as_str() {
                "@context" => own.add(&Complexity::of_context(&entries.next_value()?)),
                _ => inner.add(&entries.next_value()?),
            }
        }
        Ok(own.within(&inner))
    }
}

/// Which terms of one context depend on which others of it.
struct Chains<'a> {
    terms: &'a Map<String, Value>,
    /// Of each term the length of the longest chain that begins with it.
    known: HashMap<&'a str, usize>,
}

impl<'a> Chains<'a> {
    fn of(terms: &'a Map<String, Value>) -> Self {
        Self { terms, known: HashMap::new() }
    }

    /// The longest of all, or a length beyond the limit for one that is longer, or has no end.
    fn longest(mut self) -> usize {
        let terms = self.terms;
        terms.iter().map(|(name, value)| self.from(name, value, 1)).max().unwrap_or(0)
    }

    fn from(&mut self, name: &'a str, value: &'a Value, level: usize) -> usize {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        if level > LONGEST_CHAIN {
            return level;
        }
        let mut longest = 0;
        for other in referenced_terms(value).flat_map(names).chain(prefixes(name)) {
            let Some((other, value)) = self.terms.get_key_value(other) else { continue };
            longest = longest.max(self.from(other, value, level + 1));
            if longest > LONGEST_CHAIN {
                break;
            }
        }
        self.known.insert(name, longest + 1);
        longest + 1
    }
}

/// The texts in the definition of a term that may name other terms.
fn referenced_terms(value: &Value) -> impl Iterator<Item = &str> {
    let keyed = ["@id", "@type", "@reverse", "@index"].map(|key| value.get(key));
    std::iter::once(Some(value)).chain(keyed).flatten().filter_map(Value::as_str)
}

/// A term as it is, and its prefixes.
fn names(text: &str) -> impl Iterator<Item = &str> {
    std::iter::once(text).chain(prefixes(text))
}

/// What stands before the first colon, and before the first one that does not begin the text.
fn prefixes(text: &str) -> impl Iterator<Item = &str> {
    let first = text.find(':');
    let second = text.char_indices().skip(1).find(|(_, c)| *c == ':').map(|(at, _)| at);
    first.into_iter().chain(second).map(|at| &text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(text: &str) -> bool {
        check(text.as_bytes()).is_err()
    }

    #[test]
    fn common_contexts_are_accepted() {
        let vocabulary: Vec<_> = (0..3_000).map(|n| format!("\"t{n}\":\"s:t{n}\"")).collect();
        let vocabulary = vocabulary.join(",");
        for text in [
            "{}".to_owned(),
            "[1, 2.5, null, true, \"x\"]".to_owned(),
            r#"{"@context":[{"s":"http://s/"},{"name":{"@id":"s:name","@type":"@id"}}],"name":"x"}"#
                .to_owned(),
            format!("{{\"@context\":{{\"s\":\"http://s/\",{vocabulary}}},\"t1\":1}}"),
            format!("[{}{{}}]", r#"{"@context":{"a":"b:c"},"a":1},"#.repeat(10_000)),
        ] {
            assert!(!is_refused(&text), "{text:.200}");
        }
    }

    #[test]
    fn chains_of_terms_are_limited() {
        let chain = |count: usize| {
            let terms: Vec<_> =
                (0..count).map(|n| format!("\"t{n}\":{{\"@id\":\"t{}:x\"}}", n + 1)).collect();
            format!("{{\"@context\":{{{}}}}}", terms.join(","))
        };
        assert!(!is_refused(&chain(LONGEST_CHAIN)));
        assert!(is_refused(&chain(LONGEST_CHAIN + 1)));
        let scoped = format!(r#"{{"@context":{{"t":{}}}}}"#, chain(100));
        for text in [&scoped, r#"{"@context":{"a":"b:x","b":"a:x"}}"#, r#"{"@context":{"a":"a"}}"#]
        {
            assert!(is_refused(text), "{text:.200}");
        }
    }

    #[test]
    fn copies_of_contexts_are_counted() {
        let terms: Vec<_> = (0..10_000).map(|n| format!("\"t{n}\":\"s:t{n}\"")).collect();
        let terms = terms.join(",");
        let inner = r#"{"@context":{"a":"b:c"}},"#.repeat(10_000);
        assert!(is_refused(&format!("{{\"p\":[{inner}1],\"@context\":{{{terms}}}}}")));
        let scoped =
            format!("{{\"@context\":{{\"s\":{{\"@id\":\"x:s\",\"@context\":{{{terms}}}}}}}");
        let used = r#"{"s":1},"#.repeat(10_000);
        assert!(is_refused(&format!("{scoped},\"p\":[{used}1]}}")));
    }
}
