//! The listing of a server is not trusted: no path in it may lead out of the local directory that it is written to.
//!
//! Invariants: a path below a root consists of valid names; and only collections have descendants, because a
//! symbolic link would lead out.

use super::entry::Tree;
use crate::error::{CliError, Kind, Result};
use crate::place::{above, is_name};

/// Refuses a path with an invalid name.
pub(super) fn check_path(path: &str) -> Result<()> {
    match path.split('/').all(is_name) {
        true => Ok(()),
        false => Err(refused(path, "it has an invalid name")),
    }
}

/// Refuses a tree in which something other than a collection has descendants.
pub(super) fn check_tree(tree: &Tree) -> Result<()> {
    let is_collection = |path: &str| tree.get(path).is_none_or(|entry| entry.is_directory());
    match tree.keys().find(|path| !above(path).all(is_collection)) {
        Some(path) => Err(refused(path, "its parent is not a collection")),
        None => Ok(()),
    }
}

fn refused(path: &str, why: &str) -> CliError {
    CliError::new(Kind::Failed, format!("the server lists `{}`: {why}", path.escape_debug()))
        .hint("nothing was written; do not trust this server")
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;
    use cenote_client::{Client, ServiceTransport};
    use serde_json::{Value, json};

    use crate::tree::filter::Filter;
    use crate::tree::remote::scan_source;

    const LINES: [(&str, &str); 1] = [("content-type", "application/x-ndjson")];

    /// A server that has these below `/lab`.
    fn server(below: &[(&str, &str)]) -> Client {
        let resource = |(path, kind): &(&str, &str)| json!({ "id": 1, "path": path, "kind": kind, "target": "/etc" });
        let lines: String = below.iter().map(|found| format!("{}\n", resource(found))).collect();
        let root: Value = resource(&("/lab", "collection"));
        let router = Router::new()
            .route("/v1/stat", get(move || std::future::ready(root.to_string())))
            .route("/v1/walk", get(move || std::future::ready((LINES, lines.clone()))));
        Client::new(ServiceTransport::new(router))
    }

    fn scanned(below: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let tree = runtime.block_on(scan_source(&server(below), "/lab", &Filter::default()));
        tree.map(|tree| tree.into_keys().collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_listing_with_a_path_outside_the_directory_is_refused() {
        let honest = [("/lab/a", "collection"), ("/lab/a/..b", "object"), ("/lab/l", "link")];
        assert_eq!(scanned(&honest).unwrap(), ["a", "a/..b", "l"]);
        for wrong in ["/lab/..", "/lab/../x", "/lab/a/../../x", "/lab/./x", "/lab//x", "/lab/a\0"] {
            let error = scanned(&[("/lab/a", "collection"), (wrong, "object")]).unwrap_err();
            assert!(error.contains("it has an invalid name"), "{wrong:?}: {error}");
        }
    }

    #[test]
    fn a_listing_with_something_below_a_link_is_refused() {
        for below in [["/lab/l", "/lab/l/passwd"], ["/lab/l", "/lab/l/deep/passwd"]] {
            let error = scanned(&[(below[0], "link"), (below[1], "object")]).unwrap_err();
            assert!(error.contains("its parent is not a collection"), "{error}");
        }
    }
}
