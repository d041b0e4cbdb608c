//! Solutions and truths as text, within a limit.

use std::io::{self, Write};

use oxrdf::{TermRef, Variable, VariableRef};
use sparesults::{QueryResultsSerializer, WriterSolutionsSerializer};

use super::format::Answers;

/// The text would be longer than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the answer has more than {0} bytes")]
pub struct TooLong(pub usize);

/// A table of solutions being written.
pub struct Solutions {
    writer: WriterSolutionsSerializer<Bounded>,
    most: usize,
}

impl std::fmt::Debug for Solutions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Solutions").field("most", &self.most).finish_non_exhaustive()
    }
}

/// Text in memory, of at most this many bytes.
struct Bounded {
    text: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() + bytes.len() > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Solutions {
    /// Begins a table with these columns, of at most `most` bytes.
    ///
    /// # Errors
    /// [`TooLong`] if the head is longer already.
    pub fn new(format: Answers, columns: Vec<Variable>, most: usize) -> Result<Self, TooLong> {
        let to = Bounded { text: Vec::new(), most };
        let serializer = QueryResultsSerializer::from_format(format.format());
        let writer = serializer.serialize_solutions_to_writer(to, columns);
        Ok(Self { writer: writer.map_err(|_| TooLong(most))?, most })
    }

    /// Writes a row: the columns that are bound.
    ///
    /// # Errors
    /// [`TooLong`], after which nothing more is to be written.
    pub fn row<'a>(
        &mut self,
        bound: impl IntoIterator<Item = (VariableRef<'a>, TermRef<'a>)>,
    ) -> Result<(), TooLong> {
        self.writer.serialize(bound).map_err(|_| TooLong(self.most))
    }

    /// The whole text.
    ///
    /// # Errors
    /// [`TooLong`] if its end does not fit.
    pub fn finish(self) -> Result<Vec<u8>, TooLong> {
        let most = self.most;
        self.writer.finish().map(|to| to.text).map_err(|_| TooLong(most))
    }
}

impl Answers {
    /// A truth as text.
    pub fn truth(self, truth: bool) -> Vec<u8> {
        let serializer = QueryResultsSerializer::from_format(self.format());
        let text = serializer.serialize_boolean_to_writer(Vec::new(), truth);
        text.expect("writing to a Vec cannot fail")
    }
}
