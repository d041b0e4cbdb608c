//! Any text as a path, and as a position of the change feed: refused, or unchanged when formatted and
//! parsed again; and as a query for words: refused, or found in itself.
#![no_main]

use cenote_store::{Mark, Position, StorePath, TextQuery};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(path) = text.parse::<StorePath>() {
        assert_eq!(path.to_string().parse::<StorePath>().unwrap(), path);
    }
    if let Ok(position) = text.parse::<Position>() {
        assert_eq!(position.to_string().parse::<Position>().unwrap(), position);
    }
    if let Ok(mark) = text.parse::<Mark>() {
        assert_eq!(mark.to_string().parse::<Mark>().unwrap(), mark);
    }
    if let Ok(query) = text.parse::<TextQuery>() {
        assert!(query.holds([text]));
    }
});
