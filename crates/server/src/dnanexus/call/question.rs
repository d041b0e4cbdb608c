//! A call: the caller, the input, and what the answer needs to know of the request.

use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use cenote_store::{At, Caller, ResourceId, Rights, Store, Time, Vocabulary};
use serde_json::Value;

use super::fault::Fault;
use super::input::Input;
use crate::app::App;
use crate::dnanexus::data::unhashed::Unhashed;
use crate::layer::Secure;

/// A call of a method, without what it is called on.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) app: App,
    pub(crate) caller: Caller,
    pub(crate) headers: HeaderMap,
    /// Scheme and authority of the request: the addresses of contents begin with it.
    pub(crate) origin: String,
    pub(crate) input: Value,
    /// Files whose parts were requested, and that have no MD5 yet.
    pub(crate) unhashed: Unhashed,
}

impl Call {
    pub(crate) fn new(app: App, caller: Caller, parts: &Parts, input: Value) -> Self {
        let origin = origin(parts);
        Self {
            app,
            caller,
            headers: parts.headers.clone(),
            origin,
            input,
            unhashed: Unhashed::default(),
        }
    }

    pub(crate) fn store(&self) -> &Store {
        self.app.store()
    }

    pub(crate) fn input(&self) -> Result<Input<'_>, Fault> {
        Input::of(&self.input)
    }

    /// What the caller may do with a resource.
    pub(crate) fn rights(&self, id: ResourceId) -> Result<Rights, Fault> {
        Ok(self.store().rights(&self.caller, &At::Id(id))?)
    }

    /// Runs a part of the call on a thread that may block, at one moment of the store.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let call = self.clone();
        let app = self.app.clone();
        app.blocking(move |store| {
            let app = call.app.at_moment_of(store);
            Ok(work(&Self { app, ..call }))
        })
        .await?
    }

    /// The credential of the request, as clients send it again with the bytes of a file.
    pub(crate) fn authorization(&self) -> &str {
        let shown = self.headers.get(header::AUTHORIZATION);
        shown.and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// Where the client reached this server.
fn origin(parts: &Parts) -> String {
    let scheme = if parts.extensions.get::<Secure>().is_some() { "https" } else { "http" };
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = parts.uri.authority().map(|authority| authority.as_str()).or(host);
    format!("{scheme}://{}", host.unwrap_or("localhost"))
}

/// The level of a project that these rights are.
pub(crate) fn level(rights: Rights) -> &'static str {
    Vocabulary::DNANEXUS.shown(rights).last().unwrap_or("NONE")
}

/// Whether these rights are at least a level.
pub(crate) fn has_level(rights: Rights, level: &str) -> bool {
    Vocabulary::DNANEXUS.rights(level).is_some_and(|needed| rights.contains(needed))
}

/// Milliseconds since 1970, as the protocol counts time.
pub(crate) fn millis(time: Time) -> i64 {
    time.nanos().div_euclid(1_000_000)
}
