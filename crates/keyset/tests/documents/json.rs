//! Random JSON.

use super::{Choices, Kind, Writer, below, element};

const NAMES: [&str; 10] = ["a", "b", "@id", "@context", "id", "a/b", "ü", "", "#0", "x y"];
const BLANKS: [&str; 4] = ["", " ", "\n  ", "\t"];
const TEXTS: [&str; 4] =
    [r#""""#, r#""text""#, r#""q\" \\ \u00e9 é""#, r#""{[,]}: // no comment""#];

pub(super) fn write(to: &mut Writer, choices: &mut Choices<'_>) {
    to.push(choices.one_of(&BLANKS));
    object(to, choices, &[], 0);
    to.push(choices.one_of(&["", "\n"]));
}

fn value(to: &mut Writer, choices: &mut Choices<'_>, parts: &[String], depth: usize) {
    match choices.below(if depth < 4 { 9 } else { 6 }) {
        0 => to.leaf(
            parts,
            choices.one_of(&["0", "-7", "42", "12345678901234567890123"]),
            Kind::Integer,
        ),
        1 => to.leaf(parts, choices.one_of(&["1.50", "1e5", "-0.0", "2E-3"]), Kind::Float),
        2 => to.leaf(parts, choices.one_of(&["true", "false"]), Kind::Boolean),
        3 => to.push(choices.one_of(&["[]", "{}", "[ ]", "{\n}"])),
        6 => array(to, choices, parts, depth),
        7 | 8 => object(to, choices, parts, depth),
        _ => to.leaf(parts, choices.one_of(&TEXTS), Kind::Text),
    }
}

fn array(to: &mut Writer, choices: &mut Choices<'_>, parts: &[String], depth: usize) {
    let blank = choices.one_of(&BLANKS);
    to.push("[");
    let (from, count) = (to.leaves.len(), 1 + choices.below(3));
    for index in 0..count {
        to.push(if index == 0 { "" } else { "," });
        to.push(blank);
        value(to, choices, &below(parts, &element(index)), depth + 1);
        to.push(choices.one_of(&["", " "]));
    }
    to.may_stay(from);
    to.push("]");
}

fn object(to: &mut Writer, choices: &mut Choices<'_>, parts: &[String], depth: usize) {
    let blank = choices.one_of(&BLANKS);
    to.push("{");
    let mut names = Vec::new();
    for index in 0..choices.below(4) {
        let name = choices.one_of(&NAMES);
        let parts = below(parts, name);
        to.shadow(&parts, to.leaves.len());
        to.push(if index == 0 { "" } else { "," });
        to.push(blank);
        to.push(&format!(
            "\"{name}\"{}:{}",
            choices.one_of(&["", " "]),
            choices.one_of(&["", " "])
        ));
        let from = to.leaves.len();
        value(to, choices, &parts, depth + 1);
        if names.contains(&name) {
            to.may_stay(from);
        }
        names.push(name);
        to.push(choices.one_of(&["", " ", "\n"]));
    }
    to.push("}");
}
