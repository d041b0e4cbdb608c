//! Tokens and tickets. A type that has the secret itself has no `Debug`.

use cenote_store::Store;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::native::json::{Instant, Names};

/// A new token.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// What it is for.
    pub(crate) label: String,
    /// The maximum rights on resources; by default everything.
    #[schema(example = "read")]
    pub(crate) level: Option<String>,
    /// The path of the subtree to which it is limited.
    pub(crate) within: Option<String>,
    /// Its id, instead of the path.
    pub(crate) within_id: Option<u64>,
    /// Seconds until it expires.
    pub(crate) expires_in: Option<u64>,
    /// What it allows in addition to working with resources: `tokens`, `account`, `admin`.
    #[serde(default)]
    #[schema(example = json!(["tokens"]))]
    pub(crate) scopes: Vec<String>,
}

/// The new token.
#[derive(Serialize, ToSchema)]
pub(crate) struct MadeToken {
    /// The secret, which is shown only once.
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
    /// The maximum rights on resources: a level, or rights joined by `+`.
    pub(crate) level: String,
    /// The id of the resource to which it is limited, with everything below.
    pub(crate) within: Option<u64>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created: Instant,
    pub(crate) expires: Option<Instant>,
    /// What it allows in addition to working with resources.
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
    /// Its user, for administrators.
    pub(crate) user: Option<String>,
}

/// A new ticket. A missing limit means that there is none.
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
    /// Seconds until it expires.
    pub(crate) expires_in: Option<u64>,
    /// The users and groups that may use it; by default all.
    #[serde(default)]
    pub(crate) persons: Vec<String>,
    /// The addresses from which it may be used; by default all.
    #[serde(default)]
    pub(crate) hosts: Vec<String>,
}

/// What a ticket allows.
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
    /// The secret to present.
    pub(crate) ticket: String,
    #[serde(flatten)]
    pub(crate) about: Ticket,
}

/// A ticket.
#[derive(Serialize, ToSchema)]
pub(crate) struct Ticket {
    /// Identifies it, but gives no access.
    pub(crate) id: String,
    /// The id of the resource to which it gives access, with everything below.
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
    /// Null if there is no limit.
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
