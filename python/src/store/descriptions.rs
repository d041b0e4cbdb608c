//! Descriptions, and finding resources by them.

use cenote_client::{At, Avu, Condition, MetaOperation, ResourceKind, Search};
use pyo3::prelude::*;

use super::answer::Answer;
use super::connection::Connection;
use super::error::Failure;
use super::pending::Pending;
use super::rows::{Rows, send};

/// An attribute, a value and a unit.
type Statement = (String, String, Option<String>);

/// Conditions: an attribute, an operator, a value and a unit each.
pub(super) type Conditions = Vec<(String, String, Option<String>, Option<String>)>;

#[pymethods]
impl Connection {
    fn meta(&self, path: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        let call = async move { client.meta(&At::Path(path)).await };
        Ok(Pending::new(async { call.await.map(|statements| Answer::of(&statements)) }))
    }

    /// Changes a description in one step: the statements to remove, add and set.
    fn change_meta(
        &self,
        path: String,
        remove: Vec<Statement>,
        add: Vec<Statement>,
        set: Vec<Statement>,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        let each = |statements: Vec<Statement>, make: fn(Avu) -> MetaOperation| {
            statements.into_iter().map(avu).map(make).collect::<Vec<_>>()
        };
        let operations = [
            each(remove, MetaOperation::Remove),
            each(add, MetaOperation::Add),
            each(set, MetaOperation::Set),
        ]
        .concat();
        Ok(Pending::new(async move {
            client.change_meta(&At::Path(path), &operations).await.map(|()| Answer::none())
        }))
    }

    /// Finds resources below a collection: conditions are an attribute, an operator, a value and a unit.
    #[pyo3(signature = (under, conditions, name=None, kind=None, text=None))]
    fn find(
        &self,
        under: String,
        conditions: Conditions,
        name: Option<String>,
        kind: Option<String>,
        text: Option<String>,
    ) -> Result<Rows, Failure> {
        let (client, search) = (self.client()?, search(under, conditions, name, kind, text)?);
        Ok(Rows::new(|to| async move { send(client.search(&search), to).await }))
    }

    fn sparql(&self, query: String, accept: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move { client.sparql(&query, &accept).await.map(Answer::Bytes) }))
    }
}

pub(super) fn search(
    under: String,
    conditions: Conditions,
    name: Option<String>,
    kind: Option<String>,
    text: Option<String>,
) -> Result<Search, cenote_client::Error> {
    let condition = |(attribute, op, value, unit)| Condition { attribute, op, value, unit };
    let r#where = conditions.into_iter().map(condition).collect();
    Ok(Search { under, r#where, name, kind: kind.map(kind_of).transpose()?, text })
}

fn avu((attribute, value, unit): Statement) -> Avu {
    Avu { attribute, value, unit }
}

fn kind_of(word: String) -> Result<ResourceKind, cenote_client::Error> {
    let invalid = |_| {
        let message = format!("not a kind of resources: {word:.64}");
        cenote_client::Error::new(cenote_client::Kind::Invalid, message)
            .with_hint("the kinds are collection, object, link and description")
    };
    serde_json::from_value(word.clone().into()).map_err(invalid)
}
