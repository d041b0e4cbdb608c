//! What is there: one resource, or many on one snapshot.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cenote_store::{At, description_tag};

use crate::app::App;
use crate::layer::Viewer;
use crate::native::json::{
    ChildQuery, Names, Outcome, Resource, StatAnswer, StatMany, StatManyAnswer, StatQuery, Target,
};
use crate::native::request::address::AboutChild;
use crate::native::request::conditional::answer_digested;
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// The most resources in one question.
const MOST: usize = 10_000;

/// One resource, with what the caller may do.
#[utoipa::path(get, path = "/v1/stat", tag = "tree", params(Target, ChildQuery, StatQuery),
    responses((status = 200, body = StatAnswer), (status = 304, description = "The client has the current state")))]
pub(crate) async fn stat(
    State(app): State<App>,
    Viewer(caller): Viewer,
    AboutChild(at, query): AboutChild<StatQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let answer = app.blocking(move |store| {
        let (stat, tag) = match query.description_tag {
            true => {
                store.graph(&caller, &at).map(|(stat, graph)| (stat, description_tag(&graph)))?
            }
            false => (store.stat(&caller, &at)?, None),
        };
        let rights = store.rights(&caller, &at)?;
        let resource =
            Resource::of(&stat, &mut Names::for_caller(store, &caller))?.with_description_tag(tag);
        Ok(StatAnswer { resource, level: rights.to_string() })
    });
    answer_digested(&headers, &answer.await?)
}

/// Many resources on one snapshot; each has its own answer.
#[utoipa::path(post, path = "/v1/stat", tag = "tree", request_body = StatMany,
    responses((status = 200, body = StatManyAnswer)))]
pub(crate) async fn stat_many(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Json(question): Json<StatMany>,
) -> Result<Json<StatManyAnswer>, Problem> {
    if question.items.len() > MOST {
        return Err(Problem::invalid(format!("more than {MOST} resources in one question")));
    }
    let named = question.items.iter().map(At::try_from);
    let named: Vec<Result<At, Problem>> = named.collect();
    app.blocking(move |store| {
        let targets: Vec<At> = named.iter().flatten().cloned().collect();
        let mut found = store.stat_many(&caller, &targets)?.into_iter();
        let mut names = Names::for_caller(store, &caller);
        let mut outcome = |named: Result<At, Problem>| {
            named?;
            let stat = found.next().expect("one answer for each question")?;
            Ok(Resource::of(&stat, &mut names)?)
        };
        let items = named.into_iter().map(|named| outcome(named).into()).collect();
        Ok(Json(StatManyAnswer { items }))
    })
    .await
}

impl From<Result<Resource, Problem>> for Outcome {
    fn from(result: Result<Resource, Problem>) -> Self {
        match result {
            Ok(resource) => Self::Resource(Box::new(resource)),
            Err(problem) => Self::Problem(problem.body(None)),
        }
    }
}
