//! Reading a whole frame: one search of the index, one request, one Python object for each
//! container that the frame has.
//!
//! What a frame does not have is not made here. The Python classes fill inherited attributes
//! when they are asked for, from the initial frame that each frame carries along.

use cenote_gsd::{ChunkType, Entry, Reader};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::array::{FreshArray, text, unsigned};
use super::file::GsdFile;
use super::found::FoundChunks;
use super::rows::{ReadError, fresh_for, read_rows};
use super::schema::{CONTAINERS, FIELDS, Field, Shape, attribute, container_name};
use super::source::Medium;
use super::trajectory::{KnownNames, LARGE_FIELD};

/// The Python classes that a frame is made of.
pub(crate) struct Classes {
    frame: Py<PyAny>,
    containers: Vec<Py<PyAny>>,
    /// What frame 0 inherits from.
    nothing: Py<PyAny>,
    module: Py<PyAny>,
}

impl Classes {
    pub(crate) fn of_module(module: &Bound<'_, PyAny>) -> PyResult<Self> {
        let blanks = module.getattr("_blanks")?.extract::<Vec<Py<PyAny>>>()?;
        Ok(Self {
            frame: module.getattr("_blank_frame")?.unbind(),
            containers: blanks,
            nothing: module.getattr("_NOTHING")?.unbind(),
            module: module.clone().unbind(),
        })
    }

    pub(crate) fn module<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.module.bind(py)
    }
}

/// A frame being read.
pub(crate) struct FrameReader<'a, 'py> {
    pub(crate) py: Python<'py>,
    pub(crate) file: &'a Py<GsdFile>,
    pub(crate) reader: &'a Reader<Medium>,
    pub(crate) classes: &'a Classes,
    pub(crate) known: &'a mut KnownNames,
}

/// A value being read: an array, or bytes that become something else.
enum Target<'py> {
    Array(FreshArray<'py>),
    Bytes(Vec<u8>),
}

impl Target<'_> {
    fn bytes(&mut self) -> &mut [u8] {
        match self {
            Self::Array(array) => array.bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl<'py> FrameReader<'_, 'py> {
    pub(crate) fn read(
        &mut self,
        frame: u64,
        initial: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = self.find(frame)?;
        if let Some(initial) = initial {
            self.load_pending(&found, initial)?;
        }
        self.build(&found, initial)
    }

    pub(crate) fn read_initial(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let mut found = self.find(0)?;
        let is_large = |(number, entry): &mut (usize, Entry)| {
            matches!(FIELDS[*number].shape, Shape::Rows(_)) && entry.byte_size() >= LARGE_FIELD
        };
        let large = found.fields.extract_if(.., is_large);
        self.known.pending = large.map(|(number, _)| number).collect();
        let frame = self.build(&found, None)?;
        for &field in &self.known.pending {
            let container = frame.getattr(CONTAINERS[FIELDS[field].container])?;
            let later = (self.file, FIELDS[field].chunk);
            container.call_method1(intern!(self.py, "_read_later"), (FIELDS[field].name, later))?;
        }
        Ok(frame)
    }

    /// Reads the fields of frame 0 that this frame inherits.
    fn load_pending(&mut self, found: &FoundChunks, initial: &Bound<'py, PyAny>) -> PyResult<()> {
        if self.known.pending.is_empty() {
            return Ok(());
        }
        let mut still = Vec::new();
        for field in std::mem::take(&mut self.known.pending) {
            if found.has_field(field) {
                still.push(field);
                continue;
            }
            let field = &FIELDS[field];
            let reader = self.reader;
            let find = || reader.find(0, field.chunk.as_bytes());
            let found = reader.source().wait(self.py, find).map_err(|e| self.raise(e))?;
            let Some(entry) = found else { continue };
            let array = read_rows(self.py, self.reader, &entry, 0..entry.rows())
                .map_err(|e| e.raised(self.file.get().file_name()))?;
            let container = initial.getattr(CONTAINERS[field.container])?;
            container.call_method1(intern!(self.py, "_have"), (field.name, array))?;
        }
        self.known.pending = still;
        Ok(())
    }

    fn raise(&self, error: cenote_gsd::Error) -> PyErr {
        self.file.get().raise(error)
    }

    fn find(&self, frame: u64) -> PyResult<FoundChunks> {
        let (reader, known) = (self.reader, &*self.known);
        let find = || FoundChunks::of_frame(reader, known, frame);
        reader.source().wait(self.py, find).map_err(|e| self.raise(e))
    }

    fn build(
        &self,
        found: &FoundChunks,
        initial: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut values =
            self.read_values(found).map_err(|e| e.raised(self.file.get().file_name()))?;
        let logs = values.split_off(found.fields.len());
        let frame = self.classes.frame.bind(self.py).call0()?;
        let parent = initial.unwrap_or(self.classes.nothing.bind(self.py));
        frame.setattr(intern!(self.py, "_initial"), parent)?;
        self.add_containers(&frame, found, values, initial)?;
        let log = self.log(found, logs, initial)?;
        frame.setattr(intern!(self.py, "log"), log)?;
        Ok(frame)
    }

    /// The values of all chunks, fields first, each in their order.
    fn read_values(&self, found: &FoundChunks) -> Result<Vec<Bound<'py, PyAny>>, ReadError> {
        let fields = found.fields.iter().map(|(number, entry)| {
            let field = &FIELDS[*number];
            (*entry, matches!(field.shape, Shape::Names | Shape::Shapes) || is_number(field, entry))
        });
        let logs = found.logs.iter().flatten().map(|entry| (*entry, is_text(entry)));
        let wanted: Vec<(Entry, bool)> = fields.chain(logs).collect();
        let mut targets = wanted
            .iter()
            .map(|(entry, bytes)| self.target(entry, *bytes))
            .collect::<PyResult<Vec<_>>>()?;
        let mut parts: Vec<(Entry, &mut [u8])> = wanted
            .iter()
            .map(|(entry, _)| *entry)
            .zip(targets.iter_mut().map(Target::bytes))
            .collect();
        let reader = self.reader;
        self.py.detach(|| reader.read_many(&mut parts))?;
        let fields = found.fields.iter().map(|(number, _)| Some(&FIELDS[*number]));
        let fields = fields.chain(std::iter::repeat(None));
        let mut values = Vec::with_capacity(targets.len());
        for ((target, (entry, _)), field) in targets.into_iter().zip(&wanted).zip(fields) {
            values.push(self.value(target, entry, field)?);
        }
        Ok(values)
    }

    fn target(&self, entry: &Entry, bytes: bool) -> PyResult<Target<'py>> {
        if bytes {
            return Ok(Target::Bytes(vec![0; entry.byte_size() as usize]));
        }
        Ok(Target::Array(fresh_for(self.py, entry, entry.rows() as usize)?))
    }

    fn value(
        &self,
        target: Target<'py>,
        entry: &Entry,
        field: Option<&Field>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(field) = field.filter(|field| !is_possible(field, entry)) {
            let what = format!("{} is not one number", field.chunk);
            return Err(self.corrupt(entry, what));
        }
        match (target, field.map(|field| field.shape)) {
            (Target::Array(array), Some(Shape::One)) => array.finish().get_item(0),
            (Target::Array(array), _) => Ok(array.finish()),
            (Target::Bytes(bytes), Some(Shape::One)) => unsigned(self.py, &bytes),
            (Target::Bytes(bytes), Some(Shape::Names)) => self.names(&bytes, entry),
            (Target::Bytes(bytes), Some(Shape::Shapes)) => {
                let texts = self.names(&bytes, entry)?;
                self.classes.module(self.py).call_method1(intern!(self.py, "_shapes"), (texts,))
            }
            (Target::Bytes(bytes), _) => text(self.py, &bytes),
        }
    }

    fn corrupt(&self, entry: &Entry, what: String) -> PyErr {
        self.raise(cenote_gsd::Error::Corrupt { at: entry.location(), what })
    }

    /// The rows of a character matrix as strings.
    fn names(&self, bytes: &[u8], entry: &Entry) -> PyResult<Bound<'py, PyAny>> {
        let width = entry.row_size() as usize;
        if width == 0 {
            return Err(self.corrupt(entry, "names without a width".to_owned()));
        }
        let names = bytes.chunks_exact(width).map(|row| text(self.py, row));
        Ok(PyList::new(self.py, names.collect::<PyResult<Vec<_>>>()?)?.into_any())
    }

    fn add_containers(
        &self,
        frame: &Bound<'py, PyAny>,
        found: &FoundChunks,
        values: Vec<Bound<'py, PyAny>>,
        initial: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let mut current: Option<(usize, Bound<'py, PyAny>)> = None;
        for ((number, _), value) in found.fields.iter().zip(values) {
            let field = &FIELDS[*number];
            let container = match current.take() {
                Some((current, container)) if current == field.container => container,
                _ => self.add_container(frame, field.container, initial)?,
            };
            container.setattr(attribute(self.py, *number), value)?;
            current = Some((field.container, container));
        }
        Ok(())
    }

    fn add_container(
        &self,
        frame: &Bound<'py, PyAny>,
        number: usize,
        initial: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let container = self.classes.containers[number].bind(self.py).call0()?;
        let name = container_name(self.py, number);
        let parent = match initial {
            Some(initial) => initial.getattr(name)?,
            None => self.classes.nothing.bind(self.py).clone(),
        };
        container.setattr(intern!(self.py, "_initial"), parent)?;
        frame.setattr(name, &container)?;
        Ok(container)
    }

    fn log(
        &self,
        found: &FoundChunks,
        values: Vec<Bound<'py, PyAny>>,
        initial: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let log = PyDict::new(self.py);
        if found.logs.is_empty() {
            return Ok(log);
        }
        let inherited = initial.map(|initial| initial.getattr(intern!(self.py, "log")));
        let inherited = inherited.transpose()?;
        let mut values = values.into_iter();
        for (name, entry) in self.known.logs.iter().zip(&found.logs) {
            let name = name.bind(self.py);
            let value = match (entry, &inherited) {
                (Some(_), _) => values.next(),
                (None, Some(inherited)) => inherit_log(inherited, name)?,
                (None, None) => None,
            };
            if let Some(value) = value {
                log.set_item(name, value)?;
            }
        }
        Ok(log)
    }
}

fn is_text(entry: &Entry) -> bool {
    entry.chunk_type() == ChunkType::Character && entry.columns() == 1
}

/// Whether a chunk is the one number that a field is, of the type that it should be.
fn is_number(field: &Field, entry: &Entry) -> bool {
    let one = entry.rows() == 1 && entry.columns() == 1;
    field.shape == Shape::One && entry.chunk_type() == field.kind && one
}

/// Whether a chunk can be the one number that some fields are.
fn is_possible(field: &Field, entry: &Entry) -> bool {
    let fraction = matches!(entry.chunk_type(), ChunkType::F32 | ChunkType::F64);
    let number = entry.rows() > 0
        && entry.columns() == 1
        && entry.chunk_type() != ChunkType::Character
        && !(fraction && field.name == "N");
    field.shape != Shape::One || number
}

/// A logged value of frame 0, made read-only where it is an array.
fn inherit_log<'py>(
    inherited: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = name.py();
    let Ok(value) = inherited.get_item(name) else { return Ok(None) };
    if !value.is_instance_of::<PyString>() {
        value.call_method1(intern!(py, "setflags"), (false,))?;
    }
    Ok(Some(value))
}
