//! Appending a frame: only values that equal neither those of frame 0 nor the defaults.
//!
//! A whole frame is converted to chunks before any of them is written, so an invalid frame leaves
//! nothing behind. Arrays of the right type, shape and layout are compared and written in place,
//! without a copy; everything else goes through NumPy (`_*_chunk` of
//! `hoomd.py`).

mod field;
mod initial;

use cenote_gsd::{ChunkType, Reader};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use self::field::{Value, number};
use super::chunk::ChunkData;
use super::schema::{CONTAINERS, FIELDS, attribute, container_name};
use super::source::Medium;
use super::trajectory::Trajectory;

/// From this size in bytes on, writing releases the interpreter lock for other threads.
const LONG_WRITE: u64 = 1 << 16;

pub(crate) fn append<'py>(
    trajectory: &Trajectory,
    py: Python<'py>,
    frame: &Bound<'py, PyAny>,
    initial: Option<&Bound<'py, PyAny>>,
    double: bool,
) -> PyResult<()> {
    let file = trajectory.file.get();
    let mut chunks = {
        let state = file.read(py);
        state.check_writable(file.file_name())?;
        let reader = state.reader()?;
        let float = if double { ChunkType::F64 } else { ChunkType::F32 };
        let module = trajectory.classes.module(py);
        let writer = FrameWriter { py, reader, module, initial, float };
        writer.fields(frame)?
    };
    for (name, value) in frame.getattr(intern!(py, "log"))?.cast::<PyDict>()?.iter() {
        let name = format!("log/{}", name.cast::<PyString>()?.to_str()?);
        let data = ChunkData::from_value(&name, &value)?;
        chunks.push((name.into(), data));
    }
    write(trajectory, py, &chunks)
}

type NamedChunk<'py> = (std::borrow::Cow<'static, str>, ChunkData<'py>);

fn write(trajectory: &Trajectory, py: Python<'_>, chunks: &[NamedChunk<'_>]) -> PyResult<()> {
    let file = trajectory.file.get();
    let chunks = chunks
        .iter()
        .map(|(name, data)| data.chunk(name.as_bytes()))
        .collect::<PyResult<Vec<_>>>()?;
    let mut state = file.write(py);
    let writer = state.writer(file.file_name())?;
    let mut work = || {
        chunks.iter().try_for_each(|chunk| writer.write_chunk(chunk))?;
        writer.end_frame()?;
        // A file that is being written to shows at least its first frame.
        if writer.reader().frames() == 0 { writer.flush() } else { Ok(()) }
    };
    let size: u64 = chunks.iter().map(|chunk| chunk.data.len() as u64).sum();
    let written = if size >= LONG_WRITE { py.detach(work) } else { work() };
    written.map_err(|e| file.raise(e))?;
    file.relieve(py, writer)
}

/// A frame being turned into chunks.
struct FrameWriter<'a, 'py> {
    py: Python<'py>,
    reader: &'a Reader<Medium>,
    module: &'a Bound<'py, PyAny>,
    initial: Option<&'a Bound<'py, PyAny>>,
    /// The type of floating point fields in this file.
    float: ChunkType,
}

impl<'py> FrameWriter<'_, 'py> {
    fn fields(&self, frame: &Bound<'py, PyAny>) -> PyResult<Vec<NamedChunk<'py>>> {
        let own = frame.getattr_opt(intern!(self.py, "_own"))?;
        let mut chunks = Vec::new();
        let mut first = 0;
        for number in 0..CONTAINERS.len() {
            let fields =
                FIELDS[first..].iter().take_while(|field| field.container == number).count();
            let name = container_name(self.py, number);
            let container = match &own {
                Some(own)
                    if !own.contains(name)? && !own.contains(intern!(self.py, "_initial"))? =>
                {
                    self.untouched(first, &mut chunks)?;
                    first += fields;
                    continue;
                }
                _ => frame.getattr(name)?,
            };
            self.container(&container, first..first + fields, &mut chunks)?;
            first += fields;
        }
        Ok(chunks)
    }

    /// A container that was never accessed only has N = 0.
    fn untouched(&self, first: usize, chunks: &mut Vec<NamedChunk<'py>>) -> PyResult<()> {
        let field = &FIELDS[first];
        if field.name != "N" {
            return Ok(());
        }
        let initial = self.initial_read(first)?.map(|count| count.eq(0)).transpose()?;
        if initial == Some(false) {
            chunks.push((field.chunk.into(), number(vec![0; 4], field.kind)));
        }
        Ok(())
    }

    fn container(
        &self,
        container: &Bound<'py, PyAny>,
        fields: std::ops::Range<usize>,
        chunks: &mut Vec<NamedChunk<'py>>,
    ) -> PyResult<()> {
        let own = container.getattr_opt(intern!(self.py, "_own"))?;
        let own = own.filter(|own| {
            own.contains(intern!(self.py, "_initial")).is_ok_and(|inherits| !inherits)
        });
        let own = own.map(Bound::cast_into::<PyDict>).transpose()?;
        for number in fields {
            let field = &FIELDS[number];
            let value = match &own {
                Some(own) => own.get_item(attribute(self.py, number))?,
                None => container.getattr_opt(field.name)?,
            };
            let Some(value) = value.filter(|value| !value.is_none()) else { continue };
            let initial = self.initial_chunk(field)?;
            let value = Value { number, field, container, value, initial };
            if let Some(data) = self.chunk(&value)? {
                chunks.push((field.chunk.into(), data));
            }
        }
        Ok(())
    }
}
