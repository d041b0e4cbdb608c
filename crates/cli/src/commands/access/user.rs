//! `cenote user`: who may log in.

use cenote_client::{NewUser, UserChange};

use crate::commands::record;
use crate::error::{CliError, Kind, Result};
use crate::secret;
use crate::session::Session;

/// Add, list, change and remove users.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Add a user with a home collection `/home/NAME`
    Add {
        name: String,
        /// The role, which grants rights in addition to the access lists
        #[arg(long, value_enum, default_value = "user")]
        role: Role,
        /// Read the password from standard input instead of prompting for it or generating one
        #[arg(long)]
        password_stdin: bool,
    },
    /// List users
    Ls,
    /// Set a user's password; this ends their logins, but their tokens stay valid
    Passwd {
        name: String,
        /// Read the password from standard input instead of prompting for it or generating one
        #[arg(long)]
        password_stdin: bool,
    },
    /// Change the role of a user
    ///
    /// The role of the last administrator cannot be changed. If a store has no administrator left, anyone with access to
    /// its directory can appoint one while no server is running: `cenote --store DIR user role NAME admin`.
    Role {
        name: String,
        #[arg(value_enum)]
        role: Role,
    },
    /// Remove a user
    Rm { name: String },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Role {
    Admin,
    Groupadmin,
    User,
}

impl Role {
    fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Groupadmin => "groupadmin",
            Self::User => "user",
        }
    }
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        match self.what {
            What::Add { name, role, password_stdin } => {
                add(session, name, role, password_stdin).await
            }
            What::Ls => list(session).await,
            What::Passwd { name, password_stdin } => passwd(session, name, password_stdin).await,
            What::Role { name, role } => set_role(session, name, role).await,
            What::Rm { name } => remove(session, &name).await,
        }
    }
}

/// A password, and whether it was made up, so that it has to be shown.
struct Password {
    text: String,
    made_up: bool,
}

impl Password {
    fn choose(from_stdin: bool) -> Result<Self> {
        let (text, made_up) = match from_stdin {
            true => (secret::from_stdin()?, false),
            false if secret::has_terminal() => (prompt_required_password()?, false),
            false => (secret::made_up(), true),
        };
        Ok(Self { text, made_up })
    }

    fn shown(&self) -> Option<&str> {
        self.made_up.then_some(self.text.as_str())
    }

    /// The message, with a made-up password appended.
    fn message(&self, what: &str) -> String {
        match self.shown() {
            Some(text) => format!("{what}\npassword  {text}   (shown only once)"),
            None => what.to_owned(),
        }
    }
}

fn prompt_required_password() -> Result<String> {
    match secret::prompt_new_password("new password: ")? {
        password if password.is_empty() => {
            Err(CliError::new(Kind::Usage, "a password cannot be empty"))
        }
        password => Ok(password),
    }
}

async fn add(session: &Session, name: String, role: Role, from_stdin: bool) -> Result<()> {
    let client = session.client()?;
    let password = Password::choose(from_stdin)?;
    let role = role.as_str();
    let user = NewUser {
        name: name.clone(),
        password: Some(password.text.clone()),
        role: role.to_owned(),
    };
    client.add_user(&user).await?;
    let line = serde_json::json!({ "name": name, "role": role, "password": password.shown() });
    session
        .output
        .item(&line, |_| password.message(&format!("added {role} {name}, with /home/{name}")))
}

async fn list(session: &Session) -> Result<()> {
    for user in session.client()?.users().await? {
        session.output.item(&user, record::row)?;
    }
    Ok(())
}

async fn passwd(session: &Session, name: String, from_stdin: bool) -> Result<()> {
    let client = session.client()?;
    let password = Password::choose(from_stdin)?;
    let change =
        UserChange { name: name.clone(), password: Some(password.text.clone()), role: None };
    client.change_user(&change).await?;
    let line = serde_json::json!({ "name": name, "password": password.shown() });
    session.output.item(&line, |_| password.message(&format!("changed the password of {name}")))
}

async fn set_role(session: &Session, name: String, role: Role) -> Result<()> {
    let role = role.as_str().to_owned();
    let change = UserChange { name: name.clone(), password: None, role: Some(role.clone()) };
    session.client()?.change_user(&change).await?;
    let line = serde_json::json!({ "name": name, "role": role });
    session.output.done(&line, |_| format!("{name} is now {role}"))
}

async fn remove(session: &Session, name: &str) -> Result<()> {
    session.client()?.remove_user(name).await?;
    let line = serde_json::json!({ "action": "remove", "name": name });
    session.output.done(&line, |_| format!("removed {name}"))
}
