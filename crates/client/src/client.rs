//! The server, the credentials, and how often a request is attempted.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use http::{HeaderMap, Request, Response};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;

use crate::body::Body;
use crate::call::Call;
use crate::retry::retry_after;
use crate::transport::direct::Large;
use crate::{Error, Kind, Result, Retry, Transport};

const CHANGESET: HeaderName = HeaderName::from_static("cenote-changeset");
/// Larger than any response that is not a content.
const LARGEST_ANSWER: usize = 64 << 20;

/// What identifies the caller.
#[derive(Clone, PartialEq, Eq)]
pub enum Credential {
    /// A user and a password.
    Password {
        /// The user's name.
        user: String,
        /// The password.
        password: String,
    },
    /// A token.
    Token(String),
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Password { user, .. } => {
                f.debug_struct("Password").field("user", user).finish_non_exhaustive()
            }
            Self::Token(_) => f.debug_tuple("Token").finish_non_exhaustive(),
        }
    }
}

impl Credential {
    fn header(&self) -> Result<HeaderValue> {
        let text = match self {
            Self::Password { user, password } => {
                format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
            }
            Self::Token(token) => format!("Bearer {token}"),
        };
        sensitive(&text, "the token")
    }
}

fn sensitive(text: &str, what: &str) -> Result<HeaderValue> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| Error::new(Kind::Invalid, format!("{what} has invalid characters")))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Makes calls to one store, as one caller. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Client {
    transport: Arc<dyn Transport>,
    headers: HeaderMap,
    retry: Retry,
    /// The hint for failures that a missing login may have caused.
    anonymous_hint: Option<&'static str>,
}

impl Client {
    /// A client without a credential: the caller is `anonymous`, or determined by the transport.
    pub fn new(transport: impl Transport + 'static) -> Self {
        Self {
            transport: Arc::new(transport),
            headers: HeaderMap::new(),
            retry: Retry::default(),
            anonymous_hint: None,
        }
    }

    /// The same client, for the caller with this credential.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for a token that cannot be sent in a header.
    pub fn with_credential(mut self, credential: &Credential) -> Result<Self> {
        self.headers.insert(AUTHORIZATION, credential.header()?);
        Ok(self)
    }

    /// The same client, which also presents a ticket.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for a ticket that cannot be sent in a header.
    pub fn with_ticket(mut self, ticket: &str) -> Result<Self> {
        let name = HeaderName::from_static("cenote-ticket");
        self.headers.insert(name, sensitive(ticket, "the ticket")?);
        Ok(self)
    }

    /// The same client, whose calls are part of a change set.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for an id that no header can carry.
    pub fn with_changeset(mut self, id: &str) -> Result<Self> {
        let value = HeaderValue::from_str(id).map_err(|_| {
            Error::new(Kind::Invalid, "the id of a change set has invalid characters")
        })?;
        self.headers.insert(CHANGESET, value);
        Ok(self)
    }

    #[cfg(test)]
    pub(crate) fn shows_credential(&self) -> bool {
        self.headers.contains_key(AUTHORIZATION)
    }

    /// Whether its calls are part of a change set.
    pub(crate) fn is_within_changeset(&self) -> bool {
        self.headers.contains_key(CHANGESET)
    }

    /// The same client with a different retry policy.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// The same client, with a further hint for failures that a missing login may have caused.
    #[must_use]
    pub fn with_anonymous_hint(mut self, hint: &'static str) -> Self {
        self.anonymous_hint = Some(hint);
        self
    }

    fn explain(&self, error: Error) -> Error {
        let may_be = matches!(error.kind(), Kind::NotFound | Kind::Denied | Kind::Unauthenticated);
        match self.anonymous_hint {
            Some(hint) if may_be => error.with_further_hint(hint),
            _ => error,
        }
    }

    /// Sends a call, retrying if that helps and is allowed, until it succeeds.
    pub(crate) async fn send(&self, mut call: Call) -> Result<Response<Body>> {
        let mut attempt = 1;
        loop {
            let (error, retry_after) = match self.attempt(&mut call).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let pause = self.retry.pause(attempt, &error, retry_after);
            match pause.filter(|_| call.may_be_repeated()) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(self.explain(error)),
            }
            attempt += 1;
        }
    }

    async fn attempt(
        &self,
        call: &mut Call,
    ) -> Result<Response<Body>, (Error, Option<std::time::Duration>)> {
        let request = self.request(call).map_err(|error| (error, None))?;
        let answer = self.transport.send(request).await.map_err(|error| (error.into(), None))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let (head, body) = answer.into_parts();
        let retry_after = retry_after(&head.headers);
        let body = read(body).await.map_err(|error| (error, None))?;
        let error = match call.is_native() {
            true => Error::from_store(head.status, &body),
            false => Error::from_answer(head.status, &body),
        };
        Err((error, retry_after))
    }

    fn request(&self, call: &mut Call) -> Result<Request<Body>> {
        let body = call.payload.take().expect("a body that is gone is never sent again");
        let mut request = Request::builder()
            .method(call.method.clone())
            .uri(call.target.as_str())
            .body(body)
            .map_err(|error| Error::new(Kind::Invalid, format!("invalid address: {error}")))?;
        request.headers_mut().extend(self.headers.clone());
        request.headers_mut().extend(call.headers.clone());
        if call.is_large {
            request.extensions_mut().insert(Large);
        }
        Ok(request)
    }

    /// Sends a call with a JSON response.
    pub(crate) async fn json<T: DeserializeOwned>(&self, call: Call) -> Result<T> {
        let body = self.send(call).await?.into_body();
        serde_json::from_slice(&read(body).await?).map_err(Error::protocol)
    }

    /// Sends a call with a response that fits into memory.
    pub(crate) async fn bytes(&self, call: Call) -> Result<Bytes> {
        read(self.send(call).await?.into_body()).await
    }

    /// Sends a call and returns the headers of the response.
    pub(crate) async fn headers(&self, call: Call) -> Result<HeaderMap> {
        let (head, body) = self.send(call).await?.into_parts();
        read(body).await?;
        Ok(head.headers)
    }

    /// Sends a call and discards the successful response.
    pub(crate) async fn done(&self, call: Call) -> Result<()> {
        let body = self.send(call).await?.into_body();
        read(body).await.map(drop)
    }
}

/// Reads a response that fits into memory.
pub(crate) async fn read(mut body: Body) -> Result<Bytes> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        bytes.extend_from_slice(&frame?.into_data().unwrap_or_default());
        if bytes.len() > LARGEST_ANSWER {
            return Err(Error::protocol("it is too long"));
        }
    }
    Ok(bytes.freeze())
}
