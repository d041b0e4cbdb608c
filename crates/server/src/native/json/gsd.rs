//! GSD trajectories: their structure, and one chunk.

use std::ops::Range;

use cenote_gsd::{ChunkType, Entry, Number};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::{IntoParams, ToSchema};

/// Which frame of a trajectory.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FrameQuery {
    /// A version, instead of the current content.
    pub(crate) version: Option<u64>,
    /// The frame; -1 is the last.
    #[serde(default)]
    pub(crate) frame: i64,
    /// Whether chunks that the frame lacks are taken from frame 0, by the rules of HOOMD-blue; by default
    /// if the file has the schema `hoomd`.
    pub(crate) inherit: Option<bool>,
}

/// Which chunk of a frame.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChunkQuery {
    /// The name of the chunk.
    #[param(example = "particles/position")]
    pub(crate) name: String,
    /// Only rows from A to before B, as `A:B`.
    #[param(value_type = Option<String>, pattern = "^[0-9]+:[0-9]+$", example = "0:2")]
    pub(crate) rows: Option<RowRange>,
}

/// Some rows: `A:B`, excluding B.
#[derive(Debug)]
pub(crate) struct RowRange(pub(crate) Range<u64>);

impl<'de> Deserialize<'de> for RowRange {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let rows = text.split_once(':').and_then(|(start, end)| {
            let (start, end) = (start.parse().ok()?, end.parse().ok()?);
            (start <= end).then_some(Self(start..end))
        });
        rows.ok_or_else(|| serde::de::Error::custom("`rows` is A:B, with A not above B"))
    }
}

/// The structure of a trajectory.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GsdIndex {
    /// The program that wrote it.
    pub(crate) application: String,
    pub(crate) schema: String,
    #[schema(example = "1.4")]
    pub(crate) schema_version: String,
    /// The version of the file format.
    #[schema(example = "2.1")]
    pub(crate) gsd_version: String,
    /// How many frames there are.
    pub(crate) frames: u64,
    /// How many chunks, in all frames.
    pub(crate) chunks: u64,
    /// The names of all chunks, in the order in which they were first written.
    pub(crate) names: Vec<String>,
    /// The frame whose chunks are in `items`; null if there is none.
    pub(crate) frame: Option<u64>,
    pub(crate) items: Vec<GsdItem>,
}

/// One chunk of a frame.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GsdItem {
    #[schema(example = "particles/position")]
    pub(crate) name: String,
    /// The type of its elements, by NumPy's name; `str` for a string.
    #[schema(example = "float32")]
    pub(crate) r#type: &'static str,
    /// Rows and columns.
    pub(crate) shape: [u64; 2],
    /// The frame that has it: 0 if it is inherited.
    pub(crate) frame: u64,
}

/// A chunk, or some of its rows.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GsdChunk {
    pub(crate) name: String,
    /// The type of its elements, by NumPy's name; `str` for a string.
    #[schema(example = "float32")]
    pub(crate) r#type: &'static str,
    /// Rows and columns of `data`.
    pub(crate) shape: [u64; 2],
    /// The frame that has it: 0 if it is inherited.
    pub(crate) frame: u64,
    pub(crate) data: GsdData,
}

/// Its elements: a string as it is; the numbers of one column; a list for each row of several.
/// Values that JSON cannot represent (not a number, infinity) are null.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum GsdData {
    Text(String),
    #[schema(value_type = Vec<Option<f64>>)]
    Column(Numbers),
    #[schema(value_type = Vec<Vec<Option<f64>>>)]
    Table(Rows),
}

impl GsdData {
    /// The data of a chunk, or of some of its rows.
    pub(crate) fn of(entry: &Entry, data: Vec<u8>) -> Self {
        let kind = entry.chunk_type();
        match entry.columns() {
            1 if entry.is_string() => Self::Text(String::from_utf8_lossy(&data).into_owned()),
            1 => Self::Column(Numbers { kind, data }),
            _ => Self::Table(Rows { kind, data, row_size: entry.row_size().max(1) as usize }),
        }
    }
}

/// Numbers as they are in the file.
#[derive(Debug)]
pub(crate) struct Numbers {
    kind: ChunkType,
    data: Vec<u8>,
}

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.kind.numbers(&self.data).map(JsonNumber))
    }
}

/// Rows of numbers as they are in the file.
#[derive(Debug)]
pub(crate) struct Rows {
    kind: ChunkType,
    data: Vec<u8>,
    row_size: usize,
}

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.data.chunks(self.row_size).map(|row| JsonRow(self.kind, row)))
    }
}

struct JsonRow<'a>(ChunkType, &'a [u8]);

impl Serialize for JsonRow<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.numbers(self.1).map(JsonNumber))
    }
}

/// A number, with as few digits as distinguish it from others of its type.
struct JsonNumber(Number);

impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Number::Unsigned(number) => to.serialize_u64(number),
            Number::Signed(number) => to.serialize_i64(number),
            Number::Single(number) => to.serialize_f32(number),
            Number::Double(number) => to.serialize_f64(number),
        }
    }
}
