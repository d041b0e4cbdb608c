//! The language, without a store.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::column::Column;
use super::super::plan::condition::{Comparison, Condition, Operator};
use super::super::plan::expression::{Aggregate, CastType, Expression, Function, Output};
use super::parse::parse;
use super::plan::{canonical, check_stored};
use super::statement::Select;

#[test]
fn every_form_of_the_language_is_parsed() {
    for text in [
        "select COLL_NAME",
        "select no distinct COLL_NAME, DATA_NAME;",
        "select DATA_NAME where DATA_REPL_STATUS in ('0', '2') or DATA_NAME = 'foo'",
        "select DATA_NAME where not (COLL_NAME = '/z/home' and DATA_NAME != 'foo')",
        "select DATA_NAME where (COLL_NAME = '/z' and DATA_NAME = 'foo') or not DATA_NAME = 'bar'",
        "select concat(COLL_NAME, concat('--', DATA_NAME)) order by concat(COLL_NAME, concat('--', DATA_NAME))",
        "select substr(DATA_NAME, 1, 3)",
        "select substr(DATA_NAME, '1', '3') where lower(DATA_NAME) not like 'a%'",
        "select META_COLL_ATTR_NAME where META_COLL_ATTR_NAME is not null",
        "select cast(DATA_SIZE as int) where DATA_SIZE between '1' and '2'",
        "select COLL_NAME, count(DATA_NAME) group by COLL_NAME order by count(DATA_NAME) desc",
        "select COLL_NAME order by COLL_NAME desc offset 2000 limit 1000",
        "select COLL_NAME fetch first 5 rows only",
        "select max(DELAY_RULE_ID)",
        "select RESC_HOSTNAME",
    ] {
        canonical(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn an_error_reports_its_cause() {
    for (text, what) in [
        ("select", "a column is missing"),
        ("select X", "no such column"),
        ("select no COLL_NAME", "`distinct` is missing"),
        ("select f(COLL_NAME)", "no such function"),
        ("select COLL_NAME where COLL_NAME = 5", "a value in quotes"),
        ("select COLL_NAME where COLL_NAME not = '5'", "`not` must precede"),
        ("select COLL_NAME limit '5'", "a number is missing"),
        ("select COLL_NAME limit many", "not an integer"),
        (
            "select COLL_NAME, count(DATA_NAME) group by COLL_NAME order by DATA_SIZE",
            "ordered by must be in `group by`",
        ),
        ("select COLL_NAME, count(DATA_ID)", "must be in `group by`"),
        ("select COLL_NAME group by DATA_NAME", "must be in `group by`"),
        ("select cast(DATA_SIZE as shoe)", "no such type"),
        ("select COLL_NAME where COLL_NAME = '\\xff'", "not UTF-8"),
        ("select COLL_NAME where COLL_NAME between 'a' 'b'", "`and` is missing"),
    ] {
        let error = canonical(text).unwrap_err().to_string();
        assert!(error.contains(what), "{text}: {error}");
    }
    let deep = format!("select DATA_NAME where {}", "(".repeat(100_000));
    assert!(canonical(&deep).unwrap_err().to_string().contains("parentheses"));
}

#[test]
fn a_stored_query_has_a_table_and_arguments() {
    for text in [
        "select token_id from R_TOKN_MAIN where token_name = 'rodsgroup'",
        "select distinct coll_name from r_coll_main where coll_name like ? and coll_id > ?",
        "select DATA_NAME where DATA_NAME in (?, 'why?')",
    ] {
        check_stored(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(canonical(text).is_err(), "{text}");
    }
    for (text, what) in [
        ("select token_id from R_SHOE_MAIN", "no such table"),
        ("select coll_id from R_TOKN_MAIN", "not in the table"),
        ("drop table R_TOKN_MAIN", "begins with `select`"),
    ] {
        let error = check_stored(text).unwrap_err().to_string();
        assert!(error.contains(what), "{text}: {error}");
    }
}

#[test]
fn bytes_may_be_written_in_hexadecimal() {
    let text =
        canonical("select DATA_NAME where DATA_NAME = 'a\\x21\\xc3\\xbc''\\x5c\\xzz'").unwrap();
    assert_eq!(text, "select DATA_NAME where DATA_NAME = 'a!ü''\\x5c\\x5cxzz'");
}

#[test]
fn comparisons_with_null_are_unknown() {
    let holds = |condition: &str| {
        let select = parse(&format!("select DATA_NAME where {condition}")).unwrap();
        let texts = |column| match column {
            Column::DataName => Some("Ab".to_owned()),
            Column::DataSize => Some("9".to_owned()),
            _ => None,
        };
        select.condition.unwrap().holds(&texts)
    };
    for (condition, expected) in [
        ("DATA_NAME = 'Ab'", Some(true)),
        ("lower(DATA_NAME) = 'ab' and upper(DATA_NAME) = 'AB'", Some(true)),
        ("concat(DATA_NAME, '-', 1) = 'Ab-1' and length(DATA_NAME) < '10'", Some(true)),
        ("substr(DATA_NAME, 2, 1) = 'b' and substr(DATA_NAME, 1) = 'Ab'", Some(true)),
        ("DATA_SIZE < '10'", Some(true)),
        ("cast(DATA_SIZE as varchar) < '10'", Some(false)),
        ("cast(DATA_NAME as int) is null", Some(true)),
        ("META_DATA_ATTR_NAME = 'x'", None),
        ("not META_DATA_ATTR_NAME = 'x'", None),
        ("META_DATA_ATTR_NAME is null", Some(true)),
        ("META_DATA_ATTR_NAME is not null", Some(false)),
        ("META_DATA_ATTR_NAME = 'x' or DATA_NAME = 'Ab'", Some(true)),
        ("META_DATA_ATTR_NAME = 'x' and DATA_NAME = 'y'", Some(false)),
        ("META_DATA_ATTR_NAME = 'x' and DATA_NAME = 'Ab'", None),
        ("DATA_NAME not in ('x', 'y') and DATA_NAME not between 'x' and 'y'", Some(true)),
    ] {
        assert_eq!(holds(condition), expected, "{condition}");
    }
}

fn column() -> impl Strategy<Value = Column> {
    proptest::sample::select(Column::ALL)
}

fn expression() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        column().prop_map(Expression::Column),
        "\\PC{0,6}".prop_map(Expression::Text),
        any::<u64>().prop_map(Expression::Number),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            (proptest::sample::select(Function::ALL), vec(inner.clone(), 1..3))
                .prop_map(|(function, arguments)| Expression::Call(function, arguments)),
            (inner, proptest::sample::select(CastType::ALL))
                .prop_map(|(inner, r#type)| Expression::Cast(Box::new(inner), r#type)),
        ]
    })
}

fn comparison() -> impl Strategy<Value = Comparison> {
    let operator = proptest::sample::select(Operator::ALL);
    (operator, any::<bool>(), vec("\\PC{0,6}", 2)).prop_map(|(operator, negated, mut values)| {
        if !matches!(operator, Operator::In | Operator::Between) {
            values.truncate(1);
        }
        Comparison { operator, negated: negated && operator.is_word(), numeric: false, values }
    })
}

fn condition() -> impl Strategy<Value = Condition> {
    let leaf = prop_oneof![
        (expression(), comparison()).prop_map(|(left, right)| Condition::Compare(left, right)),
        expression().prop_map(Condition::IsNull),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 2..4).prop_map(Condition::All),
            vec(inner.clone(), 2..4).prop_map(Condition::Any),
            inner.prop_map(|inner| Condition::Not(Box::new(inner))),
        ]
    })
}

fn select() -> impl Strategy<Value = Select> {
    let output = prop_oneof![
        expression().prop_map(Output::Plain),
        (proptest::sample::select(Aggregate::ALL), expression())
            .prop_map(|(aggregate, of)| Output::Aggregate(aggregate, of)),
    ];
    (
        any::<bool>(),
        vec(output.clone(), 1..4),
        proptest::option::of(condition()),
        vec(expression(), 0..3),
        vec((output, any::<bool>()), 0..3),
        0..9usize,
        proptest::option::of(0..9usize),
    )
        .prop_map(|(distinct, outputs, condition, group, order, offset, limit)| Select {
            distinct,
            outputs,
            condition,
            group,
            order,
            offset,
            limit,
        })
}

proptest! {
    #[test]
    fn the_canonical_form_is_equivalent(select in select()) {
        prop_assert_eq!(parse(&select.to_string()).unwrap(), select);
    }

    #[test]
    fn any_text_is_a_query_or_an_error(text in "\\PC{0,80}") {
        let _ = canonical(&text);
    }

    #[test]
    fn any_words_are_a_query_or_an_error(words in vec(prop_oneof![
        "select", "where", "and", "or", "not", "DATA_NAME", "'a'", "=", "\\(", "\\)", ",", "in", "is", "null",
        "cast", "as", "int", "order", "by", "limit", "1"], 0..14)) {
        let _ = canonical(&words.join(" "));
    }
}
