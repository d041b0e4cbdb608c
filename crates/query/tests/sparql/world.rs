//! A small store with a private home, and the same triples in memory.

use std::borrow::Cow;
use std::sync::OnceLock;

use cenote_blob::Place;
use cenote_kv::MemoryEngine;
use cenote_query::sparql::{Graphs, Limits, Words, query};
use cenote_query::{Error, Result};
use cenote_rdf::{Answers, Format, Query};
use cenote_store::{
    AccessChange, At, Caller, Conditions, CreateOptions, Draft, Expected, MoveOptions, NewUser,
    Parts, PutOptions, Received, Rights, Role, Scope, Statement, Store, StorePath, Term, Version,
};
use oxrdf::{Dataset, GraphName, NamedNode, NamedOrBlankNode, Quad};
use spareval::{QueryEvaluator, QueryResults};

/// Collections, then objects, then descriptions.
pub(crate) const PATHS: [&str; 12] = [
    "/open",
    "/open/sub",
    "/home",
    "/home/u",
    "/home/p",
    "/home/p/s",
    "/open/x",
    "/open/y",
    "/open/sub/x",
    "/home/p/x",
    "/home/p/s/shared",
    "/open/d",
];

/// The store's own spelling.
#[derive(Debug)]
pub(crate) struct Plain(pub(crate) Graphs);

impl Words for Plain {
    fn outward<'a>(&self, iri: &'a str) -> Cow<'a, str> {
        iri.into()
    }

    fn inward<'a>(&self, iri: &'a str) -> Cow<'a, str> {
        iri.into()
    }

    fn fedora(&self) -> &str {
        "f:"
    }

    fn states_basic_container(&self) -> bool {
        true
    }

    fn graphs(&self) -> Graphs {
        self.0
    }

    fn version(&self, version: &Version) -> String {
        version.version.to_string()
    }
}

/// A fresh store, cached: creating one costs an argon2.
fn fresh() -> Store {
    static FRESH: OnceLock<MemoryEngine> = OnceLock::new();
    let fresh = FRESH.get_or_init(|| {
        let engine = MemoryEngine::new();
        let parts = Parts::new(engine.clone(), Place::memory("main"));
        Store::create_new(parts, "rods", "rods").unwrap();
        engine
    });
    Store::open_existing(Parts::new(fresh.fork(), Place::memory("main"))).unwrap()
}

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) admin: Caller,
    pub(crate) user: Caller,
}

impl World {
    /// A store in which some statements are made of some of its paths.
    pub(crate) fn new(planted: &[(usize, Statement)]) -> Self {
        let store = fresh();
        let admin = store.caller_for(store.person_named("rods").unwrap().0).unwrap();
        let user = NewUser { name: "u".into(), password: None, role: Role::User };
        let user = store.add_user(&admin, &user).unwrap();
        let user = store.caller_for(user).unwrap();
        let world = Self { store, admin, user };
        world.plant();
        for (place, path) in PATHS.iter().enumerate() {
            let of = planted.iter().filter(|(at, _)| at % PATHS.len() == place);
            world.describe(path, of.map(|(_, statement)| statement.clone()));
        }
        world
    }

    fn plant(&self) {
        for (place, path) in PATHS.iter().enumerate() {
            let path: StorePath = path.parse().unwrap();
            let draft = match place {
                0..6 => Draft::Collection,
                11 => Draft::Description,
                _ => {
                    let bytes = Received::inline(&vec![b'x'; place], &Expected::default());
                    let options = PutOptions::default();
                    self.store.publish(&self.admin, &path, &bytes.unwrap(), &options).unwrap();
                    continue;
                }
            };
            self.store.create(&self.admin, &path, draft, CreateOptions::default()).unwrap();
        }
        self.share("/open", Rights::READ_OBJECT, Scope::Subtree);
        self.share("/home/u", Rights::OWN, Scope::Subtree);
        self.share("/home/p/s/shared", Rights::READ_OBJECT, Scope::This);
    }

    pub(crate) fn collection(&self, path: &str) {
        let path: StorePath = path.parse().unwrap();
        self.store.create(&self.admin, &path, Draft::Collection, CreateOptions::default()).unwrap();
    }

    fn share(&self, path: &str, rights: Rights, scope: Scope) {
        let change = AccessChange::Grant("u".into(), rights.into(), scope);
        let at: At = path.parse::<StorePath>().unwrap().into();
        self.store.change_access(&self.admin, &at, &[change]).unwrap();
    }

    pub(crate) fn describe(&self, path: &str, statements: impl IntoIterator<Item = Statement>) {
        let at: At = path.parse::<StorePath>().unwrap().into();
        let new: cenote_store::Graph = statements.into_iter().collect();
        let changed =
            self.store.change_graph(&self.admin, &at, &Conditions::default(), |_| Ok(new.clone()));
        changed.unwrap();
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        let from = At::from(from.parse::<StorePath>().unwrap());
        let to = to.parse::<StorePath>().unwrap();
        self.store.relocate(&self.admin, &from, &to, MoveOptions::default()).unwrap();
    }

    /// All paths.
    pub(crate) fn paths(&self) -> Vec<StorePath> {
        let below = self.store.walk(&self.admin, &StorePath::root().into(), None, 1_000).unwrap();
        let below = below.entries.into_iter().map(|stat| stat.path);
        std::iter::once(StorePath::root()).chain(below).collect()
    }

    /// The rows of a result, sorted.
    pub(crate) fn select(&self, caller: &Caller, words: &Plain, text: &str) -> Result<Vec<String>> {
        let parsed = Query::parse(text, "http://h/").map_err(|it| Error::Syntax(it.to_string()))?;
        let reading = self.store.reading(caller)?;
        let format = Format::Answers(Answers::Tsv);
        let answer = query(&reading, parsed, words, format, &Limits::none())?;
        Ok(rows(&String::from_utf8(answer.text).unwrap()))
    }

    pub(crate) fn truth(&self, caller: &Caller, words: &Plain, text: &str) -> bool {
        let parsed = Query::parse(text, "http://h/").unwrap();
        let reading = self.store.reading(caller).unwrap();
        let format = Format::Answers(Answers::Tsv);
        query(&reading, parsed, words, format, &Limits::none()).unwrap().text == b"true"
    }

    /// Everything that a caller may see, in memory.
    pub(crate) fn oracle(&self, caller: &Caller, words: &Plain) -> Oracle {
        let reading = self.store.reading(caller).unwrap();
        let text = "SELECT ?s ?p ?o ?g { GRAPH ?g { ?s ?p ?o } }";
        let parsed = Query::parse(text, "http://h/").unwrap();
        let format = Format::Answers(Answers::Tsv);
        let answer = query(&reading, parsed, words, format, &Limits::none()).unwrap();
        Oracle::of(&String::from_utf8(answer.text).unwrap())
    }
}

/// The rows of a table, sorted; a boolean is one row.
fn rows(table: &str) -> Vec<String> {
    let lines = table.lines();
    let mut rows: Vec<String> = match table.starts_with('?') {
        true => lines.skip(1).map(str::to_owned).collect(),
        false => lines.map(str::to_owned).collect(),
    };
    rows.sort();
    rows
}

/// An in-memory dataset, whose default graph is the union of its graphs.
pub(crate) struct Oracle(Dataset);

impl Oracle {
    fn of(table: &str) -> Self {
        let mut dataset = Dataset::new();
        let parser =
            sparesults::QueryResultsParser::from_format(sparesults::QueryResultsFormat::Tsv);
        let parsed = parser.for_slice(table.as_bytes()).unwrap();
        let sparesults::SliceQueryResultsParserOutput::Solutions(solutions) = parsed else {
            unreachable!("a table")
        };
        for solution in solutions {
            let solution = solution.unwrap();
            let [subject, predicate, object, graph] =
                ["s", "p", "o", "g"].map(|name| solution.get(name).unwrap().clone());
            let subject = NamedOrBlankNode::try_from(subject).unwrap();
            let predicate = NamedNode::try_from(predicate).unwrap();
            let graph = NamedNode::try_from(graph).unwrap();
            for graph in [GraphName::DefaultGraph, graph.into()] {
                dataset.insert(&Quad::new(
                    subject.clone(),
                    predicate.clone(),
                    object.clone(),
                    graph,
                ));
            }
        }
        Self(dataset)
    }

    /// The rows of a result, sorted, as returned by [`World::select`].
    pub(crate) fn select(&self, text: &str) -> Vec<String> {
        let query = spargebra::SparqlParser::new().parse_query(text).unwrap();
        let evaluator = QueryEvaluator::new().without_optimizations();
        match evaluator.prepare(&query).execute(&self.0).unwrap() {
            QueryResults::Solutions(solutions) => {
                let columns = solutions.variables().to_vec();
                let most = usize::MAX;
                let mut text = cenote_rdf::Solutions::new(Answers::Tsv, columns, most).unwrap();
                for solution in solutions {
                    let solution = solution.unwrap();
                    text.row(solution.iter().map(|(name, term)| (name.as_ref(), term.as_ref())))
                        .unwrap();
                }
                rows(&String::from_utf8(text.finish().unwrap()).unwrap())
            }
            QueryResults::Boolean(truth) => vec![truth.to_string()],
            QueryResults::Graph(_) => unreachable!("only tables and truths are compared"),
        }
    }
}

/// A statement of the description of the resource with this IRI, as a pattern; what a blank node is called does not matter.
pub(crate) fn pattern(own: &str, statement: &Statement) -> String {
    let iri = |iri: &str| match iri.is_empty() || iri.starts_with('#') {
        true => format!("<{own}{iri}>"),
        false => format!("<{iri}>"),
    };
    let subject = match statement.subject.as_deref() {
        None => iri(""),
        Some(blank) if blank.starts_with("_:") => "?blank".to_owned(),
        Some(subject) => iri(subject),
    };
    let object = match &statement.object {
        Term::Iri(object) => iri(object),
        Term::Blank(_) => "?other".to_owned(),
        Term::Literal { value, datatype: Some(datatype), .. } => format!("{value:?}^^<{datatype}>"),
        Term::Literal { value, language: Some(language), .. } => format!("{value:?}@{language}"),
        Term::Literal { value, .. } => format!("{value:?}"),
    };
    format!("{subject} <{}> {object} .", statement.predicate)
}
