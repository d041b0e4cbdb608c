//! GenQuery 1: `select COLUMN, function(COLUMN) … where COLUMN operator 'value' and …`.
//!
//! Keywords and column names are case-insensitive. A condition may continue with `|| operator 'value'`: an
//! alternative comparison of the same column.

use super::super::plan::condition::{Comparison, Operator};
use super::super::text::cursor::Cursor;
use super::statement::{Function, Output, Statement, Test};
use crate::Result;

pub(crate) fn parse(text: &str) -> Result<Statement> {
    let mut cursor = Cursor::new(text)?;
    let statement = statement(&mut cursor)?;
    cursor.end()?;
    Ok(statement)
}

fn statement(cursor: &mut Cursor<'_>) -> Result<Statement> {
    if !cursor.take_word("select") {
        return Err(cursor.fault("a query begins with `select`"));
    }
    let mut outputs = vec![output(cursor)?];
    while cursor.take_sign(",") {
        outputs.push(output(cursor)?);
    }
    let mut tests = Vec::new();
    if cursor.take_word("where") {
        tests.push(test(cursor)?);
        while cursor.take_word("and") || cursor.take_sign("&&") {
            tests.push(test(cursor)?);
        }
    }
    Ok(Statement { outputs, tests })
}

fn output(cursor: &mut Cursor<'_>) -> Result<Output> {
    let word = cursor.word("a column")?;
    if !cursor.take_sign("(") {
        return Ok(Output { column: cursor.column(&word)?, function: None });
    }
    let function = Function::named(&word);
    let function = function.ok_or_else(|| cursor.fault_before("no such function"))?;
    let word = cursor.word("a column")?;
    let column = cursor.column(&word)?;
    cursor.sign(")")?;
    Ok(Output { column, function: Some(function) })
}

fn test(cursor: &mut Cursor<'_>) -> Result<Test> {
    let word = cursor.word("a column")?;
    let column = cursor.column(&word)?;
    let mut any = vec![comparison(cursor)?];
    while cursor.take_sign("||") {
        any.push(comparison(cursor)?);
    }
    Ok(Test { column, any })
}

fn comparison(cursor: &mut Cursor<'_>) -> Result<Comparison> {
    let negated = cursor.take_word("not");
    let numeric = cursor.take_word("n");
    let operator = cursor.operator()?;
    let values = match operator {
        Operator::In => cursor.list()?,
        Operator::Between => vec![cursor.value()?, cursor.value()?],
        _ => vec![cursor.value()?],
    };
    Ok(Comparison { operator, negated, numeric, values })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fault_of(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn every_form_of_the_language_is_parsed() {
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
    fn an_error_reports_its_position() {
        assert_eq!(fault_of(""), "a query begins with `select` at the end of the query");
        assert_eq!(fault_of("select X"), "no such column at byte 7: \"X\"");
        assert_eq!(fault_of("select f(DATA_NAME)"), "no such function at byte 8: \"(DATA_NAME)\"");
        assert!(fault_of("select DATA_NAME where DATA_NAME = a").contains("byte 35"));
        assert!(fault_of("select DATA_NAME where DATA_NAME = 'a").contains("not closed"));
        assert!(fault_of("select DATA_NAME from x").contains("expected the end"));
        assert!(fault_of("select DATA_NAME where DATA_NAME").contains("operator"));
        assert!(fault_of("select DATA_NAME where # = 'a'").contains("no word"));
    }

    #[test]
    fn a_value_is_the_text_between_quotes() {
        let statement = parse("select DATA_NAME where DATA_NAME = 'it''s %20+'").unwrap();
        assert_eq!(statement.tests[0].any[0].values, ["it's %20+"]);
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
