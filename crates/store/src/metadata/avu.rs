//! The attribute view: AVUs, properties, tags and extended attributes.

use super::graph::check;
use super::links::{iri_of, names_resource};
use super::stored::{Stored, replace};
use super::vocabulary::{attribute_of, predicate_of, predicates_of};
use crate::catalog::Transaction;
use crate::model::{At, Avu, Dangling, Graph, Stat, Statement, StorePath, Term};
use crate::{Caller, Conditions, Error, Result, Store};

/// One change of the attribute view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AvuChange {
    /// Adds a value; it is not an error if it exists already.
    Add(Avu),
    /// Removes what is shown as this; it is not an error if there is nothing.
    Remove(Avu),
    /// Gives the attribute this one value, instead of all its values.
    Set(Avu),
    /// Removes all values of the attribute.
    Clear(String),
    /// Adds a link to a resource as a value of the attribute; it is not an error if it exists already.
    Link(String, StorePath),
}

impl Store {
    /// The attributes of a resource, in canonical order.
    pub fn avus(&self, caller: &Caller, at: &At) -> Result<Vec<Avu>> {
        Ok(self.described(caller, at)?.1)
    }

    /// The same with the resource, as it was at the same moment.
    pub fn described(&self, caller: &Caller, at: &At) -> Result<(Stat, Vec<Avu>)> {
        let (stat, graph) = self.graph(caller, at)?;
        Ok((stat, view(&graph)))
    }

    /// Changes attributes: all of it or nothing. Needs what [`Store::change_graph`] needs.
    pub fn change_avus(
        &self,
        caller: &Caller,
        at: &At,
        changes: &[AvuChange],
        conditions: &Conditions,
    ) -> Result<Stat> {
        let read = |tx: &Transaction, id| Stored::touched(tx, id, changes);
        self.change_stored(caller, at, (conditions, Dangling::Kept), read, |old| {
            changed(old, changes)
        })
    }
}

/// Changes the attributes of a person or place: all of it or nothing.
pub(crate) fn change_attributes(
    tx: &mut Transaction,
    id: u64,
    changes: &[AvuChange],
) -> Result<()> {
    let old = Stored::touched(tx, id, changes)?;
    let new = changed(&old.graph, changes)?;
    check(&old, &new)?;
    if old.graph != new {
        replace(tx, id, &old, &new)?;
    }
    Ok(())
}

/// A graph after changes of its attributes. It may be a part of the whole: the result of [`Stored::touched`] is sufficient.
fn changed(old: &Graph, changes: &[AvuChange]) -> Result<Graph> {
    changes.iter().try_for_each(AvuChange::check)?;
    let mut graph = old.clone();
    changes.iter().for_each(|change| change.apply(&mut graph));
    Ok(graph)
}

/// What the attribute view shows of a graph: what it states about the resource itself.
pub fn view(graph: &Graph) -> Vec<Avu> {
    let own = graph.iter().filter(|statement| statement.subject.is_none());
    let mut avus: Vec<Avu> = own.map(Avu::of).collect();
    avus.sort();
    avus.dedup();
    avus
}

impl Avu {
    /// The shown form of a statement about the resource itself.
    pub fn of(statement: &Statement) -> Self {
        Self {
            attribute: attribute_of(&statement.predicate),
            value: statement.object.text().to_owned(),
            unit: statement.unit.clone().filter(|unit| !unit.is_empty()),
        }
    }

    fn statement(&self) -> Statement {
        Statement {
            subject: None,
            predicate: predicate_of(&self.attribute),
            object: Term::string(&self.value),
            unit: self.unit.clone().filter(|unit| !unit.is_empty()),
        }
    }

    fn normal(&self) -> Self {
        Self { unit: self.unit.clone().filter(|unit| !unit.is_empty()), ..self.clone() }
    }
}

impl AvuChange {
    /// The only value that matters to the change, if it is not every value of the attribute. A link is kept in another form than
    /// it is shown in.
    pub(super) fn value(&self) -> Option<&str> {
        match self {
            Self::Add(avu) | Self::Remove(avu) => {
                Some(avu.value.as_str()).filter(|value| !names_resource(value))
            }
            Self::Set(_) | Self::Clear(_) | Self::Link(..) => None,
        }
    }

    pub(super) fn attribute(&self) -> &str {
        match self {
            Self::Add(avu) | Self::Remove(avu) | Self::Set(avu) => &avu.attribute,
            Self::Clear(attribute) | Self::Link(attribute, _) => attribute,
        }
    }

    fn check(&self) -> Result<()> {
        match self.attribute() {
            "" => Err(Error::invalid("an attribute needs a name")),
            _ => Ok(()),
        }
    }

    fn apply(&self, graph: &mut Graph) {
        match self {
            Self::Add(avu) if !showing(graph, &avu.normal()).is_empty() => {}
            Self::Add(avu) => drop(graph.insert(avu.statement())),
            Self::Remove(avu) => remove(graph, &showing(graph, &avu.normal())),
            Self::Set(avu) => {
                clear(graph, &avu.attribute);
                graph.insert(avu.statement());
            }
            Self::Clear(attribute) => clear(graph, attribute),
            Self::Link(attribute, to) => drop(graph.insert(Statement {
                subject: None,
                predicate: predicate_of(attribute),
                object: Term::Iri(iri_of(to)),
                unit: None,
            })),
        }
    }
}

/// The statements that are shown as this. Costs a search of the graph and what it finds, not a walk of it.
fn showing(graph: &Graph, avu: &Avu) -> Vec<Statement> {
    let value = || avu.value.clone();
    let mut found = Vec::new();
    for predicate in predicates_of(&avu.attribute) {
        for object in [Term::string(value()), Term::Iri(value()), Term::Blank(value())] {
            let stated = stated(graph, &predicate, object);
            found.extend(stated.filter(|statement| Avu::of(statement) == *avu).cloned());
        }
    }
    found
}

/// The statements with this predicate about the resource itself, starting at the first with `object`
/// as long as the kind and text of the objects are the same.
fn stated<'a>(
    graph: &'a Graph,
    predicate: &'a str,
    object: Term,
) -> impl Iterator<Item = &'a Statement> {
    let is_same = {
        let object = object.clone();
        move |other: &Term| {
            std::mem::discriminant(other) == std::mem::discriminant(&object)
                && other.text() == object.text()
        }
    };
    from(graph, predicate, object).take_while(move |statement| is_same(&statement.object))
}

/// The statements with this predicate about the resource itself, starting at `object`.
fn from<'a>(
    graph: &'a Graph,
    predicate: &'a str,
    object: Term,
) -> impl Iterator<Item = &'a Statement> {
    let first = Statement { subject: None, predicate: predicate.to_owned(), object, unit: None };
    let is_of = move |statement: &&Statement| {
        statement.subject.is_none() && statement.predicate == predicate
    };
    graph.range(first..).take_while(is_of)
}

/// Removes every value of an attribute.
pub(super) fn clear(graph: &mut Graph, attribute: &str) {
    for predicate in predicates_of(attribute) {
        let all: Vec<Statement> = from(graph, &predicate, Term::string("")).cloned().collect();
        remove(graph, &all);
    }
}

fn remove(graph: &mut Graph, statements: &[Statement]) {
    for statement in statements {
        graph.remove(statement);
    }
}

#[cfg(test)]
mod laws {
    use std::collections::BTreeSet;

    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;

    /// Names and predicates of all kinds, few enough to meet each other.
    const NAMES: [&str; 12] = [
        "a",
        "b c",
        "a:b",
        "http://x/a",
        "http://x/%61",
        "ftp://x/%",
        "%41",
        "A",
        "cenote:attribute/",
        "cenote:attribute/A",
        "cenote:attribute/%41",
        "cenote:attribute/%FF",
    ];

    fn name() -> impl Strategy<Value = String> {
        let known = proptest::sample::select(&NAMES[..]).prop_map(str::to_owned);
        prop_oneof![3 => known, 1 => "\\PC{1,4}", 1 => "[a-z]{1,3}:(%[0-9a-f]{2}|[ab]){1,2}"]
    }

    fn avu() -> impl Strategy<Value = Avu> {
        let unit = proptest::option::of("[a-b]{0,1}");
        (name(), "[a-c]{0,2}", unit).prop_map(|(attribute, value, unit)| Avu {
            attribute,
            value,
            unit,
        })
    }

    fn statement() -> impl Strategy<Value = Statement> {
        let object = prop_oneof![
            "[a-c]{0,2}".prop_map(Term::string),
            "[a-c]{0,2}".prop_map(Term::Iri),
            "[a-c]{0,2}".prop_map(|value| Term::Literal {
                value,
                datatype: None,
                language: Some("en".into())
            }),
        ];
        let subject = proptest::option::of("_:b");
        // Predicates written by openings, and any others that a graph may contain.
        let predicate = prop_oneof![name(), name().prop_map(|name| predicate_of(&name))];
        let unit = proptest::option::of("[a-b]{0,1}");
        (predicate, object, subject, unit).prop_map(|(predicate, object, subject, unit)| {
            Statement { subject, predicate, object, unit }
        })
    }

    fn shown_set(graph: &Graph) -> BTreeSet<Avu> {
        view(graph).into_iter().collect()
    }

    proptest! {
        #[test]
        fn an_added_attribute_is_shown(mut graph in btree_set(statement(), 0..8), avu in avu()) {
            let mut expected = shown_set(&graph);
            expected.insert(avu.normal());
            AvuChange::Add(avu).apply(&mut graph);
            prop_assert_eq!(shown_set(&graph), expected);
        }

        #[test]
        fn remove_removes_exactly_the_given_attribute(mut graph in btree_set(statement(), 0..8), avu in avu()) {
            let mut expected = shown_set(&graph);
            expected.remove(&avu.normal());
            AvuChange::Remove(avu).apply(&mut graph);
            prop_assert_eq!(shown_set(&graph), expected);
        }

        #[test]
        fn set_leaves_one_value_and_keeps_other_attributes(mut graph in btree_set(statement(), 0..8), avu in avu()) {
            let mut expected = shown_set(&graph);
            expected.retain(|other| other.attribute != avu.attribute);
            expected.insert(avu.normal());
            AvuChange::Set(avu).apply(&mut graph);
            prop_assert_eq!(shown_set(&graph), expected);
        }

        #[test]
        fn clear_keeps_other_attributes(mut graph in btree_set(statement(), 0..8), name in name()) {
            let mut expected = shown_set(&graph);
            expected.retain(|other| other.attribute != name);
            AvuChange::Clear(name).apply(&mut graph);
            prop_assert_eq!(shown_set(&graph), expected);
        }

        #[test]
        fn no_change_loses_statements_that_the_view_cannot_show(graph in btree_set(statement(), 0..8), avu in avu()) {
            let hidden = |graph: &Graph| graph.iter().filter(|s| s.subject.is_some()).cloned().collect::<Graph>();
            let clear = AvuChange::Clear(avu.attribute.clone());
            for change in [AvuChange::Add(avu.clone()), AvuChange::Remove(avu.clone()), AvuChange::Set(avu), clear] {
                let mut changed = graph.clone();
                change.apply(&mut changed);
                prop_assert_eq!(hidden(&changed), hidden(&graph));
            }
        }
    }
}
