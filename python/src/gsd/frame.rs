//! Reading a whole frame: one search of the index, one request, one Python object for each
//! container that the frame has.
//!
//! Fields that a frame does not have are not created here. The Python classes fill in inherited
//! attributes on first access, from the initial frame that each frame refers to.

mod logged;
mod values;

use cenote_gsd::{Entry, Reader};
use pyo3::intern;
use pyo3::prelude::*;

use super::file::GsdFile;
use super::found::FoundChunks;
use super::rows::read_rows;
use super::schema::{CONTAINERS, FIELDS, Shape, attribute, container_name};
use super::source::Medium;
use super::trajectory::{KnownNames, LARGE_FIELD};

/// The Python classes that a frame is made of.
pub(crate) struct Classes {
    /// `object.__new__`, which makes instances without attributes.
    new: Py<PyAny>,
    frame: Py<PyAny>,
    /// Each container, with the columns of its groups if it has such.
    containers: Vec<(Py<PyAny>, Option<u32>)>,
    /// The values that frame 0 inherits from.
    nothing: Py<PyAny>,
    module: Py<PyAny>,
}

impl Classes {
    pub(crate) fn of_module(module: &Bound<'_, PyAny>) -> PyResult<Self> {
        let object = module.py().get_type::<PyAny>();
        Ok(Self {
            new: object.getattr("__new__")?.unbind(),
            frame: module.getattr("Frame")?.unbind(),
            containers: module
                .getattr("_BLANKS")?
                .call_method0("values")?
                .try_iter()?
                .map(|blank| blank?.extract())
                .collect::<PyResult<_>>()?,
            nothing: module.getattr("_NOTHING")?.unbind(),
            module: module.clone().unbind(),
        })
    }

    /// An instance of which no attribute is filled in yet.
    fn blank<'py>(&self, py: Python<'py>, class: &Py<PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.new.bind(py).call1((class,))
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
        let frame = self.classes.blank(self.py, &self.classes.frame)?;
        let parent = initial.unwrap_or(self.classes.nothing.bind(self.py));
        frame.setattr(intern!(self.py, "_initial"), parent)?;
        self.add_containers(&frame, found, values, initial)?;
        let log = self.log(found, logs, initial)?;
        frame.setattr(intern!(self.py, "log"), log)?;
        Ok(frame)
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
        let (class, columns) = &self.classes.containers[number];
        let container = self.classes.blank(self.py, class)?;
        if let Some(columns) = columns {
            container.setattr(intern!(self.py, "M"), columns)?;
        }
        let name = container_name(self.py, number);
        let parent = match initial {
            Some(initial) => initial.getattr(name)?,
            None => self.classes.nothing.bind(self.py).clone(),
        };
        container.setattr(intern!(self.py, "_initial"), parent)?;
        frame.setattr(name, &container)?;
        Ok(container)
    }
}
