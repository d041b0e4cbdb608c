//! `cenote init`: a new store in a directory. `cenote serve` also creates one, in the same way ([`Founding`]).

use std::path::{Path, PathBuf};

use cenote_server::embedded::{Backing, init_dir_with, join_dir};

use crate::connect::not_opened;
use crate::duration::Duration;
use crate::error::Result;
use crate::secret;
use crate::session::Session;

/// Create a store in a directory, with its first administrator.
///
/// Without --password-stdin or --password-file a password is generated and printed once.
///
/// The catalog and the contents can be elsewhere: a PostgreSQL database, a bucket. The directory then has only the settings of
/// the store, with the address of the database; keep a copy of `store.toml`, or use --join to make it again. Several servers can
/// serve such a store, each with a directory of its own, made with --join. Credentials for buckets come from the environment
/// (AWS_ACCESS_KEY_ID, ...), or from [places.main] in `store.toml`; the password of the database from its address, or from
/// PGPASSWORD.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// An empty directory, or one that does not exist yet
    dir: PathBuf,
    /// The administrator's name
    #[arg(long, value_name = "NAME", default_value = ADMIN)]
    admin: String,
    /// How long what is removed is kept in the trash, or 0s for not at all
    #[arg(long, value_name = "TIME", default_value = KEEP_REMOVED)]
    keep_removed: Duration,
    /// Read the administrator's password from standard input
    #[arg(long)]
    password_stdin: bool,
    /// Read the administrator's password from a file
    #[arg(long, value_name = "FILE", conflicts_with = "password_stdin")]
    password_file: Option<PathBuf>,
    /// Keep the catalog in a PostgreSQL database: postgres://USER@HOST/DATABASE; with ?sslmode=require over TLS
    #[arg(long, value_name = "URL")]
    catalog: Option<String>,
    /// Keep the contents in a bucket or another directory: s3://BUCKET/PREFIX, gs://..., az://..., file:///...
    #[arg(long, value_name = "URL")]
    contents: Option<String>,
    /// Make a directory for a store that is in a database already, such as on another machine
    #[arg(long, requires_all = ["catalog", "contents"], conflicts_with_all = ["admin", "keep_removed", "password_stdin", "password_file"])]
    join: bool,
}

/// The name of the first administrator if none is given.
pub(crate) const ADMIN: &str = "admin";
const KEEP_REMOVED: &str = "30d";

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let backing = Backing { catalog: self.catalog.clone(), contents: self.contents.clone() };
        backing.probe().await.map_err(not_opened)?;
        if self.join {
            return self.joined(session, backing);
        }
        let password = secret::given(self.password_stdin, self.password_file.as_deref())?;
        let next = format!("cenote serve {0}, or cenote --store {0} ls", self.dir.display());
        let founding =
            Founding { admin: self.admin, keep_removed: self.keep_removed, password, backing };
        founding.run(&self.dir, session, Some(&next))
    }

    fn joined(&self, session: &Session, backing: Backing) -> Result<()> {
        drop(join_dir(&self.dir, backing).map_err(not_opened)?);
        let dir = self.dir.display().to_string();
        let line = serde_json::json!({ "directory": dir, "joined": true });
        session.output.item(&line, |_| {
            format!("joined a store from {dir}\nnext           cenote serve {dir}")
        })
    }
}

/// How a store begins.
pub(crate) struct Founding {
    admin: String,
    keep_removed: Duration,
    /// One is generated if it is missing.
    password: Option<String>,
    backing: Backing,
}

impl Founding {
    /// A store with the defaults of `cenote init`.
    pub(crate) fn new(admin: String, password: Option<String>) -> Result<Self> {
        Ok(Self {
            admin,
            keep_removed: KEEP_REMOVED.parse()?,
            password,
            backing: Backing::default(),
        })
    }

    /// Creates the store, and prints its administrator and what to do `next`.
    pub(crate) fn run(&self, dir: &Path, session: &Session, next: Option<&str>) -> Result<()> {
        let made_up = self.password.is_none().then(secret::made_up);
        let password = self.password.as_ref().or(made_up.as_ref()).map_or("", String::as_str);
        let store =
            init_dir_with(dir, self.backing.clone(), &self.admin, password).map_err(not_opened)?;
        store.keep_removed(&self.admin, self.keep_removed.seconds()).map_err(not_opened)?;
        store.make_home(&self.admin).map_err(not_opened)?;
        drop(store);
        let line = serde_json::json!({
            "directory": dir.display().to_string(), "admin": self.admin, "password": made_up,
        });
        session.output.item(&line, |_| self.summary(dir, made_up.as_deref(), next))
    }

    fn summary(&self, dir: &Path, made_up: Option<&str>, next: Option<&str>) -> String {
        let password = made_up
            .map(|password| format!("\npassword       {password}   (shown only once)"))
            .unwrap_or_default();
        let next = next.map(|next| format!("\nnext           {next}")).unwrap_or_default();
        let dir = dir.display();
        format!("made a store in {dir}\nadministrator  {}{password}{next}", self.admin)
    }
}
