//! Links between resources.

use cenote_store::{Linking, LinksPage, Result, Statement, Store, attribute_of};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::native::json::{Names, Resource};

/// Which part of the links.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LinksQuery {
    /// The cursor to begin at: a `next` of this route.
    pub(crate) after: Option<String>,
    /// At most this many items.
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) limit: Option<u32>,
}

/// A page of links to a resource. It can have no items although there is a next one.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Links {
    pub(crate) items: Vec<LinksFrom>,
    /// Where the next page begins; null at the end.
    pub(crate) next: Option<String>,
}

/// A resource whose description links to another.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LinksFrom {
    pub(crate) resource: Resource,
    pub(crate) links: Vec<Link>,
}

/// A statement that links.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Link {
    /// Its subject, if that is not the resource itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "#part")]
    pub(crate) subject: Option<String>,
    #[schema(example = "http://purl.org/dc/terms/references")]
    pub(crate) attribute: String,
    /// The IRI of the resource, or of a part of it.
    #[schema(example = "cenote:/lab/run7")]
    pub(crate) value: String,
}

impl Links {
    pub(crate) fn new(store: &Store, page: LinksPage, next: Option<String>) -> Result<Self> {
        let mut names = Names::new(store);
        let stats: Vec<_> = page.items.iter().map(|item| item.from.clone()).collect();
        names.read_memberships(&stats)?;
        let items = page.items.into_iter().map(|Linking { from, statements }| {
            let links = statements.into_iter().map(Link::from).collect();
            Ok(LinksFrom { resource: Resource::of(&from, &mut names)?, links })
        });
        Ok(Self { items: items.collect::<Result<_>>()?, next })
    }
}

impl From<Statement> for Link {
    fn from(statement: Statement) -> Self {
        let Statement { subject, predicate, object, .. } = statement;
        Self { subject, attribute: attribute_of(&predicate), value: object.text().to_owned() }
    }
}
