//! Extended attributes as dxfuse has them: `tag.T`, `prop.K`, and `base.state`, `base.archivalState` and `base.id`. Each is found under
//! its name with `user.` before it, too.

use bytes::Bytes;
use cenote_client::XattrMode;
use serde_json::{Value, json};

use crate::cache::Ino;
use crate::error::{Fault, Result};
use crate::ops::{FileSystem, none};

/// What an extended attribute is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning<'a> {
    Tag(&'a str),
    Property(&'a str),
    Base(&'a str),
}

impl<'a> Meaning<'a> {
    fn of(name: &'a str) -> Result<Self> {
        let plain = name.strip_prefix("user.").unwrap_or(name);
        match plain.split_once('.') {
            Some(("tag", tag)) => Ok(Self::Tag(tag)),
            Some(("prop", key)) => Ok(Self::Property(key)),
            Some(("base", base)) => Ok(Self::Base(base)),
            Some(_) => Err(none()),
            None => Err(Fault::new(libc::EINVAL, "attributes are `tag.T`, `prop.K` and `base.B`")),
        }
    }

    /// Its value in a description.
    fn value(self, described: &Value) -> Option<String> {
        match self {
            Self::Tag(tag) => tags(described).any(|it| it == tag).then(String::new),
            Self::Property(key) => Some(described["properties"].get(key)?.as_str()?.to_owned()),
            Self::Base(base @ ("state" | "archivalState" | "id")) => {
                Some(described.get(base)?.as_str()?.to_owned())
            }
            Self::Base(_) => None,
        }
    }

    /// The method that changes it, and its input.
    fn change(self, project: &str, value: Option<&str>) -> Result<(&'static str, Value)> {
        match (self, value) {
            (Self::Tag(tag), Some(_)) => {
                Ok(("addTags", json!({ "project": project, "tags": [tag] })))
            }
            (Self::Tag(tag), None) => {
                Ok(("removeTags", json!({ "project": project, "tags": [tag] })))
            }
            (Self::Property(key), value) => {
                Ok(("setProperties", json!({ "project": project, "properties": { key: value } })))
            }
            (Self::Base(_), _) => {
                Err(Fault::new(libc::EINVAL, "only tags and properties can be changed"))
            }
        }
    }
}

fn tags(described: &Value) -> impl Iterator<Item = &str> {
    described["tags"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

impl FileSystem {
    pub(crate) async fn names_as_dxfuse(&self, ino: Ino) -> Result<Vec<u8>> {
        let Some(described) = self.object_described(ino).await? else {
            return Err(Fault::new(libc::EINVAL, "directories have no attributes"));
        };
        let properties = described["properties"].as_object().into_iter().flatten();
        let names = tags(&described).map(|tag| format!("tag.{tag}"));
        let names = names.chain(properties.map(|(key, _)| format!("prop.{key}")));
        let base = ["base.state", "base.archivalState", "base.id"].map(str::to_owned);
        Ok(names.chain(base).flat_map(|name| [name.as_bytes(), b"\0"].concat()).collect())
    }

    pub(crate) async fn xattr_as_dxfuse(&self, ino: Ino, name: &str) -> Result<Bytes> {
        if name.starts_with("security.") || name.starts_with("system.") {
            return Err(none());
        }
        let meaning = Meaning::of(name)?;
        let described = self.object_described(ino).await?.ok_or_else(none)?;
        meaning.value(&described).map(Bytes::from).ok_or_else(none)
    }

    /// Sets an attribute, or removes it.
    pub(crate) async fn change_as_dxfuse(
        &self,
        ino: Ino,
        name: &str,
        (value, mode): (Option<Bytes>, XattrMode),
    ) -> Result<()> {
        self.require_changeable(ino)?;
        let invalid = || Fault::new(libc::EINVAL, "only tags and properties can be changed");
        let meaning = Meaning::of(name).map_err(|_| invalid())?;
        self.publish(ino).await?;
        let (id, project) = self.object(ino).await?.ok_or_else(invalid)?;
        let text = value.map(|value| String::from_utf8(value.to_vec()));
        let text = text.transpose().map_err(|_| Fault::new(libc::EINVAL, "a value is text"))?;
        let (method, input) = meaning.change(&project, text.as_deref())?;
        let there =
            self.object_described(ino).await?.is_some_and(|it| meaning.value(&it).is_some());
        match (mode, &text) {
            (XattrMode::Create, Some(_)) if there => {
                return Err(Fault::new(libc::EEXIST, "the attribute exists"));
            }
            (XattrMode::Replace, Some(_)) | (_, None) if !there => return Err(none()),
            _ => {}
        }
        self.call(&id, method, &input).await.map(drop)
    }

    /// The tags, properties and states of an object; none of a directory.
    async fn object_described(&self, ino: Ino) -> Result<Option<Value>> {
        let Some((id, project)) = self.object(ino).await? else { return Ok(None) };
        let fields =
            json!({ "tags": true, "properties": true, "state": true, "archivalState": true });
        let input = json!({ "project": project, "fields": fields });
        self.call(&id, "describe", &input).await.map(Some)
    }
}
