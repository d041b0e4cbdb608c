//! GenQuery 1: `select COLUMN, function(COLUMN) … where COLUMN operator 'value' and …`.
//!
//! Keywords and columns are in any case. A condition may go on with `|| operator 'value'`, for another
//! comparison of the same column that is enough.

use super::column::Column;
use super::lexer::{Token, TokenKind, fault, tokens};
use super::statement::{Comparison, Function, Operator, Output, Statement, Test};
use crate::{Error, Result};

/// The largest query, in bytes.
const LONGEST: usize = 1 << 20;

pub(super) fn parse(text: &str) -> Result<Statement> {
    if text.len() > LONGEST {
        return Err(Error::Syntax("a query has at most 1 MiB".to_owned()));
    }
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0 };
    let statement = parser.statement()?;
    parser.take_sign(";");
    match parser.tokens.get(parser.next) {
        None => Ok(statement),
        Some(_) => Err(parser.fault("the query should end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
}

impl Parser<'_> {
    fn statement(&mut self) -> Result<Statement> {
        if !self.take_word("select") {
            return Err(self.fault("a query begins with `select`"));
        }
        let mut outputs = vec![self.output()?];
        while self.take_sign(",") {
            outputs.push(self.output()?);
        }
        let mut tests = Vec::new();
        if self.take_word("where") {
            tests.push(self.test()?);
            while self.take_word("and") || self.take_sign("&&") {
                tests.push(self.test()?);
            }
        }
        Ok(Statement { outputs, tests })
    }

    fn output(&mut self) -> Result<Output> {
        let word = self.word("a column")?;
        if !self.take_sign("(") {
            return Ok(Output { column: self.column(&word)?, function: None });
        }
        let function = Function::named(&word);
        let function = function.ok_or_else(|| self.fault_before("no such function"))?;
        let word = self.word("a column")?;
        let column = self.column(&word)?;
        self.sign(")")?;
        Ok(Output { column, function: Some(function) })
    }

    fn test(&mut self) -> Result<Test> {
        let word = self.word("a column")?;
        let column = self.column(&word)?;
        let mut any = vec![self.comparison()?];
        while self.take_sign("||") {
            any.push(self.comparison()?);
        }
        Ok(Test { column, any })
    }

    fn comparison(&mut self) -> Result<Comparison> {
        let negated = self.take_word("not");
        let numeric = self.take_word("n");
        let operator = self.operator()?;
        let values = match operator {
            Operator::In => self.list()?,
            Operator::Between => vec![self.value()?, self.value()?],
            _ => vec![self.value()?],
        };
        Ok(Comparison { operator, negated, numeric, values })
    }

    fn operator(&mut self) -> Result<Operator> {
        let operator = match self.tokens.get(self.next).map(|token| &token.kind) {
            Some(TokenKind::Sign(sign)) => match *sign {
                "=" => Some(Operator::Equal),
                "<>" | "!=" => Some(Operator::NotEqual),
                "<" => Some(Operator::Less),
                "<=" => Some(Operator::LessOrEqual),
                ">" => Some(Operator::Greater),
                ">=" => Some(Operator::GreaterOrEqual),
                _ => None,
            },
            Some(TokenKind::Word(word)) => match word.to_ascii_lowercase().as_str() {
                "like" => Some(Operator::Like),
                "in" => Some(Operator::In),
                "between" => Some(Operator::Between),
                _ => None,
            },
            _ => None,
        };
        let operator = operator.ok_or_else(|| self.fault("an operator is missing"))?;
        self.next += 1;
        Ok(operator)
    }

    fn list(&mut self) -> Result<Vec<String>> {
        self.sign("(")?;
        let mut values = vec![self.value()?];
        while self.take_sign(",") {
            values.push(self.value()?);
        }
        self.sign(")")?;
        Ok(values)
    }

    fn value(&mut self) -> Result<String> {
        match self.tokens.get(self.next).map(|token| &token.kind) {
            Some(TokenKind::Text(text)) => {
                self.next += 1;
                Ok(text.clone())
            }
            _ => Err(self.fault("a value in quotes is missing")),
        }
    }

    fn column(&self, name: &str) -> Result<Column> {
        Column::named(name).ok_or_else(|| self.fault_before("no such column"))
    }

    fn word(&mut self, what: &str) -> Result<String> {
        match self.tokens.get(self.next).map(|token| &token.kind) {
            Some(TokenKind::Word(word)) => {
                self.next += 1;
                Ok(word.clone())
            }
            _ => Err(self.fault(&format!("{what} is missing"))),
        }
    }

    fn take_word(&mut self, word: &str) -> bool {
        let kind = self.tokens.get(self.next).map(|token| &token.kind);
        let taken =
            matches!(kind, Some(TokenKind::Word(known)) if known.eq_ignore_ascii_case(word));
        self.next += usize::from(taken);
        taken
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let kind = self.tokens.get(self.next).map(|token| &token.kind);
        let taken = matches!(kind, Some(TokenKind::Sign(known)) if *known == sign);
        self.next += usize::from(taken);
        taken
    }

    fn sign(&mut self, sign: &str) -> Result<()> {
        match self.take_sign(sign) {
            true => Ok(()),
            false => Err(self.fault(&format!("`{sign}` is missing"))),
        }
    }

    fn fault(&self, what: &str) -> Error {
        let at = self.tokens.get(self.next).map_or(self.text.len(), |token| token.at);
        fault(self.text, at, what)
    }

    /// A fault of the word that was just taken.
    fn fault_before(&self, what: &str) -> Error {
        let token = self.tokens.get(self.next.saturating_sub(1));
        fault(self.text, token.map_or(0, |token| token.at), what)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fault_of(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn every_form_of_the_language_is_understood() {
        for text in [
            "select COLL_NAME",
            "SELECT coll_name , Data_Name;",
            "select max(RULE_EXEC_ID)",
            "select order_asc(DATA_REPL_NUM), DATA_SIZE where COLL_NAME = '/z' and DATA_NAME = 'a''b'",
            "select DATA_NAME where DATA_SIZE n>= '10' and DATA_NAME not like 'a%'",
            "select DATA_NAME where DATA_NAME in ('a', 'b') and DATA_SIZE between '1' '2'",
            "select DATA_NAME where DATA_NAME = 'a' || like 'b%' || <> 'c'",
            "select USER_NAME where META_USER_ATTR_NAME = \"it's\"",
        ] {
            parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }

    #[test]
    fn a_fault_says_where_it_is() {
        assert_eq!(fault_of(""), "a query begins with `select` at the end of the query");
        assert_eq!(fault_of("select X"), "no such column at byte 7: \"X\"");
        assert_eq!(fault_of("select f(DATA_NAME)"), "no such function at byte 8: \"(DATA_NAME)\"");
        assert!(fault_of("select DATA_NAME where DATA_NAME = a").contains("byte 35"));
        assert!(fault_of("select DATA_NAME where DATA_NAME = 'a").contains("not closed"));
        assert!(fault_of("select DATA_NAME from x").contains("should end"));
        assert!(fault_of("select DATA_NAME where DATA_NAME").contains("operator"));
        assert!(fault_of("select DATA_NAME where # = 'a'").contains("no word"));
    }

    #[test]
    fn a_value_is_what_stands_between_the_quotes() {
        let statement = parse("select DATA_NAME where DATA_NAME = 'it''s %20+'").unwrap();
        assert_eq!(statement.tests[0].only_value(), Some("it's %20+"));
    }

    proptest! {
        #[test]
        fn any_text_is_a_query_or_an_error(text in "\\PC{0,80}") {
            let _ = parse(&text);
        }

        #[test]
        fn any_words_are_a_query_or_an_error(words in proptest::collection::vec(
            prop_oneof!["select", "where", "and", "DATA_NAME", "COLL_NAME", "'a'", "=", "\\(", "\\)", ",", "in", "like"], 0..12)) {
            let _ = parse(&words.join(" "));
        }
    }
}
