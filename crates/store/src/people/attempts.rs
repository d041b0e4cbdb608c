//! Attempts to log in with a wrong password: the more of them, the longer until the next one counts.
//!
//! Invariants: an attempt that comes too soon is refused before any password is looked at, whether the name exists or
//! not; memory is bounded, whatever names and addresses are invented.
//!
//! Failures are counted for the account, so that many addresses together guess no faster, and for the address, so that one
//! address does not try every account. Who has logged in to the account from the address before is counted by account and
//! address alone: strangers elsewhere cannot make them wait.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::login::{Login, LoginLimits};
use crate::model::Time;

/// What failures are counted for: the beginning of a digest, so that each takes as much room.
type Key = [u8; 16];

/// Accounts and addresses that are remembered.
const MOST: usize = 32_768;
/// Failures are forgotten so long after the last one, at the earliest.
const MEMORY: Duration = Duration::from_secs(3_600);
/// Who has logged in from an address is remembered so long.
const TRUST: Duration = Duration::from_secs(30 * 24 * 3_600);

#[derive(Debug, Default)]
struct Row {
    failures: u32,
    /// The next attempt counts from then on.
    open: Time,
    /// The account is locked until then.
    locked: Time,
    /// Nothing is remembered from then on.
    forgotten: Time,
    /// It is an account and an address from which somebody has logged in to it.
    trusted: bool,
}

/// Failed attempts, by account and by address.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    rows: Mutex<HashMap<Key, Row>>,
}

impl Attempts {
    /// How long an attempt has to wait, if it comes too soon.
    pub(super) fn wait(&self, login: &Login<'_>, now: Time) -> Option<Duration> {
        let rows = self.rows();
        let account = rows.get(&account(login.name));
        let open = match rows.get(&pair(login)).filter(|row| row.trusted) {
            Some(own) => own.open,
            None => {
                let address = address(login.address).and_then(|key| rows.get(&key));
                let open = |row: Option<&Row>| row.map_or(now, |row| row.open);
                open(account).max(open(address))
            }
        };
        let open = open.max(account.map_or(now, |row| row.locked));
        let wait = open.nanos().saturating_sub(now.nanos());
        (wait > 0).then(|| Duration::from_nanos(wait.unsigned_abs()))
    }

    /// Counts a wrong password.
    pub(super) fn failed(&self, login: &Login<'_>, now: Time) {
        let limits = &login.limits;
        let mut rows = self.rows();
        make_room(&mut rows, now);
        rows.entry(pair(login)).or_default().fail(limits, limits.failures, now);
        let own = rows.entry(account(login.name)).or_default();
        own.fail(limits, limits.failures, now);
        own.lock(limits, now);
        if let Some(key) = address(login.address).filter(|_| limits.address_failures > 0) {
            rows.entry(key).or_default().fail(limits, limits.address_failures, now);
        }
    }

    /// Records a successful login.
    pub(super) fn succeeded(&self, login: &Login<'_>, now: Time) {
        let mut rows = self.rows();
        make_room(&mut rows, now);
        let forgotten = now.plus(TRUST);
        rows.insert(pair(login), Row { forgotten, trusted: true, ..Row::default() });
    }

    fn rows(&self) -> MutexGuard<'_, HashMap<Key, Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Row {
    /// The wait doubles with each failure beyond those that are free.
    fn fail(&mut self, limits: &LoginLimits, free: u32, now: Time) {
        if self.forgotten <= now {
            *self = Self::default();
        }
        self.failures = self.failures.saturating_add(1);
        if let Some(doubled) = self.failures.checked_sub(free.saturating_add(1)) {
            let wait = Duration::from_secs(1_u64.checked_shl(doubled).unwrap_or(u64::MAX));
            self.open = now.plus(wait.min(limits.longest_wait));
        }
        self.forgotten = self.forgotten.max(now.plus(MEMORY.max(limits.longest_wait)));
    }

    fn lock(&mut self, limits: &LoginLimits, now: Time) {
        if limits.lockout_failures > 0 && self.failures >= limits.lockout_failures {
            self.failures = 0;
            self.locked = now.plus(limits.lockout);
            self.forgotten = self.forgotten.max(self.locked);
        }
    }

    /// Cancelled last.
    fn is_worth_keeping(&self, now: Time) -> bool {
        self.trusted || self.open > now || self.locked > now
    }
}

fn make_room(rows: &mut HashMap<Key, Row>, now: Time) {
    let is_full = |rows: &HashMap<Key, Row>| rows.len() + 3 > MOST;
    if is_full(rows) {
        rows.retain(|_, row| row.forgotten > now);
    }
    if is_full(rows) {
        rows.retain(|_, row| row.is_worth_keeping(now));
    }
    if is_full(rows) {
        rows.clear();
    }
}

fn account(name: &str) -> Key {
    key(b"account", name, None)
}

fn pair(login: &Login<'_>) -> Key {
    key(b"pair", login.name, login.address)
}

/// Addresses of this machine are those of a proxy: everybody comes from there.
fn address(address: Option<IpAddr>) -> Option<Key> {
    let address = network(address?);
    (!address.is_loopback()).then(|| key(b"address", "", Some(address)))
}

fn key(kind: &[u8], name: &str, address: Option<IpAddr>) -> Key {
    let mut digest = Sha256::new();
    digest.update(kind);
    digest.update((name.len() as u64).to_be_bytes());
    digest.update(name);
    digest.update(address.map(network).map(|address| address.to_string()).unwrap_or_default());
    let digest: [u8; 32] = digest.finalize().into();
    digest[..16].try_into().expect("half of 32 bytes is 16")
}

/// What one customer of a provider has: an address of version 4, or 2⁶⁴ of version 6.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_secs(1_000_000);

    fn login<'a>(name: &'a str, address: &str, limits: &'a LoginLimits) -> Login<'a> {
        Login { name, password: "", address: address.parse().ok(), limits }
    }

    fn seconds(attempts: &Attempts, login: &Login<'_>, now: Time) -> u64 {
        attempts.wait(login, now).map_or(0, |wait| wait.as_secs())
    }

    #[test]
    fn delays_double_up_to_a_limit_and_expire() {
        let limits = LoginLimits::default();
        let (attempts, login) = (Attempts::default(), login("ada", "10.0.0.1", &limits));
        let mut waits = Vec::new();
        let mut now = NOW;
        for _ in 0..14 {
            attempts.failed(&login, now);
            waits.push(seconds(&attempts, &login, now));
            now = now.plus(Duration::from_secs(60));
            assert_eq!(seconds(&attempts, &login, now), 0);
        }
        assert_eq!(waits, [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
        attempts.failed(&login, now.plus(MEMORY));
        assert_eq!(seconds(&attempts, &login, now.plus(MEMORY)), 0);
    }

    #[test]
    fn addresses_and_accounts_are_delayed_independently() {
        let limits = LoginLimits::default();
        let attempts = Attempts::default();
        for n in 0..=limits.address_failures {
            attempts.failed(&login(&format!("user{n}"), "10.0.0.1", &limits), NOW);
        }
        assert_eq!(seconds(&attempts, &login("new", "10.0.0.1", &limits), NOW), 1);
        assert_eq!(seconds(&attempts, &login("new", "::ffff:10.0.0.1", &limits), NOW), 1);
        assert_eq!(seconds(&attempts, &login("new", "10.0.0.2", &limits), NOW), 0);
        for n in 0..=limits.failures {
            attempts.failed(&login("ada", &format!("2001:db8:0:{n}::1"), &limits), NOW);
        }
        assert_eq!(seconds(&attempts, &login("ada", "10.0.0.3", &limits), NOW), 1);
        assert_eq!(seconds(&attempts, &login("grace", "10.0.0.3", &limits), NOW), 0);
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address_and_loopback_is_exempt() {
        let limits = LoginLimits::default();
        let attempts = Attempts::default();
        for n in 0..=limits.address_failures {
            attempts.failed(&login(&n.to_string(), &format!("2001:db8::{n}"), &limits), NOW);
            attempts.failed(&login(&n.to_string(), "127.0.0.1", &limits), NOW);
            attempts.failed(&login(&n.to_string(), "::1", &limits), NOW);
        }
        assert_eq!(seconds(&attempts, &login("new", "2001:db8::ffff", &limits), NOW), 1);
        assert_eq!(seconds(&attempts, &login("new", "127.0.0.1", &limits), NOW), 0);
        assert_eq!(seconds(&attempts, &login("new", "::1", &limits), NOW), 0);
    }

    #[test]
    fn failures_of_others_do_not_delay_a_known_account_at_its_address() {
        let limits = LoginLimits::default();
        let attempts = Attempts::default();
        let own = login("ada", "10.0.0.1", &limits);
        attempts.succeeded(&own, NOW);
        for n in 0..100 {
            attempts.failed(&login("ada", &format!("10.0.1.{n}"), &limits), NOW);
            attempts.failed(&login(&format!("user{n}"), "10.0.0.1", &limits), NOW);
        }
        assert_eq!(seconds(&attempts, &own, NOW), 0);
        for _ in 0..=limits.failures {
            attempts.failed(&own, NOW);
        }
        assert_eq!(seconds(&attempts, &own, NOW), 1);
    }

    #[test]
    fn a_lockout_is_a_setting() {
        let lockout = Duration::from_secs(900);
        let limits = LoginLimits { lockout_failures: 3, lockout, ..LoginLimits::default() };
        let attempts = Attempts::default();
        let own = login("ada", "10.0.0.1", &limits);
        attempts.succeeded(&own, NOW);
        for _ in 0..3 {
            assert_eq!(seconds(&attempts, &own, NOW), 0);
            attempts.failed(&login("ada", "10.0.0.2", &limits), NOW);
        }
        assert_eq!(seconds(&attempts, &own, NOW), 900);
        let later = NOW.plus(lockout);
        attempts.failed(&own, later);
        assert_eq!(seconds(&attempts, &own, later), 0);
    }

    #[test]
    fn invented_names_and_addresses_use_bounded_memory() {
        let limits = LoginLimits::default();
        let attempts = Attempts::default();
        attempts.succeeded(&login("ada", "10.0.0.1", &limits), NOW);
        for n in 0..20_000_u32 {
            let address = Ipv6Addr::from_bits(u128::from(n) << 64).to_string();
            attempts.failed(&login(&n.to_string(), &address, &limits), NOW);
            assert!(attempts.rows().len() <= MOST);
        }
        assert!(attempts.rows().get(&pair(&login("ada", "10.0.0.1", &limits))).is_some());
    }
}
