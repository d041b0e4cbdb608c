//! A request as it is before a router has seen it, so that another one can.

use axum::extract::Request;

use super::admission::Admission;
use super::caller::Authenticated;
use super::request_id::RequestId;
use super::ticket::Peer;

/// The same request with what the layers have found out of it, and without what a router has.
pub(crate) fn unrouted(mut request: Request) -> Request {
    let mut known = std::mem::take(request.extensions_mut());
    let extensions = request.extensions_mut();
    known.remove::<Authenticated>().map(|authenticated| extensions.insert(authenticated));
    known.remove::<Admission>().map(|admission| extensions.insert(admission));
    known.remove::<RequestId>().map(|id| extensions.insert(id));
    known.remove::<Peer>().map(|peer| extensions.insert(peer));
    request
}
