//! `cenote kdb validate`.

mod rules;
mod spec;

use cenote_keyset::{KeyRef, Namespace};
use serde_json::json;

use self::rules::problem;
use self::spec::Specification;
use super::documents::file::{FileArgs, HowArgs, Opened};
use super::documents::storage::KeyFile;
use super::keys::show::{keys, lossy};
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Check values against the metakeys of their keys; exits with code 12 if any value is invalid.
///
/// The metakeys are `type`, `check/enum`, `check/range`, `check/validation`, `check/length/max` and
/// `array`, of the key itself or of its specification. In a specification, the part `_` matches any
/// part and `#` any array element; a key with `require` must exist.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key to start at; the default is all keys
    name: Option<String>,
    /// A key set file with the specification of FILE; `:/…` in the store
    #[arg(long, value_name = "FILE", value_parser = KeyFile::parser())]
    spec: Option<KeyFile>,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let mut opened = self.file.open(session)?;
        let specification = self.specification(session, &opened)?;
        let below = match &self.name {
            Some(name) => opened.keys.below(&opened.name(name)?),
            None => opened.keys.clone(),
        };
        let mut problems = Vec::new();
        for key in below.iter().filter(|key| is_checked(*key)) {
            let rules = specification.rules(key);
            let found = problem(key, &opened.keys, |name| rules.get(name));
            problems.extend(found.into_iter().map(|problem| (key.name().to_string(), problem)));
        }
        for name in specification.required().into_iter().filter(|_| self.name.is_none()) {
            if opened.keys.lookup(&name).is_none() {
                problems.push((lossy(name.as_bytes()), "the key is required".into()));
            }
        }
        for (name, problem) in &problems {
            let line = json!({ "name": name, "problem": problem });
            session.output.item(&line, |_| format!("{name}: {problem}"))?;
        }
        match problems.len() {
            0 => session.output.done(&json!({ "checked": below.len() }), |_| {
                format!("Checked {}", keys(below.len()))
            }),
            1 => Err(CliError::new(Kind::Found, "1 value is invalid")),
            count => Err(CliError::new(Kind::Found, format!("{count} values are invalid"))),
        }
    }
}

impl Args {
    fn specification(&self, session: &Session, opened: &Opened) -> Result<Specification> {
        let Some(file) = &self.spec else { return Ok(Specification::of(&opened.keys)) };
        let parent = opened.parent.with_namespace(Namespace::Spec);
        let keys = HowArgs { parent, format: None, strict: false }.read(session, file)?;
        Ok(Specification::of(&keys))
    }
}

/// Binary keys have no rules, and a specification is one.
fn is_checked(key: KeyRef<'_>) -> bool {
    !key.value().is_binary() && key.name().namespace() != Namespace::Spec
}
