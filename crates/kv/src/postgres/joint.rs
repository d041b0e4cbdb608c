//! Values and rows of ranges, read by one statement.

use bytes::Bytes;
use tokio_postgres::Row as Read;
use tokio_postgres::types::ToSql;

use super::snapshot::LAST;
use crate::{Found, Wanted};

/// So many bytes of values a range may have.
const MOST: i64 = 256 << 10;

/// The value at each key of $1, in place of a range -1; and of each range of $2 (included) up to $3 the first rows, at most as many as
/// in $4; without values if they have more than $5 bytes together.
pub(super) const QUERY: &str = "
    SELECT -1::bigint AS range, place, NULL::bytea AS key, value
    FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (key, place) LEFT JOIN cenote_rows USING (key)
    UNION ALL
    SELECT range, row_number() OVER (PARTITION BY range ORDER BY found.key), found.key,
           CASE WHEN sum(octet_length(found.value)) OVER (PARTITION BY range) <= $5::bigint THEN found.value END
    FROM unnest($2::bytea[], $3::bytea[], $4::bigint[]) WITH ORDINALITY AS asked (first, last, most, range)
    CROSS JOIN LATERAL (
        SELECT key, value FROM cenote_rows WHERE key >= asked.first AND key < asked.last
        ORDER BY key LIMIT asked.most) AS found
    ORDER BY range, place";

/// The parameters of [`QUERY`].
pub(super) struct Parameters<'a> {
    keys: Vec<&'a [u8]>,
    first: Vec<&'a [u8]>,
    last: Vec<&'a [u8]>,
    most: Vec<i64>,
}

impl<'a> Parameters<'a> {
    pub(super) fn of(wanted: &'a Wanted) -> Self {
        let ranges = || wanted.ranges.iter();
        Self {
            keys: wanted.keys.iter().map(Bytes::as_ref).collect(),
            first: ranges().map(|(range, _)| range.start.as_ref()).collect(),
            last: ranges().map(|(range, _)| range.end.as_deref().unwrap_or(&LAST)).collect(),
            most: ranges().map(|(_, most)| i64::try_from(*most).unwrap_or(i64::MAX)).collect(),
        }
    }

    pub(super) fn all(&self) -> [&(dyn ToSql + Sync); 5] {
        [&self.keys, &self.first, &self.last, &self.most, &MOST]
    }
}

/// What the rows of an answer are of what was wanted.
pub(super) fn found(wanted: &Wanted, answer: &[Read]) -> Found {
    let mut found = Found {
        values: Vec::with_capacity(wanted.keys.len()),
        rows: vec![Some(Vec::new()); wanted.ranges.len()],
    };
    for read in answer {
        let bytes = |at| read.get::<_, Option<Vec<u8>>>(at).map(Bytes::from);
        match usize::try_from(read.get::<_, i64>(0)) {
            Err(_) => found.values.push(bytes(3)),
            Ok(range) => match (bytes(2).zip(bytes(3)), &mut found.rows[range - 1]) {
                (Some(row), Some(rows)) => rows.push(row),
                (_, rows) => *rows = None,
            },
        }
    }
    found
}
