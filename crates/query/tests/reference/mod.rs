//! What a result has to be: the join that SQL would make, over everything, one condition after the other.

use std::collections::BTreeSet;

use cenote_store::{Avu, StorePath};

/// A collection or an object.
#[derive(Debug, Clone)]
pub(crate) struct Thing {
    pub(crate) id: u64,
    pub(crate) path: StorePath,
    pub(crate) is_object: bool,
    pub(crate) size: u64,
    pub(crate) owner: String,
    pub(crate) visible: bool,
    pub(crate) avus: Vec<Avu>,
}

#[derive(Debug, Clone)]
pub(crate) struct Comparison {
    pub(crate) operator: &'static str,
    pub(crate) negated: bool,
    pub(crate) numeric: bool,
    pub(crate) values: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Test {
    pub(crate) column: &'static str,
    pub(crate) any: Vec<Comparison>,
}

#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) outputs: Vec<&'static str>,
    pub(crate) tests: Vec<Test>,
    pub(crate) case_sensitive: bool,
    pub(crate) distinct: bool,
}

fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

impl Comparison {
    fn text(&self, second: bool) -> String {
        let values: Vec<String> = self
            .values
            .iter()
            .map(|value| match second {
                true => quoted(&value.replace('\\', "\\x5c")),
                false => quoted(value),
            })
            .collect();
        let values = match self.operator {
            "in" => format!("({})", values.join(", ")),
            "between" => values.join(if second { " and " } else { " " }),
            _ => values[0].clone(),
        };
        let not = if self.negated { "not " } else { "" };
        let n = if self.numeric { "n " } else { "" };
        format!("{not}{n}{} {values}", self.operator)
    }

    fn holds(&self, column: &str, have: &str) -> bool {
        let number = self.numeric || column.ends_with("_ID") || column.ends_with("_SIZE");
        let order = |want: &String| {
            let parsed = (have.parse::<f64>(), want.parse::<f64>());
            match parsed {
                (Ok(have), Ok(want)) if number => have.partial_cmp(&want).unwrap(),
                (Ok(_), Err(_)) if number => std::cmp::Ordering::Less,
                (Err(_), Ok(_)) if number => std::cmp::Ordering::Greater,
                _ => have.cmp(want),
            }
        };
        let first = order(&self.values[0]);
        let holds = match self.operator {
            "=" => first.is_eq(),
            "<>" => first.is_ne(),
            "<" => first.is_lt(),
            "<=" => first.is_le(),
            ">" => first.is_gt(),
            ">=" => first.is_ge(),
            "in" => self.values.iter().any(|want| order(want).is_eq()),
            "between" => first.is_ge() && order(&self.values[1]).is_le(),
            "like" => {
                like(&have.chars().collect::<Vec<_>>(), &self.values[0].chars().collect::<Vec<_>>())
            }
            other => panic!("{other}"),
        };
        holds != self.negated
    }
}

fn like(text: &[char], pattern: &[char]) -> bool {
    match (pattern, text) {
        ([], text) => text.is_empty(),
        (['%', rest @ ..], _) => (0..=text.len()).any(|skipped| like(&text[skipped..], rest)),
        (['_', pattern @ ..], [_, text @ ..]) => like(text, pattern),
        (['\\', letter, pattern @ ..], [first, text @ ..]) => {
            first == letter && like(text, pattern)
        }
        ([letter, pattern @ ..], [first, text @ ..]) if *letter != '_' => {
            first == letter && like(text, pattern)
        }
        _ => false,
    }
}

impl Test {
    fn holds(&self, have: Option<&str>, case_sensitive: bool) -> bool {
        let Some(have) = have else { return false };
        self.any.iter().any(|comparison| match case_sensitive {
            true => comparison.holds(self.column, have),
            false => {
                let values = comparison.values.iter().map(|value| value.to_uppercase()).collect();
                Comparison { values, ..comparison.clone() }.holds(self.column, &have.to_uppercase())
            }
        })
    }
}

/// A row of the join: one attribute for each alias.
struct Joined<'a> {
    collection: Option<&'a Thing>,
    object: Option<&'a Thing>,
    of_collection: Vec<Option<&'a Avu>>,
    of_object: Vec<Option<&'a Avu>>,
}

impl Joined<'_> {
    fn text(&self, column: &str, alias: usize) -> Option<String> {
        let avu = |avus: &[Option<&Avu>]| {
            let avu = (*avus.get(alias)?)?;
            Some(match column.rsplit('_').next()? {
                "NAME" => avu.attribute.clone(),
                "VALUE" => avu.value.clone(),
                _ => avu.unit.clone().unwrap_or_default(),
            })
        };
        let zoned = |path: &StorePath| match path.names() {
            [] => "/z".to_owned(),
            _ => format!("/z{path}"),
        };
        match column {
            "COLL_NAME" => Some(zoned(&self.collection?.path)),
            "COLL_ID" => Some(self.collection?.id.to_string()),
            "COLL_PARENT_NAME" => {
                let parent = self.collection?.path.split_last();
                Some(parent.map_or("/".to_owned(), |(path, _)| zoned(&path)))
            }
            "COLL_OWNER_NAME" => self.collection.filter(|it| it.visible).map(|it| it.owner.clone()),
            "DATA_NAME" => Some(self.object?.path.names().last()?.to_string()),
            "DATA_ID" => Some(self.object?.id.to_string()),
            "DATA_SIZE" => Some(self.object?.size.to_string()),
            column if column.starts_with("META_DATA") => avu(&self.of_object),
            column if column.starts_with("META_COLL") => avu(&self.of_collection),
            other => panic!("{other}"),
        }
    }
}

/// Every choice of one attribute for each alias.
fn choices(avus: &[Avu], aliases: usize, outer: bool) -> Vec<Vec<Option<&Avu>>> {
    let mut all = vec![Vec::new()];
    for _ in 0..aliases {
        let mut next = Vec::new();
        for chosen in all {
            if avus.is_empty() && outer {
                next.push(chosen.iter().copied().chain([None]).collect());
            }
            for avu in avus {
                next.push(chosen.iter().copied().chain([Some(avu)]).collect());
            }
        }
        all = next;
    }
    all
}

impl Question {
    pub(crate) fn first(&self) -> String {
        let tests = self.tests.iter().map(|test| {
            let any: Vec<String> =
                test.any.iter().map(|comparison| comparison.text(false)).collect();
            format!("{} {}", test.column, any.join(" || "))
        });
        self.with(tests.collect())
    }

    /// The same query in GenQuery 2, if it can be expressed there.
    pub(crate) fn second(&self) -> Option<String> {
        let simple = |test: &Test| match &test.any[..] {
            [one] => {
                !one.numeric && (!one.negated || matches!(one.operator, "like" | "in" | "between"))
            }
            _ => false,
        };
        if !self.case_sensitive || !self.tests.iter().all(simple) {
            return None;
        }
        let tests =
            self.tests.iter().map(|test| format!("{} {}", test.column, test.any[0].text(true)));
        let text = self.with(tests.collect()) + " limit 100000";
        Some(if self.distinct { text } else { text.replacen("select", "select no distinct", 1) })
    }

    fn with(&self, tests: Vec<String>) -> String {
        let filter = if tests.is_empty() {
            String::new()
        } else {
            format!(" where {}", tests.join(" and "))
        };
        format!("select {}{filter}", self.outputs.join(", "))
    }

    fn is_about(&self, prefix: &str) -> bool {
        let tested = self.tests.iter().map(|test| test.column);
        self.outputs.iter().copied().chain(tested).any(|column| column.starts_with(prefix))
    }

    /// How many times the attributes of an entity are joined.
    fn aliases(&self, prefix: &str, second: bool) -> usize {
        let name = format!("{prefix}_ATTR_NAME");
        let names = self.tests.iter().filter(|test| test.column == name).count();
        match self.is_about(prefix) {
            false => 0,
            true if second => 1,
            true => names.max(1),
        }
    }

    /// The alias that each test applies to.
    fn alias(&self, place: usize, second: bool) -> usize {
        let column = self.tests[place].column;
        let Some(prefix) = column.find("_ATTR_").map(|end| &column[..end]) else { return 0 };
        let before = self.tests[..place].iter().filter(|test| test.column == column).count();
        if before < self.aliases(prefix, second) { before } else { 0 }
    }

    pub(crate) fn answer(&self, everything: &[Thing], second: bool) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for thing in everything.iter().filter(|thing| thing.visible) {
            if thing.is_object != (self.is_about("DATA") || self.is_about("META_DATA")) {
                continue;
            }
            let parent = |thing: &Thing| {
                let (path, _) = thing.path.split_last().unwrap();
                everything.iter().find(|other| other.path == path).unwrap()
            };
            let collection = if thing.is_object { parent(thing) } else { thing };
            let hidden = Vec::new();
            let of_collection = if collection.visible { &collection.avus } else { &hidden };
            let of_object = if thing.is_object { &thing.avus } else { &hidden };
            for of_collection in choices(of_collection, self.aliases("META_COLL", second), second) {
                for of_object in choices(of_object, self.aliases("META_DATA", second), second) {
                    let object = thing.is_object.then_some(thing);
                    let of_collection = of_collection.clone();
                    let row =
                        Joined { collection: Some(collection), object, of_collection, of_object };
                    rows.extend(self.project(&row, second));
                }
            }
        }
        // NULL and an empty text are distinct, though both are returned as an empty text.
        let rows: Vec<Vec<Option<String>>> = match self.distinct {
            true => rows.into_iter().collect::<BTreeSet<_>>().into_iter().collect(),
            false => rows,
        };
        let text = |row: Vec<Option<String>>| row.into_iter().map(Option::unwrap_or_default);
        rows.into_iter().map(|row| text(row).collect()).collect()
    }

    fn project(&self, row: &Joined<'_>, second: bool) -> Option<Vec<Option<String>>> {
        let passes = |place: usize| {
            let test = &self.tests[place];
            let have = row.text(test.column, self.alias(place, second));
            test.holds(have.as_deref(), self.case_sensitive)
        };
        if !(0..self.tests.len()).all(passes) {
            return None;
        }
        let outputs = self.outputs.iter().map(|column| row.text(column, 0));
        let outputs: Vec<Option<String>> = outputs.collect();
        (second || outputs.iter().all(Option::is_some)).then_some(outputs)
    }
}
