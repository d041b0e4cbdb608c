//! Random TOML.

use super::{Choices, Kind, Writer, below, element};

const TEXTS: [&str; 5] =
    [r#""""#, r#""text # no comment""#, "'C:\\dir'", "\"\"\"\nlines\n\"\"\"", r#""q\" \u00e9""#];
const ODD: [&str; 3] = ["\"a/b\"", "\"x y\"", "'@id'"];

pub(super) fn write(to: &mut Writer, choices: &mut Choices<'_>) {
    to.push(choices.one_of(&["", "", "", "\u{feff}"]));
    blank(to, choices);
    entries(to, choices, &[], "");
    for number in 0..choices.below(4) {
        blank(to, choices);
        section(to, choices, number);
    }
    if choices.below(4) == 0 {
        let len = to.text.trim_end_matches(to.eol).len();
        to.text.truncate(len);
    }
}

/// Comments and empty lines.
fn blank(to: &mut Writer, choices: &mut Choices<'_>) {
    let line = choices.one_of(&["", "", "# a comment", "  # [no table]", "\n# about\n"]);
    let line = line.replace('\n', to.eol);
    to.push(&line);
    to.push(if line.is_empty() { "" } else { to.eol });
}

fn section(to: &mut Writer, choices: &mut Choices<'_>, number: usize) {
    let name = format!("t{number}");
    let end = format!("{}{}", choices.one_of(&["", " # why"]), to.eol);
    match choices.below(4) {
        0 => {
            to.push(&format!("[ {name} . deep ]{end}"));
            entries(to, choices, &[name, "deep".into()], "  ");
        }
        1 => {
            let from = to.leaves.len();
            for index in 0..1 + choices.below(2) {
                to.push(&format!("[[{name}]]{end}"));
                entries(to, choices, &[name.clone(), element(index)], "");
            }
            to.may_stay(from);
        }
        _ => {
            to.push(&format!("[{name}]{end}"));
            entries(to, choices, &[name], "");
        }
    }
}

fn entries(to: &mut Writer, choices: &mut Choices<'_>, parts: &[String], indent: &str) {
    for (number, odd) in ODD.into_iter().enumerate().take(choices.below(4)) {
        blank(to, choices);
        to.push(indent);
        let sign = choices.one_of(&[" = ", "=", "   =\t"]);
        let parts = match choices.below(6) {
            0 => {
                to.push(&format!("dot.k{number}{sign}"));
                below(&below(parts, "dot"), &format!("k{number}"))
            }
            1 => {
                to.push(&format!("{odd}{sign}"));
                below(parts, odd.trim_matches(['"', '\'']))
            }
            _ => {
                to.push(&format!("k{number}{sign}"));
                below(parts, &format!("k{number}"))
            }
        };
        value(to, choices, &parts, 0);
        to.push(choices.one_of(&["", "", " # trailing", "  "]));
        to.push(to.eol);
    }
}

fn value(to: &mut Writer, choices: &mut Choices<'_>, parts: &[String], depth: usize) {
    match choices.below(if depth < 3 { 9 } else { 7 }) {
        0 => to.leaf(parts, choices.one_of(&["0", "1_000", "0xff", "-7"]), Kind::Integer),
        1 => to.leaf(parts, choices.one_of(&["1.50", "1e5", "6.02e23"]), Kind::Float),
        2 => to.leaf(parts, choices.one_of(&["true", "false"]), Kind::Boolean),
        3 => to.leaf(
            parts,
            choices.one_of(&["1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "inf"]),
            Kind::Date,
        ),
        4 => to.push(choices.one_of(&["[]", "{}", "[ ]"])),
        7 => array(to, choices, parts, depth),
        8 => inline_table(to, choices, parts, depth),
        _ => to.leaf(parts, choices.one_of(&TEXTS), Kind::Text),
    }
}

fn array(to: &mut Writer, choices: &mut Choices<'_>, parts: &[String], depth: usize) {
    let blank = choices.one_of(&["", " ", "\n  ", "  # about\n  "]);
    to.push("[");
    let (from, count) = (to.leaves.len(), 1 + choices.below(3));
    for index in 0..count {
        to.push(if index == 0 { "" } else { "," });
        to.push(blank);
        value(to, choices, &below(parts, &element(index)), depth + 1);
    }
    to.may_stay(from);
    to.push(choices.one_of(&["", ",", ", # last\n", " "]));
    to.push("]");
}

fn inline_table(to: &mut Writer, choices: &mut Choices<'_>, parts: &[String], depth: usize) {
    to.push("{");
    for index in 0..1 + choices.below(3) {
        to.push(if index == 0 { " " } else { ", " });
        let dotted = choices.below(5) == 0;
        let name = format!("i{index}");
        let from = to.leaves.len();
        if dotted {
            to.push(&format!("d{index}.{name} = "));
            value(to, choices, &below(&below(parts, &format!("d{index}")), &name), depth + 1);
            to.may_stay(from);
        } else {
            to.push(&format!("{name} = "));
            value(to, choices, &below(parts, &name), depth + 1);
        }
    }
    to.push(" }");
}
