//! Users, groups, and what acts for them: tokens and tickets.

use serde::Serialize;

use crate::call::Call;
use crate::{Client, Identity, Record, Result};

/// A user to create.
#[derive(Clone, Serialize)]
pub struct NewUser {
    /// The name, unique among users and groups.
    pub name: String,
    /// The password; without one the user cannot log in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// `user`, `groupadmin` or `admin`.
    pub role: String,
}

impl std::fmt::Debug for NewUser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, role, password: _ } = self;
        f.debug_struct("NewUser").field("name", name).field("role", role).finish_non_exhaustive()
    }
}

/// Changes to a user.
#[derive(Clone, Serialize)]
pub struct UserChange {
    /// The user's name.
    pub name: String,
    /// The new password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// The new role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

impl std::fmt::Debug for UserChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, role, password: _ } = self;
        f.debug_struct("UserChange").field("name", name).field("role", role).finish_non_exhaustive()
    }
}

/// A token to create.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NewToken {
    /// What it is for.
    pub label: String,
    /// The highest level that it grants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The collection that it is valid for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// Seconds until it expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<u64>,
    /// What it allows besides working with resources: `tokens`, `account`, `admin`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

/// A ticket to create.
#[derive(Debug, Clone, Serialize)]
pub struct NewTicket {
    /// The path that it gives access to.
    pub path: String,
    /// `read` or `write`.
    pub level: String,
    /// How often it may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses: Option<u64>,
    /// Seconds until it expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<u64>,
    /// How many bytes may be written with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How many files may be written with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
    /// Who may use it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub persons: Vec<String>,
    /// The hosts from which it may be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

impl Client {
    /// Identifies the caller.
    pub async fn whoami(&self) -> Result<Identity> {
        self.json(Call::get("/v1/whoami")).await
    }

    /// All users that the caller may see.
    pub async fn users(&self) -> Result<Vec<Record>> {
        self.items(Call::get("/v1/users")).await
    }

    /// Creates a user.
    pub async fn add_user(&self, user: &NewUser) -> Result<()> {
        self.done(Call::post("/v1/users").json(user)).await
    }

    /// Changes a user.
    pub async fn change_user(&self, change: &UserChange) -> Result<()> {
        self.done(Call::patch("/v1/users").json(change).repeatable()).await
    }

    /// Removes a user.
    pub async fn remove_user(&self, name: &str) -> Result<()> {
        self.done(Call::delete("/v1/users").query("name", name)).await
    }

    /// All groups that the caller may see.
    pub async fn groups(&self) -> Result<Vec<Record>> {
        self.items(Call::get("/v1/groups")).await
    }

    /// Creates a group.
    pub async fn add_group(&self, name: &str) -> Result<()> {
        self.done(Call::post("/v1/groups").json(&serde_json::json!({ "name": name }))).await
    }

    /// Changes the members of a group.
    pub async fn change_group(&self, name: &str, add: &[String], remove: &[String]) -> Result<()> {
        let body = serde_json::json!({ "name": name, "add": add, "remove": remove });
        self.done(Call::patch("/v1/groups").json(&body).repeatable()).await
    }

    /// Removes a group.
    pub async fn remove_group(&self, name: &str) -> Result<()> {
        self.done(Call::delete("/v1/groups").query("name", name)).await
    }

    /// Creates a token; its secret is only returned this once.
    pub async fn add_token(&self, new: &NewToken) -> Result<Record> {
        self.json(Call::post("/v1/tokens").json(new)).await
    }

    /// The caller's tokens, without their secrets.
    pub async fn tokens(&self) -> Result<Vec<Record>> {
        self.items(Call::get("/v1/tokens")).await
    }

    /// Revokes a token.
    pub async fn remove_token(&self, id: &str) -> Result<()> {
        self.done(Call::delete("/v1/tokens").query("id", id)).await
    }

    /// Creates a ticket.
    pub async fn add_ticket(&self, new: &NewTicket) -> Result<Record> {
        self.json(Call::post("/v1/tickets").json(new)).await
    }

    /// The tickets on a resource, or all that the caller created.
    pub async fn tickets(&self, path: Option<&str>) -> Result<Vec<Record>> {
        self.items(Call::get("/v1/tickets").query_opt("path", path)).await
    }

    /// Removes a ticket.
    pub async fn remove_ticket(&self, ticket: &str) -> Result<()> {
        self.done(Call::delete("/v1/tickets").query("ticket", ticket)).await
    }
}
