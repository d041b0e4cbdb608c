//! Passwords received over a network: known ones are accepted at once, others are verified, and wrong ones slow down those
//! that follow.
//!
//! Invariant: a user who has recently logged in from an address can do so again without an argon2 and without a delay, whatever others
//! try. A password that was right elsewhere is verified, so that a stranger cannot guess against what is remembered.

use std::net::IpAddr;
use std::time::Duration;

use crate::{Caller, ErrorKind, Result, Store};

/// A name and a password, as received.
#[derive(Clone, Copy)]
pub struct Login<'a> {
    /// The claimed identity.
    pub name: &'a str,
    /// The secret.
    pub password: &'a str,
    /// The address it came from, if it came over a network.
    pub address: Option<IpAddr>,
    /// The settings of the server.
    pub limits: &'a LoginLimits,
}

impl std::fmt::Debug for Login<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("name", &self.name).finish_non_exhaustive()
    }
}

/// How wrong passwords slow down further attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginLimits {
    /// Wrong passwords for an account before the next attempt has to wait.
    pub failures: u32,
    /// The same from an address, whatever the accounts; 0 if addresses are not counted.
    pub address_failures: u32,
    /// The wait is a second at first, doubles with each wrong password, and is never longer than this.
    pub longest_wait: Duration,
    /// Wrong passwords after which an account is locked; 0 if it never is.
    pub lockout_failures: u32,
    /// How long it is locked then.
    pub lockout: Duration,
}

impl Default for LoginLimits {
    fn default() -> Self {
        Self {
            failures: 5,
            address_failures: 50,
            longest_wait: Duration::from_secs(60),
            lockout_failures: 0,
            lockout: Duration::from_secs(900),
        }
    }
}

/// What became of an attempt to log in.
#[derive(Debug)]
pub enum LoggedIn {
    /// The password is right.
    As(Caller),
    /// It came too soon after wrong ones, and was not checked.
    TooSoon(Duration),
}

impl Store {
    /// The caller, if the password was right from this address lately. Costs microseconds.
    pub fn known_caller(&self, login: &Login<'_>) -> Result<Option<Caller>> {
        self.remembered(login.name, login.password, login.address)
    }

    /// How long a login has to wait that is not known.
    pub fn login_wait(&self, login: &Login<'_>) -> Option<Duration> {
        self.inner.attempts.wait(login, self.now())
    }

    /// Logs in with a password, which costs an argon2 if it is not known and does not come too soon.
    ///
    /// # Errors
    /// [`ErrorKind::Unauthenticated`] if the name or the password is wrong, which is counted.
    pub fn log_in(&self, login: &Login<'_>) -> Result<LoggedIn> {
        if let Some(caller) = self.known_caller(login)? {
            return Ok(LoggedIn::As(caller));
        }
        if let Some(wait) = self.login_wait(login) {
            return Ok(LoggedIn::TooSoon(wait));
        }
        let verified = self.verified(login.name, login.password, login.address);
        let attempts = &self.inner.attempts;
        match &verified {
            Ok(_) => attempts.succeeded(login, self.now()),
            Err(error) if error.kind() == ErrorKind::Unauthenticated => {
                attempts.failed(login, self.now());
            }
            Err(_) => {}
        }
        verified.map(LoggedIn::As)
    }
}
