//! From an inventory to JSON: small, and always the same for the same inventory.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Inventory, Version};

impl Inventory {
    /// The text of `inventory.json`.
    pub(crate) fn text(&self) -> Vec<u8> {
        let versions = self.numbers().map(|number| number.to_string());
        let versions = versions.zip(self.versions.iter().map(version)).collect::<Map<_, _>>();
        let mut inventory = json!({
            "id": self.id,
            "type": self.spec.inventory_type(),
            "digestAlgorithm": self.algorithm.name(),
            "head": self.head.to_string(),
            "manifest": self.manifest,
            "versions": versions,
        });
        if self.content_directory != "content" {
            inventory["contentDirectory"] = json!(self.content_directory);
        }
        if !self.fixity.is_empty() {
            inventory["fixity"] = json!(self.fixity);
        }
        let mut text = inventory.to_string().into_bytes();
        text.push(b'\n');
        text
    }
}

fn version(version: &Version) -> Value {
    let mut state: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, digest) in &version.state {
        state.entry(digest).or_default().push(path);
    }
    let mut value = json!({ "created": version.created.to_string(), "state": state });
    if let Some(message) = &version.message {
        value["message"] = json!(message);
    }
    if let Some(user) = &version.user {
        value["user"] = json!({ "name": user.name });
        if let Some(address) = &user.address {
            value["user"]["address"] = json!(address);
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_map, vec};
    use proptest::option::of;
    use proptest::prelude::*;

    use super::super::{Spec, User, parse};
    use super::*;
    use crate::{Algorithm, VersionNumber};

    fn inventory() -> impl Strategy<Value = Inventory> {
        let user =
            ("\\PC{1,6}", of("\\PC{0,6}")).prop_map(|(name, address)| User { name, address });
        let version = (
            0..4_000_000_000i64,
            of("\\PC{0,6}"),
            of(user),
            btree_map("[a-zé. ]{3,6}/?[A-C]", 0usize..3, 0..4),
        );
        ("\\PC{1,9}", vec(version, 1..4)).prop_map(|(id, versions)| {
            let mut manifest = BTreeMap::new();
            let versions: Vec<_> = versions
                .into_iter()
                .map(|(created, message, user, state)| {
                    let state = state.into_iter().map(|(path, content)| {
                        let digest = Algorithm::Sha512.of(&[u8::try_from(content).unwrap()]);
                        manifest.insert(digest.clone(), vec![format!("v1/content/{content}")]);
                        (path, digest)
                    });
                    let state = state.collect();
                    let created = jiff::Timestamp::from_millisecond(created).unwrap();
                    Version { created, message, user, state }
                })
                .collect();
            let number = u32::try_from(versions.len()).unwrap();
            let head = VersionNumber::FIRST.at(number).unwrap();
            let fixity = BTreeMap::new();
            let (spec, algorithm) = (Spec::V1_1, Algorithm::Sha512);
            let content_directory = "content".to_owned();
            Inventory { id, spec, algorithm, head, content_directory, manifest, versions, fixity }
        })
    }

    proptest! {
        #[test]
        fn an_inventory_is_read_as_it_was_written(inventory in inventory()) {
            // A random path may be a directory of another one, or lead elsewhere.
            if let Ok(read) = parse(&inventory.text(), "inventory.json") {
                prop_assert_eq!(read, inventory);
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text: Vec<u8>, changed: usize, byte: u8, one in inventory()) {
            let _ = parse(&text, "");
            let mut text = one.text();
            let at = changed % text.len();
            text[at] = byte;
            let _ = parse(&text, "");
        }
    }
}
