//! What the metakeys of a key say of its value, as Elektra's plugins type, range, validation,
//! length and spec read them. An integer may have 64 bits whatever its type is called, if its
//! type has no fewer on every machine.

use std::ops::RangeInclusive;

use cenote_keyset::{KeyRef, KeySet};
use regex::bytes::RegexBuilder;

use crate::commands::kdb::keys::show::lossy;

/// What is wrong with a key; `rule` gives the value of a metakey.
pub(super) fn problem<'a>(
    key: KeyRef<'_>,
    keys: &KeySet,
    rule: impl Fn(&str) -> Option<&'a [u8]>,
) -> Vec<String> {
    let value = lossy(key.value().as_bytes());
    let text = |name: &str| rule(name).map(lossy);
    let checks = [
        text("type").and_then(|kind| of_type(&kind, &value)),
        of_enum(&rule, &value),
        text("check/range").and_then(|range| in_range(&range, &value)),
        matching(&rule, &value),
        text("check/length/max").and_then(|most| of_length(&most, &value)),
        text("array").and_then(|last| array(key, keys, &last)),
    ];
    checks.into_iter().flatten().collect()
}

fn of_type(kind: &str, value: &str) -> Option<String> {
    let is_of = match kind {
        "boolean" => matches!(value, "0" | "1" | "true" | "false"),
        "short" => value.parse::<i16>().is_ok(),
        "unsigned_short" => value.parse::<u16>().is_ok(),
        "octet" => value.parse::<u8>().is_ok(),
        "long" | "long_long" => value.parse::<i64>().is_ok(),
        "unsigned_long" | "unsigned_long_long" => value.parse::<u64>().is_ok(),
        "float" | "double" | "long_double" => number(value).is_some(),
        "char" | "wchar" => value.chars().count() == 1,
        "any" | "string" | "wstring" | "enum" | "" => true,
        _ => return Some(format!("`{kind}` is not a type")),
    };
    (!is_of).then(|| format!("\"{value}\" is not a valid {kind}"))
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// `check/enum/#0`, …, of which the value is one.
fn of_enum<'a>(rule: impl Fn(&str) -> Option<&'a [u8]>, value: &str) -> Option<String> {
    let words = (0..).map_while(|index: usize| {
        let digits = index.to_string();
        rule(&format!("check/enum/#{}{digits}", "_".repeat(digits.len() - 1))).map(lossy)
    });
    let words: Vec<_> = words.collect();
    let is_one = |value: &str| words.iter().any(|word| word == value);
    let delimiter = rule("check/enum/delimiter").map(lossy).filter(|text| !text.is_empty());
    let holds = match delimiter {
        _ if words.is_empty() => true,
        Some(delimiter) => value.split(&delimiter).all(is_one),
        None => is_one(value),
    };
    (!holds).then(|| format!("\"{value}\" is not one of {}", words.join(", ")))
}

/// `1-10,20`: ranges and single numbers.
fn in_range(ranges: &str, value: &str) -> Option<String> {
    let Some(ranges_of) = ranges.split(',').map(range).collect::<Option<Vec<_>>>() else {
        return Some(format!("`{ranges}` is not a range such as 1-10,20"));
    };
    let holds = number(value).is_some_and(|number| ranges_of.iter().any(|r| r.contains(&number)));
    (!holds).then(|| format!("\"{value}\" is not in {ranges}"))
}

fn range(text: &str) -> Option<RangeInclusive<f64>> {
    let text = text.trim();
    if let Some(single) = number(text) {
        return Some(single..=single);
    }
    let dashes = text.char_indices().skip(1).filter(|(_, sign)| *sign == '-');
    let mut splits = dashes.map(|(at, _)| (number(&text[..at]), number(&text[at + 1..])));
    let (from, to) = splits.find(|(from, to)| from.is_some() && to.is_some())?;
    Some(from?..=to?)
}

/// `check/validation`, with `match` LINE, WORD or ANY, `ignorecase` and `invert`.
fn matching<'a>(rule: impl Fn(&str) -> Option<&'a [u8]>, value: &str) -> Option<String> {
    let pattern = lossy(rule("check/validation")?);
    let around = match rule("check/validation/match") {
        Some(b"LINE") => format!("^(?:{pattern})$"),
        Some(b"WORD") => format!(r"\b(?:{pattern})\b"),
        _ => pattern.clone(),
    };
    let ignores_case = rule("check/validation/ignorecase").is_some();
    let regex = RegexBuilder::new(&around).case_insensitive(ignores_case).build();
    let Ok(regex) = regex else {
        return Some(format!("`{pattern}` is not a regular expression"));
    };
    let holds = regex.is_match(value.as_bytes()) != rule("check/validation/invert").is_some();
    let message = rule("check/validation/message").map(lossy);
    (!holds).then(|| message.unwrap_or_else(|| format!("\"{value}\" does not match {pattern}")))
}

fn of_length(most: &str, value: &str) -> Option<String> {
    let Ok(limit) = most.parse::<usize>() else {
        return Some(format!("`{most}` is not a length"));
    };
    (value.len() > limit).then(|| format!("\"{value}\" is longer than {most} bytes"))
}

/// `array` names the last element; empty, there is none.
fn array(key: KeyRef<'_>, keys: &KeySet, last: &str) -> Option<String> {
    let name = key.name().to_name();
    let depth = name.parts().count();
    let below = keys.hierarchy(&name).filter_map(|key| key.name().to_name().parts().nth(depth));
    let found = below.filter(|part| part.starts_with(b"#")).last().map(|part| lossy(&part));
    let found = found.unwrap_or_default();
    (found != last).then(|| format!("the last element is `{found}`, and `array` says `{last}`"))
}
