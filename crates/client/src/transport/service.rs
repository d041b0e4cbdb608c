//! Without a network: a server's router in the same process.

use std::fmt;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::BodyExt;
use tower::{Service, ServiceExt};

use super::{Transport, TransportError};
use crate::body::{Body, BoxError};

/// Passes requests to a service, such as an `axum` router.
#[derive(Clone)]
pub struct ServiceTransport<S>(S);

impl<S> ServiceTransport<S> {
    /// A transport to `service`, which is cloned for each request.
    pub fn new(service: S) -> Self {
        Self(service)
    }
}

impl<S> fmt::Debug for ServiceTransport<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServiceTransport").finish_non_exhaustive()
    }
}

impl<S, B> Transport for ServiceTransport<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    fn send(
        &self,
        request: Request<Body>,
    ) -> BoxFuture<'_, Result<Response<Body>, TransportError>> {
        let answer = self.0.clone().oneshot(request);
        async move {
            let answer = answer.await.map_err(|error| TransportError(error.into()))?;
            Ok(answer.map(boxed))
        }
        .boxed()
    }
}

fn boxed<B>(body: B) -> Body
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    Body::new(body.map_err(|error| TransportError(error.into())))
}
