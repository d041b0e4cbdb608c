//! Reads a query token by token: what both languages share.

use super::super::column::Column;
use super::super::plan::condition::Operator;
use super::lexer::{Token, TokenKind, fault, tokens};
use crate::{Error, Result};

/// The maximum length of a query, in bytes.
const LONGEST: usize = 1 << 20;

/// The tokens of a query, and the position of the next one.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Self> {
        if text.len() > LONGEST {
            return Err(Error::Syntax("a query has at most 1 MiB".to_owned()));
        }
        Ok(Self { text, tokens: tokens(text)?, next: 0 })
    }

    /// Expects the end of the query, after an optional semicolon.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.take_sign(";");
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault("expected the end of the query")),
        }
    }

    pub(crate) fn peek(&self) -> Option<&TokenKind> {
        self.tokens.get(self.next).map(|token| &token.kind)
    }

    /// A comparison operator.
    pub(crate) fn operator(&mut self) -> Result<Operator> {
        let operator = match self.peek() {
            Some(TokenKind::Sign(sign)) => Operator::of_sign(sign),
            Some(TokenKind::Word(word)) => Operator::of_word(word),
            _ => None,
        };
        let operator = operator.ok_or_else(|| self.fault("an operator is missing"))?;
        self.next += 1;
        Ok(operator)
    }

    /// Parenthesised values.
    pub(crate) fn list(&mut self) -> Result<Vec<String>> {
        self.sign("(")?;
        let mut values = vec![self.value()?];
        while self.take_sign(",") {
            values.push(self.value()?);
        }
        self.sign(")")?;
        Ok(values)
    }

    /// A quoted value.
    pub(crate) fn value(&mut self) -> Result<String> {
        match self.peek() {
            Some(TokenKind::Text(text)) => {
                let text = text.clone();
                self.next += 1;
                Ok(text)
            }
            _ => Err(self.fault("a value in quotes is missing")),
        }
    }

    /// The column for the name that was just taken.
    pub(crate) fn column(&self, name: &str) -> Result<Column> {
        Column::named(name).ok_or_else(|| self.fault_before("no such column"))
    }

    pub(crate) fn word(&mut self, what: &str) -> Result<String> {
        match self.peek() {
            Some(TokenKind::Word(word)) => {
                let word = word.clone();
                self.next += 1;
                Ok(word)
            }
            _ => Err(self.fault(&format!("{what} is missing"))),
        }
    }

    /// Takes a keyword, if it is next.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let taken =
            matches!(self.peek(), Some(TokenKind::Word(next)) if next.eq_ignore_ascii_case(word));
        self.next += usize::from(taken);
        taken
    }

    /// Expects a keyword.
    pub(crate) fn keyword(&mut self, word: &str) -> Result<()> {
        match self.take_word(word) {
            true => Ok(()),
            false => Err(self.fault(&format!("`{word}` is missing"))),
        }
    }

    pub(crate) fn take_sign(&mut self, sign: &str) -> bool {
        let taken = matches!(self.peek(), Some(TokenKind::Sign(next)) if *next == sign);
        self.next += usize::from(taken);
        taken
    }

    pub(crate) fn sign(&mut self, sign: &str) -> Result<()> {
        match self.take_sign(sign) {
            true => Ok(()),
            false => Err(self.fault(&format!("`{sign}` is missing"))),
        }
    }

    /// A syntax error at the next token.
    pub(crate) fn fault(&self, what: &str) -> Error {
        let at = self.tokens.get(self.next).map_or(self.text.len(), |token| token.at);
        fault(self.text, at, what)
    }

    /// A syntax error at the token that was just taken.
    pub(crate) fn fault_before(&self, what: &str) -> Error {
        let token = self.tokens.get(self.next.saturating_sub(1));
        fault(self.text, token.map_or(0, |token| token.at), what)
    }
}
