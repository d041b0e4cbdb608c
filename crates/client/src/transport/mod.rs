//! How a request reaches a server.

pub(crate) mod direct;
pub(crate) mod fault;
mod http;
mod service;

use std::fmt::Debug;

use ::http::{Request, Response};
use futures_util::future::BoxFuture;

pub use self::http::HttpTransport;
pub use self::service::ServiceTransport;
use crate::body::{Body, BoxError};

/// Carries requests to a store. Requests have an absolute path and no authority;
/// the transport knows where the store is.
pub trait Transport: Debug + Send + Sync {
    /// Sends one request and returns the head of the response; the body is streamed as it is read.
    fn send(&self, request: Request<Body>)
    -> BoxFuture<'_, Result<Response<Body>, TransportError>>;
}

/// No response was received.
#[derive(Debug, thiserror::Error)]
#[error("{}", chain(.0.as_ref()))]
pub struct TransportError(#[source] pub BoxError);

impl From<hyper::Error> for TransportError {
    fn from(error: hyper::Error) -> Self {
        Self(error.into())
    }
}

/// An error and its causes in one line: the outermost one alone is rarely informative.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
