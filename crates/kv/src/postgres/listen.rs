//! Commits of other servers, as announced by the database (`LISTEN`, `NOTIFY`).
//!
//! Invariant: listeners are notified once more when a connection is made, so that nothing is missed for longer than there was none.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::client::Client;
use super::connect::Address;
use super::failed::error;
use crate::Result;

/// Time between two checks whether there are listeners, and between two attempts to connect.
const PAUSE: Duration = Duration::from_secs(1);

/// Listens on a thread and a connection of its own until the other end of `ended` is dropped.
pub(super) fn spawn(address: Address, ended: Receiver<()>, notify: Box<dyn Fn() + Send>) {
    let listen = move || {
        while !has_ended(&ended) {
            // Missed notifications only delay waiters, which also poll.
            let _ = listen(&address, &ended, &*notify);
            if ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
        }
    };
    // Without a thread there are no notifications.
    let _ = std::thread::Builder::new().name("cenote-listen".to_owned()).spawn(listen);
}

/// Runs until there are no listeners, or the connection is lost.
fn listen(address: &Address, ended: &Receiver<()>, notify: &dyn Fn()) -> Result<()> {
    let mut client = address.connect()?;
    client.batch_execute("LISTEN cenote_commits").map_err(error)?;
    let schema = client.query_one("SELECT current_schema()::text", &[]).map_err(error)?;
    let schema: String = schema.get(0);
    notify();
    while !client.is_closed() && !has_ended(ended) {
        next(&mut client, &schema, notify)?;
    }
    Ok(())
}

/// Waits for a while.
fn next(client: &mut Client, schema: &str, notify: &dyn Fn()) -> Result<()> {
    while let Some(notification) = client.notification(PAUSE).map_err(error)? {
        // Other schemas of the database have stores of their own.
        if notification.payload() == schema {
            notify();
        }
    }
    Ok(())
}

fn has_ended(ended: &Receiver<()>) -> bool {
    ended.try_recv() == Err(TryRecvError::Disconnected)
}
