//! Change sets: changes that many calls make, which only their maker sees, and which are then committed as one commit or dropped.
//!
//! A change set is a [`Store`] ([`Store::within`]) on which every operation runs as on any other; its reads see the store as it was when
//! the set was begun, with what the set changed, and its changes are gathered in memory. The commit is refused if anything that one of
//! the changes depended on was changed in the meantime: the first commit wins. `docs/adr/0012-change-sets.md` says which anomalies
//! are possible.
//!
//! Invariants: only its creator sees any part of it before the commit, and everybody sees all of it afterwards; it ends when its time is
//! over, whatever happens; it is in the memory of this process, and ends with it. Over a catalog that several servers share, its id shows
//! whether it was begun by this one.

mod base;
mod change_set;
mod commit;
mod conflict;
mod counts;
mod draft;
mod open;
mod tables;
mod within;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

pub(crate) use self::change_set::OpenChangeSet;
pub use self::counts::ChangeSetCounts;
pub(crate) use self::open::ChangeSets;
pub use self::within::Within;
use crate::access::Act;
use crate::model::Time;
use crate::{Caller, Error, ErrorKind, Result, Store};

/// What change sets may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeSetLimits {
    /// The bytes that one may write to the catalog, and that it may depend on. Contents are not among them.
    pub bytes: usize,
    /// The bytes of all together, in memory.
    pub all_bytes: usize,
    /// How many a user may have open.
    pub of_user: usize,
    /// How many there may be open.
    pub all: usize,
    /// How long one is kept unused by default.
    pub idle: Duration,
    /// How long one is kept at most. Over a shared catalog, less than the grace of the sweep ([`Pace::grace`](crate::Pace)).
    pub life: Duration,
}

impl Default for ChangeSetLimits {
    fn default() -> Self {
        Self {
            bytes: 64 << 20,
            all_bytes: 256 << 20,
            of_user: 8,
            all: 32,
            idle: Duration::from_secs(3 * 60),
            life: Duration::from_secs(30 * 60),
        }
    }
}

/// The id of a change set. Random, so that it cannot be guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChangeSetId([u8; 16]);

impl fmt::Display for ChangeSetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for ChangeSetId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::invalid(format!("not the id of a change set: {text:.64?}"))
                .with_hint("an id has 32 hexadecimal digits, as when the change set was begun")
        };
        let digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(text, 16).ok().filter(|_| digits).ok_or_else(wrong)?;
        Ok(Self(number.to_be_bytes()))
    }
}

/// A change set, as shown to its creator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSet {
    /// Names it.
    pub id: ChangeSetId,
    /// Whose it is.
    pub owner: String,
    /// When it was created: it sees the store as of this time.
    pub begun: Time,
    /// When it ends if it is not used; when it ended.
    pub expires: Time,
    /// When it ends however much it is used.
    pub until: Time,
    /// What became of it.
    pub state: ChangeSetState,
    /// How many changes were made in it.
    pub changes: u64,
    /// The bytes that its commit writes to the catalog.
    pub bytes: u64,
}

/// What became of a change set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeSetState {
    /// It takes changes.
    Open,
    /// It was committed.
    Committed,
    /// It was dropped.
    Dropped,
    /// It was not used for too long, or was open for too long.
    Expired,
    /// It could not be committed, since others changed what it depended on.
    Conflicted,
    /// Whether it was committed is not known.
    Unknown,
}

impl ChangeSetState {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Committed => "committed",
            Self::Dropped => "dropped",
            Self::Expired => "expired",
            Self::Conflicted => "conflicted",
            Self::Unknown => "unknown",
        }
    }
}

impl Store {
    /// Begins a change set, which is kept for `idle` unused.
    ///
    /// # Errors
    /// [`ErrorKind::Unauthenticated`] without a login, [`ErrorKind::Invalid`] with a ticket or for a time that is too long,
    /// [`ErrorKind::TooLarge`] if there are too many.
    pub fn begin_change_set(&self, caller: &Caller, idle: Option<Duration>) -> Result<ChangeSet> {
        self.expire_change_sets();
        require_account(caller)?;
        let limits = self.parts().change_sets;
        let idle = idle.unwrap_or(limits.idle);
        if idle > limits.life || idle < Duration::from_secs(1) {
            let most = limits.life.as_secs();
            let message = format!("a change set is kept unused for 1 to {most} s");
            return Err(Error::invalid(message).with_hint("give a shorter time, of at least 1 s"));
        }
        self.inner.latch_check()?;
        let id = ChangeSetId(self.tagged());
        self.inner.change_sets.begin(self, caller, (id, idle))
    }

    /// Runs requests within a change set: a store that sees it and changes it. It waits until the request before it in this set
    /// is over, and the next one waits until what is returned is dropped.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the caller has none with this id; [`ErrorKind::Expired`] if it has ended.
    pub async fn within(&self, caller: &Caller, id: ChangeSetId) -> Result<Within> {
        let set = self.own_change_set(caller, id)?;
        Within::enter(self, set).await
    }

    /// The state of a change set of the caller, also for some time after its end.
    pub fn change_set(&self, caller: &Caller, id: ChangeSetId) -> Result<ChangeSet> {
        self.expire_change_sets();
        let found = self.inner.change_sets.get(id);
        let set = found.filter(|set| set.is_of(caller) || caller.may(Act::OthersWork));
        set.map(|set| set.describe()).ok_or_else(|| self.unknown(id))
    }

    /// The open change sets of the caller; of all users for those who may see the work of others.
    pub fn change_sets(&self, caller: &Caller) -> Result<Vec<ChangeSet>> {
        self.expire_change_sets();
        require_account(caller)?;
        let mut open = self.inner.change_sets.all();
        open.retain(|set| set.is_of(caller) || caller.may(Act::OthersWork));
        let mut open: Vec<ChangeSet> = open.iter().map(|set| set.describe()).collect();
        open.retain(|set| set.state == ChangeSetState::Open);
        open.sort_by_key(|set| (set.begun, set.id.0));
        Ok(open)
    }

    /// How many change sets there are, and what became of others.
    pub fn change_set_counts(&self) -> ChangeSetCounts {
        self.expire_change_sets();
        self.inner.change_sets.counts()
    }

    /// Counts as a use of a change set, so that it is kept longer.
    pub fn extend_change_set(&self, caller: &Caller, id: ChangeSetId) -> Result<ChangeSet> {
        let set = self.own_change_set(caller, id)?;
        set.touch(self.now());
        set.require_open()?;
        Ok(set.describe())
    }

    /// Commits all that was changed in a change set as one commit, when the requests in it are over.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if something it depends on was changed concurrently: it has then ended, and changed
    /// nothing. [`ErrorKind::Expired`] if it has ended before. After others it is still open, and the commit can be
    /// tried again.
    pub async fn commit_change_set(&self, caller: &Caller, id: ChangeSetId) -> Result<ChangeSet> {
        let set = self.own_change_set(caller, id)?;
        let within = Within::enter(self, set.clone()).await?;
        let caller = caller.clone();
        let committed = self.blocking(move |store| store.commit_open(&caller, &set)).await;
        drop(within);
        committed
    }

    /// Drops a change set without any effect. A request in progress in it fails.
    pub fn drop_change_set(&self, caller: &Caller, id: ChangeSetId) -> Result<()> {
        let found = self.inner.change_sets.get(id);
        let mine =
            |set: &std::sync::Arc<OpenChangeSet>| set.is_of(caller) || caller.may(Act::OthersWork);
        let set = found.filter(mine).ok_or_else(|| self.unknown(id))?;
        self.expire_change_sets();
        set.require_open()?;
        self.end_change_set(&set, ChangeSetState::Dropped);
        Ok(())
    }

    /// Ends those whose time is over, and forgets those that ended long ago.
    pub(crate) fn expire_change_sets(&self) {
        let now = self.now();
        for set in self.inner.change_sets.all() {
            if set.is_over(now) {
                self.end_change_set(&set, ChangeSetState::Expired);
            }
        }
        self.inner.change_sets.forget(now.minus(self.parts().change_sets.life));
    }

    fn end_change_set(&self, set: &OpenChangeSet, how: ChangeSetState) {
        if set.end(how, self.now()) {
            // Contents used only by its view may be unused now.
            self.inner.due.look_at_all();
        }
    }

    fn own_change_set(
        &self,
        caller: &Caller,
        id: ChangeSetId,
    ) -> Result<std::sync::Arc<OpenChangeSet>> {
        self.expire_change_sets();
        if caller.shown_ticket().is_some() {
            return Err(no_ticket());
        }
        let set = self.inner.change_sets.get(id).filter(|set| set.is_of(caller));
        set.ok_or_else(|| self.unknown(id))
    }

    /// A random id. Over a shared catalog it begins with [`Store::tag`].
    fn tagged(&self) -> [u8; 16] {
        let mut id: [u8; 16] = self.random();
        if let Some(tag) = self.tag() {
            id[..tag.len()].copy_from_slice(&tag);
        }
        id
    }

    /// Of a set of this server it says that there is none; of one that another one began, that it is to be asked.
    fn unknown(&self, id: ChangeSetId) -> Error {
        match self.tag().is_some_and(|own| !id.0.starts_with(&own)) {
            true => elsewhere(id),
            false => unknown(id),
        }
    }
}

fn elsewhere(id: ChangeSetId) -> Error {
    Error::new(ErrorKind::Unavailable, format!("another server has the change set, or had: {id}"))
        .with_hint(
            "send all requests of a change set to the server that began it; if that was stopped, begin another one, and make the changes again",
        )
}

fn require_account(caller: &Caller) -> Result<()> {
    if caller.is_anonymous() {
        return Err(Error::new(
            ErrorKind::Unauthenticated,
            "only logged-in users can have change sets",
        )
        .with_hint("log in"));
    }
    match caller.shown_ticket() {
        Some(_) => Err(no_ticket()),
        None => Ok(()),
    }
}

fn no_ticket() -> Error {
    Error::invalid("a ticket cannot be used in a change set")
        .with_hint("make the request without the ticket, or without the change set")
}

fn unknown(id: ChangeSetId) -> Error {
    Error::new(ErrorKind::NotFound, format!("no such change set: {id}")).with_hint(
        "it may have ended long ago, or the server was restarted: begin another one, and make the changes again",
    )
}
