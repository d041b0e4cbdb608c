//! The HOOMD schema: which chunks a frame may have, in the order in which they are written.

use cenote_gsd::ChunkType;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

/// How the values of a field are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// One number for the frame.
    One,
    /// The six numbers of the box.
    Box,
    /// One name, or one JSON object, for each type.
    Names,
    Shapes,
    /// A row of this many numbers for each of the N elements of the container.
    Rows(usize),
}

/// The value of a field without a chunk, repeated for each row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Default {
    Integer(i64),
    Float(&'static [f64]),
    /// The one row of characters, ended by a NUL; none at all without types.
    Text(&'static [u8]),
}

/// One field of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) container: usize,
    pub(crate) name: &'static str,
    /// The whole name of its chunk.
    pub(crate) chunk: &'static str,
    /// The type of its elements; `F32` stands for the precision of the file.
    pub(crate) kind: ChunkType,
    pub(crate) shape: Shape,
    pub(crate) default: Default,
}

impl Field {
    /// The number of rows of the default, if it is not that of the container.
    pub(crate) fn default_rows(&self) -> u64 {
        match (self.shape, self.default) {
            (Shape::Box, _) => 6,
            (_, Default::Text(text)) => u64::from(!text.is_empty()),
            _ => 1,
        }
    }

    /// Columns of the default.
    pub(crate) fn default_columns(&self) -> usize {
        match (self.shape, self.default) {
            (Shape::Rows(columns), _) => columns,
            (_, Default::Text(text)) => text.len().max(1),
            _ => 1,
        }
    }
}

/// The containers of a frame.
pub(crate) const CONTAINERS: [&str; 8] = [
    "configuration",
    "particles",
    "bonds",
    "angles",
    "dihedrals",
    "impropers",
    "constraints",
    "pairs",
];

const fn field(
    container: usize,
    name: &'static str,
    chunk: &'static str,
    kind: ChunkType,
    shape: Shape,
    default: Default,
) -> Field {
    Field { container, name, chunk, kind, shape, default }
}

macro_rules! fields {
    ($($container:literal: $path:literal { $($name:literal $kind:ident $shape:expr, $default:expr;)* })*) => {
        &[$($(field(
            $container,
            $name,
            concat!($path, "/", $name),
            ChunkType::$kind,
            $shape,
            $default,
        ),)*)*]
    };
}

use self::Default::{Float, Integer, Text};
use self::Shape::{Names, One, Rows, Shapes};

/// All fields, in the order in which the reference writes them.
pub(crate) const FIELDS: &[Field] = fields! {
    0: "configuration" {
        "step" U64 One, Integer(0);
        "dimensions" U8 One, Integer(3);
        "box" F32 Shape::Box, Float(&[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    }
    1: "particles" {
        "N" U32 One, Integer(0);
        "types" I8 Names, Text(b"A\0");
        "typeid" U32 Rows(1), Integer(0);
        "mass" F32 Rows(1), Float(&[1.0]);
        "charge" F32 Rows(1), Float(&[0.0]);
        "diameter" F32 Rows(1), Float(&[1.0]);
        "body" I32 Rows(1), Integer(-1);
        "moment_inertia" F32 Rows(3), Float(&[0.0; 3]);
        "position" F32 Rows(3), Float(&[0.0; 3]);
        "orientation" F32 Rows(4), Float(&[1.0, 0.0, 0.0, 0.0]);
        "velocity" F32 Rows(3), Float(&[0.0; 3]);
        "angmom" F32 Rows(4), Float(&[0.0; 4]);
        "image" I32 Rows(3), Integer(0);
        "type_shapes" I8 Shapes, Text(b"{}\0");
    }
    2: "bonds" {
        "N" U32 One, Integer(0);
        "types" I8 Names, Text(b"");
        "typeid" U32 Rows(1), Integer(0);
        "group" U32 Rows(2), Integer(0);
    }
    3: "angles" {
        "N" U32 One, Integer(0);
        "types" I8 Names, Text(b"");
        "typeid" U32 Rows(1), Integer(0);
        "group" U32 Rows(3), Integer(0);
    }
    4: "dihedrals" {
        "N" U32 One, Integer(0);
        "types" I8 Names, Text(b"");
        "typeid" U32 Rows(1), Integer(0);
        "group" U32 Rows(4), Integer(0);
    }
    5: "impropers" {
        "N" U32 One, Integer(0);
        "types" I8 Names, Text(b"");
        "typeid" U32 Rows(1), Integer(0);
        "group" U32 Rows(4), Integer(0);
    }
    6: "constraints" {
        "N" U32 One, Integer(0);
        "value" F32 Rows(1), Float(&[0.0]);
        "group" U32 Rows(2), Integer(0);
    }
    7: "pairs" {
        "N" U32 One, Integer(0);
        "types" I8 Names, Text(b"");
        "typeid" U32 Rows(1), Integer(0);
        "group" U32 Rows(2), Integer(0);
    }
};

/// The name of a container as Python knows it.
pub(crate) fn container_name<'py>(py: Python<'py>, container: usize) -> &'py Bound<'py, PyString> {
    static NAMES: PyOnceLock<Vec<Py<PyString>>> = PyOnceLock::new();
    let names = NAMES.get_or_init(py, || interned(py, CONTAINERS.iter().copied()));
    names[container].bind(py)
}

/// The attribute of a container that holds a field.
pub(crate) fn attribute<'py>(py: Python<'py>, field: usize) -> &'py Bound<'py, PyString> {
    static NAMES: PyOnceLock<Vec<Py<PyString>>> = PyOnceLock::new();
    // `box` itself is a property that sets the dimensions too.
    let name = |field: &Field| if field.shape == Shape::Box { "_box" } else { field.name };
    NAMES.get_or_init(py, || interned(py, FIELDS.iter().map(name)))[field].bind(py)
}

fn interned<'a>(py: Python<'_>, names: impl Iterator<Item = &'a str>) -> Vec<Py<PyString>> {
    names.map(|name| PyString::intern(py, name).unbind()).collect()
}

/// The position in [`FIELDS`] of the field with this chunk name.
pub(crate) fn field_of_chunk(name: &[u8]) -> Option<usize> {
    FIELDS.iter().position(|field| field.chunk.as_bytes() == name)
}
