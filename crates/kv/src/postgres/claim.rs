//! The right of one server to a catalog.
//!
//! Invariant: of the engines that claim a catalog, only the last one to which it was granted commits. The row that puts
//! commits in order has the mark of that engine, and `cenote_commit` compares it. An advisory lock, held by a session
//! of the engine, shows whether the engine is still alive. A session can end while its engine lives (the database was
//! restarted, a connection broke); its lock is taken again, unless another server was faster.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use postgres::Client;
use postgres::error::SqlState;

use super::connect::Address;
use super::error;
use crate::{Error, Result};

/// Time between two looks at the session.
const LOOK: Duration = Duration::from_secs(5);

/// The database needs a moment to notice that the session of a killed server has ended.
const WAIT: &str = "SET lock_timeout = '2s'";

/// A machine that is gone is noticed by the database within half a minute, not within hours.
const KEEPALIVE: &str =
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4";

/// Catalogs in other schemas of the database have locks of their own.
const LOCK: &str = "SELECT pg_advisory_lock(hashtextextended('cenote ' || current_schema(), 0))";

const MARK: &str =
    "UPDATE cenote_version SET holder = uuid_send(gen_random_uuid()) RETURNING holder";

/// The lock of a catalog, before anything there is changed.
pub(super) struct Alone {
    session: Client,
    address: Address,
}

impl Alone {
    /// None if another server has the catalog.
    pub(super) fn lock(address: &Address) -> Result<Option<Self>> {
        let session = lock(address)?;
        Ok(session.map(|session| Self { session, address: address.clone() }))
    }

    /// Marks the catalog, whose tables are there by now.
    pub(super) fn claim(mut self) -> Result<Claim> {
        let mark: Vec<u8> = self.session.query_one(MARK, &[]).map_err(error)?.get(0);
        let (end, ended) = mpsc::channel();
        let own = mark.clone();
        let keep = move || keep(self.session, &self.address, &own, &ended);
        let thread = std::thread::Builder::new().name("cenote-claim".to_owned()).spawn(keep);
        thread.map_err(|failed| Error::Io(Box::new(failed)))?;
        Ok(Claim { mark, _end: end })
    }
}

/// Held until it is dropped, or another engine claims the catalog.
#[derive(Debug)]
pub(super) struct Claim {
    mark: Vec<u8>,
    /// The thread that maintains the session ends when this is dropped.
    _end: Sender<()>,
}

impl Claim {
    /// What a commit of the engine has to find.
    pub(super) fn mark(&self) -> &[u8] {
        &self.mark
    }
}

/// Takes the lock again whenever its session has ended, unless another engine has claimed the catalog.
fn keep(mut session: Client, address: &Address, mark: &[u8], ended: &Receiver<()>) {
    while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if session.is_valid(LOOK).is_ok() {
            continue;
        }
        // While the database is unreachable, no server can commit, so this is retried.
        if let Ok(Some(mut again)) = lock(address) {
            match has_mark(&mut again, mark) {
                Ok(true) => session = again,
                Ok(false) => return,
                Err(_) => {}
            }
        }
    }
}

fn has_mark(session: &mut Client, mark: &[u8]) -> Result<bool> {
    let found = session.query_one("SELECT holder FROM cenote_version", &[]).map_err(error)?;
    Ok(found.get::<_, Option<&[u8]>>(0) == Some(mark))
}

/// A session with the lock; none if another one has it.
fn lock(address: &Address) -> Result<Option<Client>> {
    let mut session = address.connect()?;
    session.batch_execute(WAIT).map_err(error)?;
    session.batch_execute(KEEPALIVE).map_err(error)?;
    match session.batch_execute(LOCK) {
        Ok(()) => Ok(Some(session)),
        Err(failed) if failed.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => Ok(None),
        Err(failed) => Err(error(failed)),
    }
}
