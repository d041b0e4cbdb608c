//! The right to a catalog: of one engine alone, or of several together.
//!
//! Invariant: once an engine was granted a catalog alone, none that had it before commits any more. The row that puts
//! commits in order has a mark, which each engine that is granted the catalog alone changes, and `cenote_apply` compares it with that
//! of the engine that asks. An advisory lock, exclusive or shared, held by a session
//! of the engine, shows whether the engine is still alive. A session can end while its engine lives (the database was
//! restarted, a connection broke); its lock is taken again, unless another server was faster.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use tokio_postgres::error::SqlState;

use super::client::Client;
use super::connect::Address;
use super::failed::error;
use crate::{Error, Result};

/// Time between two looks at the session.
const LOOK: Duration = Duration::from_secs(5);

/// The database needs a moment to notice that the session of a killed server has ended.
const WAIT: &str = "SET lock_timeout = '2s'";

/// A machine that is gone is noticed by the database within half a minute, not within hours.
const KEEPALIVE: &str =
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4";

/// Catalogs in other schemas of the database have locks of their own.
const LOCK_ALONE: &str =
    "SELECT pg_advisory_lock(hashtextextended('cenote ' || current_schema(), 0))";
const LOCK_TOGETHER: &str =
    "SELECT pg_advisory_lock_shared(hashtextextended('cenote ' || current_schema(), 0))";

const MARK_ALONE: &str =
    "UPDATE cenote_version SET holder = uuid_send(gen_random_uuid()) RETURNING holder";
/// The mark of whoever had it alone last stays, so that all who have it together have the same.
const MARK_TOGETHER: &str = "UPDATE cenote_version SET holder = coalesce(holder, uuid_send(gen_random_uuid())) RETURNING holder";

/// Who else may have the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// Nobody.
    Alone,
    /// Those who have it together.
    Together,
}

impl Hold {
    fn lock(self) -> &'static str {
        match self {
            Self::Alone => LOCK_ALONE,
            Self::Together => LOCK_TOGETHER,
        }
    }

    fn mark(self) -> &'static str {
        match self {
            Self::Alone => MARK_ALONE,
            Self::Together => MARK_TOGETHER,
        }
    }
}

/// The lock of a catalog, before anything there is changed.
pub(super) struct Locked {
    session: Client,
    address: Address,
    hold: Hold,
}

impl Locked {
    /// None if another server has the catalog in a way that excludes this.
    pub(super) fn lock(address: &Address, hold: Hold) -> Result<Option<Self>> {
        let session = lock(address, hold)?;
        Ok(session.map(|session| Self { session, address: address.clone(), hold }))
    }

    /// Marks the catalog, whose tables are there by now.
    pub(super) fn claim(mut self) -> Result<Claim> {
        let mark: Vec<u8> = self.session.query_one(self.hold.mark(), &[]).map_err(error)?.get(0);
        let (end, ended) = mpsc::channel();
        let own = mark.clone();
        let keep = move || keep(self, &own, &ended);
        let thread = std::thread::Builder::new().name("cenote-claim".to_owned()).spawn(keep);
        thread.map_err(|failed| Error::Io(Box::new(failed)))?;
        Ok(Claim { mark, _end: end })
    }
}

/// Held until it is dropped, or another engine claims the catalog alone.
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

/// Takes the lock again whenever its session has ended, unless another engine has claimed the catalog alone.
fn keep(locked: Locked, mark: &[u8], ended: &Receiver<()>) {
    let Locked { mut session, address, hold } = locked;
    while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if session.check(LOOK).is_ok() {
            continue;
        }
        // While the database is unreachable, no server can commit, so this is retried.
        if let Ok(Some(mut again)) = lock(&address, hold) {
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

/// A session with the lock; none if another one has one that excludes it.
fn lock(address: &Address, hold: Hold) -> Result<Option<Client>> {
    let mut session = address.connect()?;
    session.batch_execute(WAIT).map_err(error)?;
    session.batch_execute(KEEPALIVE).map_err(error)?;
    match session.batch_execute(hold.lock()) {
        Ok(()) => Ok(Some(session)),
        Err(failed) if failed.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => Ok(None),
        Err(failed) => Err(error(failed)),
    }
}
