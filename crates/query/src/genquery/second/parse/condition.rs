//! Parses conditions.

use super::Parser;
use crate::Result;
use crate::genquery::plan::condition::{Comparison, Condition, Operator};
use crate::genquery::plan::expression::Expression;

impl Parser<'_> {
    pub(super) fn any(&mut self) -> Result<Condition> {
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
            return Err(self.cursor.fault_before("`not` must precede a condition"));
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
}

fn alone(mut inner: Vec<Condition>, many: fn(Vec<Condition>) -> Condition) -> Condition {
    match inner.len() {
        1 => inner.remove(0),
        _ => many(inner),
    }
}
