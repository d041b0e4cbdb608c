//! Logins: the tokens that `cenote login` obtained, one for each store.
//!
//! Invariant: the file can be read by its owner only, and is replaced as a whole.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Error, Kind, Result};

/// All logins of a user of this machine, and the file that contains them.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logins {
    #[serde(skip)]
    file: Option<PathBuf>,
    /// The address of the last login, which is used if no store is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<String>,
    /// By address.
    #[serde(default)]
    stores: BTreeMap<String, Login>,
}

/// A login at one store.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// The user's name.
    pub user: String,
    /// The id of the token, by which it can be revoked.
    pub id: String,
    /// The token.
    pub token: String,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { user, id, token: _ } = self;
        f.debug_struct("Login").field("user", user).field("id", id).finish_non_exhaustive()
    }
}

impl Logins {
    /// The logins in a file, or none if it is missing.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for a file that is damaged, or that other users can read.
    pub fn read(file: PathBuf) -> Result<Self> {
        let invalid = |what: String| {
            let hint = "remove the file, and log in again with `cenote login`";
            Error::new(Kind::Invalid, format!("cannot use {}: {what}", file.display()))
                .with_hint(hint)
        };
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { file: Some(file), ..Self::default() });
            }
            Err(error) => return Err(invalid(error.to_string())),
        };
        require_private(&file)?;
        let logins: Self = toml::from_str(&text)
            .map_err(|error: toml::de::Error| invalid(error.message().to_owned()))?;
        Ok(Self { file: Some(file), ..logins })
    }

    /// The file, if the environment defines a location for it.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The address of the last login.
    pub fn current(&self) -> Option<&str> {
        self.current.as_deref()
    }

    /// The login at a store, by its address.
    pub fn at(&self, url: &str) -> Option<&Login> {
        self.stores.get(address(url))
    }

    /// Stores a login in place of an earlier one at the same store, which is returned.
    ///
    /// # Errors
    /// Those of writing the file.
    pub fn keep(&mut self, url: &str, login: Login) -> Result<Option<Login>> {
        let earlier = self.stores.insert(address(url).to_owned(), login);
        self.current = Some(address(url).to_owned());
        self.write()?;
        Ok(earlier)
    }

    /// Forgets the login at a store.
    ///
    /// # Errors
    /// Those of writing the file.
    pub fn forget(&mut self, url: &str) -> Result<()> {
        self.stores.remove(address(url));
        if self.current.as_deref() == Some(address(url)) {
            self.current = self.stores.keys().next().cloned();
        }
        self.write()
    }

    fn write(&self) -> Result<()> {
        let file = self.file.as_deref().ok_or_else(no_home)?;
        let directory = file.parent().ok_or_else(no_home)?;
        replace(file, directory, self)
            .map_err(|error| Error::local(format_args!("cannot write {}", file.display()), error))
    }
}

fn replace(file: &Path, directory: &Path, logins: &Logins) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let text = toml::to_string(logins).map_err(std::io::Error::other)?;
    // Temporary files can be read by their owner only.
    let mut new = tempfile::NamedTempFile::new_in(directory)?;
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist(file).map_err(|error| error.error)?;
    Ok(())
}

/// An address in the form used for comparison.
pub(super) fn address(url: &str) -> &str {
    url.trim_end_matches('/')
}

fn no_home() -> Error {
    Error::new(Kind::Invalid, "there is no place to keep a login: HOME is not set")
        .with_hint("set HOME, or use CENOTE_TOKEN instead of a login")
}

/// Refuses a file that other users of this machine can read.
#[cfg(unix)]
fn require_private(file: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let metadata = std::fs::metadata(file)
        .map_err(|error| Error::local(format_args!("cannot read {}", file.display()), error))?;
    match metadata.permissions().mode() & 0o077 {
        0 => Ok(()),
        _ => {
            let message = format!("{} can be read by other users of this machine", file.display());
            Err(Error::new(Kind::Invalid, message)
                .with_hint(format!("run `chmod 600 {}`", file.display())))
        }
    }
}

#[cfg(not(unix))]
fn require_private(_file: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(user: &str) -> Login {
        Login { user: user.into(), id: "1".into(), token: format!("{user}'s token") }
    }

    #[test]
    fn logins_are_kept_by_address_and_the_last_one_is_current() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("made/logins.toml");
        let mut logins = Logins::read(file.clone()).unwrap();
        assert_eq!(logins.current(), None);
        logins.keep("http://a", login("ada")).unwrap();
        assert_eq!(logins.keep("http://b/", login("bob")).unwrap(), None);
        assert_eq!(logins.keep("http://a/", login("eve")).unwrap(), Some(login("ada")));
        let mut again = Logins::read(file.clone()).unwrap();
        assert_eq!(again.current(), Some("http://a"));
        assert_eq!(again.at("http://a/"), Some(&login("eve")));
        again.forget("http://a").unwrap();
        let last = Logins::read(file).unwrap();
        assert_eq!((last.current(), last.at("http://a")), (Some("http://b"), None));
    }

    #[test]
    fn a_file_that_is_broken_or_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;

        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("logins.toml");
        Logins::read(file.clone()).unwrap().keep("http://a", login("ada")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(Logins::read(file.clone()).unwrap_err().to_string().contains("other users"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&file, "current = 3").unwrap();
        assert_eq!(Logins::read(file).unwrap_err().kind(), Kind::Invalid);
    }

    #[test]
    fn a_token_is_not_in_the_debug_form() {
        assert!(!format!("{:?}", login("ada")).contains("token\""));
    }
}
