//! Random INI.

use super::{Choices, Kind, Writer, below};

const SECTIONS: [(&str, &[&str]); 4] =
    [("s", &["s"]), ("s/t", &["s", "t"]), ("\"odd ] one\"", &["odd ] one"]), (" u ", &["u"])];
const VALUES: [&str; 6] =
    ["1", "some text ; not a comment", "\"  quoted \"", "a=b", "\"\"", "grün"];

pub(super) fn write(to: &mut Writer, choices: &mut Choices<'_>) {
    to.push(choices.one_of(&["", "", "\u{feff}"]));
    let mut section: Vec<String> = Vec::new();
    for _ in 0..choices.below(12) {
        match choices.below(7) {
            0 => {
                let (name, parts) = choices.one_of(&SECTIONS);
                to.push(&format!("{}[{name}]", choices.one_of(&["", "  "])));
                section = parts.iter().map(|part| (*part).to_owned()).collect();
            }
            1 => to.push(choices.one_of(&["", "; a comment", "# [no section]", "   "])),
            _ => entry(to, choices, &section),
        }
        to.push(to.eol);
    }
    if choices.below(4) == 0 {
        let len = to.text.trim_end_matches(to.eol).len();
        to.text.truncate(len);
    }
}

fn entry(to: &mut Writer, choices: &mut Choices<'_>, section: &[String]) {
    let indent = choices.one_of(&["", "", "  ", "\t"]);
    if choices.below(4) == 0 {
        to.push(&format!("{indent};@ note = \"a = b\"{}", to.eol));
    }
    let name = choices.one_of(&["a", "b", "two words", "x.y"]);
    let parts = below(section, name);
    let is_second = to.leaves.iter().any(|leaf| leaf.parts == parts);
    to.shadow(&parts, to.leaves.len());
    to.push(&format!("{indent}{name}{}", choices.one_of(&[" = ", "=", "  =\t"])));
    let from = to.leaves.len();
    to.leaf(&parts, choices.one_of(&VALUES), Kind::Text);
    if is_second {
        to.may_stay(from);
    }
    to.push(choices.one_of(&["", "  "]));
}
