//! Entries of access lists that are about some of the resources in their scope.

use cenote_store::{At, Caller, Only, ResourceId, Store};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problem::Problem;

/// A restriction of an entry: to resources of a class, or to one resource below.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Only)]
pub(crate) struct OnlyLine {
    /// The IRI of the class that the resources are described to have (`rdf:type`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "http://xmlns.com/foaf/0.1/Document")]
    pub(crate) class: Option<String>,
    /// The path of the resource. Left out of responses if the caller does not see it, if it was removed, and in explanations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// Its id, which has precedence over the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<u64>,
}

impl OnlyLine {
    /// A restriction as a caller sees it.
    pub(crate) fn shown(store: &Store, caller: &Caller, only: &Only) -> Self {
        let line = Self::from(only);
        match only {
            Only::Class(_) => line,
            Only::Resource(id) => {
                let visible = store.stat(caller, &At::Id(*id)).ok();
                Self { path: visible.map(|stat| stat.path.to_string()), ..line }
            }
        }
    }

    /// The restriction that this means to a caller.
    ///
    /// # Errors
    /// If it is none, or more than one, or its path leads to nothing that they see.
    pub(crate) fn meant(self, store: &Store, caller: &Caller) -> Result<Only, Problem> {
        match self {
            Self { class: Some(class), path: None, id: None } => Ok(Only::Class(class)),
            Self { class: None, id: Some(id), .. } => Ok(Only::Resource(ResourceId(id))),
            Self { class: None, path: Some(path), id: None } => {
                let at = At::Path(path.parse()?);
                Ok(Only::Resource(store.stat(caller, &at)?.id))
            }
            _ => Err(Problem::invalid("`only` names a class or a resource")
                .with_hint("give one of `class`, `path` and `id`")),
        }
    }
}

impl From<&Only> for OnlyLine {
    fn from(only: &Only) -> Self {
        match only {
            Only::Class(class) => Self { class: Some(class.clone()), ..Self::default() },
            Only::Resource(id) => Self { id: Some(id.0), ..Self::default() },
        }
    }
}
