//! The properties of a resource, and the kind that an operation needs it to be.

use cenote_store::{
    Caller, Digests, ErrorKind, GrantView, Kind, Result, Rights, Role, Scope, Stat, Store,
};
use serde_json::{Map, Value, json};

use super::trash;
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;

/// The kind of resource that an operation works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Collection,
    DataObject,
}

impl Wanted {
    /// Its name in iRODS, and the code for any other kind.
    pub(crate) fn words(self) -> (&'static str, Code) {
        match self {
            Self::Collection => ("collection", Code::NotACollection),
            Self::DataObject => ("data_object", Code::NotADataObject),
        }
    }

    fn fits(self, kind: Kind) -> bool {
        match self {
            Self::Collection => kind == Kind::Collection,
            Self::DataObject => kind == Kind::Object,
        }
    }
}

impl Call {
    /// The resource at `lpath`, for an operation that answers status 400 if it is of another kind.
    pub(crate) async fn required(&self, wanted: Wanted) -> std::result::Result<Stat, Refusal> {
        self.required_at("lpath", wanted).await
    }

    pub(crate) async fn required_at(
        &self,
        parameter: &str,
        wanted: Wanted,
    ) -> std::result::Result<Stat, Refusal> {
        self.need(parameter)?;
        let found = self.found(parameter, wanted).await?;
        found.ok_or_else(|| Refusal::wrong_kind(wanted.words().1))
    }

    /// The resource at a path, if it is of this kind and visible to the caller.
    async fn found(
        &self,
        parameter: &str,
        wanted: Wanted,
    ) -> std::result::Result<Option<Stat>, Refusal> {
        let path = match self.path(parameter) {
            Err(Refusal::Coded { .. }) => return Ok(None),
            path => path?,
        };
        let caller = self.caller.clone();
        self.blocking(move |store| match trash::stat(store, &caller, &path) {
            Ok(stat) => Ok(Some(stat).filter(|stat| wanted.fits(stat.resource.kind))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
        .await
    }
}

/// `stat`: only a code if it is missing or of another kind.
pub(crate) async fn stat(call: Call, wanted: Wanted) -> Answer {
    call.need("lpath")?;
    let Some(stat) = call.found("lpath", wanted).await? else {
        return Err(Refusal::code(wanted.words().1));
    };
    let (caller, zone) = (call.caller.clone(), call.settings().zone.clone());
    let members = call.blocking(move |store| {
        let permissions = permissions(store, &caller, &stat, &zone)?;
        Ok(members(&stat, wanted, permissions, modified(store, &stat)?))
    });
    answer::with(members.await?)
}

fn members(
    stat: &Stat,
    wanted: Wanted,
    permissions: Vec<Value>,
    modified: i64,
) -> Map<String, Value> {
    let mut members = Map::new();
    let mut put = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
    put("type", wanted.words().0.into());
    put("permissions", permissions.into());
    put("registered", true.into());
    put("modified_at", modified.into());
    match wanted {
        Wanted::Collection => put("inheritance_enabled", stat.resource.access.inherit.into()),
        Wanted::DataObject => {
            put("size", stat.size().into());
            put("checksum", checksum(stat).unwrap_or_default().into());
        }
    }
    members
}

/// The modification time shown, in seconds since 1970. As in iRODS, changes of attributes do not affect it,
/// and changes of children affect that of their collection.
pub(crate) fn modified(store: &Store, stat: &Stat) -> Result<i64> {
    Ok(store.shown_mtime(stat)?.secs())
}

/// The checksum as iRODS writes it, if it is known.
pub(crate) fn checksum(stat: &Stat) -> Option<String> {
    checksum_of(&stat.resource.content.as_ref()?.digests)
}

/// `sha2:` and the SHA-256 in base64.
pub(crate) fn checksum_of(digests: &Digests) -> Option<String> {
    use base64::Engine;
    let encoded = base64::prelude::BASE64_STANDARD.encode(digests.sha256?);
    Some(format!("sha2:{encoded}"))
}

/// The access list. It is never empty: old clients cannot read an empty one.
fn permissions(store: &Store, caller: &Caller, stat: &Stat, zone: &str) -> Result<Vec<Value>> {
    let mut lines = trash::access(store, caller, stat)?;
    if lines.is_empty() {
        lines.push(GrantView {
            person: stat.resource.owner,
            name: store.person_name(stat.resource.owner)?,
            rights: Rights::OWN,
            scope: Scope::This,
            only: None,
            from: stat.path.clone(),
        });
    }
    let line = |line: &GrantView| {
        json!({
            "name": line.name,
            "perm": line.rights.level(),
            "type": person_type(store, &line.name),
            "zone": zone,
        })
    };
    Ok(lines.iter().map(line).collect())
}

/// The iRODS name for this kind of user.
pub(crate) fn person_type(store: &Store, name: &str) -> &'static str {
    match store.person_named(name) {
        Ok((_, person)) if person.kind == cenote_store::PersonKind::Group => "rodsgroup",
        Ok((_, person)) => role_name(person.role),
        Err(_) => role_name(Role::User),
    }
}

/// The iRODS name for a role.
pub(crate) fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "rodsuser",
        Role::GroupAdmin => "groupadmin",
        Role::Admin => "rodsadmin",
    }
}
