//! `zones`: the local zone, and records about others. No other zone is ever contacted.

use cenote_store::{Act, Result, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::notes::{self, Changing, Note};
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;
use crate::irods::call::translation::Doing;

/// The operations that change something.
pub(crate) const CHANGES: &[&str] = &["add", "modify", "remove"];
/// The number of the local zone.
const LOCAL: u64 = 1;

/// The record of a zone.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Zone {
    id: u64,
    pub(crate) connection: String,
    pub(crate) comment: String,
}

impl Note for Zone {
    const FAMILY: &'static str = "zone";
}

pub(crate) async fn answer(operation: &str, call: Call) -> Answer {
    match operation {
        "add" => add(call).await,
        "modify" => modify(call).await,
        "remove" => remove(call).await,
        "report" => answer::member("zone_report", report(&call).await?),
        _ => stat(call).await,
    }
}

async fn add(call: Call) -> Answer {
    let name = call.need("name")?.to_owned();
    let text = |parameter| call.form.text(parameter).unwrap_or_default().to_owned();
    let (connection, comment) = (text("connection-info"), text("comment"));
    if !connection.is_empty() {
        check_connection(&connection)?;
    }
    let (caller, local) = (call.caller.clone(), call.settings().zone.clone());
    let added = call.blocking(move |store| {
        Ok(notes::change(store, &caller, Act::Configure, |notes| {
            if name == local || notes.get::<Zone>(&name)?.is_some() {
                return Ok(Err(Refusal::code(Code::AlreadyExists)));
            }
            let (connection, comment) = (connection.clone(), comment.clone());
            let id = notes.number()?;
            notes.put(&name, &Zone { id, connection, comment }).map(Ok)
        }))
    });
    added.await?.map_err(|error| Doing::Administer.refusal(error))??;
    answer::done()
}

async fn remove(call: Call) -> Answer {
    let (name, caller) = (call.need("name")?.to_owned(), call.caller.clone());
    let local = call.settings().zone.clone();
    let removed = call.blocking(move |store| {
        Ok(notes::change(store, &caller, Act::Configure, |notes| {
            if name == local || notes.get::<Zone>(&name)?.is_none() {
                return Ok(Err(Refusal::code(Code::InvalidArgument)));
            }
            notes.remove::<Zone>(&name);
            Ok(Ok(()))
        }))
    });
    removed.await?.map_err(|error| Doing::Administer.refusal(error))??;
    answer::done()
}

async fn modify(call: Call) -> Answer {
    let property = Property::named(call.need("property")?).ok_or(Refusal::BAD)?;
    let change = Change {
        name: call.need("name")?.to_owned(),
        property,
        value: call.form.text("value").unwrap_or_default().to_owned(),
    };
    property.check(&change.value)?;
    let (caller, local) = (call.caller.clone(), call.settings().zone.clone());
    let modified = call.blocking(move |store| {
        Ok(notes::change(store, &caller, Act::Configure, |notes| change.make(notes, &local)))
    });
    modified.await?.map_err(|error| Doing::Administer.refusal(error))??;
    answer::done()
}

/// The properties of a zone that can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Property {
    Comment,
    Connection,
    Name,
}

impl Property {
    fn named(word: &str) -> Option<Self> {
        match word {
            "comment" => Some(Self::Comment),
            "connection_info" => Some(Self::Connection),
            "name" => Some(Self::Name),
            _ => None,
        }
    }

    fn check(self, value: &str) -> std::result::Result<(), Refusal> {
        match self {
            Self::Connection => check_connection(value),
            Self::Name if value.is_empty() || value.contains('/') => {
                Err(Refusal::code(Code::InvalidArgument))
            }
            Self::Comment | Self::Name => Ok(()),
        }
    }
}

/// A zone, and the new value of one of its properties.
struct Change {
    name: String,
    property: Property,
    value: String,
}

impl Change {
    fn make(
        &self,
        notes: &mut Changing<'_, '_>,
        local: &str,
    ) -> Result<std::result::Result<(), Refusal>> {
        let Self { name, property, value } = self;
        let Some(mut zone) = self.zone(notes, local)? else {
            return Ok(Err(Refusal::code(Code::InvalidArgument)));
        };
        match property {
            Property::Comment => zone.comment.clone_from(value),
            Property::Connection => zone.connection.clone_from(value),
            Property::Name if value == local || notes.get::<Zone>(value)?.is_some() => {
                return Ok(Err(Refusal::code(Code::AlreadyExists)));
            }
            Property::Name => notes.remove::<Zone>(name),
        }
        let name = if *property == Property::Name { value } else { name };
        notes.put(name, &zone).map(Ok)
    }

    /// The recorded zone, if it can be changed so: of the local one, only the comment can.
    fn zone(&self, notes: &Changing<'_, '_>, local: &str) -> Result<Option<Zone>> {
        let known = notes.get::<Zone>(&self.name)?;
        Ok(match (self.name == local, self.property) {
            (false, _) => known,
            (true, Property::Comment) => {
                Some(known.unwrap_or(Zone { id: LOCAL, ..Zone::default() }))
            }
            (true, _) => None,
        })
    }
}

/// `HOST:PORT`, both of them.
fn check_connection(text: &str) -> std::result::Result<(), Refusal> {
    match text.rsplit_once(':') {
        Some(("", _)) => Err(Refusal::code(Code::InvalidHostname)),
        Some((_, port)) if port.parse::<u16>().is_ok() => Ok(()),
        _ => Err(Refusal::code(Code::InvalidArgument)),
    }
}

async fn stat(call: Call) -> Answer {
    let (name, local) = (call.need("name")?.to_owned(), call.settings().zone.clone());
    let info = call.blocking(move |store| {
        let noted = notes::get::<Zone>(store, &name)?;
        Ok(match name == local {
            true => Some(info(&name, "local", &Zone { id: LOCAL, ..noted.unwrap_or_default() })),
            false => noted.map(|zone| info(&name, "remote", &zone)),
        })
    });
    let info = info.await?;
    let exists = info.is_some();
    let info = info.unwrap_or_else(|| json!({}));
    answer::with(Map::from_iter([("exists".to_owned(), exists.into()), ("info".to_owned(), info)]))
}

fn info(name: &str, kind: &str, zone: &Zone) -> Value {
    json!({
        "comment": zone.comment,
        "connection_info": zone.connection,
        "id": zone.id,
        "name": name,
        "type": kind,
    })
}

/// The remote zones.
pub(crate) fn remote(store: &Store, local: &str) -> Result<Vec<(String, Zone)>> {
    let mut zones = notes::all::<Zone>(store)?;
    zones.retain(|(name, _)| name != local);
    Ok(zones)
}

/// The configuration of this zone, for administrators.
pub(crate) async fn report(call: &Call) -> std::result::Result<Value, Refusal> {
    if !call.caller.may(Act::Inspect) {
        return Err(Refusal::code(Code::NoApiPrivilege));
    }
    let settings = call.settings();
    let server = json!({
        "host_system_information": { "service_account_user_name": "cenote" },
        "resources": [{ "name": settings.resource, "type": "unixfilesystem" }],
        "server_config": { "zone_name": settings.zone },
        "version": { "irods_version": env!("CARGO_PKG_VERSION") },
    });
    Ok(json!({
        "schema_version": "4",
        "zones": [{ "name": settings.zone, "servers": [server] }],
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_reached_by_host_and_port() {
        let number = |text| check_connection(text).err().and_then(|refusal| refusal.number());
        assert_eq!(number("example.org:1247"), None);
        for text in [":1247", ":"] {
            assert_eq!(number(text), Some(-855_000), "{text}");
        }
        for text in ["", "example.org", "example.org:", "example.org:port"] {
            assert_eq!(number(text), Some(-816_000), "{text}");
        }
    }
}
