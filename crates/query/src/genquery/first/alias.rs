//! Which attribute each test of a GenQuery 1 statement applies to.
//!
//! As in iRODS, the attribute catalog is joined once for each condition on a `META_*_ATTR_NAME`. The first
//! join is the selected attribute; the second condition on a value (or on units, or any other attribute
//! column) applies to the second join, and so on. Conditions in excess of those on names apply to the first.

use std::collections::BTreeMap;

use super::super::column::Entity;
use super::statement::Test;

/// A further attribute of the same entity: the entity, and the number of the join.
pub(crate) type Alias = (Entity, usize);

/// The number of the attribute that each test applies to; 0 for the selected one, and for tests of other columns.
fn numbers(tests: &[Test]) -> Vec<usize> {
    let number = |(place, test): (usize, &Test)| {
        let entity = test.column.entity();
        if !entity.is_avu() {
            return 0;
        }
        let names = tests.iter().map(|test| test.column);
        let names = names.filter(|column| column.is_attribute_name() && column.entity() == entity);
        let before = tests[..place].iter().filter(|other| other.column == test.column).count();
        if before < names.count() { before } else { 0 }
    };
    tests.iter().enumerate().map(number).collect()
}

/// Separates the tests of the selected attribute and of other columns from those of each further attribute.
pub(crate) fn split(tests: Vec<Test>) -> (Vec<Test>, BTreeMap<Alias, Vec<Test>>) {
    let numbers = numbers(&tests);
    let mut selected = Vec::new();
    let mut further: BTreeMap<Alias, Vec<Test>> = BTreeMap::new();
    for (test, number) in tests.into_iter().zip(numbers) {
        match number {
            0 => selected.push(test),
            number => further.entry((test.column.entity(), number)).or_default().push(test),
        }
    }
    (selected, further)
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    #[test]
    fn each_condition_on_a_name_refers_to_a_separate_attribute() {
        for (conditions, expected) in [
            ("META_DATA_ATTR_VALUE > '1' and META_DATA_ATTR_VALUE < '3'", &[0, 0][..]),
            (
                "META_DATA_ATTR_NAME = 'a' and META_DATA_ATTR_VALUE > '1' and META_DATA_ATTR_VALUE < '3'",
                &[0, 0, 0],
            ),
            (
                "META_DATA_ATTR_NAME = 'a' and META_DATA_ATTR_VALUE = '1' and META_DATA_ATTR_NAME = 'b' and META_DATA_ATTR_VALUE = '2'",
                &[0, 0, 1, 1],
            ),
            (
                "META_DATA_ATTR_NAME = 'a' and META_DATA_ATTR_NAME = 'b' and META_DATA_ATTR_VALUE = '1' and META_DATA_ATTR_VALUE = '2'",
                &[0, 1, 0, 1],
            ),
            (
                "META_DATA_ATTR_NAME = 'a' and META_DATA_ATTR_NAME = 'b' and META_DATA_ATTR_UNITS = 'u'",
                &[0, 1, 0],
            ),
            (
                "META_COLL_ATTR_NAME = 'a' and META_DATA_ATTR_NAME = 'b' and META_COLL_ATTR_NAME = 'c' and DATA_NAME = 'd'",
                &[0, 0, 1, 0],
            ),
        ] {
            let statement = parse(&format!("select DATA_NAME where {conditions}")).unwrap();
            assert_eq!(numbers(&statement.tests), expected, "{conditions}");
        }
    }
}
