//! Which secret of the settings is sent to which server.
//!
//! Invariant: a secret that was set together with the address of a store is sent only to that
//! store.

use std::net::IpAddr;

use super::logins::address;
use super::{Setting, Settings};
use crate::{Credential, Error, Kind, Result};

impl Settings {
    /// The credential for the store at `url`: a token or a user with a password, whichever has the higher precedence;
    /// without either, the login there. `password_of` prompts for a password that is not set.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for a secret that was set for another store, and those of `password_of`.
    pub fn credential<E: From<Error>>(
        &self,
        url: &str,
        password_of: impl FnOnce(&str) -> Result<String, E>,
    ) -> Result<Option<Credential>, E> {
        let (user, token) = (self.get("user"), self.get("token"));
        if let (None, None, Some(login)) = (token, self.get("password"), self.login_at(url)) {
            return Ok(Some(Credential::Token(login.token.clone())));
        }
        let strength = |setting: &Setting| setting.source.strength();
        match (user, token) {
            (Some(user), token) if token.is_none_or(|token| strength(user) > strength(token)) => {
                let user = user.value.clone();
                let password = match self.meant_for("password", url)? {
                    Some(password) => password.value.clone(),
                    None => password_of(&user)?,
                };
                Ok(Some(Credential::Password { user, password }))
            }
            (_, Some(_)) => Ok(self
                .meant_for("token", url)?
                .map(|token| Credential::Token(token.value.clone()))),
            _ => Ok(None),
        }
    }

    /// A secret, unless it was set together with the address of another store, to which alone it may be sent.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for such a secret.
    pub fn meant_for(&self, name: &str, url: &str) -> Result<Option<&Setting>> {
        let Some(secret) = self.get(name) else { return Ok(None) };
        match self.url_beside(secret) {
            Some(other) if address(other) != address(url) => {
                let from = &secret.source;
                let message =
                    format!("the {name} set in {from} is for {other}, and is not sent to {url}");
                Err(Error::new(Kind::Invalid, message).with_hint(
                    "set CENOTE_URL and the credentials in the same place, or remove the secret from there",
                ))
            }
            _ => Ok(Some(secret)),
        }
    }

    /// Whether `url` is the store of the settings.
    pub fn is_at(&self, url: &str) -> bool {
        self.get("url").is_some_and(|own| address(&own.value) == address(url))
    }
}

/// Whether an address is that of another machine, without TLS.
pub fn is_in_clear(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let here = host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
    scheme.eq_ignore_ascii_case("http") && !here
}

#[cfg(test)]
mod tests {
    use super::is_in_clear;

    #[test]
    fn only_connections_to_other_machines_without_tls_are_unencrypted() {
        for url in [
            "http://127.0.0.1:8470",
            "http://localhost:8470/",
            "HTTP://LOCALHOST",
            "http://[::1]:8470",
            "http://[::ffff:127.0.0.1]",
            "https://store.example",
            "/data/store",
        ] {
            assert!(!is_in_clear(url), "{url}");
        }
        for url in [
            "http://store.example:8470",
            "Http://192.0.2.1/",
            "http://[2001:db8::1]:8470",
            "http://localhost@store.example",
            "http://localhost.store.example",
            "http://127.0.0.1.store.example",
        ] {
            assert!(is_in_clear(url), "{url}");
        }
    }
}
