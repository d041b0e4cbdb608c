//! The bytes of files: parts that come in, and ranges that go out.
//!
//! The address of a part or a content is one of this server. Clients send the headers that they got with it, which
//! are the credential of the call that returned it: so nothing is kept for an address, and a client that has only the address gets
//! nothing. A pre-authenticated address has a ticket of the store in it instead, which is listed and can be revoked.

pub(crate) mod close;
pub(crate) mod download;
pub(crate) mod read;
pub(crate) mod unhashed;
pub(crate) mod upload;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

/// What begins the path of an address with a ticket in it, which is never logged whole.
pub(crate) const SHARED: &str = "/dnanexus/shared/";

/// Characters that are not encoded in a segment of an address.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
