//! The change feed for requests that wait for changes, whichever opening they come through: the next page of it ([`Feed`]), and a stream of
//! events ([`events`]), in whose text each opening has its own words.

pub(crate) mod events;
mod feed;

pub(crate) use feed::Feed;
