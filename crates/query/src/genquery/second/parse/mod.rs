//! Parses the text of a query.

mod condition;
mod expression;

use super::statement::Select;
use crate::genquery::column::Entity;
use crate::genquery::plan::expression::Output;
use crate::genquery::text::cursor::Cursor;
use crate::{Error, Result};

/// How deeply conditions and functions may be nested.
const DEEPEST: usize = 64;

pub(super) fn parse(text: &str) -> Result<Select> {
    Parser { cursor: Cursor::new(text)?, depth: 0, stored: None }.whole()
}

/// Parses a stored query: it may name the table it selects from, and its values may be `?`, each for the next
/// argument; without arguments (for a check) each is an empty text.
pub(super) fn parse_stored(text: &str, arguments: Option<&[String]>) -> Result<Select> {
    let stored = Some(Stored { arguments: arguments.map(<[String]>::iter) });
    Parser { cursor: Cursor::new(text)?, depth: 0, stored }.whole()
}

/// The tables of the iRODS catalog that a stored query may select from, and their entities.
const TABLES: [(&str, Entity); 6] = [
    ("R_COLL_MAIN", Entity::Collection),
    ("R_DATA_MAIN", Entity::Object),
    ("R_RESC_MAIN", Entity::Resource),
    ("R_TOKN_MAIN", Entity::Token),
    ("R_USER_MAIN", Entity::User),
    ("R_ZONE_MAIN", Entity::Zone),
];

struct Stored<'a> {
    arguments: Option<std::slice::Iter<'a, String>>,
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    depth: usize,
    stored: Option<Stored<'a>>,
}

impl Parser<'_> {
    fn whole(mut self) -> Result<Select> {
        let select = self.select()?;
        self.cursor.end()?;
        let unused = self.stored.and_then(|stored| stored.arguments).map_or(0, |more| more.len());
        match unused {
            0 => Ok(select),
            more => Err(Error::Syntax(format!("{more} more arguments than the query takes"))),
        }
    }

    fn select(&mut self) -> Result<Select> {
        if !self.cursor.take_word("select") {
            return Err(self.cursor.fault("a query begins with `select`"));
        }
        let distinct = !self.cursor.take_word("no");
        match distinct {
            true => drop(self.cursor.take_word("distinct")),
            false => self.cursor.keyword("distinct")?,
        }
        let outputs = self.list(Self::output)?;
        let table = self.table()?;
        let condition = match self.cursor.take_word("where") {
            true => Some(self.any()?),
            false => None,
        };
        let group = self.clause("group", Self::expression)?;
        let order = self.clause("order", Self::ordered)?;
        let (offset, limit) = self.page()?;
        let select = Select { distinct, outputs, condition, group, order, offset, limit };
        match table.is_none_or(|table| select.entities().iter().all(|entity| *entity == table)) {
            true => Ok(select),
            false => Err(Error::Syntax("a column that is not in the table".to_owned())),
        }
    }

    /// `from TABLE`, only allowed in stored queries.
    fn table(&mut self) -> Result<Option<Entity>> {
        if self.stored.is_none() || !self.cursor.take_word("from") {
            return Ok(None);
        }
        let word = self.cursor.word("a table")?;
        let known = TABLES.iter().find(|(name, _)| name.eq_ignore_ascii_case(&word));
        let known = known.map(|(_, entity)| Some(*entity));
        known.ok_or_else(|| self.cursor.fault_before("no such table"))
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.cursor.take_sign(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `WORD by item, …`, if present.
    fn clause<T>(&mut self, word: &str, item: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        match self.cursor.take_word(word) {
            true => {
                self.cursor.keyword("by")?;
                self.list(item)
            }
            false => Ok(Vec::new()),
        }
    }

    fn ordered(&mut self) -> Result<(Output, bool)> {
        let output = self.output()?;
        let descending = self.cursor.take_word("desc");
        if !descending {
            self.cursor.take_word("asc");
        }
        Ok((output, descending))
    }

    /// Offset and limit, in either order.
    fn page(&mut self) -> Result<(usize, Option<usize>)> {
        let (mut offset, mut limit) = (0, None);
        loop {
            if self.cursor.take_word("offset") {
                offset = self.size()?;
            } else if self.cursor.take_word("limit") {
                limit = Some(self.size()?);
            } else if self.cursor.take_word("fetch") {
                self.cursor.keyword("first")?;
                limit = Some(self.size()?);
                self.cursor.keyword("rows")?;
                self.cursor.keyword("only")?;
            } else {
                return Ok((offset, limit));
            }
        }
    }

    fn size(&mut self) -> Result<usize> {
        let word = self.cursor.word("a number")?;
        word.parse().map_err(|_| self.cursor.fault_before("not an integer"))
    }

    /// A quoted value, in which `\xNN` is a byte.
    fn text(&mut self) -> Result<String> {
        let argument = self.stored.as_mut().filter(|_| self.cursor.take_sign("?"));
        if let Some(stored) = argument {
            let Some(arguments) = &mut stored.arguments else { return Ok(String::new()) };
            let next = arguments.next().cloned();
            return next.ok_or_else(|| self.cursor.fault_before("an argument is missing"));
        }
        let value = self.cursor.value()?;
        unescape(&value).ok_or_else(|| self.cursor.fault_before("bytes that are not UTF-8"))
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEEPEST {
            return Err(self.cursor.fault("too many parentheses"));
        }
        self.depth += 1;
        let parsed = inner(self);
        self.depth -= 1;
        parsed
    }
}

fn unescape(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match rest {
            [b'\\', b'x', high, low, ..] => std::str::from_utf8(&[*high, *low])
                .ok()
                .and_then(|n| u8::from_str_radix(n, 16).ok()),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &rest[4..] } else { tail };
    }
    String::from_utf8(bytes).ok()
}
