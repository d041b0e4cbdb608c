//! Users and groups, and how somebody shows who they are: passwords, tokens, tickets.

mod account;
mod authenticate;
mod credentials;
mod group;
mod ticket;
mod token;

pub use account::NewUser;
pub(crate) use account::{by_name, found, name_of};
pub(crate) use credentials::CredentialCache;
pub(crate) use ticket::erase as erase_tickets;
pub use ticket::{NewTicket, Ticket};
pub use token::{NewToken, Token};
