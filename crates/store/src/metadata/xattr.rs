//! Extended attributes, as file systems have them (`xattr(7)`): an attribute with one value, of any bytes.
//!
//! The extended attribute `user.k` of a mount is the attribute `k` of the attribute view, so that every opening sees it. How
//! its value is kept:
//!
//! | value | object of the statement |
//! |---|---|
//! | UTF-8 without control characters other than tab, line feed and carriage return | plain literal |
//! | any other bytes | literal of the type `xsd:base64Binary`: the bytes in Base64 (RFC 4648, with padding) |
//!
//! Invariant: what was set is read byte for byte. A statement of another opening is shown as the text of its object; of
//! several values of an attribute the first in canonical order is shown, and all are replaced.

use std::collections::BTreeMap;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::avu::clear;
use super::links::Links;
use super::stored::Stored;
use super::vocabulary::{attribute_of, predicate_of, predicates_of};
use crate::access::Operation;
use crate::catalog::Transaction;
use crate::model::{At, Dangling, Graph, Stat, Statement, Term};
use crate::resources::find;
use crate::{AvuChange, Bytes, Caller, Conditions, Error, ErrorKind, Result, Store};

/// An extended attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Xattr {
    /// Its name, without the prefix `user.` of file systems: 1 to [`Xattr::MAX_NAME`] bytes without NUL.
    pub name: String,
    /// Its value.
    pub value: Bytes,
}

const BASE64_BINARY: &str = "http://www.w3.org/2001/XMLSchema#base64Binary";

/// Base64 that is written with padding, and read with or without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Xattr {
    /// The longest name, in bytes: with `user.` before it the 255 that Linux takes.
    pub const MAX_NAME: usize = 250;
    /// The largest value that can be set, in bytes, as on Linux.
    pub const MAX_VALUE: usize = 64 << 10;

    /// The extended attributes of a description, by name. Attributes whose names no file system takes are left out.
    pub fn all(graph: &Graph) -> Vec<Self> {
        let mut first = BTreeMap::new();
        for statement in graph.iter().filter(|statement| statement.subject.is_none()) {
            first.entry(attribute_of(&statement.predicate)).or_insert(&statement.object);
        }
        let named = first.into_iter().filter(|(name, _)| check_name(name).is_ok());
        named.map(|(name, object)| Self { name, value: bytes_of(object) }).collect()
    }
}

impl Store {
    /// The extended attributes of a resource, by name. Needs `Rights::READ_DESCRIPTION`.
    pub fn xattrs(&self, caller: &Caller, at: &At) -> Result<(Stat, Vec<Xattr>)> {
        let (stat, graph) = self.graph(caller, at)?;
        Ok((stat, Xattr::all(&graph)))
    }

    /// The value of one of them, with the part of the description that has it.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none with this name.
    pub fn xattr(&self, caller: &Caller, at: &At, name: &str) -> Result<(Stat, Graph, Bytes)> {
        check_name(name)?;
        let view = self.view_of_described(at)?;
        let chain = find(&view, caller, at, Operation::ReadDescription)?;
        let all = [AvuChange::Clear(name.to_owned())];
        let part = Stored::touched(&view, chain.id().0, &all)?;
        let mut shown = Links::new(&view, caller).graph(part.graph)?;
        let predicates = predicates_of(name);
        shown.retain(|statement| predicates.contains(&statement.predicate));
        let value = first(&shown, name).map(bytes_of).ok_or_else(|| missing(name))?;
        Ok((chain.into(), shown, value))
    }

    /// Gives a resource an extended attribute, replacing all values of the attribute. Needs what
    /// [`Store::change_graph`] needs. Of the conditions, `if_absent` and the tag `*` are about the attribute: that there is none
    /// of this name, or that there is one; any other tag is about the description.
    pub fn set_xattr(
        &self,
        caller: &Caller,
        at: &At,
        xattr: &Xattr,
        conditions: &Conditions,
    ) -> Result<Stat> {
        if xattr.value.len() > Xattr::MAX_VALUE {
            let message = "the value of an extended attribute has at most 64 KiB";
            return Err(Error::new(ErrorKind::TooLarge, message)
                .with_hint("keep it as the content of an object"));
        }
        let statement = Statement {
            subject: None,
            predicate: predicate_of(&xattr.name),
            object: term_of(&xattr.value),
            unit: None,
        };
        self.change_xattr(caller, at, &xattr.name, conditions, |graph| {
            clear(graph, &xattr.name);
            graph.insert(statement.clone());
            Ok(())
        })
    }

    /// Removes an extended attribute, with every value that the attribute has.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none with this name.
    pub fn remove_xattr(
        &self,
        caller: &Caller,
        at: &At,
        name: &str,
        conditions: &Conditions,
    ) -> Result<Stat> {
        self.change_xattr(caller, at, name, conditions, |graph| {
            first(graph, name).ok_or_else(|| missing(name))?;
            clear(graph, name);
            Ok(())
        })
    }

    fn change_xattr(
        &self,
        caller: &Caller,
        at: &At,
        name: &str,
        conditions: &Conditions,
        change: impl Fn(&mut Graph) -> Result<()>,
    ) -> Result<Stat> {
        check_name(name)?;
        let (about_description, about_it) = conditions.of_part();
        let all = [AvuChange::Clear(name.to_owned())];
        let read = |tx: &Transaction, id| Stored::touched(tx, id, &all);
        self.change_stored(caller, at, (&about_description, Dangling::Kept), read, |old| {
            about_it.check_part(first(old, name).is_some(), name)?;
            let mut new = old.clone();
            change(&mut new)?;
            Ok(new)
        })
    }
}

/// The object of the first statement that has this attribute.
fn first<'a>(graph: &'a Graph, name: &str) -> Option<&'a Term> {
    let predicates = predicates_of(name);
    let is_it = |statement: &&Statement| {
        statement.subject.is_none() && predicates.contains(&statement.predicate)
    };
    graph.iter().find(is_it).map(|statement| &statement.object)
}

/// How a value is kept.
fn term_of(value: &[u8]) -> Term {
    let is_text = |text: &&str| !text.contains(|c: char| c.is_control() && !"\t\n\r".contains(c));
    match std::str::from_utf8(value).ok().filter(is_text) {
        Some(text) => Term::string(text),
        None => Term::Literal {
            value: BASE64.encode(value),
            datatype: Some(BASE64_BINARY.to_owned()),
            language: None,
        },
    }
}

/// The value that an object is shown as. Binary data that is none is shown as its text.
fn bytes_of(object: &Term) -> Bytes {
    let binary = match object {
        Term::Literal { value, datatype: Some(datatype), .. } if datatype == BASE64_BINARY => {
            // The type allows white space anywhere.
            let digits: Vec<u8> = value.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
            BASE64.decode(digits).ok()
        }
        _ => None,
    };
    binary.map_or_else(|| Bytes::copy_from_slice(object.text().as_bytes()), Bytes::from)
}

fn check_name(name: &str) -> Result<()> {
    match (1..=Xattr::MAX_NAME).contains(&name.len()) && !name.contains('\0') {
        true => Ok(()),
        false => {
            Err(Error::invalid("the name of an extended attribute has 1 to 250 bytes without NUL"))
        }
    }
}

fn missing(name: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no extended attribute {name:?}"))
}

#[cfg(test)]
mod laws {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Bytes of all kinds: noise, text, text with control characters, what looks like Base64.
    fn value() -> impl Strategy<Value = Vec<u8>> {
        let text = prop_oneof!["\\PC{0,20}", "[\\x00-\\x7f]{0,20}", "[A-Za-z0-9+/]{4}{0,4}=?"];
        prop_oneof![vec(any::<u8>(), 0..300), text.prop_map(String::into_bytes)]
    }

    proptest! {
        #[test]
        fn any_bytes_round_trip(value in value()) {
            prop_assert_eq!(bytes_of(&term_of(&value)), value);
        }

        #[test]
        fn every_statement_of_an_opening_can_be_shown(text in ".{0,20}", base64: bool) {
            let datatype = base64.then(|| BASE64_BINARY.to_owned());
            let object = Term::Literal { value: text, datatype, language: None };
            bytes_of(&object);
        }
    }

    #[test]
    fn text_is_stored_as_text_and_other_bytes_in_base64() {
        for (value, text, binary) in [
            (&b"a\tb\n"[..], "a\tb\n", false),
            ("grün".as_bytes(), "grün", false),
            (b"", "", false),
            (b"\x01\x00\x00\x00", "AQAAAA==", true),
            (b"\xff", "/w==", true),
            ("\u{9b}".as_bytes(), "wps=", true),
        ] {
            let kept = term_of(value);
            assert_eq!((kept.text(), kept != Term::string(text)), (text, binary), "{value:?}");
        }
        let spaced = Term::Literal {
            value: " AQ A\nAAA ".into(),
            datatype: Some(BASE64_BINARY.into()),
            language: None,
        };
        assert_eq!(bytes_of(&spaced), &b"\x01\x00\x00\x00"[..]);
    }
}
