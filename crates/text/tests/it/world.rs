//! A small store with something private, and what a scan finds in it.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use cenote_blob::Place;
use cenote_kv::MemoryEngine;
use cenote_store::{
    AccessChange, At, AttributeChange, Caller, Conditions, CreateOptions, Draft, MoveOptions,
    NewUser, Parts, Query, RemoveOptions, ResourceId, Result, Rights, Role, Scope, Statement,
    Store, StorePath, Term, TextLead,
};
use cenote_text::TextIndex;

/// A fresh store, cached: creating one costs an argon2.
fn fresh() -> MemoryEngine {
    static FRESH: OnceLock<MemoryEngine> = OnceLock::new();
    let fresh = FRESH.get_or_init(|| {
        let engine = MemoryEngine::new();
        let parts = Parts::new(engine.clone(), Place::memory("main"));
        Store::create_new(parts, "rods", "rods").unwrap();
        engine
    });
    fresh.fork()
}

pub(crate) struct World {
    pub(crate) engine: MemoryEngine,
    pub(crate) store: Store,
    pub(crate) admin: Caller,
    pub(crate) user: Caller,
}

pub(crate) fn at(path: &str) -> At {
    path.parse::<StorePath>().unwrap().into()
}

impl World {
    pub(crate) fn new() -> Self {
        let engine = fresh();
        let store = Self::open(&engine);
        let admin = store.caller_for(store.person_named("rods").unwrap().0).unwrap();
        let user = NewUser { name: "u".into(), password: None, role: Role::User };
        let user = store.add_user(&admin, &user).unwrap();
        let user = store.caller_for(user).unwrap();
        let keep_removed = Some(Some(1_000_000));
        let keeps = AttributeChange { keep_removed, ..AttributeChange::default() };
        store.set_attributes(&admin, &At::Id(ResourceId::ROOT), &keeps).unwrap();
        Self { engine, store, admin, user }
    }

    pub(crate) fn open(engine: &MemoryEngine) -> Store {
        Store::open_existing(Parts::new(engine.clone(), Place::memory("main"))).unwrap()
    }

    pub(crate) fn mkdir(&self, path: &str) -> Result<()> {
        let path: StorePath = path.parse().unwrap();
        let options = CreateOptions::default();
        self.store.create(&self.admin, &path, Draft::Collection, options).map(drop)
    }

    pub(crate) fn describe(&self, path: &str, values: &[&str]) -> Result<()> {
        let new: cenote_store::Graph = values.iter().map(|value| statement(value)).collect();
        let put = |_: &cenote_store::Graph| Ok(new.clone());
        self.store.change_graph(&self.admin, &at(path), &Conditions::default(), put).map(drop)
    }

    pub(crate) fn mv(&self, from: &str, to: &str) -> Result<()> {
        let to: StorePath = to.parse().unwrap();
        self.store.relocate(&self.admin, &at(from), &to, MoveOptions::default()).map(drop)
    }

    pub(crate) fn rm(&self, path: &str, permanent: bool) -> Result<()> {
        let options = RemoveOptions { recursive: true, permanent, ..RemoveOptions::default() };
        self.store.remove(&self.admin, &at(path), &options).map(drop)
    }

    pub(crate) fn share(&self, path: &str, shared: bool) -> Result<()> {
        let rights = if shared { Rights::READ_OBJECT } else { Rights::NONE };
        let change = AccessChange::Grant("u".into(), rights.into(), Scope::Subtree);
        self.store.change_access(&self.admin, &at(path), &[change]).map(drop)
    }

    /// The paths that a search finds, in pages of two.
    pub(crate) fn found(
        &self,
        caller: &Caller,
        text: &str,
        lead: Option<&dyn TextLead>,
    ) -> Vec<String> {
        let mut query = query(text);
        let mut found = Vec::new();
        loop {
            let page = self.store.search_with(caller, &query, lead).unwrap();
            found.extend(page.items.iter().map(|stat| stat.path.to_string()));
            match page.next {
                Some(next) => query.after = Some(next),
                None => break,
            }
        }
        found.sort();
        found
    }

    /// The paths that an index leads to.
    pub(crate) fn led(&self, index: &TextIndex, caller: &Caller, text: &str) -> Vec<String> {
        let lead = index.lead(&self.store, &|| true).unwrap();
        self.found(caller, text, Some(lead.as_ref()))
    }

    /// The paths of what the caller sees and has a word, by a look at everything.
    pub(crate) fn scanned(&self, caller: &Caller, word: &str) -> Vec<String> {
        // A walk of the caller would pass over what is shared in a hidden collection.
        let all = self.store.walk(&self.admin, &at("/"), None, 10_000).unwrap().entries;
        let mut found = BTreeSet::new();
        for stat in all {
            let Ok((_, graph)) = self.store.graph(caller, &At::Id(stat.id)) else { continue };
            let name = stat.resource.name.clone();
            let values = graph.iter().map(|statement| statement.object.text().to_owned());
            let texts: Vec<String> = std::iter::once(name).chain(values).collect();
            let split = |text: &String| {
                let words = text.split(|c: char| !c.is_ascii_alphanumeric());
                words.map(str::to_ascii_lowercase).collect::<Vec<_>>()
            };
            if texts.iter().flat_map(split).any(|it| it == word) {
                found.insert(stat.path.to_string());
            }
        }
        found.into_iter().collect()
    }
}

fn statement(value: &str) -> Statement {
    let predicate = "http://purl.org/dc/terms/title".to_owned();
    Statement { subject: None, predicate, object: Term::string(value), unit: None }
}

pub(crate) fn query(text: &str) -> Query {
    Query {
        under: at("/"),
        conditions: Vec::new(),
        name: None,
        kind: None,
        text: Some(text.parse().unwrap()),
        after: None,
        limit: 2,
        effort: 16,
    }
}
