//! The conditions of `system/findDataObjects`.

use cenote_store::{Avu, Time};
use serde_json::Value;

use super::pattern::{Pattern, Words};
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::input::Input;
use crate::dnanexus::call::question::millis;
use crate::dnanexus::id::{Class, is_class};
use crate::dnanexus::object::Place;
use crate::dnanexus::object::describe::links;
use crate::dnanexus::words;

/// What must hold of an object.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    /// None for any class, `Some(None)` for one of which there is nothing here.
    class: Option<Option<Class>>,
    state: Option<String>,
    hidden: Option<bool>,
    pub(crate) name: Option<Pattern>,
    types: Option<Words<String>>,
    pub(crate) tags: Option<Words<String>>,
    pub(crate) properties: Option<Words<(String, Option<String>)>>,
    link: Option<String>,
    archival: Option<String>,
    created: Within,
    modified: Within,
    regions: Regions,
    now: Time,
}

/// A range of times, in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Within {
    after: Option<i64>,
    before: Option<i64>,
}

impl Within {
    /// `{"after", "before"}`; a negative time is before now.
    pub(crate) fn read(input: Input<'_>, key: &str, now: Time) -> Result<Self, Fault> {
        let Some(range) = input.object(key)? else { return Ok(Self::default()) };
        let time = |time: i64| if time < 0 { millis(now).saturating_add(time) } else { time };
        Ok(Self {
            after: range.integer("after")?.map(time),
            before: range.integer("before")?.map(time),
        })
    }

    pub(crate) fn has(self, time: i64) -> bool {
        self.after.is_none_or(|after| time >= after)
            && self.before.is_none_or(|before| time <= before)
    }
}

impl Filter {
    pub(crate) fn read(input: Input<'_>, now: Time) -> Result<Self, Fault> {
        Ok(Self {
            class: input.text("class")?.map(class).transpose()?,
            state: state(input)?,
            hidden: match input.text("visibility")?.unwrap_or("visible") {
                "visible" => Some(false),
                "hidden" => Some(true),
                "either" => None,
                _ => return Err(Fault::input("\"visibility\" is visible, hidden or either")),
            },
            name: input.value("name").map(Pattern::read).transpose()?,
            types: words_of(input, "type")?,
            tags: words_of(input, "tags")?.or(words_of(input, "tag")?),
            properties: input.value("properties").map(properties).transpose()?,
            link: input.text("link")?.map(str::to_owned),
            archival: input.text("archivalState")?.map(str::to_owned),
            created: Within::read(input, "created", now)?,
            modified: Within::read(input, "modified", now)?,
            regions: Regions::read(input)?,
            now,
        })
    }

    /// Whether all holds that needs no attributes.
    pub(crate) fn admits(&self, place: &Place) -> bool {
        let note = &place.note;
        let links = || note.details.as_ref().map(links).unwrap_or_default();
        self.class.is_none_or(|class| class == Some(place.id.class))
            && self.state.as_ref().is_none_or(|state| state == note.state.as_str())
            && self.hidden.is_none_or(|hidden| hidden == note.hidden)
            && self.name.as_ref().is_none_or(|name| name.matches(place.name()))
            && self.types.as_ref().is_none_or(|types| types.hold(|one| note.types.contains(one)))
            && self.link.as_ref().is_none_or(|link| links().contains(link))
            && self.archival.as_ref().is_none_or(|state| state == place.archival(self.now))
            && self.created.has(place.created())
            && self.modified.has(millis(place.stat.resource.modified))
    }

    /// Whether attributes have to be read to decide.
    pub(crate) fn needs_words(&self) -> bool {
        self.tags.is_some() || self.properties.is_some()
    }

    pub(crate) fn admits_words(&self, avus: &[Avu]) -> bool {
        let (tags, properties) = (words::tags(avus), words::properties(avus));
        let has = |(key, value): &(String, Option<String>)| {
            let held = properties.get(key.as_str());
            held.is_some_and(|held| value.as_ref().is_none_or(|value| value == held))
        };
        self.tags.as_ref().is_none_or(|wanted| wanted.hold(|tag| tags.contains(&tag.as_str())))
            && self.properties.as_ref().is_none_or(|wanted| wanted.hold(has))
    }

    /// Whether it can hold for anything.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.class == Some(None)
    }

    /// The regions of the projects that it can hold in.
    pub(crate) fn regions(&self) -> &Regions {
        &self.regions
    }

    /// The kind that it can only hold for.
    pub(crate) fn kind(&self) -> Option<cenote_store::Kind> {
        self.class.flatten().map(Class::kind)
    }
}

fn class(word: &str) -> Result<Option<Class>, Fault> {
    match word {
        "file" => Ok(Some(Class::File)),
        "record" => Ok(Some(Class::Record)),
        _ if is_class(word) => Ok(None),
        _ => Err(Fault::input(format!("not a class: {word:.64?}"))),
    }
}

fn state(input: Input<'_>) -> Result<Option<String>, Fault> {
    match input.text("state")? {
        None | Some("any") => Ok(None),
        Some(state @ ("open" | "closing" | "closed" | "abandoned")) => Ok(Some(state.to_owned())),
        Some(_) => Err(Fault::input("\"state\" is any, open, closing, closed or abandoned")),
    }
}

/// A word.
fn word(value: &Value) -> Result<String, Fault> {
    let word = value.as_str().map(str::to_owned);
    word.ok_or_else(|| Fault::input("a tag or type is a string"))
}

fn words_of(input: Input<'_>, key: &str) -> Result<Option<Words<String>>, Fault> {
    input.value(key).map(|value| Words::read(value, word)).transpose()
}

/// `{"k": "v"}`, where `true` is any value; or an array of such under `$and` or `$or`.
pub(crate) fn properties(value: &Value) -> Result<Words<(String, Option<String>)>, Fault> {
    let nested = value.get("$and").is_some() || value.get("$or").is_some();
    if nested {
        return Words::read(value, |one| {
            let mut pairs = pairs(one)?;
            match pairs.len() {
                1 => Ok(pairs.swap_remove(0)),
                _ => Err(Fault::input("below $and and $or each object has one property")),
            }
        });
    }
    Ok(Words::All(pairs(value)?))
}

fn pairs(value: &Value) -> Result<Vec<(String, Option<String>)>, Fault> {
    let pair = |(key, value): (&String, &Value)| match value {
        Value::String(value) => Ok((key.clone(), Some(value.clone()))),
        Value::Bool(true) => Ok((key.clone(), None)),
        _ => Err(Fault::input("the value of a property is a string or true")),
    };
    Input::of(value)?.members().iter().map(pair).collect()
}

/// The regions that are searched.
#[derive(Debug, Clone)]
pub(crate) struct Regions(Option<Vec<String>>);

impl Regions {
    /// `"region"`: one, several, or none for all.
    pub(crate) fn read(input: Input<'_>) -> Result<Self, Fault> {
        let wrong = || Fault::input("\"region\" is a string, or an array of strings");
        let name = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(wrong);
        match input.value("region") {
            None | Some(Value::Null) => Ok(Self(None)),
            Some(Value::Array(names)) => {
                Ok(Self(Some(names.iter().map(name).collect::<Result<_, _>>()?)))
            }
            Some(value) => Ok(Self(Some(vec![name(value)?]))),
        }
    }

    pub(crate) fn has(&self, region: &str) -> bool {
        self.0.as_ref().is_none_or(|names| names.iter().any(|name| name == region))
    }
}
