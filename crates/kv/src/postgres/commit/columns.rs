//! A batch as a value of the type `cenote_changes` of `schema.sql`: parallel arrays.
//!
//! Invariant: the fields here and there are the same, by name; otherwise nothing is sent.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{Field, IsNull, Kind, ToSql, Type, to_sql_checked};

use super::net::{Net, NetWrites};
use super::seen::SeenKeys;
use crate::postgres::snapshot::LAST;
use crate::{Batch, Bound, Evidence, Write};

/// A batch to be sent.
#[derive(Debug)]
pub(super) struct BatchColumns<'a> {
    seen: i64,
    keys: SeenKeys<'a>,
    ranges: RangeColumns<'a>,
    writes: WriteColumns<'a>,
    token: Option<&'a [u8]>,
    lowest: i64,
    bounds: BoundColumns<'a>,
    sums_first: bool,
}

impl<'a> BatchColumns<'a> {
    /// `net` is what `batch` writes; with `sums_first` what earlier ones add is written before.
    pub(super) fn of(batch: &'a Batch, net: &'a NetWrites<'a>, sums_first: bool) -> Self {
        Self {
            seen: batch.seen.cast_signed(),
            keys: SeenKeys::of(&batch.evidence),
            ranges: RangeColumns::of(&batch.evidence),
            writes: WriteColumns::of(net, &batch.writes),
            token: batch.token.as_ref().map(|token| token.as_slice()),
            lowest: batch.least.cast_signed(),
            bounds: BoundColumns::of(batch),
            sums_first,
        }
    }

    /// The values of the fields, in the order of [`FIELDS`].
    fn values(&self) -> [&dyn ToSql; FIELDS.len()] {
        let Self { seen, keys, ranges, writes, token, lowest, bounds, sums_first } = self;
        [
            seen,
            &keys.keys,
            &keys.digest,
            &ranges.starts,
            &ranges.ends,
            &ranges.limits,
            &ranges.digests,
            &writes.put_keys,
            &writes.put_values,
            &writes.deleted,
            &writes.counters,
            &writes.deltas,
            &writes.logs,
            &writes.entries,
            token,
            lowest,
            &bounds.keys,
            &bounds.mosts,
            &bounds.added,
            sums_first,
        ]
    }
}

/// The fields of `cenote_changes`.
const FIELDS: [&str; 20] = [
    "seen",
    "seen_keys",
    "seen_digest",
    "range_starts",
    "range_ends",
    "row_limits",
    "range_digests",
    "put_keys",
    "put_values",
    "deleted",
    "counters",
    "deltas",
    "logs",
    "entries",
    "token",
    "lowest",
    "bound_keys",
    "bound_mosts",
    "bound_added",
    "sums_first",
];

/// The fields of a type of rows; none of another type.
fn fields(ty: &Type) -> &[Field] {
    match ty.kind() {
        Kind::Composite(fields) => fields,
        _ => &[],
    }
}

/// The binary form of a row, as `record_send` of PostgreSQL has it: the number of fields, then of each its type, its length (-1: null)
/// and its value. All numbers are big-endian and have 32 bits.
impl ToSql for BatchColumns<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_i32(FIELDS.len().try_into()?);
        for (field, value) in fields(ty).iter().zip(self.values()) {
            out.put_u32(field.type_().oid());
            put_field(value, field.type_(), out)?;
        }
        Ok(IsNull::No)
    }

    fn accepts(ty: &Type) -> bool {
        fields(ty).iter().map(Field::name).eq(FIELDS)
    }

    to_sql_checked!();
}

fn put_field(
    value: &dyn ToSql,
    ty: &Type,
    out: &mut BytesMut,
) -> Result<(), Box<dyn Error + Sync + Send>> {
    let start = out.len();
    out.put_i32(-1);
    if let IsNull::No = value.to_sql_checked(ty, out)? {
        let length = i32::try_from(out.len() - start - 4)?;
        out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

/// Ranges that were read, as parallel arrays; see `cenote_changes`.
#[derive(Debug, Default)]
struct RangeColumns<'a> {
    starts: Vec<&'a [u8]>,
    ends: Vec<&'a [u8]>,
    limits: Vec<i64>,
    digests: Vec<&'a [u8]>,
}

impl<'a> RangeColumns<'a> {
    fn of(evidence: &'a [Evidence]) -> Self {
        let mut columns = Self::default();
        for seen in evidence {
            if let Evidence::Range { range, limit, digest } = seen {
                columns.starts.push(&range.start);
                columns.ends.push(range.end.as_deref().unwrap_or(&LAST));
                columns.limits.push(i64::try_from(*limit).unwrap_or(i64::MAX));
                columns.digests.push(&digest.0);
            }
        }
        columns
    }
}

/// Bounds as parallel arrays, each with what the batch adds to its counter.
#[derive(Debug, Default)]
struct BoundColumns<'a> {
    keys: Vec<&'a [u8]>,
    mosts: Vec<i64>,
    added: Vec<i64>,
}

impl<'a> BoundColumns<'a> {
    fn of(batch: &'a Batch) -> Self {
        let mut columns = Self::default();
        for Bound { key, most } in &batch.bounds {
            columns.keys.push(key);
            columns.mosts.push(*most);
            columns.added.push(batch.added_to(key));
        }
        columns
    }
}

/// Writes as parallel arrays, each key at most once; see `cenote_changes`.
#[derive(Debug, Default)]
struct WriteColumns<'a> {
    put_keys: Vec<&'a [u8]>,
    put_values: Vec<&'a [u8]>,
    deleted: Vec<&'a [u8]>,
    counters: Vec<&'a [u8]>,
    deltas: Vec<i64>,
    logs: Vec<&'a [u8]>,
    entries: Vec<&'a [u8]>,
}

impl<'a> WriteColumns<'a> {
    fn of(net: &'a NetWrites<'a>, writes: &'a [Write]) -> Self {
        let mut columns = Self::default();
        for (key, effect) in net {
            columns.push(key, effect);
        }
        for write in writes {
            if let Write::Append(log, entry) = write {
                columns.logs.push(log);
                columns.entries.push(entry);
            }
        }
        columns
    }

    fn push(&mut self, key: &'a [u8], effect: &'a Net) {
        match effect {
            Net::Put(value) => {
                self.put_keys.push(key);
                self.put_values.push(value);
            }
            Net::Delete => self.deleted.push(key),
            Net::Add(delta) => {
                self.counters.push(key);
                self.deltas.push(*delta);
            }
        }
    }
}
