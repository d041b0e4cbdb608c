//! Access tokens: secrets that represent an account, within limits, until they are revoked. The catalog keeps their
//! SHA-256 only.
//!
//! Invariant: a token created with another token neither exceeds nor outlives it: it grants no more, expires no later, and
//! is revoked with it.

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::account::{by_name, nobody};
use super::authenticate::unauthenticated;
use crate::access::{Act, Operation, TokenLimits};
use crate::catalog::{Reads, SessionRecord, TokenRecord, Transaction, keys};
use crate::model::{At, PersonId, ResourceId, Rights, Time, TokenScope};
use crate::resources::find as find_resource;
use crate::{Caller, Error, ErrorKind, Result, Store};

/// A token to create.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewToken {
    /// What it is for.
    pub label: String,
    /// What may be done with it at most.
    pub rights: Rights,
    /// The only subtree it opens, if not all.
    pub within: Option<At>,
    /// How long it holds; for ever, if none.
    pub lifetime: Option<Duration>,
    /// What it allows in addition to working with resources.
    pub scopes: Vec<TokenScope>,
}

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Names it.
    pub id: u64,
    /// What it is for.
    pub label: String,
    /// What may be done with it at most.
    pub rights: Rights,
    /// The only subtree it opens.
    pub within: Option<ResourceId>,
    /// When it was created.
    pub created: Time,
    /// When it ends.
    pub expires: Option<Time>,
    /// What it allows in addition.
    pub scopes: Vec<TokenScope>,
}

/// Tokens begin with this, so that one in the wrong place is recognised.
const PREFIX: &str = "cn_";

impl Store {
    /// Creates a token for the caller's account. The secret is returned here, and never again. Needs the password, or a
    /// token of the scope [`TokenScope::Tokens`], which the new one must not exceed or outlive.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for the scope `account` or `admin` on a token that does not open everything;
    /// [`ErrorKind::Denied`] for a token that would exceed or outlive the one that makes it.
    pub fn add_token(&self, caller: &Caller, new: &NewToken) -> Result<(String, Token)> {
        caller.require(Act::Tokens)?;
        self.make_token(caller, new, None)
    }

    /// Creates a token that was permitted.
    pub(super) fn make_token(
        &self,
        caller: &Caller,
        new: &NewToken,
        session: Option<SessionRecord>,
    ) -> Result<(String, Token)> {
        let secret: [u8; 32] = self.random();
        let secret = format!("{PREFIX}{}", hex::encode(secret));
        let id = self.new_id()?;
        let record = self.transact(|tx| {
            drop_expired(tx, caller.user())?;
            let mut record = new_record(tx, caller, id, new)?;
            record.session = session;
            let digest = digest(&secret);
            tx.put(keys::token(&digest), &record);
            tx.put_raw(keys::token_of(caller.user(), id), bytes::Bytes::copy_from_slice(&digest));
            Ok(record)
        })?;
        Ok((secret, record.into()))
    }

    /// The tokens of the caller's account. Needs what [`Store::add_token`] needs.
    pub fn tokens(&self, caller: &Caller) -> Result<Vec<Token>> {
        caller.require(Act::Tokens)?;
        let tokens = of_user(&self.view()?, caller.user())?;
        Ok(tokens.into_iter().map(|(_, record)| record.into()).collect())
    }

    /// Revokes a token of the caller's account, or of a user's if the caller is an administrator, and all tokens that
    /// were made by it. Needs what [`Store::add_token`] needs.
    pub fn revoke_token(&self, caller: &Caller, user: Option<&str>, id: u64) -> Result<()> {
        let revoked = self.transact(|tx| {
            let owner = match user.filter(|name| *name != caller.name()) {
                None => {
                    caller.require(Act::Tokens)?;
                    caller.user()
                }
                Some(name) => {
                    caller.require(Act::OthersWork)?;
                    by_name(tx, name)?.ok_or_else(|| nobody(name))?.0
                }
            };
            if tx.value(&keys::token_of(owner, id))?.is_none() {
                return Err(Error::new(ErrorKind::NotFound, format!("no such token: {id}"))
                    .with_hint("list your tokens"));
            }
            revoke_with_descendants(tx, owner, id)
        });
        self.wake_followers();
        revoked
    }
}

impl Store {
    /// Revokes a token, and all tokens created with it; its secret is sufficient for this.
    ///
    /// # Errors
    /// [`ErrorKind::Unauthenticated`] if there is no such token.
    pub fn end_token(&self, token: &str) -> Result<()> {
        let ended = self.transact(|tx| {
            let gone = || Error::new(ErrorKind::Unauthenticated, "there is no such token");
            let record = find(tx, token)?.ok_or_else(gone)?;
            revoke_with_descendants(tx, record.user, record.id)
        });
        self.wake_followers();
        ended
    }
}

/// The record of a new token, which neither exceeds nor outlives a token that makes it.
fn new_record(tx: &Transaction, caller: &Caller, id: u64, new: &NewToken) -> Result<TokenRecord> {
    let within = new.within.as_ref();
    let within = within.map(|at| find_resource(tx, caller, at, Operation::Stat)).transpose()?;
    let within = within.map(|chain| chain.id());
    let expires = new.lifetime.map(|lifetime| tx.now().plus(lifetime));
    let (rights, scopes) = (new.rights, new.scopes.clone());
    let limits = TokenLimits { id: Some(id), rights, within, expires, scopes };
    require_whole_for_scopes(&limits)?;
    let maker = caller.credential().limits();
    if let Some(maker) = maker {
        require_covered(maker, &limits)?;
    }
    Ok(TokenRecord {
        id,
        user: caller.user(),
        label: new.label.clone(),
        rights,
        within,
        created: tx.now(),
        expires,
        scopes: Some(limits.scopes),
        session: None,
        made_by: maker.and_then(|maker| maker.id),
    })
}

/// A token that may change the account or the store can obtain every right, so it has all of them.
fn require_whole_for_scopes(limits: &TokenLimits) -> Result<()> {
    let partial = |scope: &&TokenScope| **scope != TokenScope::Tokens && !limits.is_whole();
    match limits.scopes.iter().find(partial) {
        None => Ok(()),
        Some(scope) => {
            let word = scope.as_str();
            Err(Error::invalid(format!(
                "a token with the scope {word} can have neither a level nor a subtree"
            ))
            .with_hint("leave out the level and the subtree, or the scope"))
        }
    }
}

/// A subtree of the creator's, if it has one, has been found by the creator already.
fn require_covered(maker: &TokenLimits, new: &TokenLimits) -> Result<()> {
    let outlives = maker.expires.is_some_and(|end| new.expires.is_none_or(|expires| expires > end));
    let exceeds = !maker.rights.contains(new.rights)
        || (maker.within.is_some() && new.within.is_none())
        || new.scopes.iter().any(|scope| !maker.scopes.contains(scope));
    let (message, hint) = match (exceeds, outlives) {
        (true, _) => (
            "a token cannot create one with more rights than its own",
            "give a lower level, a subtree or fewer scopes, or log in",
        ),
        (_, true) => {
            ("a token cannot create one that outlives it", "give a shorter lifetime, or log in")
        }
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::Denied, message).with_hint(hint))
}

/// The tokens of a user, each with its digest.
fn of_user(reads: &impl Reads, user: PersonId) -> Result<Vec<([u8; 32], TokenRecord)>> {
    let mut tokens = Vec::new();
    for (_, digest) in reads.rows(&keys::tokens_of(user), usize::MAX)? {
        let digest = digest[..].try_into().map_err(|_| Error::damaged("a token's digest"))?;
        let record = reads.get::<TokenRecord>(&keys::token(&digest))?;
        tokens.extend(record.map(|record| (digest, record)));
    }
    Ok(tokens)
}

/// Revokes what has expired, so that logins leave nothing behind.
fn drop_expired(tx: &mut Transaction, user: PersonId) -> Result<()> {
    let now = tx.now();
    revoke_where(tx, user, |token| token.expires.is_some_and(|expires| expires <= now))
}

/// Revokes the logins of a user: what a password opened ends with the password.
pub(super) fn end_sessions(tx: &mut Transaction, user: PersonId) -> Result<()> {
    revoke_where(tx, user, |token| token.session.is_some())
}

fn revoke_where(
    tx: &mut Transaction,
    user: PersonId,
    which: impl Fn(&TokenRecord) -> bool,
) -> Result<()> {
    for (digest, record) in of_user(tx, user)?.into_iter().filter(|(_, record)| which(record)) {
        revoke(tx, keys::token_of(user, record.id), &digest);
    }
    Ok(())
}

fn revoke_with_descendants(tx: &mut Transaction, user: PersonId, id: u64) -> Result<()> {
    let tokens = of_user(tx, user)?;
    let mut gone = vec![id];
    while let Some(id) = gone.pop() {
        let made = tokens.iter().filter(|(_, token)| token.made_by == Some(id));
        gone.extend(made.map(|(_, token)| token.id));
        let key = keys::token_of(user, id);
        if let Some(digest) = tx.value(&key)? {
            revoke(tx, key, &digest);
        }
    }
    Ok(())
}

/// Revokes every token of a user who is removed.
pub(super) fn revoke_all(tx: &mut Transaction, user: PersonId) -> Result<()> {
    for (key, digest) in tx.rows(&keys::tokens_of(user), usize::MAX)? {
        revoke(tx, key, &digest);
    }
    Ok(())
}

fn revoke(tx: &mut Transaction, key: bytes::Bytes, digest: &[u8]) {
    if let Ok(digest) = digest.try_into() {
        tx.delete(keys::token(digest));
    }
    tx.delete(key);
}

/// The record of a token, by its secret.
pub(super) fn find(reads: &impl Reads, token: &str) -> Result<Option<TokenRecord>> {
    row(token).map_or(Ok(None), |row| reads.get(&row))
}

/// Where the record of a token is, by its secret.
pub(super) fn row(token: &str) -> Option<bytes::Bytes> {
    token.starts_with(PREFIX).then(|| keys::token(&digest(token)))
}

/// The limits of a token of a user, if it still holds.
pub(super) fn renewed(
    reads: &impl Reads,
    user: PersonId,
    id: u64,
    now: Time,
) -> Result<TokenLimits> {
    let Some(digest) = reads.value(&keys::token_of(user, id))? else { return Err(ended()) };
    let digest = digest[..].try_into().map_err(|_| Error::damaged("a token's digest"))?;
    let record = reads.get::<TokenRecord>(&keys::token(&digest))?;
    record.filter(|record| record.holds(now)).map(|record| record.limits()).ok_or_else(ended)
}

pub(super) fn ended() -> Error {
    unauthenticated("the token is unknown, revoked or has expired")
}

/// Changes when a token expires, if it exists.
pub(super) fn prolong(tx: &mut Transaction, token: &str, expires: Time) -> Result<()> {
    if let Some(record) = find(tx, token)? {
        tx.put(keys::token(&digest(token)), &TokenRecord { expires: Some(expires), ..record });
    }
    Ok(())
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

impl TokenRecord {
    /// Whether it has not expired.
    pub(super) fn holds(&self, now: Time) -> bool {
        self.expires.is_none_or(|expires| expires > now)
    }

    /// Its maximum rights. An unlimited token created before there were scopes can still administer.
    pub(super) fn limits(&self) -> TokenLimits {
        let Self { id, rights, within, expires, .. } = *self;
        let mut limits = TokenLimits { id: Some(id), rights, within, expires, scopes: Vec::new() };
        limits.scopes = match &self.scopes {
            Some(scopes) => scopes.clone(),
            None if limits.is_whole() => vec![TokenScope::Admin],
            None => Vec::new(),
        };
        limits
    }
}

impl From<TokenRecord> for Token {
    fn from(record: TokenRecord) -> Self {
        let TokenLimits { scopes, .. } = record.limits();
        let TokenRecord { id, label, rights, within, created, expires, .. } = record;
        Self { id, label, rights, within, created, expires, scopes }
    }
}
