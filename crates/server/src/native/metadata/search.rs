//! Finding resources by attribute, name, kind and words.

use std::sync::Arc;

use axum::extract::State;
use cenote_store::{At, Comparison, Condition, Query, ResourceId, SearchCursor};
use cenote_text::Lead;

use crate::app::App;
use crate::layer::Viewer;
use crate::native::json::{Compare, Found, Search, Where};
use crate::native::request::address::at;
use crate::native::request::cursor::page;
use crate::native::request::extract::Json;
use crate::problem::Problem;
use crate::texts;

/// What cursors of this route are sealed for.
const SEALED: &str = "search";

/// What the caller may see below a collection, and for which all conditions hold. A page can have fewer items
/// than `limit`, or none, before the last: as long as there is a `next`, the search continues there.
#[utoipa::path(post, path = "/v1/search", tag = "metadata", request_body = Search,
    responses((status = 200, body = Found)))]
pub(crate) async fn search(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Json(question): Json<Search>,
) -> Result<Json<Found>, Problem> {
    let query = query(&app, question)?;
    let on = app.clone();
    app.compute(move || {
        // Before the moment of the answer, which it has to reach.
        let lead = lead(&on, &query)?;
        on.store().at_one_moment(|store| {
            let page = store.search_with(&caller, &query, texts::as_lead(lead.as_ref()))?;
            let next = page.next.map(|cursor| on.cursors().close(SEALED, cursor.to_bytes()));
            Ok(Json(Found::new(store, &page.items, next)?))
        })
    })
    .await
}

/// The index of texts, for a search for words.
fn lead(app: &App, query: &Query) -> Result<Option<Arc<Lead>>, Problem> {
    query.text.as_ref().map_or(Ok(None), |_| texts::lead(app))
}

fn query(app: &App, question: Search) -> Result<Query, Problem> {
    let under = match (question.under.as_deref(), question.id) {
        (None, None) => At::Id(ResourceId::ROOT),
        (under, id) => at(under, id)?,
    };
    let conditions = question.conditions.into_iter().map(condition).collect::<Result<_, _>>()?;
    let (limits, after) = ((question.limit, Query::MAX), question.after.as_deref());
    let (limit, after) = page(app, SEALED, limits, after, SearchCursor::from_bytes)?;
    let (name, kind) = (question.name, question.kind.map(Into::into));
    let text = question.text.map(|text| text.parse()).transpose()?;
    Ok(Query { under, conditions, name, kind, text, after, limit, effort: Query::EFFORT })
}

pub(crate) fn condition(requested: Where) -> Result<Condition, Problem> {
    let Where { attribute, op, value, unit } = requested;
    let comparison = Comparison::from(op);
    match (comparison, value) {
        (Comparison::Exists, None) => {
            Ok(Condition { attribute, comparison, value: String::new(), unit })
        }
        (Comparison::Exists, Some(_)) => Err(Problem::invalid("`exists` takes no value")),
        (_, None) => Err(Problem::invalid("a condition needs a `value`")),
        (_, Some(value)) => Ok(Condition { attribute, comparison, value, unit }),
    }
}

impl From<Compare> for Comparison {
    fn from(compare: Compare) -> Self {
        match compare {
            Compare::Equal => Self::Equal,
            Compare::NotEqual => Self::NotEqual,
            Compare::Less => Self::Less,
            Compare::LessOrEqual => Self::LessOrEqual,
            Compare::Greater => Self::Greater,
            Compare::GreaterOrEqual => Self::GreaterOrEqual,
            Compare::Like => Self::Like,
            Compare::Exists => Self::Exists,
        }
    }
}
