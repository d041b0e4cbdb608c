//! One quantity over many frames, as one array, read in parallel.

use std::ops::Range;

use cenote_gsd::{ChunkType, Entry, Reader};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PySlice;

use super::array::FreshArray;
use super::elision::default_value;
use super::rows::{ReadError, row_range};
use super::schema::{FIELDS, Shape, field_of_chunk};
use super::source::Medium;

/// What to read.
pub(crate) struct Request<'a> {
    pub(crate) name: &'a str,
    pub(crate) frames: &'a [u64],
    /// The range of rows; all rows if not given.
    pub(crate) rows: Option<&'a Bound<'a, PySlice>>,
    pub(crate) threads: usize,
}

/// Where the values of one frame come from.
enum Origin {
    Chunk(Entry),
    /// The default of a field, for this many rows.
    Default(usize, u64),
}

impl Origin {
    /// Type, rows and columns.
    fn shape(&self) -> (ChunkType, u64, u32) {
        match self {
            Self::Chunk(entry) => (entry.chunk_type(), entry.rows(), entry.columns()),
            Self::Default(field, rows) => {
                let field = &FIELDS[*field];
                (field.kind, *rows, field.default_columns() as u32)
            }
        }
    }
}

pub(crate) fn read_many<'py>(
    py: Python<'py>,
    reader: &Reader<Medium>,
    request: &Request<'_>,
) -> Result<Bound<'py, PyAny>, ReadError> {
    let (name, frames) = (request.name, request.frames);
    let origins = reader.source().wait(py, || {
        frames.iter().map(|&frame| origin(reader, frame, name)).collect::<Result<Vec<_>, _>>()
    })?;
    let Some(first) = origins.first() else {
        return Err(PyValueError::new_err("read_many needs at least one frame").into());
    };
    let (kind, all_rows, columns) = first.shape();
    for (frame, origin) in request.frames.iter().zip(&origins) {
        if origin.shape() != (kind, all_rows, columns) {
            return Err(other_shape(request, *frame, origin, first).into());
        }
    }
    let rows = request.rows.map_or(Ok(0..all_rows), |rows| row_range(rows, all_rows))?;
    let mut shape = vec![origins.len(), (rows.end - rows.start) as usize];
    if columns != 1 {
        shape.push(columns as usize);
    }
    let mut array = FreshArray::from_numpy(py, kind, &shape)?;
    let bytes = array.bytes();
    let threads = request.threads;
    py.detach(|| fill(reader, &origins, &rows, bytes, threads))?;
    Ok(array.finish())
}

/// The rule of the schema: this frame, otherwise frame 0 if it has the same number of rows, otherwise the default.
fn origin(reader: &Reader<Medium>, frame: u64, name: &str) -> Result<Origin, ReadError> {
    let missing = || PyKeyError::new_err(format!("frame {frame} / chunk {name} not found"));
    if let Some(entry) = reader.find(frame, name.as_bytes())? {
        return Ok(Origin::Chunk(entry));
    }
    let initial = reader.find(0, name.as_bytes())?;
    let Some(field) = field_of_chunk(name.as_bytes()) else {
        return Ok(Origin::Chunk(initial.ok_or_else(missing)?));
    };
    let Shape::Rows(_) = FIELDS[field].shape else {
        let rows = FIELDS[field].default_rows();
        return Ok(initial.map_or(Origin::Default(field, rows), Origin::Chunk));
    };
    let count = count(reader, frame, field)?;
    match initial {
        Some(entry) if count == count_in_initial(reader, field)? => Ok(Origin::Chunk(entry)),
        _ => Ok(Origin::Default(field, count)),
    }
}

fn count_in_initial(reader: &Reader<Medium>, field: usize) -> Result<u64, ReadError> {
    count(reader, 0, field)
}

/// The N of the container of a field in one frame.
fn count(reader: &Reader<Medium>, frame: u64, field: usize) -> Result<u64, ReadError> {
    let container = FIELDS[field].container;
    let name = FIELDS.iter().find(|field| field.container == container && field.name == "N");
    let Some(name) = name.map(|field| field.chunk.as_bytes()) else { return Ok(1) };
    let found = match reader.find(frame, name)? {
        Some(entry) => Some(entry),
        None => reader.find(0, name)?,
    };
    let Some(entry) = found.filter(|entry| entry.byte_size() <= 8) else { return Ok(0) };
    let mut bytes = [0; 8];
    reader.read(&entry, &mut bytes[..entry.byte_size() as usize])?;
    Ok(u64::from_le_bytes(bytes))
}

fn other_shape(request: &Request<'_>, frame: u64, found: &Origin, first: &Origin) -> PyErr {
    let describe = |origin: &Origin| {
        let (kind, rows, columns) = origin.shape();
        format!("{rows} x {columns} {kind}")
    };
    PyValueError::new_err(format!(
        "{} is {} in frame {frame} but {} in frame {}: read them one by one",
        request.name,
        describe(found),
        describe(first),
        request.frames[0],
    ))
}

/// Fills the array; each thread reads a run of frames.
fn fill(
    reader: &Reader<Medium>,
    origins: &[Origin],
    rows: &Range<u64>,
    bytes: &mut [u8],
    threads: usize,
) -> cenote_gsd::Result<()> {
    let each = bytes.len() / origins.len();
    if each == 0 {
        return Ok(());
    }
    let run = origins.len().div_ceil(threads.max(1));
    let mut jobs = origins.chunks(run).zip(bytes.chunks_mut(run * each));
    let mine = jobs.next();
    std::thread::scope(|scope| {
        let others: Vec<_> = jobs
            .map(|(origins, bytes)| scope.spawn(move || fill_run(reader, origins, rows, bytes)))
            .collect();
        let done = mine.map_or(Ok(()), |(origins, bytes)| fill_run(reader, origins, rows, bytes));
        let all = others.into_iter().map(|other| {
            other.join().unwrap_or(Err(cenote_gsd::Error::InvalidArgument("a thread panicked")))
        });
        all.fold(done, |done, other| done.and(other))
    })
}

fn fill_run(
    reader: &Reader<Medium>,
    origins: &[Origin],
    rows: &Range<u64>,
    bytes: &mut [u8],
) -> cenote_gsd::Result<()> {
    let each = bytes.len() / origins.len();
    for (origin, values) in origins.iter().zip(bytes.chunks_exact_mut(each)) {
        match origin {
            Origin::Chunk(entry) => reader.read_rows(entry, rows.clone(), values)?,
            Origin::Default(field, _) => fill_default(*field, rows.start, values),
        }
    }
    Ok(())
}

/// The default of a field, from some row on.
fn fill_default(field: usize, first: u64, values: &mut [u8]) {
    let whole = default_value(field, FIELDS[field].kind);
    let row = FIELDS[field].default_columns() * FIELDS[field].kind.size() as usize;
    let bytes = match FIELDS[field].shape {
        Shape::Rows(_) => &whole[..],
        _ => &whole[first as usize * row..],
    };
    for part in values.chunks_mut(bytes.len().max(1)) {
        part.copy_from_slice(&bytes[..part.len()]);
    }
}
