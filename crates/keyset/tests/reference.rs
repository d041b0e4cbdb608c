//! The loader, which leaves data in the file if possible, compared with a simple reader of the same items, key by
//! key.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use cenote_keyset::format::{Field, NameForm, Sink, StoredValue};
use cenote_keyset::{
    Fault, Format, Key, KeyName, KeySet, MetaKey, ReadOptions, read, stream, to_bytes,
};
use common::name;
use proptest::prelude::*;

/// Makes owned keys from the items of a parser.
struct Plain {
    format: Format,
    keys: KeySet,
    open: Option<Key>,
}

fn text<'a>(field: Field<'a>) -> &'a [u8] {
    field.bytes.split(|byte| *byte == 0).next().unwrap()
}

fn parent() -> KeyName {
    name("user:/p")
}

/// A metakey; one with an invalid name is the root metakey.
fn meta_key(name: Field<'_>, value: Field<'_>) -> MetaKey {
    let (name, value) = (text(name), text(value));
    MetaKey::new(name, value).unwrap_or_else(|_| MetaKey::new("", value).unwrap())
}

impl Sink for Plain {
    fn begin(&mut self, _names: NameForm) -> Result<(), Box<Fault>> {
        Ok(())
    }

    fn clear(&mut self) -> Result<(), Box<Fault>> {
        Ok(())
    }

    fn key(&mut self, name: Field<'_>, value: StoredValue<'_>) -> Result<(), Box<Fault>> {
        self.open = parent().join(text(name)).ok().map(Key::new);
        let Some(key) = &mut self.open else { return Ok(()) };
        match value {
            StoredValue::String(value) => key.set_string(text(value)).unwrap(),
            StoredValue::Binary(value, padding) => {
                key.set_binary([value.bytes, &vec![0; padding as usize]].concat());
            }
            StoredValue::Raw(_) => unreachable!("only in dump version 1"),
        }
        Ok(())
    }

    fn meta(&mut self, name: Field<'_>, value: Field<'_>) -> Result<(), Box<Fault>> {
        if let Some(key) = &mut self.open {
            key.share_meta(meta_key(name, value));
        }
        Ok(())
    }

    fn copy_meta(&mut self, key: Field<'_>, meta: Field<'_>) -> Result<(), Box<Fault>> {
        let refuse = self.format == Format::Quickdump;
        let missing = || Err(Box::new(Fault::UnknownSource(String::new())));
        let source = parent().join(text(key)).ok();
        let is_open = source.as_ref().is_some_and(|source| {
            self.open.as_ref().is_some_and(|open| open.name() == source.borrow())
        });
        let source = source.and_then(|source| self.keys.get(&source));
        match (&mut self.open, source) {
            (None, _) if refuse => missing(),
            (Some(_), _) if is_open && !refuse => Ok(()),
            (Some(open), Some(source)) => match source.meta_key(text(meta)) {
                Some(meta) => {
                    open.share_meta(meta);
                    Ok(())
                }
                None if refuse => missing(),
                None => open.remove_meta(text(meta)).map(drop).or(Ok(())),
            },
            (Some(_), None) if refuse => missing(),
            _ => Ok(()),
        }
    }

    fn end_key(&mut self) -> Result<(), Box<Fault>> {
        self.keys.extend(self.open.take());
        Ok(())
    }

    fn end(&mut self) -> Result<(), Box<Fault>> {
        Ok(())
    }
}

fn sharing(keys: &KeySet) -> Vec<(usize, usize, bool)> {
    let metas: Vec<_> = keys.iter().flat_map(|key| key.meta().collect::<Vec<_>>()).collect();
    let pairs = (0..metas.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.map(|(a, b)| (a, b, metas[a].is_same(metas[b]))).collect()
}

fn assert_read_alike(bytes: &[u8], format: Format) {
    let mut plain = Plain { format, keys: KeySet::new(), open: None };
    let expected = stream(bytes, format, ReadOptions::default(), &mut plain);
    let read = read(bytes.to_vec(), &parent(), format, ReadOptions::default());
    match (expected, read) {
        (Ok(()), Ok(keys)) => {
            assert_eq!(keys, plain.keys);
            assert_eq!(sharing(&keys), sharing(&plain.keys));
            let written = to_bytes(&plain.keys, &parent(), format);
            assert_eq!(to_bytes(&keys, &parent(), format).ok(), written.ok());
        }
        // A stream does not know how far a truncated value may be padded.
        (Err(error), _) if matches!(error.fault, Fault::BadLength) => {}
        (expected, read) => assert_eq!(expected.is_err(), read.is_err()),
    }
}

/// Keys most of which have the same metakeys as the previous key, with the same lengths.
fn similar_keys() -> impl Strategy<Value = KeySet> {
    let word = prop::sample::select(vec!["one", "two", "sixsix", ""]);
    let metas = prop::sample::select(vec![
        &["a", "b/#0", "c"][..],
        &["a", "b/#0", "c"],
        &["a", "b/#0"],
        &["binary", "c"],
        &["x\\/y"],
        &[],
    ]);
    let shares = prop::bool::weighted(0.1);
    let key = (0..12_u8, metas, prop::collection::vec(word, 4), shares);
    prop::collection::vec(key, 0..12).prop_map(|keys| {
        let shared = MetaKey::new("b/#0", "shared").unwrap();
        let make = |(number, metas, words, shares): (u8, &[&str], Vec<&str>, bool)| {
            let mut key = Key::new(parent().child(format!("key{number}")).unwrap());
            key.set_string(words[3]).unwrap();
            for (meta, word) in metas.iter().zip(words) {
                key.set_meta(meta, word).unwrap();
            }
            if shares {
                key.share_meta(shared.clone());
            }
            key
        };
        keys.into_iter().map(make).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn whole_files(keys in similar_keys()) {
        for format in [Format::Quickdump, Format::Dump] {
            let bytes = to_bytes(&keys, &parent(), format).unwrap();
            assert_read_alike(&bytes, format);
            let keys = read(bytes.clone(), &parent(), format, ReadOptions::default()).unwrap();
            prop_assert_eq!(to_bytes(&keys, &parent(), format).unwrap(), bytes);
        }
    }

    #[test]
    fn damaged_files(
        keys in similar_keys(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..3),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        for format in [Format::Quickdump, Format::Dump] {
            let mut bytes = to_bytes(&keys, &parent(), format).unwrap();
            for (at, byte) in &changes {
                *at.get_mut(&mut bytes) = *byte;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            assert_read_alike(&bytes, format);
        }
    }

    #[test]
    fn pieces_of_files_in_any_order(
        keys in similar_keys(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        for (format, head) in [(Format::Quickdump, 8), (Format::Dump, 10)] {
            let records: Vec<Vec<u8>> = keys
                .iter()
                .map(|key| {
                    let one: KeySet = [key.to_key()].into_iter().collect();
                    let bytes = to_bytes(&one, &parent(), format).unwrap();
                    let end = if format == Format::Dump { "$end\n".len() } else { 0 };
                    bytes[head..bytes.len() - end].to_vec()
                })
                .collect();
            let mut bytes = to_bytes(&KeySet::new(), &parent(), format).unwrap()[..head].to_vec();
            if !records.is_empty() {
                order.iter().for_each(|at| bytes.extend(&records[at.index(records.len())]));
            }
            assert_read_alike(&bytes, format);
        }
    }
}
