//! What a token is for.

use minicbor::{Decode, Encode};

/// What a token allows in addition to working with resources. A token without scopes works only with resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(index_only)]
pub enum TokenScope {
    /// Make, list and revoke the account's tokens; those that it makes neither exceed nor outlive it.
    #[n(0)]
    Tokens,
    /// Change the account: its password.
    #[n(1)]
    Account,
    /// Do what the account's role allows: users, groups, places, checks.
    #[n(2)]
    Admin,
}

impl TokenScope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::Tokens, Self::Account, Self::Admin];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Account => "account",
            Self::Admin => "admin",
        }
    }
}

impl std::str::FromStr for TokenScope {
    type Err = crate::Error;

    fn from_str(word: &str) -> crate::Result<Self> {
        let known = Self::ALL.into_iter().find(|scope| scope.as_str() == word);
        known.ok_or_else(|| {
            crate::Error::invalid(format!("no such scope: {word:.64?}"))
                .with_hint("the scopes are tokens, account and admin")
        })
    }
}
