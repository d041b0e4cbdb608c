//! Descriptions as attributes with values and units.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cenote_store::{At, Avu, AvuChange, avus_of};

use crate::app::App;
use crate::layer::{Changer, Viewer, Writer};
use crate::native::json::{
    CopyDescription, Describe, Description, Op, Operation, Resource, Target,
};
use crate::native::request::address::at;
use crate::native::request::conditional::{answer_description, write_conditions};
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// The description of a resource.
#[utoipa::path(get, path = "/v1/meta", tag = "metadata", params(Target),
    responses((status = 200, body = Description), (status = 304, description = "The client has the current state")))]
pub(crate) async fn read(
    State(app): State<App>,
    Viewer(caller): Viewer,
    at: At,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (stat, graph) = app.blocking(move |store| store.graph(&caller, &at)).await?;
    let items = avus_of(&graph).into_iter().map(Into::into).collect();
    answer_description(&headers, &stat, &graph, Json(Description { items }))
}

/// Changes the description: all of it or nothing.
#[utoipa::path(post, path = "/v1/meta", tag = "metadata", request_body = Describe,
    responses((status = 200, body = Resource)))]
pub(crate) async fn change(
    State(app): State<App>,
    Writer(caller): Writer,
    headers: HeaderMap,
    Json(question): Json<Describe>,
) -> Result<Json<Resource>, Problem> {
    let at = at(question.path.as_deref(), question.id)?;
    let conditions = write_conditions(&headers)?;
    let changes = question.operations.into_iter().map(TryInto::try_into);
    let changes: Vec<AvuChange> = changes.collect::<Result<_, Problem>>()?;
    app.blocking(move |store| {
        let stat = store.change_avus(&caller, &at, &changes, &conditions)?;
        Ok(Json(Resource::changed(&stat, store, &caller)?))
    })
    .await
}

/// Gives a resource the description of another one: the graph, the media type, and mode and time
/// where that has them.
#[utoipa::path(post, path = "/v1/meta/copy", tag = "metadata", request_body = CopyDescription,
    responses((status = 200, body = Resource)))]
pub(crate) async fn copy(
    State(app): State<App>,
    Changer(caller): Changer,
    headers: HeaderMap,
    Json(question): Json<CopyDescription>,
) -> Result<Json<Resource>, Problem> {
    let (from, to) = (At::try_from(&question.from)?, At::try_from(&question.to)?);
    let conditions = write_conditions(&headers)?;
    app.blocking(move |store| {
        let stat = store.copy_description(&caller, &from, &to, &conditions)?;
        Ok(Json(Resource::changed(&stat, store, &caller)?))
    })
    .await
}

impl TryFrom<Operation> for AvuChange {
    type Error = Problem;

    fn try_from(operation: Operation) -> Result<Self, Problem> {
        let Operation { op, attribute, value, unit } = operation;
        let avu = match (op, value) {
            (Op::Clear, None) if unit.is_none() => return Ok(Self::Clear(attribute)),
            (Op::Clear, _) => {
                return Err(Problem::invalid("`clear` takes neither a value nor a unit"));
            }
            (Op::Link, Some(to)) if unit.is_none() => {
                return Ok(Self::Link(attribute, to.parse()?));
            }
            (Op::Link, Some(_)) => return Err(Problem::invalid("`link` takes no unit")),
            (_, None) => return Err(Problem::invalid("an operation needs a `value`")),
            (_, Some(value)) => Avu { attribute, value, unit },
        };
        Ok(match op {
            Op::Remove => Self::Remove(avu),
            Op::Set => Self::Set(avu),
            Op::Add | Op::Clear | Op::Link => Self::Add(avu),
        })
    }
}
