//! Settings of a program on this machine: from its arguments, the environment, the configuration file, or the last login, in this order
//! of precedence.
//!
//! Invariant: each setting remembers where it came from, so that an error or `cenote config show` can say where to change it.

mod credentials;
mod logins;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

pub use self::credentials::is_in_clear;
pub use self::logins::{Login, Logins};
use crate::{Error, Kind, Result};

/// A setting that exists.
#[derive(Debug)]
pub struct Key {
    /// Its name in the file.
    pub name: &'static str,
    /// Its name in the environment.
    pub variable: &'static str,
    /// Never printed.
    pub secret: bool,
}

/// All settings.
pub const KEYS: [Key; 7] = [
    Key { name: "url", variable: "CENOTE_URL", secret: false },
    Key { name: "user", variable: "CENOTE_USER", secret: false },
    Key { name: "password", variable: "CENOTE_PASSWORD", secret: true },
    Key { name: "token", variable: "CENOTE_TOKEN", secret: true },
    Key { name: "ticket", variable: "CENOTE_TICKET", secret: true },
    Key { name: "changeset", variable: "CENOTE_CHANGESET", secret: false },
    Key { name: "ca_file", variable: "CENOTE_CA_FILE", secret: false },
];

/// Where a setting came from, in ascending order of precedence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The file of logins.
    Login(PathBuf),
    /// The configuration file.
    File(PathBuf),
    /// The environment.
    Environment(&'static str),
    /// The caller of the program, as it is displayed, such as `flag --store`.
    Given(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Login(path) | Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(variable) => write!(f, "environment {variable}"),
            Self::Given(flag) => f.write_str(flag),
        }
    }
}

impl Source {
    /// 0 for a login, 1 for the file, 2 for the environment, 3 for an argument.
    pub fn strength(&self) -> u8 {
        match self {
            Self::Login(_) => 0,
            Self::File(_) => 1,
            Self::Environment(_) => 2,
            Self::Given(_) => 3,
        }
    }
}

/// A value and where it came from.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The value.
    pub value: String,
    /// Where it came from.
    pub source: Source,
}

/// The arguments of a program, which take precedence over all other settings.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The configuration file.
    pub config: Option<PathBuf>,
    /// The name of a setting, its source as displayed, and the value.
    pub values: Vec<(&'static str, &'static str, String)>,
}

/// The settings in force.
#[derive(Debug)]
pub struct Settings {
    values: BTreeMap<&'static str, Setting>,
    /// The address of a store from each source that has one.
    urls: Vec<Setting>,
    file: Option<PathBuf>,
    logins: Logins,
}

impl Settings {
    /// Resolves every setting. `variable` reads the environment.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for a file that cannot be read, or has unknown settings.
    pub fn resolve(given: &Given, variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let (file, required) = file_path(given, &variable);
        let mut values = match &file {
            Some(path) => read_file(path, required)?,
            None => BTreeMap::new(),
        };
        let mut urls: Vec<Setting> = values.get("url").cloned().into_iter().collect();
        for key in &KEYS {
            if let Some(value) = variable(key.variable).filter(|value| !value.is_empty()) {
                let setting = Setting { value, source: Source::Environment(key.variable) };
                urls.extend((key.name == "url").then(|| setting.clone()));
                values.insert(key.name, setting);
            }
        }
        for (name, source, value) in given.values.iter().cloned() {
            values.insert(name, Setting { value, source: Source::Given(source) });
        }
        let logins = logins(&variable)?;
        if let (None, Some(url), Some(file)) = (values.get("url"), logins.current(), logins.file())
        {
            let source = Source::Login(file.to_owned());
            values.insert("url", Setting { value: url.to_owned(), source });
        }
        Ok(Self { values, urls, file, logins })
    }

    /// The setting of this name, if there is one.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.values.get(name)
    }

    /// The address from the same source as a setting, which it is meant for.
    pub fn url_beside(&self, setting: &Setting) -> Option<&str> {
        let strength = setting.source.strength();
        let beside = self.urls.iter().find(|url| url.source.strength() == strength);
        beside.map(|url| url.value.as_str())
    }

    /// The login at a store, unless another user is to be used there.
    pub fn login_at(&self, url: &str) -> Option<&Login> {
        let user = self.get("user").map(|user| &user.value);
        self.logins.at(url).filter(|login| user.is_none_or(|user| *user == login.user))
    }

    /// All logins.
    pub fn logins(&self) -> &Logins {
        &self.logins
    }

    /// Where the configuration file is, or would be.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The directory where interrupted uploads are remembered: beside the configuration file, unless that is a device.
    pub fn uploads(&self) -> Option<PathBuf> {
        let file = self.file.as_deref().filter(|file| file.is_file() || !file.exists())?;
        Some(file.parent()?.join("uploads"))
    }
}

/// The file, and whether it was named explicitly and therefore has to exist.
fn file_path(given: &Given, variable: &impl Fn(&str) -> Option<String>) -> (Option<PathBuf>, bool) {
    let named = given.config.clone().or_else(|| variable("CENOTE_CONFIG").map(PathBuf::from));
    if named.is_some() {
        return (named, true);
    }
    (directory(variable).map(|directory| directory.join("config.toml")), false)
}

fn logins(variable: &impl Fn(&str) -> Option<String>) -> Result<Logins> {
    match directory(variable) {
        Some(directory) => Logins::read(directory.join("logins.toml")),
        None => Ok(Logins::default()),
    }
}

/// Where a person's settings are.
fn directory(variable: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let home = variable("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".config")));
    home.map(|home| home.join("cenote"))
}

fn read_file(path: &Path, required: bool) -> Result<BTreeMap<&'static str, Setting>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !required => {
            return Ok(BTreeMap::new());
        }
        Err(error) => {
            let message = format!("cannot read the configuration file {}: {error}", path.display());
            return Err(Error::new(Kind::Invalid, message));
        }
    };
    parse(&text, path)
}

fn parse(text: &str, path: &Path) -> Result<BTreeMap<&'static str, Setting>> {
    let wrong = |what: String| {
        Error::new(
            Kind::Invalid,
            format!("the configuration file {} is invalid: {what}", path.display()),
        )
        .with_hint(format!(
            "valid settings are {}; each value is a string",
            KEYS.map(|key| key.name).join(", ")
        ))
    };
    let table: toml::Table =
        text.parse().map_err(|error: toml::de::Error| wrong(error.message().to_owned()))?;
    let setting = |(name, value): (String, toml::Value)| {
        let key = KEYS.iter().find(|key| key.name == name);
        match (key, value) {
            (Some(key), toml::Value::String(value)) => {
                Ok((key.name, Setting { value, source: Source::File(path.to_owned()) }))
            }
            (Some(_), _) => Err(wrong(format!("`{name}` must be a string"))),
            (None, _) => Err(wrong(format!("unknown setting `{name}`"))),
        }
    };
    table.into_iter().map(setting).collect()
}

#[cfg(test)]
mod tests;
