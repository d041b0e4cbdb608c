//! `ro-crate-preview.html`: what a crate is, for people.
//!
//! Invariant: everything that comes from the crate is escaped, a link leads to a file of the crate or an address of the web, and the
//! page runs and loads nothing.

use serde_json::Value;

use super::METADATA;

/// The most files that are listed; the metadata has all.
const LISTED: usize = 1_000;
/// What is shown of the root in its own place.
const ABOVE: [&str; 5] = ["@id", "@type", "name", "description", "hasPart"];

const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'">
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 70rem; margin: 1rem auto; padding: 0 1rem }
table { border-collapse: collapse }
th, td { border: 1px solid #999; padding: .2rem .5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere }
</style>
"#;

/// The page of a crate with this flattened graph.
pub(super) fn page(graph: &[Value]) -> String {
    let root = graph.iter().find(|entity| entity["@id"] == "./").unwrap_or(&Value::Null);
    let name = words(&root["name"]).join(", ");
    let mut page =
        format!("{HEAD}<title>{0}</title>\n</head>\n<body>\n<h1>{0}</h1>\n", escaped(&name));
    for text in words(&root["description"]) {
        page += &format!("<p>{}</p>\n", escaped(&text));
    }
    page += &statements(root);
    page += &files(graph);
    page += &format!(
        "<p>This is an <a href=\"https://w3id.org/ro/crate\">RO-Crate</a>: \
         <a href=\"./{METADATA}\">{METADATA}</a> has everything that is said of its files.</p>\n</body>\n</html>\n"
    );
    page
}

/// The other properties of the root.
fn statements(root: &Value) -> String {
    let stated = root.as_object().into_iter().flatten();
    let stated = stated.filter(|(key, _)| !ABOVE.contains(&key.as_str()));
    let rows: String = stated.map(|(key, value)| row(key, value)).collect();
    match rows.is_empty() {
        true => rows,
        false => format!("<table>\n<caption>About this crate</caption>\n{rows}</table>\n"),
    }
}

fn row(key: &str, value: &Value) -> String {
    let values: Vec<_> = words(value).iter().map(|text| web_link(text)).collect();
    format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(key), values.join("<br>"))
}

fn files(graph: &[Value]) -> String {
    let is_file = |entity: &&Value| words(&entity["@type"]).iter().any(|class| class == "File");
    let count = graph.iter().filter(is_file).count();
    let rows: String = graph.iter().filter(is_file).take(LISTED).map(file).collect();
    let more = match count.saturating_sub(LISTED) {
        0 => String::new(),
        more => format!("<p>{more} more files are in the metadata.</p>\n"),
    };
    format!(
        "<h2>Files</h2>\n<table>\n<tr><th scope=\"col\">File</th><th scope=\"col\">Type</th>\
         <th scope=\"col\">Bytes</th><th scope=\"col\">Description</th></tr>\n{rows}</table>\n{more}"
    )
}

fn file(entity: &Value) -> String {
    let id = entity["@id"].as_str().unwrap_or_default();
    let name = percent_encoding::percent_decode_str(id).decode_utf8_lossy();
    let cells = ["encodingFormat", "contentSize", "description"]
        .map(|key| format!("<td>{}</td>", escaped(&words(&entity[key]).join(", "))));
    // A name may have a colon: only after `./` it cannot be the scheme of an address.
    let link = format!("<a href=\"./{}\">{}</a>", escaped(id), escaped(&name));
    format!("<tr><th scope=\"row\">{link}</th>{}</tr>\n", cells.concat())
}

/// A value, or each of several, as text.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(words).collect(),
        Value::Object(object) => {
            object.get("@id").or_else(|| object.get("@value")).map(words).unwrap_or_default()
        }
        other => vec![other.to_string()],
    }
}

/// An address of the web is a link, any other text is text.
fn web_link(text: &str) -> String {
    let shown = escaped(text);
    match text.starts_with("https://") || text.starts_with("http://") {
        true => format!("<a href=\"{shown}\">{shown}</a>"),
        false => shown,
    }
}

/// Text in the body of an element, or in a quoted attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // What turns the direction of the text around it, or is no text at all.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => escaped.push('\u{fffd}'),
            c if c.is_control() && c != '\n' && c != '\t' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn of(text: &str) -> String {
        page(&[
            json!({ "@id": "./", "@type": "Dataset", "name": text, "description": [text, { "@value": text }], text: [text] }),
            json!({ "@id": text, "@type": ["File", "x"], "contentSize": 3, "description": text }),
        ])
    }

    #[test]
    fn only_addresses_of_the_web_and_files_are_links() {
        let page = page(&[
            json!({ "@id": "./", "name": "Lab", "license": { "@id": "https://example.org/l" }, "url": "javascript:alert(1)" }),
            json!({ "@id": "javascript:alert(1)", "@type": "File" }),
        ]);
        assert!(
            page.contains("<a href=\"https://example.org/l\">https://example.org/l</a>"),
            "{page}"
        );
        assert!(
            page.contains("<a href=\"./javascript:alert(1)\">")
                && page.contains("<title>Lab</title>")
        );
        assert!(!page.contains("\"javascript:"), "{page}");
    }

    #[test]
    fn a_long_list_is_cut() {
        let file = |index: usize| json!({ "@id": format!("{index}"), "@type": "File" });
        let page = page(&(0..LISTED + 7).map(file).collect::<Vec<_>>());
        assert!(page.contains("./999\"") && !page.contains("./1000\""));
        assert!(page.contains("7 more files are in the metadata"));
    }

    proptest! {
        #[test]
        fn no_text_is_markup(text in "[<>\"'&a:/\\PC]{0,20}") {
            let tags = |page: &str| page.matches(['<', '>', '"']).count();
            let plain = if text.starts_with("http://") || text.starts_with("https://") { "http://a" } else { "a" };
            let plain = if text.is_empty() { "" } else { plain };
            prop_assert_eq!(tags(&of(&text)), tags(&of(plain)));
        }
    }
}
