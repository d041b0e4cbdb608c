//! Users and groups, and how they are authenticated: passwords, tokens, logins, tickets.

mod account;
mod attempts;
mod authenticate;
mod credentials;
mod describe;
mod group;
mod hints;
mod home;
mod login;
mod principal;
mod renew;
mod session;
mod ticket;
mod token;

pub use account::{NewUser, UserChange};
pub(crate) use account::{all, by_name, found, name_of, nobody};
pub(crate) use attempts::Attempts;
pub(crate) use authenticate::caller_by_password;
pub(crate) use credentials::CredentialCache;
pub(crate) use group::{find, members_of, record_group};
pub(crate) use hints::UserHints;
pub use login::{LoggedIn, Login, LoginLimits};
pub use principal::EVERYONE;
pub(crate) use principal::{name_of as principal_name, named as principals};
pub use session::NewSession;
pub use ticket::{NewTicket, Ticket, TicketUse};
pub(crate) use ticket::{
    TicketDigest, all as all_tickets, digest as ticket_digest, erase as erase_tickets,
};
pub use token::{NewToken, Token};
