//! Logins: tokens that an opening issues for a password, and that are extended while they are used.
//!
//! Invariant: a login ends with the password that opened it.

use std::time::Duration;

use super::token;
use crate::access::Act;
use crate::catalog::{SessionRecord, TokenRecord};
use crate::model::{Rights, TokenScope};
use crate::people::NewToken;
use crate::{Caller, Result, Store};

/// A login to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// What the list of tokens calls it.
    pub label: String,
    /// How long it lasts unused.
    pub idle: Duration,
    /// How long it lasts at most; no longer than `idle`, and use does not extend it.
    pub longest: Duration,
}

impl Store {
    /// Creates a token for a caller who has logged in by password. It does with resources what the account may, and what
    /// its role allows; it does not change the account, nor make tokens.
    pub fn open_session(&self, caller: &Caller, new: &NewSession) -> Result<String> {
        caller.require(Act::LogIn)?;
        let session =
            SessionRecord { idle: new.idle.as_secs(), until: self.now().plus(new.longest) };
        let login = NewToken {
            label: new.label.clone(),
            rights: Rights::OWN,
            within: None,
            lifetime: Some(new.idle.min(new.longest)),
            scopes: vec![TokenScope::Admin],
        };
        Ok(self.make_token(caller, &login, Some(session))?.0)
    }

    /// Extends a login that is used. That is a change, so it is made when half of its time is over, and not for
    /// each use; a store that accepts no changes continues without it.
    pub(super) fn extend_session(&self, secret: &str, record: &TokenRecord) {
        let (Some(session), Some(expires)) = (&record.session, record.expires) else { return };
        let idle = Duration::from_secs(session.idle);
        let later = self.now().plus(idle).min(session.until);
        if later > expires && self.now().plus(idle / 2) > expires {
            let extended =
                self.in_place(|store| store.transact(|tx| token::prolong(tx, secret, later)));
            if let Err(error) = extended {
                tracing::debug!(%error, "a login was not extended");
            }
        }
    }
}
