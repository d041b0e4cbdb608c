//! Access tokens: secrets that stand for a user, within limits, until revoked. The catalog
//! keeps their SHA-256 only.

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::account::{by_name, nobody, require_role};
use crate::catalog::{Reads, TokenRecord, Transaction, keys};
use crate::model::{At, Level, PersonId, ResourceId, Role, Time};
use crate::tree::find as find_resource;
use crate::{Caller, Error, ErrorKind, Result, Store};

/// A token to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// What it is for.
    pub label: String,
    /// What may be done with it at most.
    pub level: Level,
    /// The only subtree it opens, if not all.
    pub within: Option<At>,
    /// How long it holds; for ever, if none.
    pub lifetime: Option<Duration>,
}

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Names it.
    pub id: u64,
    /// What it is for.
    pub label: String,
    /// What may be done with it at most.
    pub level: Level,
    /// The only subtree it opens.
    pub within: Option<ResourceId>,
    /// When it was made.
    pub created: Time,
    /// When it ends.
    pub expires: Option<Time>,
}

/// Tokens begin with this, so that one in the wrong place is recognised.
const PREFIX: &str = "cn_";

impl Store {
    /// Makes a token for the caller. The secret is returned here, and never again.
    pub fn add_token(&self, caller: &Caller, new: &NewToken) -> Result<(String, Token)> {
        if caller.is_anonymous() || !caller.is_unlimited() {
            return Err(Error::new(
                ErrorKind::Denied,
                "a token cannot make tokens; log in with a password",
            ));
        }
        let secret: [u8; 32] = self.random();
        let secret: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let secret = format!("{PREFIX}{secret}");
        let id = self.new_id()?;
        let record = self.transact(|tx| {
            drop_expired(tx, caller.user())?;
            let within = new.within.as_ref();
            let within =
                within.map(|at| find_resource(tx, caller, at, Level::ReadMetadata)).transpose()?;
            let record = TokenRecord {
                id,
                user: caller.user(),
                label: new.label.clone(),
                level: new.level,
                within: within.map(|chain| chain.id()),
                created: tx.now(),
                expires: new.lifetime.map(|lifetime| tx.now().plus(lifetime)),
            };
            let digest = digest(&secret);
            tx.put(keys::token(&digest), &record);
            tx.put_raw(keys::token_of(caller.user(), id), bytes::Bytes::copy_from_slice(&digest));
            Ok(record)
        })?;
        Ok((secret, record.into()))
    }

    /// The caller's tokens.
    pub fn tokens(&self, caller: &Caller) -> Result<Vec<Token>> {
        let view = self.view()?;
        let rows = view.rows(&keys::tokens_of(caller.user()), usize::MAX)?;
        let mut tokens = Vec::with_capacity(rows.len());
        for (_, digest) in rows {
            let digest = digest[..].try_into().map_err(|_| Error::damaged("a token's digest"))?;
            tokens.extend(view.get::<TokenRecord>(&keys::token(&digest))?.map(Token::from));
        }
        Ok(tokens)
    }

    /// Revokes a token of the caller's, or of a user's if the caller is an administrator.
    pub fn revoke_token(&self, caller: &Caller, user: Option<&str>, id: u64) -> Result<()> {
        self.transact(|tx| {
            let owner = match user.filter(|name| *name != caller.name()) {
                None => caller.user(),
                Some(name) => {
                    require_role(caller, Role::Admin)?;
                    by_name(tx, name)?.ok_or_else(|| nobody(name))?.0
                }
            };
            let key = keys::token_of(owner, id);
            let digest = tx.value(&key)?.ok_or_else(|| {
                Error::new(ErrorKind::NotFound, format!("no such token: {id}"))
                    .with_hint("list your tokens")
            })?;
            revoke(tx, key, &digest);
            Ok(())
        })
    }
}

/// Revokes what has expired, so that logins leave nothing behind.
fn drop_expired(tx: &mut Transaction, user: PersonId) -> Result<()> {
    for (key, digest) in tx.rows(&keys::tokens_of(user), usize::MAX)? {
        let known = digest[..].try_into().map_err(|_| Error::damaged("a token's digest"))?;
        let record = tx.get::<TokenRecord>(&keys::token(&known))?;
        if record.and_then(|record| record.expires).is_some_and(|expires| expires <= tx.now()) {
            revoke(tx, key, &digest);
        }
    }
    Ok(())
}

/// Revokes every token of a user who goes.
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
    match token.starts_with(PREFIX) {
        true => reads.get(&keys::token(&digest(token))),
        false => Ok(None),
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

impl From<TokenRecord> for Token {
    fn from(record: TokenRecord) -> Self {
        let TokenRecord { id, label, level, within, created, expires, .. } = record;
        Self { id, label, level, within, created, expires }
    }
}
