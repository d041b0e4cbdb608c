//! Requests that a page of another site sends with a visitor's browser, and thus with their login.
//!
//! Invariant: no such request changes anything, in any opening. Browsers send the origin of a request
//! (`Sec-Fetch-Site`, <https://www.w3.org/TR/fetch-metadata/>; `Origin`, RFC 6454), and pages cannot forge that. Other
//! clients send neither header.

use axum::extract::Request;
use axum::http::{HeaderMap, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::{Problem, ProblemKind};

/// Refuses a change that a page of another site requests.
pub(crate) async fn refuse_cross_site(request: Request, next: Next) -> Response {
    match may_change(request.method()) && is_cross_site(&request) {
        true => Problem::new(ProblemKind::CrossSite, REASON).with_hint(HINT).into_response(),
        false => next.run(request).await,
    }
}

/// Why a request was refused.
pub(crate) const REASON: &str = "pages of other sites may not change anything here";
const HINT: &str =
    "send it from a page of this address; a proxy in front has to pass on the Host header";

/// Whether a request of this method may change something.
pub(crate) fn may_change(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether a page of another origin made the request. If the browser sends `Sec-Fetch-Site`, that decides; older browsers, and
/// those that do not trust an address without TLS, send the origin only.
pub(crate) fn is_cross_site(request: &Request) -> bool {
    let headers = request.headers();
    let mut sites = headers.get_all("sec-fetch-site").iter().peekable();
    match sites.peek() {
        Some(_) => !sites.all(|site| site == "same-origin" || site == "none"),
        None => is_foreign(headers, request.uri()),
    }
}

/// Whether there is an origin that differs from the host of the request.
fn is_foreign(headers: &HeaderMap, uri: &Uri) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = uri.authority().map(|authority| authority.as_str()).or(host);
    let is_own = |origin: &str| {
        let origin = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
        origin.zip(host).is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host))
    };
    let mut origins = headers.get_all(header::ORIGIN).iter();
    origins.any(|origin| !origin.to_str().is_ok_and(is_own))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn cross_site(uri: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = axum::http::Request::builder().method("POST").uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        is_cross_site(&request.body(Body::empty()).unwrap())
    }

    #[test]
    fn the_browser_s_fetch_metadata_decides() {
        for (site, cross) in [
            ("same-origin", false),
            ("none", false),
            ("same-site", true),
            ("cross-site", true),
            ("", true),
            ("Same-Origin", true),
        ] {
            assert_eq!(cross_site("/", &[("sec-fetch-site", site)]), cross, "{site}");
        }
        let twice = [("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")];
        assert!(cross_site("/", &twice));
    }

    #[test]
    fn an_origin_is_foreign_unless_it_is_the_host() {
        for (host, origin, cross) in [
            ("store.org", "https://store.org", false),
            ("Store.org", "http://store.ORG", false),
            ("store.org:8470", "http://store.org:8470", false),
            ("[::1]:8470", "http://[::1]:8470", false),
            ("store.org:8470", "http://store.org", true),
            ("store.org", "https://store.org.evil.example", true),
            ("store.org", "https://evil.example", true),
            ("store.org", "null", true),
            ("store.org", "", true),
            ("store.org", "store.org", true),
            ("", "http://", false),
        ] {
            let headers = [("host", host), ("origin", origin)];
            assert_eq!(cross_site("/", &headers), cross, "{host} {origin}");
        }
        assert!(cross_site("/", &[("origin", "https://store.org")]));
        let http2 = |origin| cross_site("https://store.org/x", &[("origin", origin)]);
        assert!(!http2("https://store.org") && http2("https://evil.example"));
        let twice = [("host", "a"), ("origin", "http://a"), ("origin", "http://b")];
        assert!(cross_site("/", &twice));
        assert!(!cross_site("/", &[("host", "a")]));
    }
}
