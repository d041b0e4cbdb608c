//! The layers that every request passes on its way in and out, whatever the opening.
//!
//! From the outside in: [`observe`] (request id, log line, metrics, problem bodies), [`refuse_ambiguous`]
//! (hosts, codings), then per opening [`refuse_cross_site`], [`authenticate`], which takes a slot for the
//! caller ([`Admission`]), and a time limit.

mod admission;
mod authenticate;
mod body;
mod caller;
pub(crate) mod conditional;
mod cross_site;
mod exchange;
mod framing;
mod local;
mod observe;
mod passwords;
pub(crate) mod range;
mod request_id;
mod ticket;
mod time_limit;
mod unrouted;

pub(crate) use admission::{Admission, Pools};
pub(crate) use authenticate::{authenticate, identified};
pub(crate) use body::{Gathering, NotGathered, gather};
pub(crate) use caller::{Changer, PartWriter, Reader, Uploader, Viewer, Writer, caller_of};
pub(crate) use cross_site::{REASON as CROSS_SITE, is_cross_site, may_change, refuse_cross_site};
pub(crate) use framing::refuse_ambiguous;
pub use local::LocalCaller;
pub(crate) use observe::observe;
pub(crate) use passwords::{Claim, NoLogin, PasswordQueue, log_in, peer};
pub(crate) use request_id::{RequestId, RequestIds};
pub(crate) use ticket::{Peer, Secure};
pub(crate) use time_limit::time_limit;
pub(crate) use unrouted::unrouted;
