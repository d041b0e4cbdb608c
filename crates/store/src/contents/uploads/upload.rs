//! Resumable uploads: parts in any order, repeated if need be, then one publication.
//!
//! Invariants: nothing is visible before `complete`; an upload is found only by the user who began it, by its whole id,
//! with the ticket with which it was begun, and by a token only if that could begin it; and each part needs the right to
//! write that the beginning and the end need.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::access::{Act, Chain, Operation, Slot, destination};
use crate::catalog::keys::Counter;
use crate::catalog::{PartRecord, Reads, Record, Transaction, UploadRecord, keys};
use crate::contents::{Expected, PutOptions, StageFrom};
use crate::faults::Faults;
use crate::model::{At, Digests, StorePath, Time};
use crate::{Bytes, Caller, Error, ErrorKind, Result, Store};

/// How to begin an upload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UploadOptions {
    /// How the object will be put; checked now, and again at the end.
    pub put: PutOptions,
    /// The size of the whole, if it is known; then it must be so.
    pub size: Option<u64>,
    /// What a stage begins from: an upload that is written anywhere, and read, instead of sent in parts.
    pub stage: Option<StageFrom>,
}

/// How to complete an upload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Completion {
    /// The SHA-256 that the whole must have.
    pub sha256: Option<[u8; 32]>,
    /// Publish even if the object has another tag by now.
    pub force: bool,
    /// The parts are numbered, and follow one another: their offsets say in which order, and gaps between them nothing.
    pub in_order: bool,
    /// Which attempt it is, of a stage ([`UploadId::attempt`]).
    pub attempt: u64,
}

impl From<Option<[u8; 32]>> for Completion {
    fn from(sha256: Option<[u8; 32]>) -> Self {
        Self { sha256, ..Self::default() }
    }
}

/// The id of an upload: a number, and a secret, so that uploads cannot be found by trying numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UploadId {
    /// The number.
    pub number: u64,
    /// The secret; an upload that an earlier release began has none.
    pub secret: Option<u64>,
}

impl fmt::Display for UploadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.secret {
            Some(secret) => write!(f, "{}-{secret:016x}", self.number),
            None => self.number.fmt(f),
        }
    }
}

impl FromStr for UploadId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::invalid(format!("not the id of an upload: {text:.64?}"));
        let (number, secret) = match text.split_once('-') {
            Some((number, secret)) if is_secret(secret) => (number, Some(secret)),
            Some(_) => return Err(wrong()),
            None => (text, None),
        };
        let secret = secret.map(|digits| u64::from_str_radix(digits, 16)).transpose();
        let number = number.parse().map_err(|_| wrong())?;
        Ok(Self { number, secret: secret.map_err(|_| wrong())? })
    }
}

/// `from_str_radix` takes a sign, too.
fn is_secret(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// An upload in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Names it.
    pub id: UploadId,
    /// The target; for one to an id, its path when it began.
    pub path: StorePath,
    /// The size announced.
    pub size: Option<u64>,
    /// Until when it is kept without being completed.
    pub expires: Time,
    /// What has arrived, by offset.
    pub parts: Vec<Part>,
    /// The current size of a stage.
    pub staged: Option<u64>,
}

/// A part that has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its first byte in the whole.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
    /// Its digests.
    pub digests: Digests,
}

/// How long an upload may take.
const LIFETIME: Duration = Duration::from_secs(7 * 24 * 3600);

impl Store {
    /// Begins an upload. Needs what [`Store::put`] needs; a stage from an object needs `Rights::READ_CONTENT`, too.
    pub fn begin_upload(
        &self,
        caller: &Caller,
        at: impl Into<At>,
        options: &UploadOptions,
    ) -> Result<Upload> {
        let at = at.into();
        let mut put = options.put.clone();
        put.expected.length = put.expected.length.or(options.size);
        self.may_put(caller, at.clone(), &put)?;
        let (path, target) = match &at {
            At::Path(path) => (path.clone(), None),
            At::Id(id) => (self.stat(caller, &at)?.path, Some(*id)),
            At::Child(..) => (destination(&self.view()?, caller, &at)?, None),
        };
        let secret = u64::from_be_bytes(self.random());
        let id = UploadId { number: self.new_id()?, secret: Some(secret) };
        let record = self.transact(|tx| {
            let mut put = options.put.clone();
            let stage =
                options.stage.map(|from| self.begin_stage(tx, (caller, &at), from, &mut put));
            let record = UploadRecord {
                path: path.to_string(),
                owner: caller.user(),
                expires: tx.now().plus(LIFETIME),
                size: options.size,
                attempt: None,
                stage: stage.transpose()?,
                media_type: put.media_type,
                mode: put.mode,
                mtime: put.mtime,
                parents: put.parents,
                if_match: put.conditions.if_match,
                if_absent: put.conditions.if_absent,
                place: put.place,
                secret: id.secret,
                ticket: caller.shown_ticket().copied(),
                target,
            };
            tx.put(keys::upload(id.number), &record);
            Ok(record)
        })?;
        Ok(record.describe(id, path, Vec::new()))
    }

    /// What has arrived of an upload.
    pub fn upload(&self, caller: &Caller, upload: UploadId) -> Result<Upload> {
        let view = self.view()?;
        let record = mine(&view, caller, upload)?;
        let parts = parts(&view, upload.number)?;
        let parts = parts.into_iter().map(|(offset, part)| Part {
            offset,
            length: part.length,
            digests: part.digests,
        });
        Ok(record.describe(upload, record.path.parse()?, parts.collect()))
    }

    /// Cancels an upload.
    pub fn abandon_upload(&self, caller: &Caller, upload: UploadId) -> Result<()> {
        self.transact(|tx| {
            tx.frees_space();
            mine(tx, caller, upload)?;
            forget(tx, upload.number)
        })
    }

    /// Cancels expired uploads; returns how many.
    pub fn sweep_uploads(&self) -> Result<u64> {
        let now = self.now();
        let rows = self.view()?.rows(&keys::uploads(), usize::MAX)?;
        let (mut swept, mut faults) = (0, Faults::default());
        for (key, value) in rows {
            if let Some(record) = faults.add(UploadRecord::from_value(&value))
                && let Some(upload) = keys::first_id(&key)
                && record.expires < now
            {
                let forgotten = self.transact(|tx| {
                    tx.frees_space();
                    forget(tx, upload)
                });
                swept += u64::from(faults.add(forgotten).is_some());
            }
        }
        faults.first().map(|()| swept)
    }
}

impl UploadRecord {
    /// Whether this is the upload of that id, and the caller the one who began it. Everybody without a login is the same
    /// user, so for them only the secret identifies the upload.
    fn is_of(&self, caller: &Caller, upload: UploadId) -> bool {
        let same = (self.owner, self.secret) == (caller.user(), upload.secret);
        let told_apart = self.secret.is_some() || !caller.is_anonymous();
        let ticket = self.ticket.as_ref();
        same && told_apart && (ticket.is_none() || ticket == caller.shown_ticket())
    }

    /// What it will be the content of.
    pub(crate) fn at(&self) -> Result<At> {
        match self.target {
            Some(id) => Ok(At::Id(id)),
            None => Ok(At::Path(self.path.parse()?)),
        }
    }

    fn describe(&self, id: UploadId, path: StorePath, parts: Vec<Part>) -> Upload {
        let staged = self.stage.as_ref().map(|head| head.size);
        Upload { id, path, size: self.size, expires: self.expires, parts, staged }
    }

    /// Options of the put; if it is forced, the current tag is ignored.
    pub(crate) fn options(&self, force: bool) -> PutOptions {
        PutOptions {
            conditions: crate::Conditions {
                if_match: self.if_match.clone().filter(|_| !force),
                if_absent: self.if_absent,
            },
            expected: Expected::default(),
            parents: self.parents,
            media_type: self.media_type.clone(),
            mode: self.mode,
            mtime: self.mtime,
            place: self.place,
        }
    }
}

/// The upload, if it is the caller's.
pub(crate) fn mine(reads: &impl Reads, caller: &Caller, upload: UploadId) -> Result<UploadRecord> {
    let record = reads.get::<UploadRecord>(&keys::upload(upload.number))?;
    let own = |record: &UploadRecord| caller.may(Act::OthersWork) || record.is_of(caller, upload);
    match record.filter(own) {
        Some(record) if may_go_on(reads, caller, &record)? => Ok(record),
        _ => Err(Error::new(ErrorKind::NotFound, format!("no such upload: {upload}"))
            .with_hint("it may have been completed or cancelled, or have expired: begin again")),
    }
}

/// The same, if the caller may write to its path now.
pub(crate) fn mine_to_write(
    reads: &impl Reads,
    caller: &Caller,
    upload: UploadId,
) -> Result<UploadRecord> {
    let (record, there) = mine_at(reads, caller, upload)?;
    if let Some(chain) = there {
        chain.require(caller, Operation::Write, &record.at()?)?;
    }
    Ok(record)
}

/// The upload, if it is the caller's, and the resource at its path; if there is none, the caller may create it.
pub(crate) fn mine_at(
    reads: &impl Reads,
    caller: &Caller,
    upload: UploadId,
) -> Result<(UploadRecord, Option<Chain>)> {
    let record = mine(reads, caller, upload)?;
    match Slot::of(reads, caller, &record.at()?, record.parents)? {
        Slot::Occupied(chain) => Ok((record, Some(chain))),
        Slot::Vacant(_) => Ok((record, None)),
    }
}

/// A token can continue an upload of its account only if it could begin it.
fn may_go_on(reads: &impl Reads, caller: &Caller, record: &UploadRecord) -> Result<bool> {
    if caller.is_unlimited() {
        return Ok(true);
    }
    match Slot::of(reads, caller, &record.at()?, record.parents) {
        Ok(Slot::Occupied(chain)) => Ok(chain.rights(caller).allow(Operation::Write)),
        Ok(Slot::Vacant(_)) => Ok(true),
        Err(error) if error.is_refusal() => Ok(false),
        Err(error) => Err(error),
    }
}

/// All parts, each with its offset, by which they are sorted.
pub(crate) fn parts(reads: &impl Reads, upload: u64) -> Result<Vec<(u64, PartRecord)>> {
    let rows = reads.rows(&keys::parts(upload), usize::MAX)?;
    let part = |(key, value): &(Bytes, Bytes)| {
        Ok((keys::last_id(key).unwrap_or_default(), PartRecord::from_value(value)?))
    };
    rows.iter().map(part).collect()
}

/// Puts a part where another may be, whose place it takes.
pub(crate) fn put_part(
    tx: &mut Transaction,
    (upload, offset): (u64, u64),
    part: &PartRecord,
) -> Result<()> {
    match tx.get::<PartRecord>(&keys::part(upload, offset))? {
        Some(earlier) => tx.mark(keys::garbage(tx.now(), earlier.content)),
        None => tx.add(upload, Counter::Parts, 1),
    }
    tx.put(keys::part(upload, offset), part);
    Ok(())
}

/// Cancels an upload, with its parts or stage.
pub(crate) fn forget(tx: &mut Transaction, upload: u64) -> Result<()> {
    let parts = parts(tx, upload)?;
    // The stage of a record that is damaged is found by the check.
    let record = tx.value(&keys::upload(upload))?.and_then(|it| UploadRecord::from_value(&it).ok());
    if let Some(head) = record.and_then(|record| record.stage) {
        tx.mark(keys::garbage(tx.now(), head.id));
    }
    forget_parts(tx, upload, &parts);
    Ok(())
}

/// The same where all its parts are known.
pub(crate) fn forget_parts(tx: &mut Transaction, upload: u64, parts: &[(u64, PartRecord)]) {
    for (offset, part) in parts {
        tx.delete(keys::part(upload, *offset));
        tx.mark(keys::garbage(tx.now(), part.content));
    }
    tx.delete(keys::counter(upload, Counter::Parts));
    tx.delete(keys::upload(upload));
}
