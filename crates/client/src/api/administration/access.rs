//! Access lists.

use crate::api::tree::On;
use crate::call::Call;
use crate::{Access, AccessOperation, At, Client, ExplainedAccess, Result};

impl Client {
    /// The access list of a resource, including inherited entries and their origin.
    pub async fn access(&self, at: &At) -> Result<Access> {
        self.json(Call::get("/v1/access").at(at)).await
    }

    /// What a user may do with a resource, and what decides each right. For users other than the caller this requires
    /// control of the resource.
    pub async fn explain_access(&self, at: &At, user: &str) -> Result<ExplainedAccess> {
        self.json(Call::get("/v1/access/why").at(at).query("user", user)).await
    }

    /// Changes an access list; `closed` and `inherit` are unchanged if not given.
    pub async fn change_access(
        &self,
        at: &At,
        operations: &[AccessOperation],
        closed: Option<bool>,
        inherit: Option<bool>,
    ) -> Result<()> {
        let mut body = serde_json::json!({ "operations": operations });
        let settings = [("closed", closed), ("inherit", inherit)];
        settings
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .for_each(|(name, value)| body[name] = value.into());
        self.done(Call::post("/v1/access").json(&On { at, body }).repeatable()).await
    }
}
