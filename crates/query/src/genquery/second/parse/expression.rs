//! Parses the expressions that a query selects, groups by and orders by.

use super::Parser;
use crate::Result;
use crate::genquery::plan::expression::{Aggregate, CastType, Expression, Function, Output};
use crate::genquery::text::lexer::TokenKind;

impl Parser<'_> {
    pub(super) fn output(&mut self) -> Result<Output> {
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

    pub(super) fn expression(&mut self) -> Result<Expression> {
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
}

fn cast_type(word: &str) -> Option<CastType> {
    CastType::named(match word.to_ascii_lowercase().as_str() {
        "integer" | "bigint" => "int",
        "double" | "real" | "float" | "numeric" => "decimal",
        "text" | "char" => "varchar",
        _ => word,
    })
}
