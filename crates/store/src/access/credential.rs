//! How a caller was authenticated, which bounds what they may do.

use crate::model::{ResourceId, Rights, Time, TokenScope};

/// How a caller was authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    /// Not at all.
    Anonymous,
    /// By the account's password, or by an opening in a way that counts as much.
    Password,
    /// By a token, which may do less than its account.
    Token(TokenLimits),
    /// By having the store's directory open on this machine.
    Directory,
}

/// What a token may do at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenLimits {
    /// The token's id; none for a recorded job that continues within the limits of a token.
    pub(crate) id: Option<u64>,
    /// The most that it may do with a resource.
    pub(crate) rights: Rights,
    /// The only subtree that it opens.
    pub(crate) within: Option<ResourceId>,
    /// When it ends.
    pub(crate) expires: Option<Time>,
    /// Further permissions.
    pub(crate) scopes: Vec<TokenScope>,
}

impl Credential {
    /// The limits of a token, if it is one.
    pub(crate) fn limits(&self) -> Option<&TokenLimits> {
        match self {
            Self::Token(limits) => Some(limits),
            Self::Anonymous | Self::Password | Self::Directory => None,
        }
    }

    /// Whether it has this scope; only a token can lack one that its account has.
    pub(super) fn has(&self, scope: TokenScope) -> bool {
        match self {
            Self::Anonymous => false,
            Self::Password | Self::Directory => true,
            Self::Token(limits) => limits.scopes.contains(&scope),
        }
    }
}

impl TokenLimits {
    /// Whether all of the tree is open to it, for everything.
    pub(crate) fn is_whole(&self) -> bool {
        self.rights == Rights::OWN && self.within.is_none()
    }
}
