//! `cenote init`: a new store in a directory.

use std::path::PathBuf;

use cenote_server::embedded::init_dir;

use crate::connect::not_opened;
use crate::duration::Duration;
use crate::error::Result;
use crate::secret;
use crate::session::Session;

/// Create a store in a directory, with its first administrator.
///
/// Without --password-stdin a password is generated and printed once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// An empty directory, or one that does not exist yet
    dir: PathBuf,
    /// The administrator's name
    #[arg(long, value_name = "NAME", default_value = "admin")]
    admin: String,
    /// How long what is removed is kept in the trash, or 0s for not at all
    #[arg(long, value_name = "TIME", default_value = "30d")]
    keep_removed: Duration,
    /// Read the administrator's password from standard input
    #[arg(long)]
    password_stdin: bool,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let given = self.password_stdin.then(secret::from_stdin).transpose()?;
        let password = given.clone().unwrap_or_else(secret::made_up);
        let store = init_dir(&self.dir, &self.admin, &password).map_err(not_opened)?;
        let kept = store.keep_removed(&self.admin, self.keep_removed.seconds());
        kept.map_err(not_opened)?;
        drop(store);
        let made_up = given.is_none().then_some(password);
        let line = serde_json::json!({
            "directory": self.dir.display().to_string(), "admin": self.admin, "password": made_up,
        });
        session.output.item(&line, |_| self.told(made_up.as_deref()))
    }

    fn told(&self, made_up: Option<&str>) -> String {
        let dir = self.dir.display();
        let password = match made_up {
            Some(password) => format!("password       {password}   (shown only once)\n"),
            None => String::new(),
        };
        format!(
            "made a store in {dir}\nadministrator  {}\n{password}next           cenote serve {dir}, or cenote --store {dir} ls",
            self.admin
        )
    }
}
