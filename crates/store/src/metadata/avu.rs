//! The attribute view: AVUs, properties, tags and extended attributes.

use super::vocabulary::{attribute_of, predicate_of};
use crate::model::{At, Avu, Graph, Stat, Statement, Term};
use crate::{Caller, Conditions, Error, Result, Store};

/// One change of the attribute view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AvuChange {
    /// Adds a value; it is no error if it is there.
    Add(Avu),
    /// Removes what is shown as this; it is no error if nothing is.
    Remove(Avu),
    /// Gives the attribute this one value, instead of all it has.
    Set(Avu),
    /// Removes all values of the attribute.
    Clear(String),
}

impl Store {
    /// The attributes of a resource, in canonical order.
    pub fn avus(&self, caller: &Caller, at: &At) -> Result<Vec<Avu>> {
        Ok(view(&self.graph(caller, at)?.1))
    }

    /// Changes attributes: all of it or nothing. Needs what [`Store::change_graph`] needs.
    pub fn change_avus(
        &self,
        caller: &Caller,
        at: &At,
        changes: &[AvuChange],
        conditions: &Conditions,
    ) -> Result<Stat> {
        self.change_graph(caller, at, conditions, |old| changed(old, changes))
    }
}

/// A graph after changes of its attributes.
pub(crate) fn changed(old: &Graph, changes: &[AvuChange]) -> Result<Graph> {
    changes.iter().try_for_each(AvuChange::check)?;
    let mut graph = old.clone();
    changes.iter().for_each(|change| change.apply(&mut graph));
    Ok(graph)
}

/// What the attribute view shows of a graph.
pub(crate) fn view(graph: &Graph) -> Vec<Avu> {
    let own = graph.iter().filter(|statement| statement.subject.is_none());
    let mut avus: Vec<Avu> = own.map(Avu::of).collect();
    avus.sort();
    avus.dedup();
    avus
}

impl Avu {
    /// What is shown of a statement about the resource itself.
    pub(crate) fn of(statement: &Statement) -> Self {
        Self {
            attribute: attribute_of(&statement.predicate),
            value: statement.object.text().to_owned(),
            unit: statement.unit.clone(),
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
    fn attribute(&self) -> &str {
        match self {
            Self::Add(avu) | Self::Remove(avu) | Self::Set(avu) => &avu.attribute,
            Self::Clear(attribute) => attribute,
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
            Self::Add(avu) if shown(graph, &avu.normal()) => {}
            Self::Add(avu) => drop(graph.insert(avu.statement())),
            Self::Remove(avu) => {
                let avu = avu.normal();
                graph.retain(|statement| statement.subject.is_some() || Avu::of(statement) != avu);
            }
            Self::Set(avu) => {
                clear(graph, &avu.attribute);
                graph.insert(avu.statement());
            }
            Self::Clear(attribute) => clear(graph, attribute),
        }
    }
}

fn shown(graph: &Graph, avu: &Avu) -> bool {
    graph.iter().any(|statement| statement.subject.is_none() && Avu::of(statement) == *avu)
}

fn clear(graph: &mut Graph, attribute: &str) {
    let predicate = predicate_of(attribute);
    graph.retain(|statement| statement.subject.is_some() || statement.predicate != predicate);
}

#[cfg(test)]
mod laws {
    use std::collections::BTreeSet;

    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;

    fn avu() -> impl Strategy<Value = Avu> {
        let unit = proptest::option::of("[a-b]{0,1}");
        ("[a-c]|http://x/[ab]", "[a-c]{0,2}", unit).prop_map(|(attribute, value, unit)| Avu {
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
        (avu(), object, subject).prop_map(|(avu, object, subject)| Statement {
            subject,
            object,
            ..avu.statement()
        })
    }

    fn shown_set(graph: &Graph) -> BTreeSet<Avu> {
        view(graph).into_iter().collect()
    }

    proptest! {
        #[test]
        fn what_is_shown_after_an_add_is_what_was_added(mut graph in btree_set(statement(), 0..8), avu in avu()) {
            let mut expected = shown_set(&graph);
            expected.insert(avu.normal());
            AvuChange::Add(avu).apply(&mut graph);
            prop_assert_eq!(shown_set(&graph), expected);
        }

        #[test]
        fn remove_removes_exactly_what_was_shown(mut graph in btree_set(statement(), 0..8), avu in avu()) {
            let mut expected = shown_set(&graph);
            expected.remove(&avu.normal());
            AvuChange::Remove(avu).apply(&mut graph);
            prop_assert_eq!(shown_set(&graph), expected);
        }

        #[test]
        fn set_leaves_one_value_and_all_other_attributes(mut graph in btree_set(statement(), 0..8), avu in avu()) {
            let mut expected = shown_set(&graph);
            expected.retain(|other| other.attribute != avu.attribute);
            expected.insert(avu.normal());
            AvuChange::Set(avu).apply(&mut graph);
            prop_assert_eq!(shown_set(&graph), expected);
        }

        #[test]
        fn no_change_loses_what_the_view_cannot_show(graph in btree_set(statement(), 0..8), avu in avu()) {
            let hidden = |graph: &Graph| graph.iter().filter(|s| s.subject.is_some()).cloned().collect::<Graph>();
            for change in [AvuChange::Add(avu.clone()), AvuChange::Remove(avu.clone()), AvuChange::Set(avu)] {
                let mut changed = graph.clone();
                change.apply(&mut changed);
                prop_assert_eq!(hidden(&changed), hidden(&graph));
            }
        }
    }
}
