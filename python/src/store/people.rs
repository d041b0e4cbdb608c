//! Users, groups, and the tokens of the caller.

use cenote_client::{NewToken, NewUser, UserChange};
use pyo3::prelude::*;

use super::connection::Connection;
use super::error::Failure;
use super::pending::Pending;

#[pymethods]
impl Connection {
    fn users(&self) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::of(async move { client.users().await }))
    }

    #[pyo3(signature = (name, role, password=None))]
    fn add_user(
        &self,
        name: String,
        role: String,
        password: Option<String>,
    ) -> Result<Pending, Failure> {
        let (client, user) = (self.client()?, NewUser { name, password, role });
        Ok(Pending::of(async move { client.add_user(&user).await }))
    }

    /// Changes the password or the role of a user; the other one stays.
    #[pyo3(signature = (name, password=None, role=None))]
    fn change_user(
        &self,
        name: String,
        password: Option<String>,
        role: Option<String>,
    ) -> Result<Pending, Failure> {
        let (client, change) = (self.client()?, UserChange { name, password, role });
        Ok(Pending::of(async move { client.change_user(&change).await }))
    }

    fn remove_user(&self, name: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::of(async move { client.remove_user(&name).await }))
    }

    fn groups(&self) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::of(async move { client.groups().await }))
    }

    fn add_group(&self, name: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::of(async move { client.add_group(&name).await }))
    }

    fn change_group(
        &self,
        name: String,
        add: Vec<String>,
        remove: Vec<String>,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::of(async move { client.change_group(&name, &add, &remove).await }))
    }

    fn remove_group(&self, name: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::of(async move { client.remove_group(&name).await }))
    }

    fn tokens(&self) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::of(async move { client.tokens().await }))
    }

    #[pyo3(signature = (label, scopes, level=None, within=None, expires_in=None))]
    fn add_token(
        &self,
        label: String,
        scopes: Vec<String>,
        level: Option<String>,
        within: Option<String>,
        expires_in: Option<u64>,
    ) -> Result<Pending, Failure> {
        let (client, new) = (self.client()?, NewToken { label, level, within, expires_in, scopes });
        Ok(Pending::of(async move { client.add_token(&new).await }))
    }

    fn remove_token(&self, id: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::of(async move { client.remove_token(&id).await }))
    }
}
