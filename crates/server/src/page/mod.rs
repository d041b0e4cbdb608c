//! Pages for people, without scripts.
//!
//! Invariants: only literals of this program are markup, all else is escaped ([`Markup::text`]); a link leads to an address of the web or of
//! this server; the policy of a page lets it load nothing and run nothing, whatever is in it.
//!
//! `statements` shows terms and statements.

mod statements;

use std::sync::LazyLock;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// A part of a page.
#[derive(Debug, Default)]
pub(crate) struct Markup(String);

impl Markup {
    /// Markup, as this program has it.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text of any origin, in the body of an element or in a quoted attribute.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                // Characters that change the direction of surrounding text, and control characters.
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => self.0.push('\u{fffd}'),
                c if c.is_control() && c != '\n' && c != '\t' => self.0.push('\u{fffd}'),
                c => self.0.push(c),
            }
        }
        self
    }

    /// Another part behind this one, which is left empty.
    pub(crate) fn append(&mut self, part: &mut Self) -> &mut Self {
        self.0.push_str(&std::mem::take(&mut part.0));
        self
    }

    /// A link; text alone, for an address that is not of the web.
    pub(crate) fn link(&mut self, address: &str, text: &str) -> &mut Self {
        if !is_of_the_web(address) {
            return self.text(text);
        }
        self.raw("<a href=\"").text(address).raw("\">").text(text).raw("</a>")
    }
}

fn is_of_the_web(address: &str) -> bool {
    let is_here = address.starts_with('/') && !address.starts_with("//");
    is_here || address.starts_with("http://") || address.starts_with("https://")
}

const STYLE: &str = "body{font:1rem/1.5 system-ui,sans-serif;max-width:70rem;margin:1rem auto;padding:0 1rem}\
                     table{border-collapse:collapse}th,td{border:1px solid #999;padding:.2rem .5rem;text-align:left;\
                     vertical-align:top;overflow-wrap:anywhere}textarea{width:100%}";

/// Nothing is loaded, nothing runs, nothing frames the page; only its own style counts, by its hash.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = ring::digest::digest(&ring::digest::SHA256, STYLE.as_bytes());
    let hash = BASE64_STANDARD.encode(hash.as_ref());
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
});

/// A page with this title.
pub(crate) fn page(title: &str, body: &Markup) -> Response {
    let mut page = Markup::default();
    page.raw("<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">");
    page.raw("<meta name=\"viewport\" content=\"width=device-width\">\n<title>").text(title);
    page.raw(": cenote</title>\n<style>").raw(STYLE).raw("</style></head>\n<body>\n<main>\n<h1>");
    page.text(title).raw("</h1>\n");
    page.0.push_str(&body.0);
    page.raw("</main>\n</body>\n</html>\n");
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY.as_str()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (StatusCode::OK, headers, page.0).into_response()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_links_to_the_web_are_allowed() {
        for (address, is_link) in [
            ("http://h/a", true),
            ("https://h/a", true),
            ("/rest/a", true),
            ("//h/a", false),
            ("javascript:alert(1)", false),
            ("data:text/html,x", false),
            ("JavaScript:x", false),
            (" javascript:x", false),
            ("urn:x", false),
        ] {
            let mut markup = Markup::default();
            markup.link(address, "t");
            assert_eq!(markup.0.contains("<a "), is_link, "{address}");
        }
    }

    proptest! {
        #[test]
        fn text_never_becomes_markup(text in any::<String>()) {
            let mut markup = Markup::default();
            markup.text(&text).link(&format!("http://h/{text}"), &text);
            let inner = markup.0.replacen("<a href=\"", "", 1).replacen("\">", "", 1).replacen("</a>", "", 1);
            prop_assert!(!inner.contains(['<', '>', '"', '\'']), "{inner}");
        }
    }
}
