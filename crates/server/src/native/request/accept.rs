//! Content negotiation (RFC 9110, section 12.5.1) between JSON and another form.

use axum::http::header::{self, HeaderMap};

/// Whether JSON is preferred to `other`, the default if the request has no preference or accepts
/// neither: an answer in the other form is more useful than a refusal.
pub(crate) fn prefers_json(headers: &HeaderMap, other: &str) -> bool {
    prefers(headers, "application/json", other)
}

/// Whether the first form is preferred to the second, the default if the request has no preference.
pub(crate) fn prefers(headers: &HeaderMap, first: &str, second: &str) -> bool {
    let ranges: Vec<(&str, f32)> = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(range)
        .collect();
    quality(&ranges, first) > quality(&ranges, second)
}

/// A media range and its weight.
fn range(text: &str) -> Option<(&str, f32)> {
    let mut parts = text.split(';').map(str::trim);
    let range = parts.next().filter(|range| !range.is_empty())?;
    let weight = parts.find_map(|parameter| parameter.strip_prefix("q="));
    Some((range, weight.map_or(Some(1.0), |weight| weight.parse().ok())?))
}

/// The weight that the most specific range gives to a media type.
fn quality(ranges: &[(&str, f32)], media_type: &str) -> f32 {
    let family = media_type.split('/').next().map(|family| format!("{family}/*"));
    [media_type, &family.unwrap_or_default(), "*/*"]
        .iter()
        .find_map(|wanted| ranges.iter().find(|(range, _)| range.eq_ignore_ascii_case(wanted)))
        .map_or(0.0, |(_, weight)| *weight)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn json(accept: &str) -> bool {
        let value = accept.parse();
        let headers = value.map(|value| HeaderMap::from_iter([(header::ACCEPT, value)]));
        prefers_json(&headers.unwrap_or_default(), "application/x-npy")
    }

    #[test]
    fn the_heavier_and_more_specific_range_wins() {
        for (accept, expected) in [
            ("application/json", true),
            ("Application/JSON; q=0.3", true),
            ("text/html, application/json;q=0.9, */*;q=0.8", true),
            ("application/json;q=0.5, application/x-npy", false),
            ("application/json, application/x-npy", false),
            ("application/*, application/x-npy;q=0.1", true),
            ("*/*", false),
            ("text/html", false),
            ("application/json;q=0", false),
            ("application/json;q=much", false),
            ("", false),
            (",;", false),
        ] {
            assert_eq!(json(accept), expected, "{accept}");
        }
        assert!(!prefers_json(&HeaderMap::new(), "application/x-npy"));
    }

    proptest! {
        #[test]
        fn any_header_is_parsed(accept: String) {
            json(&accept);
        }
    }
}
