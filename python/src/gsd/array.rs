//! NumPy arrays as byte slices, and back.

use cenote_gsd::ChunkType;
use numpy::{
    PyArray1, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

/// Above this, NumPy itself allocates, so that too little memory is a `MemoryError`.
const LARGE: usize = 1 << 30;

/// A new array, not yet filled, and not yet seen by anyone else.
pub(crate) struct FreshArray<'py> {
    array: Bound<'py, PyUntypedArray>,
    data: *mut u8,
    size: usize,
}

impl<'py> FreshArray<'py> {
    /// An array of `rows` x `columns`, or with one column, of `rows`. Strings are bytes.
    pub(crate) fn new(
        py: Python<'py>,
        kind: ChunkType,
        rows: usize,
        columns: usize,
    ) -> PyResult<Self> {
        let size = rows.saturating_mul(columns).saturating_mul(kind.size() as usize);
        let shape = if columns == 1 { vec![rows] } else { vec![rows, columns] };
        if size >= LARGE {
            return Self::from_numpy(py, kind, &shape);
        }
        Ok(match kind {
            ChunkType::U8 => Self::typed::<u8>(py, rows, columns),
            ChunkType::U16 => Self::typed::<u16>(py, rows, columns),
            ChunkType::U32 => Self::typed::<u32>(py, rows, columns),
            ChunkType::U64 => Self::typed::<u64>(py, rows, columns),
            ChunkType::I8 | ChunkType::Character => Self::typed::<i8>(py, rows, columns),
            ChunkType::I16 => Self::typed::<i16>(py, rows, columns),
            ChunkType::I32 => Self::typed::<i32>(py, rows, columns),
            ChunkType::I64 => Self::typed::<i64>(py, rows, columns),
            ChunkType::F32 => Self::typed::<f32>(py, rows, columns),
            ChunkType::F64 => Self::typed::<f64>(py, rows, columns),
        })
    }

    /// An array of any shape, allocated by `numpy.empty`.
    pub(crate) fn from_numpy(py: Python<'py>, kind: ChunkType, shape: &[usize]) -> PyResult<Self> {
        let array = py.import("numpy")?.call_method1("empty", (shape, dtype_name(kind)))?;
        let array = array.cast_into::<PyUntypedArray>()?;
        let size = array.len() * kind.size() as usize;
        Ok(Self { data: data_pointer(&array), array, size })
    }

    #[expect(unsafe_code, reason = "an array without the cost of zeroing it")]
    fn typed<T: numpy::Element>(py: Python<'py>, rows: usize, columns: usize) -> Self {
        // SAFETY: `T` is a number, for which any bytes are valid.
        let array = unsafe {
            if columns == 1 {
                PyArray1::<T>::new(py, [rows], false).as_untyped().clone()
            } else {
                PyArray2::<T>::new(py, [rows, columns], false).as_untyped().clone()
            }
        };
        let size = rows * columns * size_of::<T>();
        Self { data: data_pointer(&array), array, size }
    }

    /// The bytes of the array, at first any.
    ///
    /// Zeroing them costs a tenth to a third of a read, and they are all written over. They are not what Rust calls
    /// uninitialized: they come from NumPy, which is loaded at run time, so that nothing is known of how it
    /// came by them. That it has written them, each any value, is as true as that it has not.
    #[expect(unsafe_code, reason = "the bytes of a new array are ours until it is given away")]
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        if self.size == 0 {
            return &mut [];
        }
        // SAFETY: the array is new, contiguous and of this size, and no one else has it yet; a `u8` may be any byte.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.size) }
    }

    /// The array, once filled.
    pub(crate) fn finish(self) -> Bound<'py, PyAny> {
        self.array.into_any()
    }
}

/// NumPy's name of a type; the bytes of a string are `int8`.
pub(crate) fn dtype_name(kind: ChunkType) -> &'static str {
    if kind == ChunkType::Character { "int8" } else { kind.name() }
}

#[expect(unsafe_code, reason = "the field of the array object that holds its data")]
fn data_pointer(array: &Bound<'_, PyUntypedArray>) -> *mut u8 {
    // SAFETY: the pointer is a live array object, held by `array`.
    unsafe { (*array.as_array_ptr()).fields.data.cast() }
}

/// The bytes of a C-contiguous array, as they are.
///
/// As in NumPy itself, another thread that writes to the array meanwhile makes them nonsense.
#[expect(unsafe_code, reason = "borrowing the memory of an array the caller holds")]
pub(crate) fn bytes_of<'a>(array: &'a Bound<'_, PyUntypedArray>) -> &'a [u8] {
    let size = array.len() * array.dtype().itemsize();
    if size == 0 || !array.is_c_contiguous() {
        return &[];
    }
    // SAFETY: the array is contiguous and of this size, and `array` keeps it alive.
    unsafe { std::slice::from_raw_parts(data_pointer(array), size) }
}

/// The bytes of a C-contiguous array that only this call fills.
#[expect(unsafe_code, clippy::mut_from_ref, reason = "NumPy arrays are mutable through sharing")]
pub(crate) fn bytes_of_mut<'a>(array: &'a Bound<'_, PyUntypedArray>) -> &'a mut [u8] {
    let size = array.len() * array.dtype().itemsize();
    if size == 0 || !array.is_c_contiguous() {
        return &mut [];
    }
    // SAFETY: as in `bytes_of`; the caller made the array and holds the interpreter lock.
    unsafe { std::slice::from_raw_parts_mut(data_pointer(array), size) }
}

/// The chunk type of an array's elements, if a file can hold them.
pub(crate) fn chunk_type(array: &Bound<'_, PyUntypedArray>) -> Option<ChunkType> {
    let dtype = array.dtype();
    if dtype.is_native_byteorder() == Some(false) {
        return None;
    }
    match (dtype.kind(), dtype.itemsize()) {
        (b'u', 1) => Some(ChunkType::U8),
        (b'u', 2) => Some(ChunkType::U16),
        (b'u', 4) => Some(ChunkType::U32),
        (b'u', 8) => Some(ChunkType::U64),
        (b'i', 1) => Some(ChunkType::I8),
        (b'i', 2) => Some(ChunkType::I16),
        (b'i', 4) => Some(ChunkType::I32),
        (b'i', 8) => Some(ChunkType::I64),
        (b'f', 4) => Some(ChunkType::F32),
        (b'f', 8) => Some(ChunkType::F64),
        _ => None,
    }
}

/// An unsigned number as a NumPy scalar of its size.
pub(crate) fn unsigned<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    static TYPES: PyOnceLock<[Py<PyAny>; 2]> = PyOnceLock::new();
    let [wide, narrow] = TYPES.get_or_try_init(py, || {
        let numpy = py.import("numpy")?;
        let named = |name| PyResult::Ok(numpy.getattr(name)?.unbind());
        PyResult::Ok([named("uint64")?, named("uint32")?])
    })?;
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let number = u64::from_le_bytes(word);
    match bytes.len() {
        8 => wide.bind(py).call1((number,)),
        4 => narrow.bind(py).call1((number,)),
        _ => py.import("numpy")?.getattr("uint8")?.call1((number,)),
    }
}

/// A string chunk of one column as text, without NULs at its end.
pub(crate) fn text<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    Ok(PyString::from_encoded_object(
        &pyo3::types::PyBytes::new(py, &bytes[..end]),
        Some(c"utf-8"),
        Some(c"strict"),
    )?
    .into_any())
}
