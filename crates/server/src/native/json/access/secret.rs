//! Tokens and tickets. A type that has the secret itself has no `Debug`.

use cenote_store::Store;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::native::json::{Instant, Names};

/// A token to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// What it is for.
    pub(crate) label: String,
    /// What may be done with resources at most; everything without.
    #[schema(example = "read")]
    pub(crate) level: Option<String>,
    /// The path of the only subtree it opens.
    pub(crate) within: Option<String>,
    /// Its id, instead.
    pub(crate) within_id: Option<u64>,
    /// Seconds until it ends.
    pub(crate) expires_in: Option<u64>,
    /// What may be done with it besides working with resources: `tokens`, `account`, `admin`.
    #[serde(default)]
    #[schema(example = json!(["tokens"]))]
    pub(crate) scopes: Vec<String>,
}

/// A token that was made.
#[derive(Serialize, ToSchema)]
pub(crate) struct MadeToken {
    /// The secret, shown this once.
    pub(crate) token: String,
    #[serde(flatten)]
    pub(crate) about: Token,
}

/// The tokens of the caller's account.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Tokens {
    pub(crate) items: Vec<Token>,
}

/// A token, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Token {
    pub(crate) id: u64,
    pub(crate) label: String,
    /// What may be done with resources at most: a level, or rights joined by `+`.
    pub(crate) level: String,
    /// The id of the only resource that it opens, with what is below.
    pub(crate) within: Option<u64>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created: Instant,
    pub(crate) expires: Option<Instant>,
    /// What may be done with it besides working with resources.
    pub(crate) scopes: Vec<&'static str>,
}

impl From<cenote_store::Token> for Token {
    fn from(token: cenote_store::Token) -> Self {
        Self {
            id: token.id,
            label: token.label,
            level: token.rights.to_string(),
            within: token.within.map(|id| id.0),
            created: Instant(token.created),
            expires: token.expires.map(Instant),
            scopes: token.scopes.iter().map(|scope| scope.as_str()).collect(),
        }
    }
}

/// Which token to revoke.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichToken {
    pub(crate) id: u64,
    /// Whose it is, for an administrator.
    pub(crate) user: Option<String>,
}

/// A ticket to be made. A limit that is left out is none.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTicket {
    pub(crate) path: Option<String>,
    pub(crate) id: Option<u64>,
    /// `read` or `write`.
    #[serde(default)]
    pub(crate) level: TicketLevel,
    /// How often it may be used.
    #[serde(default)]
    pub(crate) uses: u64,
    /// How often it may be used to write.
    #[serde(default)]
    pub(crate) writes: u64,
    /// How many bytes may be written with it.
    #[serde(default)]
    pub(crate) bytes: u64,
    /// Seconds until it ends.
    pub(crate) expires_in: Option<u64>,
    /// Which users and groups may use it; all without.
    #[serde(default)]
    pub(crate) persons: Vec<String>,
    /// From which addresses it may be used; from all without.
    #[serde(default)]
    pub(crate) hosts: Vec<String>,
}

/// What a ticket lets somebody do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TicketLevel {
    #[default]
    Read,
    Write,
}

/// Tickets.
#[derive(Serialize, ToSchema)]
pub(crate) struct Tickets {
    pub(crate) items: Vec<Ticket>,
}

/// A new ticket. The secret is shown here, and never again.
#[derive(Serialize, ToSchema)]
pub(crate) struct MadeTicket {
    /// What is shown to use it.
    pub(crate) ticket: String,
    #[serde(flatten)]
    pub(crate) about: Ticket,
}

/// A ticket.
#[derive(Serialize, ToSchema)]
pub(crate) struct Ticket {
    /// Names it; it opens nothing.
    pub(crate) id: String,
    /// The id of the resource that it opens, with what is below.
    pub(crate) resource: u64,
    pub(crate) level: &'static str,
    pub(crate) issuer: String,
    pub(crate) expires: Option<Instant>,
    pub(crate) uses: Counted,
    pub(crate) writes: Counted,
    pub(crate) bytes: Counted,
    pub(crate) persons: Vec<String>,
    pub(crate) hosts: Vec<String>,
}

/// How much of a limit is used.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Counted {
    pub(crate) used: u64,
    /// Null is no limit.
    pub(crate) limit: Option<u64>,
}

impl From<(u64, u64)> for Counted {
    fn from((used, limit): (u64, u64)) -> Self {
        Self { used, limit: (limit > 0).then_some(limit) }
    }
}

impl Ticket {
    pub(crate) fn of(ticket: cenote_store::Ticket, store: &Store) -> cenote_store::Result<Self> {
        let mut names = Names::new(store);
        Ok(Self {
            resource: ticket.resource.0,
            level: ticket.rights.level(),
            issuer: names.of(ticket.issuer)?,
            expires: ticket.expires.map(Instant),
            uses: ticket.uses.into(),
            writes: ticket.writes.into(),
            bytes: ticket.bytes.into(),
            persons: ticket.persons.iter().map(|id| names.of(*id)).collect::<Result<_, _>>()?,
            hosts: ticket.hosts,
            id: ticket.id,
        })
    }
}

/// Which ticket to remove.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichTicket {
    /// The ticket, or its id.
    pub(crate) ticket: String,
}
