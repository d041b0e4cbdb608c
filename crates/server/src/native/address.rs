//! Which resource a request is about.
//!
//! Bytes have a plain address, `/v1/fs/a/b`; every other route, and `/v1/fs` itself, names the
//! resource by `path` or `id` in the query or the body.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use cenote_store::{At, ResourceId, StorePath};

use super::json::Which;
use crate::app::App;
use crate::problem::Problem;

/// Names a resource by its path or by its id, and by one of them only.
pub(super) fn at(path: Option<&str>, id: Option<u64>) -> Result<At, Problem> {
    match (path, id) {
        (Some(path), None) => Ok(At::Path(path.parse()?)),
        (None, Some(id)) => Ok(At::Id(ResourceId(id))),
        _ => Err(Problem::invalid("a resource is named by either `path` or `id`")),
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

/// The path in a plain address, if it is one.
#[derive(Debug)]
pub(super) struct Plain(Option<StorePath>);

impl FromRequestParts<App> for Plain {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        if !parts.uri.path().starts_with("/v1/fs/") {
            return Ok(Self(None));
        }
        let rest = Option::<Path<String>>::from_request_parts(parts, app).await;
        let rest = rest.map_err(|error| Problem::invalid(error.body_text()))?;
        let rest = rest.map(|Path(rest)| rest).unwrap_or_default();
        Ok(Self(Some(format!("/{rest}").parse()?)))
    }
}

impl Plain {
    /// The resource at the plain address, or else the one that the query names.
    pub(super) fn or(self, path: Option<&str>, id: Option<u64>) -> Result<At, Problem> {
        match (self.0, path, id) {
            (Some(plain), None, None) => Ok(At::Path(plain)),
            (Some(_), ..) => Err(Problem::invalid("the address names the resource already")),
            (None, ..) => at(path, id),
        }
    }

    /// The same, where a resource may have to be created.
    pub(super) fn or_path(self, path: Option<&str>) -> Result<StorePath, Problem> {
        match self.or(path, None)? {
            At::Path(path) => Ok(path),
            At::Id(_) => Err(Problem::invalid("name what to create by its path")),
        }
    }
}
