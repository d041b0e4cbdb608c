//! The query of an address. What it may not have is refused here, for all routes.

use axum::extract::{FromRequestParts, Query as AxumQuery};
use axum::http::Uri;
use axum::http::request::Parts;
use serde::de::value::Error as NoValue;
use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};

use crate::app::App;
use crate::problem::Problem;

/// The query of the address.
#[derive(Debug)]
pub(crate) struct Params<T>(pub(crate) T);

impl<T: Query> Params<T> {
    pub(crate) fn of(uri: &Uri) -> Result<Self, Problem> {
        let AxumQuery(given) =
            AxumQuery::<Vec<(String, String)>>::try_from_uri(uri).map_err(wrong)?;
        match given.iter().find(|(name, _)| !T::takes(name)) {
            Some((name, _)) => Err(wrong(format!("unknown parameter `{name:.100}`"))),
            None => T::read(uri).map(Self),
        }
    }
}

impl<T: Query> FromRequestParts<App> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        Self::of(&parts.uri)
    }
}

/// The parameters of a query.
pub(crate) trait Query: Sized {
    /// Whether it may have a parameter of this name.
    fn takes(name: &str) -> bool;

    /// Reads its parameters, and skips others.
    fn read(uri: &Uri) -> Result<Self, Problem>;
}

impl<T: DeserializeOwned> Query for T {
    fn takes(name: &str) -> bool {
        fields::<T>().contains(&name)
    }

    fn read(uri: &Uri) -> Result<Self, Problem> {
        AxumQuery::try_from_uri(uri).map(|AxumQuery(query)| query).map_err(wrong)
    }
}

/// Two parts of one query, side by side.
#[derive(Debug)]
pub(crate) struct And<A, B>(pub(crate) A, pub(crate) B);

impl<A: Query, B: Query> Query for And<A, B> {
    fn takes(name: &str) -> bool {
        A::takes(name) || B::takes(name)
    }

    fn read(uri: &Uri) -> Result<Self, Problem> {
        Ok(Self(A::read(uri)?, B::read(uri)?))
    }
}

fn wrong(why: impl ToString) -> Problem {
    Problem::invalid(format!("invalid query: {}", why.to_string()))
}

/// The names of the fields that a struct is read from.
fn fields<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    let _only_recorded = T::deserialize(FieldRecorder(&mut fields));
    fields
}

/// Has nothing to read, and records the requested fields.
struct FieldRecorder<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldRecorder<'_> {
    type Error = NoValue;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, NoValue> {
        *self.0 = fields;
        Err(NoValue::custom(""))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NoValue> {
        Err(NoValue::custom(""))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The length of a page: 1,000 by default, and never 0 or more than `most`.
pub(crate) fn page_limit(requested: Option<u32>, most: usize) -> Result<usize, Problem> {
    let limit = requested.map_or(most.min(1_000), |limit| limit as usize);
    match (1..=most).contains(&limit) {
        true => Ok(limit),
        false => Err(Problem::invalid(format!("`limit` must be between 1 and {most}"))),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Which {
        id: Option<u64>,
    }

    #[derive(Debug, Deserialize)]
    struct Page {
        after: Option<String>,
        limit: u32,
    }

    fn read(text: &str) -> Result<(Option<u64>, Option<String>, u32), String> {
        let uri: Uri = format!("/x?{text}").parse().unwrap();
        let read = Params::<And<Which, Page>>::of(&uri);
        let read = read.map(|Params(And(which, page))| (which.id, page.after, page.limit));
        read.map_err(|problem| problem.to_string())
    }

    #[test]
    fn each_part_accepts_its_own_parameters_in_any_order() {
        assert_eq!(read("limit=3&id=7").unwrap(), (Some(7), None, 3));
        assert_eq!(read("after=%C3%A9&id=7&limit=3").unwrap(), (Some(7), Some("é".to_owned()), 3));
    }

    #[test]
    fn unknown_and_missing_parameters_are_refused_with_the_reason() {
        for (text, why) in [
            ("limit=3&ids=7", "`ids`"),
            ("limit=3&limit=4", "duplicate field `limit`"),
            ("limit=x", "limit: invalid digit"),
            ("id=7", "missing field `limit`"),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }
}
