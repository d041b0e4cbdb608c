//! `fcr:search`: fcrepo's search for resources by what the server knows of each: its address, dates, size, media and RDF types.
//!
//! Source: fcrepo 6's Simple Search API. One state of the store is walked, from the collection that the conditions on `fedora_id` begin
//! with, within the limits of a query; only as many rows are held as the answer can have.
//!
//! * `condition` reads conditions and decides about them, `run` walks and sorts, `row` is the data of a resource.

mod condition;
mod row;
mod run;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use self::condition::{Condition, Field};
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;

const METHODS: &str = "GET,HEAD,OPTIONS";
/// Rows in a response, unless set in the request.
const ROWS: usize = 100;
/// Rows that a request may skip and have answered, together.
const REACH: usize = 100_000;

/// The search.
#[derive(Debug)]
pub(super) struct Search {
    conditions: Vec<Condition>,
    fields: Vec<Field>,
    order_by: Field,
    descending: bool,
    offset: usize,
    limit: usize,
    counts: bool,
}

pub(crate) async fn answer(call: Call) -> Result<Response, Fault> {
    if !call.dialect.has_search {
        return Err(Fault::missing("this address has no search"));
    }
    match call.method.as_str() {
        "GET" | "HEAD" => {}
        "OPTIONS" => {
            let allow = [(axum::http::header::ALLOW, METHODS)];
            return Ok((StatusCode::NO_CONTENT, allow).into_response());
        }
        _ => return Err(Fault::method(METHODS)),
    }
    let root = call.web.address(&cenote_store::StorePath::root());
    let search = Search::read(&call.query, &root)?;
    let _turn = call.app.query_turn().await;
    let found = call.blocking(move |store, call| run::run(store, call, &search)).await?;
    Ok(Json(found).into_response())
}

impl Search {
    /// Reads the query of an address.
    pub(super) fn read(query: &str, root: &str) -> Result<Self, Fault> {
        let mut search = Self {
            conditions: Vec::new(),
            fields: Field::ALL.to_vec(),
            order_by: Field::FedoraId,
            descending: false,
            offset: 0,
            limit: ROWS,
            counts: false,
        };
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            search.take(&name, &value, root)?;
        }
        match search.offset.saturating_add(search.limit) > REACH {
            true => Err(Fault::bad(format!(
                "offset and max_results reach {REACH} results at most: continue with a condition on fedora_id"
            ))),
            false => Ok(search),
        }
    }

    fn take(&mut self, name: &str, value: &str, root: &str) -> Result<(), Fault> {
        let number = || {
            value
                .parse()
                .map_err(|_| Fault::bad(format!("{name} must be a number, not {value:.64?}")))
        };
        match name {
            "condition" => self.conditions.push(Condition::parse(value, root)?),
            "fields" if value == "*" || value.trim().is_empty() => {}
            "fields" => {
                self.fields = value
                    .split(',')
                    .map(|name| Field::named(name.trim()))
                    .collect::<Result<_, _>>()?;
            }
            "max_results" => self.limit = number()?,
            "offset" => self.offset = number()?,
            "order_by" => self.order_by = Field::named(value)?,
            "order" if value.eq_ignore_ascii_case("asc") => self.descending = false,
            "order" if value.eq_ignore_ascii_case("desc") => self.descending = true,
            "order" => return Err(Fault::bad("order must be asc or desc")),
            "include_total_result_count" => self.counts = value == "true",
            _ => return Err(Fault::bad(format!("a search has no {name:.64?}"))),
        }
        Ok(())
    }

    /// The answer, as fcrepo has it; -1 for a total that was not counted.
    fn shown(&self, items: Vec<Value>, total: Option<u64>) -> Value {
        let total = total.map_or(json!(-1), Value::from);
        json!({
            "items": items,
            "pagination": { "offset": self.offset, "maxResults": self.limit, "totalResults": total },
        })
    }
}
