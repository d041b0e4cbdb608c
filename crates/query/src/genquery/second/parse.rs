//! From text to a query.

use super::super::column::Entity;
use super::super::cursor::Cursor;
use super::super::lexer::TokenKind;
use super::super::statement::{Comparison, Operator};
use super::statement::{Aggregate, CastType, Condition, Expression, Function, Output, Select};
use crate::{Error, Result};

/// How deep conditions and functions may lie in each other.
const DEEPEST: usize = 64;

pub(super) fn parse(text: &str) -> Result<Select> {
    Parser { cursor: Cursor::new(text)?, depth: 0, stored: None }.whole()
}

/// A stored query: it may say from which table it selects, and its values may be `?`, each for the next of the
/// arguments; without arguments, for a check, each is an empty text.
pub(super) fn parse_stored(text: &str, arguments: Option<&[String]>) -> Result<Select> {
    let stored = Some(Stored { arguments: arguments.map(<[String]>::iter) });
    Parser { cursor: Cursor::new(text)?, depth: 0, stored }.whole()
}

/// The tables of the iRODS catalog that a stored query may select from, and what they are about.
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
            false => Err(Error::Syntax("a column that is not of the table".to_owned())),
        }
    }

    /// `from TABLE`, which only stored queries may say.
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

    /// `WORD by item, …`, if it is there.
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
        word.parse().map_err(|_| self.cursor.fault_before("no whole number"))
    }

    fn output(&mut self) -> Result<Output> {
        let Some(TokenKind::Word(word)) = self.cursor.peek() else {
            return Ok(Output::Plain(self.expression()?));
        };
        let Some(aggregate) = Aggregate::named(word) else {
            return Ok(Output::Plain(self.expression()?));
        };
        self.cursor.word("a function")?;
        self.cursor.sign("(")?;
        let of = self.expression()?;
        self.cursor.sign(")")?;
        Ok(Output::Aggregate(aggregate, of))
    }

    fn expression(&mut self) -> Result<Expression> {
        self.deeper(|parser| {
            if let Some(TokenKind::Text(_)) = parser.cursor.peek() {
                return Ok(Expression::Text(parser.text()?));
            }
            let word = parser.cursor.word("a column")?;
            if let Ok(number) = word.parse() {
                return Ok(Expression::Number(number));
            }
            match parser.cursor.peek() {
                Some(TokenKind::Sign("(")) if word.eq_ignore_ascii_case("cast") => parser.cast(),
                Some(TokenKind::Sign("(")) => parser.call(&word),
                _ => Ok(Expression::Column(parser.cursor.column(&word)?)),
            }
        })
    }

    fn call(&mut self, word: &str) -> Result<Expression> {
        let function = Function::named(word);
        let function = function.ok_or_else(|| self.cursor.fault_before("no such function"))?;
        self.cursor.sign("(")?;
        let arguments = self.list(Self::expression)?;
        self.cursor.sign(")")?;
        Ok(Expression::Call(function, arguments))
    }

    fn cast(&mut self) -> Result<Expression> {
        self.cursor.sign("(")?;
        let inner = self.expression()?;
        self.cursor.keyword("as")?;
        let word = self.cursor.word("a type")?;
        let r#type = cast_type(&word);
        let r#type = r#type.ok_or_else(|| self.cursor.fault_before("no such type"))?;
        self.cursor.sign(")")?;
        Ok(Expression::Cast(Box::new(inner), r#type))
    }

    fn any(&mut self) -> Result<Condition> {
        let mut inner = vec![self.all()?];
        while self.cursor.take_word("or") {
            inner.push(self.all()?);
        }
        Ok(alone(inner, Condition::Any))
    }

    fn all(&mut self) -> Result<Condition> {
        let mut inner = vec![self.condition()?];
        while self.cursor.take_word("and") {
            inner.push(self.condition()?);
        }
        Ok(alone(inner, Condition::All))
    }

    fn condition(&mut self) -> Result<Condition> {
        self.deeper(|parser| {
            if parser.cursor.take_word("not") {
                return Ok(Condition::Not(Box::new(parser.condition()?)));
            }
            if parser.cursor.take_sign("(") {
                let inner = parser.any()?;
                parser.cursor.sign(")")?;
                return Ok(inner);
            }
            let expression = parser.expression()?;
            match parser.cursor.take_word("is") {
                true => parser.is_null(expression),
                false => Ok(Condition::Compare(expression, parser.comparison()?)),
            }
        })
    }

    fn is_null(&mut self, expression: Expression) -> Result<Condition> {
        let negated = self.cursor.take_word("not");
        self.cursor.keyword("null")?;
        let is_null = Condition::IsNull(expression);
        Ok(if negated { Condition::Not(Box::new(is_null)) } else { is_null })
    }

    fn comparison(&mut self) -> Result<Comparison> {
        let negated = self.cursor.take_word("not");
        let operator = self.cursor.operator()?;
        if negated && !operator.is_word() {
            return Err(self.cursor.fault_before("`not` stands before a condition"));
        }
        let values = match operator {
            Operator::In => {
                self.cursor.sign("(")?;
                let values = self.list(Self::text)?;
                self.cursor.sign(")")?;
                values
            }
            Operator::Between => {
                let low = self.text()?;
                self.cursor.keyword("and")?;
                vec![low, self.text()?]
            }
            _ => vec![self.text()?],
        };
        Ok(Comparison { operator, negated, numeric: false, values })
    }

    /// A value in quotes, in which `\xNN` is a byte.
    fn text(&mut self) -> Result<String> {
        let argument = self.stored.as_mut().filter(|_| self.cursor.take_sign("?"));
        if let Some(stored) = argument {
            let Some(arguments) = &mut stored.arguments else { return Ok(String::new()) };
            let next = arguments.next().cloned();
            return next.ok_or_else(|| self.cursor.fault_before("an argument is missing"));
        }
        let value = self.cursor.value()?;
        unescape(&value).ok_or_else(|| self.cursor.fault_before("bytes that are no UTF-8"))
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

fn alone(mut inner: Vec<Condition>, many: fn(Vec<Condition>) -> Condition) -> Condition {
    match inner.len() {
        1 => inner.remove(0),
        _ => many(inner),
    }
}

fn cast_type(word: &str) -> Option<CastType> {
    CastType::named(match word.to_ascii_lowercase().as_str() {
        "integer" | "bigint" => "int",
        "double" | "real" | "float" | "numeric" => "decimal",
        "text" | "char" => "varchar",
        _ => word,
    })
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
