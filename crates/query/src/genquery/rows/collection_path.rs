//! Store paths of the collections that a query names, and of those that a pattern may match.

use cenote_store::StorePath;

use super::zone::Zone;

/// The store path of a collection name.
pub(crate) fn parse(zone: &Zone, name: &str) -> Option<StorePath> {
    let rest = name.strip_prefix('/')?.strip_prefix(zone.name.as_str())?;
    match rest {
        "" => Some(StorePath::root()),
        rest if rest.starts_with('/') && !rest.ends_with('/') => rest.parse().ok(),
        _ => None,
    }
}

/// The deepest collection that contains everything whose name matches `pattern`: the complete names before
/// the first wildcard. `None` if nothing can match.
pub(crate) fn top(zone: &Zone, pattern: &str) -> Option<StorePath> {
    let fixed = fixed(pattern);
    let whole = &fixed[..fixed.rfind('/').unwrap_or(0)];
    match whole.len() <= zone.name.len() {
        true => Some(StorePath::root()),
        false => parse(zone, whole),
    }
}

/// The fixed prefix of every match of `pattern`: all before its first wildcard, as interpreted by
/// [`like`](cenote_store::like).
fn fixed(pattern: &str) -> String {
    let mut fixed = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' | '_' => break,
            '\\' => fixed.push(chars.next().unwrap_or(c)),
            c => fixed.push(c),
        }
    }
    fixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_narrows_the_walk_without_losing_results() {
        let zone = Zone { name: "z".into(), ..Zone::default() };
        for (pattern, expected) in [
            ("/z/a/b/%", Some("/a/b")),
            ("/z/a%", Some("/")),
            ("/z%", Some("/")),
            ("%", Some("/")),
            ("/y/a/%", None),
            ("/z/a/b", Some("/a")),
            (r"/z/a\_/b", Some("/a_")),
            (r"/z/\a/b\%/c%", Some("/a/b%")),
        ] {
            let expected = expected.map(|path| path.parse().unwrap());
            assert_eq!(top(&zone, pattern), expected, "{pattern}");
        }
    }
}
