//! Solutions and truths as text, within a limit.
//!
//! Invariant: XML is well-formed, and its literals are read as they were; a solution with a character that XML does not have is refused.

use std::io::{self, Write};

use oxrdf::{TermRef, Variable, VariableRef};
use sparesults::{QueryResultsSerializer, WriterSolutionsSerializer};

use super::format::Answers;
use crate::Inexpressible;

/// The text would be longer than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the answer has more than {0} bytes")]
pub struct TooLong(pub usize);

/// Why a row was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// The text would be longer than allowed.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// The format cannot express a term of it.
    #[error(transparent)]
    Inexpressible(#[from] Inexpressible),
}

/// A table of solutions being written.
pub struct Solutions {
    writer: WriterSolutionsSerializer<Bounded>,
    format: Answers,
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
    /// What stands for a carriage return. In XML the library writes none of its own, and leaves those of literals as they are, which
    /// readers take for the end of a line (XML 1.0, section 2.11).
    carriage_return: &'static [u8],
}

impl Bounded {
    fn new(format: Answers, most: usize) -> Self {
        let carriage_return = if format == Answers::Xml { &b"&#13;"[..] } else { b"\r" };
        Self { text: Vec::new(), most, carriage_return }
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for (nth, line) in bytes.split(|byte| *byte == b'\r').enumerate() {
            if nth > 0 {
                self.text.extend_from_slice(self.carriage_return);
            }
            self.text.extend_from_slice(line);
        }
        match self.text.len() > self.most {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok(bytes.len()),
        }
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
        let to = Bounded::new(format, most);
        let serializer = QueryResultsSerializer::from_format(format.format());
        let writer = serializer.serialize_solutions_to_writer(to, columns);
        Ok(Self { writer: writer.map_err(|_| TooLong(most))?, format, most })
    }

    /// Writes a row: the columns that are bound.
    ///
    /// # Errors
    /// [`RowError`], after which nothing more is to be written.
    pub fn row<'a>(
        &mut self,
        bound: impl IntoIterator<Item = (VariableRef<'a>, TermRef<'a>)>,
    ) -> Result<(), RowError> {
        let (is_xml, mut refused) = (self.format == Answers::Xml, Ok(()));
        let bound = bound.into_iter().inspect(|(_, term)| {
            if is_xml && refused.is_ok() {
                refused = in_xml(*term);
            }
        });
        self.writer.serialize(bound).map_err(|_| TooLong(self.most))?;
        Ok(refused?)
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

fn in_xml(term: TermRef<'_>) -> Result<(), Inexpressible> {
    match term {
        TermRef::NamedNode(node) => Inexpressible::check(node.as_str()),
        TermRef::BlankNode(_) => Ok(()),
        TermRef::Literal(literal) => {
            Inexpressible::check(literal.value())?;
            Inexpressible::check(literal.datatype().as_str())
        }
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

#[cfg(test)]
mod tests {
    use oxrdf::{Literal, Term};
    use proptest::prelude::*;
    use sparesults::{QueryResultsParser, SliceQueryResultsParserOutput};

    use super::*;

    fn written(format: Answers, term: &Term) -> Result<Vec<u8>, RowError> {
        let column = Variable::new_unchecked("x");
        let mut table = Solutions::new(format, vec![column.clone()], 10_000).unwrap();
        table.row([(column.as_ref(), term.as_ref())])?;
        Ok(table.finish()?)
    }

    fn read(format: Answers, text: &[u8]) -> Term {
        let parsed = QueryResultsParser::from_format(format.format()).for_slice(text).unwrap();
        let SliceQueryResultsParserOutput::Solutions(mut rows) = parsed else { panic!("a truth") };
        rows.next().unwrap().unwrap().get(0).unwrap().clone()
    }

    #[test]
    fn xml_refuses_characters_that_it_does_not_have() {
        for text in ["a\0b", "\u{1}", "\u{fffe}"] {
            let term = Literal::new_simple_literal(text).into();
            let refused = written(Answers::Xml, &term);
            assert!(matches!(refused, Err(RowError::Inexpressible(_))), "{text:?}");
            assert_eq!(read(Answers::Json, &written(Answers::Json, &term).unwrap()), term);
        }
    }

    #[test]
    fn a_limit_counts_what_is_written() {
        let column = Variable::new_unchecked("x");
        let term = Term::from(Literal::new_simple_literal("\r".repeat(1_000)));
        let mut table = Solutions::new(Answers::Xml, vec![column.clone()], 2_000).unwrap();
        let row = table.row([(column.as_ref(), term.as_ref())]);
        assert_eq!(row, Err(RowError::TooLong(TooLong(2_000))));
    }

    proptest! {
        #[test]
        fn a_literal_is_the_same_after_xml_and_json(text in "(\\PC|[ \t\r\n&<>\"']){0,8}") {
            let term = Literal::new_simple_literal(text).into();
            for format in [Answers::Xml, Answers::Json] {
                let text = written(format, &term).unwrap();
                prop_assert_eq!(read(format, &text), term.clone(), "{}", String::from_utf8_lossy(&text));
                prop_assert!(format == Answers::Json || !text.contains(&b'\r'));
            }
        }
    }
}
