//! `cenote init`: a new store in a directory.

use std::path::PathBuf;

use cenote_server::embedded::{Backing, init_dir_with, join_dir};

use crate::connect::not_opened;
use crate::duration::Duration;
use crate::error::Result;
use crate::secret;
use crate::session::Session;

/// Create a store in a directory, with its first administrator.
///
/// Without --password-stdin a password is generated and printed once.
///
/// The catalog and the contents can be elsewhere: a PostgreSQL database, a bucket. The directory then has only the settings of
/// the store, with the address of the database; keep a copy of `store.toml`, or use --join to make it again. One server at a time
/// can open such a store. Credentials for buckets come from the environment (AWS_ACCESS_KEY_ID, ...), or from [places.main] in
/// `store.toml`; the password of the database from its address, or from PGPASSWORD.
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
    /// Keep the catalog in a PostgreSQL database: postgres://USER@HOST/DATABASE; with ?sslmode=require over TLS
    #[arg(long, value_name = "URL")]
    catalog: Option<String>,
    /// Keep the contents in a bucket or another directory: s3://BUCKET/PREFIX, gs://..., az://..., file:///...
    #[arg(long, value_name = "URL")]
    contents: Option<String>,
    /// Make a directory for a store that is in a database already, such as on another machine
    #[arg(long, requires_all = ["catalog", "contents"], conflicts_with_all = ["admin", "keep_removed", "password_stdin"])]
    join: bool,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let backing = Backing { catalog: self.catalog.clone(), contents: self.contents.clone() };
        backing.probe().await.map_err(not_opened)?;
        if self.join {
            return self.joined(session, backing);
        }
        let given = self.password_stdin.then(secret::from_stdin).transpose()?;
        let password = given.clone().unwrap_or_else(secret::made_up);
        let store =
            init_dir_with(&self.dir, backing, &self.admin, &password).map_err(not_opened)?;
        let kept = store.keep_removed(&self.admin, self.keep_removed.seconds());
        kept.map_err(not_opened)?;
        drop(store);
        let made_up = given.is_none().then_some(password);
        let line = serde_json::json!({
            "directory": self.dir.display().to_string(), "admin": self.admin, "password": made_up,
        });
        session.output.item(&line, |_| self.told(made_up.as_deref()))
    }

    fn joined(&self, session: &Session, backing: Backing) -> Result<()> {
        drop(join_dir(&self.dir, backing).map_err(not_opened)?);
        let dir = self.dir.display().to_string();
        let line = serde_json::json!({ "directory": dir, "joined": true });
        session.output.item(&line, |_| {
            format!("joined a store from {dir}\nnext           cenote serve {dir}")
        })
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
