//! Where the server may read external content: below one of the prefixes of its settings.
//!
//! A prefix is a URL that ends with a slash, so that `https://a.example/` does not allow `https://a.example.evil/`. A port of `*` stands
//! for any. URLs are compared after normalization: `..` does not lead out of a prefix.

use serde::{Deserialize, Serialize};
use url::Url;

/// One prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Allowed {
    text: String,
    url: Url,
    is_any_port: bool,
}

impl TryFrom<String> for Allowed {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong =
            || format!("a prefix is a URL of http, https or file that ends with a slash: {text:?}");
        let is_any_port = text.contains(":*/");
        let url = Url::parse(&text.replace(":*/", "/")).map_err(|_| wrong())?;
        let is_known = matches!(url.scheme(), "http" | "https" | "file");
        if !is_known || !url.path().ends_with('/') || !text.ends_with('/') || has_login(&url) {
            return Err(wrong());
        }
        Ok(Self { text, url, is_any_port })
    }
}

impl From<Allowed> for String {
    fn from(allowed: Allowed) -> Self {
        allowed.text
    }
}

impl Allowed {
    /// Whether a URL is below the prefix.
    pub(crate) fn contains(&self, url: &Url) -> bool {
        let is_port =
            self.is_any_port || url.port_or_known_default() == self.url.port_or_known_default();
        url.scheme() == self.url.scheme()
            && url.host_str() == self.url.host_str()
            && is_port
            && !has_login(url)
            && url.path().starts_with(self.url.path())
    }

    /// The directory of a prefix of files.
    pub(crate) fn directory(&self) -> Option<std::path::PathBuf> {
        self.url.to_file_path().ok().filter(|_| self.url.scheme() == "file")
    }
}

fn has_login(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(prefix: &str) -> Result<Allowed, String> {
        prefix.to_owned().try_into()
    }

    #[test]
    fn a_prefix_allows_addresses_below_it() {
        for (prefix, url, is_allowed) in [
            ("https://a.example/", "https://a.example/x", true),
            ("https://a.example/", "https://a.example:443/x", true),
            ("https://a.example/", "https://A.EXAMPLE/x?y", true),
            ("https://a.example/", "https://a.example.evil/x", false),
            ("https://a.example/", "https://a.example@evil/x", false),
            ("https://a.example/", "https://u:p@a.example/x", false),
            ("https://a.example/", "http://a.example/x", false),
            ("https://a.example/", "https://a.example:444/x", false),
            ("https://a.example/d/", "https://a.example/d/../x", false),
            ("https://a.example/d/", "https://a.example/d/%2e%2e/x", false),
            ("https://a.example/d/", "https://a.example/dd/x", false),
            ("http://localhost:*/", "http://localhost:81/x", true),
            ("http://localhost:*/", "http://127.0.0.1:81/x", false),
            ("file:///data/", "file:///data/x", true),
            ("file:///data/", "file:///data/../etc/passwd", false),
            ("file:///data/", "http://localhost/data/x", false),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(allowed(prefix).unwrap().contains(&url), is_allowed, "{prefix} {url}");
        }
        for wrong in ["", "a", "https://a.example/x", "ftp://a/", "http://u@a/", "http:///"] {
            assert!(allowed(wrong).is_err(), "{wrong}");
        }
    }
}
