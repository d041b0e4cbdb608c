//! Which resource a request is about.
//!
//! Bytes have a plain address, `/v1/fs/a/b`; every other route, and `/v1/fs` itself, names the
//! resource by `path` or `id` in the query or the body.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use cenote_store::{At, Name, ResourceId, StorePath};

use super::query::{And, Params, Query};
use crate::app::App;
use crate::native::json::{ChildQuery, Destination, Target, Which};
use crate::problem::Problem;

/// Names a resource by its path or by its id, and by one of them only.
pub(crate) fn at(path: Option<&str>, id: Option<u64>) -> Result<At, Problem> {
    match (path, id) {
        (Some(path), None) => Ok(At::Path(path.parse()?)),
        (None, Some(id)) => Ok(At::Id(ResourceId(id))),
        _ => Err(Problem::invalid("a resource is identified by either `path` or `id`")),
    }
}

/// The target of an operation: a path, or a name in a collection with an id.
pub(crate) fn destination(
    path: Option<&str>,
    parent: Option<u64>,
    name: Option<&str>,
) -> Result<At, Problem> {
    match (path, parent, name) {
        (Some(path), None, None) => Ok(At::Path(path.parse()?)),
        (None, Some(parent), Some(name)) => Ok(At::Child(ResourceId(parent), Name::new(name)?)),
        _ => Err(Problem::invalid(
            "a new resource is identified by its `path`, or by the id of its `parent` and its `name`",
        )),
    }
}

impl TryFrom<&Destination> for At {
    type Error = Problem;

    fn try_from(to: &Destination) -> Result<Self, Problem> {
        match to {
            Destination::Path(path) => destination(Some(path), None, None),
            Destination::Child(child) => destination(None, Some(child.parent), Some(&child.name)),
        }
    }
}

impl TryFrom<&Which> for At {
    type Error = Problem;

    fn try_from(which: &Which) -> Result<Self, Problem> {
        match which {
            Which::Path(path) => at(Some(path), None),
            Which::Id(id) => at(None, Some(*id)),
        }
    }
}

impl Target {
    fn at(&self) -> Result<At, Problem> {
        at(self.path.as_deref(), self.id)
    }
}

/// The resource that the query names, where it says nothing else.
impl FromRequestParts<App> for At {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        Params::<Target>::of(&parts.uri)?.0.at()
    }
}

/// The resource at the plain address, or else the one that the query names; and what else the
/// query says.
#[derive(Debug)]
pub(crate) struct About<T>(pub(crate) At, pub(crate) T);

impl<T: Query> FromRequestParts<App> for About<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let plain = plain(parts, app).await?;
        let Params(And(target, rest)) = Params::<And<Target, T>>::of(&parts.uri)?;
        let at = match plain {
            None => target.at()?,
            Some(plain) if target.path.is_none() && target.id.is_none() => At::Path(plain),
            Some(_) => return Err(Problem::invalid("the address already identifies the resource")),
        };
        Ok(Self(at, rest))
    }
}

/// The same, where a name in a collection with an id is an address, too.
#[derive(Debug)]
pub(crate) struct AboutChild<T>(pub(crate) At, pub(crate) T);

impl<T: Query> FromRequestParts<App> for AboutChild<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        if parts.uri.path().starts_with("/v1/fs/") {
            let About(at, rest) = About::from_request_parts(parts, app).await?;
            return Ok(Self(at, rest));
        }
        let Params(And(target, And(child, rest))) =
            Params::<And<Target, And<ChildQuery, T>>>::of(&parts.uri)?;
        let at = match (target, child) {
            (target, ChildQuery { parent: None, name: None }) => target.at()?,
            (Target { path: None, id: None }, child) => {
                destination(None, child.parent, child.name.as_deref())?
            }
            _ => {
                let why =
                    "a resource is identified by one of `path`, `id`, and `parent` with `name`";
                return Err(Problem::invalid(why));
            }
        };
        Ok(Self(at, rest))
    }
}

/// The path in a plain address, if it is one.
async fn plain(parts: &mut Parts, app: &App) -> Result<Option<StorePath>, Problem> {
    if !parts.uri.path().starts_with("/v1/fs/") {
        return Ok(None);
    }
    let rest = Option::<Path<String>>::from_request_parts(parts, app).await;
    let rest = rest.map_err(|error| Problem::invalid(error.body_text()))?;
    let rest = rest.map(|Path(rest)| rest).unwrap_or_default();
    Ok(Some(format!("/{rest}").parse()?))
}
