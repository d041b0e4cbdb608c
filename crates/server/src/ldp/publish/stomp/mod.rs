//! Activities as messages of a broker, by STOMP 1.2 (<https://stomp.github.io/stomp-specification-1.2.html>).
//!
//! * `address` reads the settings, `frame` the format; `session` is one connection, with its heart-beats and receipts;
//! * `properties` are the headers that fcrepo gives its messages.
//!
//! Invariants: a message is taken when the broker has confirmed it (`receipt`), and not before; whatever a broker does that is not in the
//! specification, or not in time, ends the connection, and the message is sent again by a new one.

mod address;
pub(in crate::ldp) mod frame;
mod properties;
mod session;

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Mutex;

use self::address::Address;
use self::frame::Frame;
use self::session::Session;
use super::NotTaken;
use crate::config::Broker;

/// What messages are, for whoever receives them.
const MEDIA_TYPE: &str = "application/ld+json";

/// A broker, and the connection to it while there is one.
pub(super) struct Connection {
    address: Address,
    destination: String,
    login: Option<(String, String)>,
    heartbeat: Duration,
    patience: Duration,
    /// What the addresses of resources begin with.
    base: String,
    session: Mutex<Option<Session>>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Connection {
    pub(super) fn new(settings: &Broker) -> Result<Self, String> {
        if settings.destination.is_empty() {
            return Err("no destination".to_owned());
        }
        Ok(Self {
            address: Address::new(settings)?,
            destination: settings.destination.clone(),
            login: address::login(settings)?,
            heartbeat: settings.heartbeat_seconds.get(),
            patience: settings.timeout_seconds.get(),
            base: format!("{}{}", settings.address.trim_end_matches('/'), settings.mount),
            session: Mutex::new(None),
        })
    }

    /// Connects, unless there is a connection; can be given up at any time.
    pub(super) async fn open(&self) -> Result<(), NotTaken> {
        let mut session = self.session.lock().await;
        if session.is_none() {
            *session = Some(self.connect().await.map_err(NotTaken::new)?);
        }
        Ok(())
    }

    /// Sends an activity, and waits until the broker has it.
    pub(super) async fn send(&self, id: &str, activity: &Value) -> Result<(), NotTaken> {
        let mut session = self.session.lock().await;
        // Where it breaks off, the next message begins with a new connection.
        let open = session.take();
        let mut open = open.ok_or_else(|| NotTaken::new("there is no connection"))?;
        let sent = open.send(&self.message(id, activity), id, self.patience).await;
        sent.map_err(NotTaken::new)?;
        *session = Some(open);
        Ok(())
    }

    /// Without a length: brokers would take a message with one for bytes, and not for text.
    fn message(&self, id: &str, activity: &Value) -> Frame {
        let mut frame = Frame::new("SEND").header("destination", &self.destination);
        frame = frame.header("receipt", id).header("content-type", MEDIA_TYPE);
        frame = frame.header("persistent", "true");
        for (name, value) in properties::of(activity, &self.base) {
            frame = frame.header(name, &value);
        }
        frame.body(activity.to_string().into_bytes())
    }

    async fn connect(&self) -> Result<Session, String> {
        let connected = async {
            let stream = self.address.connect().await?;
            let login = self.login.as_ref().map(|(login, code)| (login.as_str(), code.as_str()));
            Session::begin(stream, self.address.host(), login, self.heartbeat, self.patience).await
        };
        let connected = tokio::time::timeout(self.patience, connected).await;
        connected.map_err(|_| format!("{} did not answer in time", self.address))?
    }

    /// Sends and awaits heart-beats while there is nothing else to send; ends only with the connection.
    pub(super) async fn keep_alive(&self) {
        let mut session = self.session.lock().await;
        if let Some(open) = session.as_mut() {
            let why = open.idle().await;
            tracing::debug!(target: "cenote", broker = %self.address, "the connection ended: {why}");
            *session = None;
        }
        std::future::pending().await
    }

    /// Takes leave of the broker.
    pub(super) async fn end(&self) {
        if let Some(open) = self.session.lock().await.take() {
            open.end().await;
        }
    }
}
