//! What a client sees, through several openings.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Client;
use crate::model::Item;
use crate::requests::Answer;

impl Client<'_> {
    /// The answer to a question, if there is one.
    fn see(&mut self, request: &str) -> Option<Answer> {
        self.send(request, b"").filter(|answer| answer.status < 500)
    }

    pub(super) fn read(&mut self, name: &str) {
        self.read_at("/v1/fs", name);
    }

    pub(super) fn read_as_linked_data(&mut self, name: &str) {
        self.read_at("/ldp", name);
    }

    fn read_at(&mut self, opening: &str, name: &str) {
        let request = format!("GET {opening}/storm/{}/{name}", self.of);
        let Some(answer) = self.see(&request) else { return };
        let what = format!("{request}: {} with {} bytes", answer.status, answer.body.len());
        self.possible.saw(&what, |tree| match tree.get(name) {
            Some(item) => answer.status == 200 && answer.body == item.bytes(),
            None => answer.status == 404,
        });
    }

    pub(super) fn list(&mut self) {
        let Some(answer) = self.see(&format!("GET /v1/list?path=/storm/{}", self.of)) else {
            return;
        };
        let listed = answer.json();
        let entry = |entry: &Value| {
            (entry["name"].as_str().unwrap().to_owned(), entry["size"].as_u64().unwrap() as usize)
        };
        let found: Vec<_> = listed["entries"].as_array().unwrap().iter().map(entry).collect();
        let sizes = |(name, item): (&String, &Item)| (name.clone(), item.size());
        self.possible.saw(&format!("the list {found:?}"), |tree| {
            tree.iter().map(sizes).collect::<Vec<_>>() == found
        });
    }

    /// The attributes that were set here and through iRODS.
    pub(super) fn attributes(&mut self, name: &str) {
        let path = format!("GET /v1/meta?path=/storm/{}/{name}", self.of);
        let Some(answer) = self.see(&path) else { return };
        let listed = answer.json();
        let values = |of: &str| -> BTreeSet<usize> {
            let items = listed["items"].as_array().into_iter().flatten();
            let items = items.filter(|item| item["attribute"] == of);
            items.map(|item| item["value"].as_str().unwrap().parse().unwrap()).collect()
        };
        let (notes, added) = (values("note"), values("value"));
        self.possible.saw(&format!("{path}: {notes:?} {added:?}"), |tree| match tree.get(name) {
            None => answer.status == 404,
            Some(item) => notes.iter().eq(&item.note) && added == item.values,
        });
    }

    /// The versions that were kept, and the bytes of one.
    pub(super) fn versions(&mut self, name: &str) {
        let path = format!("GET /v1/versions?path=/storm/{}/{name}", self.of);
        let Some(answer) = self.see(&path) else { return };
        let listed = answer.json();
        let items: Vec<_> = listed["items"].as_array().into_iter().flatten().collect();
        let sizes: BTreeSet<_> =
            items.iter().map(|item| item["size"].as_u64().unwrap() as usize).collect();
        self.possible.saw(&format!("{path}: {sizes:?}"), |tree| match tree.get(name) {
            None => answer.status == 404,
            Some(item) => item.kept_sizes() == sizes,
        });
        if !items.is_empty() {
            let any = self.dice.below(items.len());
            self.version(name, &items[any]["version"]);
        }
    }

    fn version(&mut self, name: &str, version: &Value) {
        let request = format!("GET /v1/fs/storm/{}/{name}?version={version}", self.of);
        let Some(answer) = self.see(&request) else { return };
        // A change without an answer may have taken its place in the meantime.
        self.possible.saw(&format!("{request}: {}", answer.status), |tree| {
            let kept = |item: &Item| item.has_kept(&answer.body);
            if answer.status == 200 {
                tree.get(name).is_some_and(kept)
            } else {
                answer.status == 404
            }
        });
    }
}
