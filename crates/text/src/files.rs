//! The files of an index: a directory, or memory.
//!
//! A document is a resource: its id, and its words, each once and without positions. What is longer than a word is has only its beginning
//! in it: the store compares the whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cenote_blob::make_private;
use cenote_store::{ResourceId, Worded};
use tantivy::directory::MmapDirectory;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term};

use crate::error::Fault;
use crate::stage::Stage;

/// Where an index is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Directory(PathBuf),
    Memory,
}

/// The fields of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    pub(crate) id: Field,
    pub(crate) word: Field,
}

/// An open index.
pub(crate) struct Files {
    index: Index,
    reader: IndexReader,
    fields: Fields,
    /// Made for the first change.
    writer: Option<IndexWriter>,
}

/// The name of the field of ids.
pub(crate) const ID: &str = "id";
const WORD: &str = "word";
/// The most characters of a word that are kept.
const LONGEST: usize = 128;
/// Memory for documents that are not written yet.
const MEMORY: usize = 48 << 20;

impl Files {
    /// Opens what is there, after a look at all of it.
    ///
    /// # Errors
    /// If nothing is there, or not what was written.
    pub(crate) fn open(place: &Place) -> Result<(Self, Stage), Fault> {
        let Place::Directory(dir) = place else { return Err(Fault::Foreign) };
        let directory = MmapDirectory::open(dir).map_err(tantivy::TantivyError::from)?;
        let index = Index::open(directory)?;
        if index.schema() != schema().0 {
            return Err(Fault::Foreign);
        }
        if let Some(damaged) = index.validate_checksum()?.into_iter().next() {
            return Err(Fault::Damaged(dir.join(damaged)));
        }
        let payload = index.load_metas()?.payload.unwrap_or_default();
        let stage = payload.parse().map_err(|_| Fault::Foreign)?;
        Ok((Self::of(index)?, stage))
    }

    /// Whether anything is there.
    pub(crate) fn exist(place: &Place) -> bool {
        matches!(place, Place::Directory(dir) if dir.join("meta.json").exists())
    }

    /// An empty index, instead of what is there.
    pub(crate) fn create(place: &Place) -> Result<Self, Fault> {
        let (schema, _) = schema();
        let Place::Directory(dir) = place else { return Self::of(Index::create_in_ram(schema)) };
        empty(dir).map_err(|error| Fault::Directory(dir.clone(), error))?;
        Self::of(Index::create_in_dir(dir, schema)?)
    }

    fn of(index: Index) -> Result<Self, Fault> {
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { index, reader, fields: schema().1, writer: None })
    }

    pub(crate) fn fields(&self) -> Fields {
        self.fields
    }

    /// What was committed last.
    pub(crate) fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    /// Puts documents in the place of those of the same resources.
    pub(crate) fn put(&mut self, worded: Vec<Worded>) -> Result<(), Fault> {
        let fields = self.fields;
        let writer = self.writer()?;
        for (id, words) in worded {
            writer.delete_term(Term::from_field_u64(fields.id, id.0));
            if let Some(words) = words {
                let words = words.iter().map(|word| cut(word));
                writer.add_document(document(fields, id, words))?;
            }
        }
        Ok(())
    }

    /// Makes it durable, and says what it is made from.
    pub(crate) fn commit(&mut self, stage: &Stage) -> Result<(), Fault> {
        let mut commit = self.writer()?.prepare_commit()?;
        commit.set_payload(&stage.to_string());
        commit.commit()?;
        Ok(self.reader.reload()?)
    }

    /// Lets go of what writes, so that nothing is written after the files were replaced.
    pub(crate) fn close(&mut self) {
        self.writer = None;
    }

    fn writer(&mut self) -> Result<&mut IndexWriter, Fault> {
        if self.writer.is_none() {
            self.writer = Some(self.index.writer_with_num_threads(1, MEMORY)?);
        }
        self.writer.as_mut().ok_or(Fault::Foreign)
    }
}

/// What of a word is in the index.
pub(crate) fn cut(word: &str) -> &str {
    word.char_indices().nth(LONGEST).map_or(word, |(end, _)| &word[..end])
}

fn document<'a>(
    fields: Fields,
    id: ResourceId,
    words: impl Iterator<Item = &'a str>,
) -> TantivyDocument {
    let mut document = TantivyDocument::default();
    document.add_u64(fields.id, id.0);
    words.for_each(|word| document.add_text(fields.word, word));
    document
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let words = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_index_option(IndexRecordOption::Basic)
        .set_fieldnorms(false);
    let id = schema.add_u64_field(ID, INDEXED | FAST);
    let word = schema.add_text_field(WORD, TextOptions::default().set_indexing_options(words));
    (schema.build(), Fields { id, word })
}

/// An empty directory that nobody else reads.
fn empty(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(dir)?;
    make_private(dir)
}
