//! Delayed rules. Each is a note, which a server removes before running the rule, so that it runs once.

use std::time::Duration;

use cenote_store::{Act, Result, Store, Time};
use serde::{Deserialize, Serialize};

use super::text::{self, Rule};
use super::{log, unknown_rule};
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;
use crate::irods::zone::notes;
use crate::irods::zone::notes::Note;

/// Maximum number of delayed rules.
const MOST: usize = 10_000;

/// A delayed rule.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Delayed {
    pub(in super::super) text: String,
    pub(in super::super) user: String,
    /// When it is due, in seconds since 1970.
    pub(in super::super) due: i64,
}

impl Note for Delayed {
    const FAMILY: &'static str = "rule";
}

pub(super) async fn add(
    call: &Call,
    seconds: u64,
    text: String,
) -> std::result::Result<(), Refusal> {
    let caller = call.caller.clone();
    let added = call.blocking(move |store| {
        notes::change(store, &caller, Act::Defer, |notes| {
            if notes.all::<Delayed>()?.len() >= MOST {
                return Ok(Err(
                    Refusal::code(Code::NoSpace).with_message("too many rules are waiting")
                ));
            }
            let due = notes.now().plus(Duration::from_secs(seconds)).secs();
            let (text, user) = (text.clone(), caller.name().to_owned());
            let number = notes.number()?;
            notes.put(&number.to_string(), &Delayed { text, user, due }).map(Ok)
        })
    });
    added.await?
}

/// `remove_delay_rule`: the caller's own; for an administrator, any.
pub(super) async fn remove(call: Call) -> Answer {
    let id = call.count("rule-id")?.ok_or(Refusal::BAD)?.to_string();
    let caller = call.caller.clone();
    let removed = call.blocking(move |store| {
        notes::change(store, &caller, Act::Defer, |notes| {
            let Some(rule) = notes.get::<Delayed>(&id)? else { return Ok(Err(unknown_rule())) };
            if rule.user != caller.name() && !caller.may(Act::OthersWork) {
                return Ok(Err(Refusal::code(Code::NoAccess)));
            }
            notes.remove::<Delayed>(&id);
            Ok(Ok(()))
        })
    });
    removed.await??;
    answer::done()
}

/// Runs the due rules: lines for the log are logged, others are dropped, since there is no reader.
pub(in super::super) fn run_due(store: &Store, now: Time) -> Result<()> {
    for (id, rule) in notes::all::<Delayed>(store)? {
        if rule.due <= now.secs() && take(store, &id)? {
            let rules = text::parse(&rule.text).unwrap_or_default();
            let lines = rules.into_iter().filter_map(|rule| match rule {
                Rule::Line(line) => Some(line),
                Rule::Delay { .. } => None,
            });
            log(&rule.user, &lines.collect::<Vec<_>>());
        }
    }
    Ok(())
}

/// Whether it still existed.
fn take(store: &Store, id: &str) -> Result<bool> {
    notes::tend(store, |notes| {
        let waits = notes.get::<Delayed>(id)?.is_some();
        notes.remove::<Delayed>(id);
        Ok(waits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::irods::zone::notes::tests::store;

    #[test]
    fn a_rule_runs_once_when_it_is_due() {
        let (store, _) = store();
        let text = r#"writeLine("serverLog", "later")"#.to_owned();
        let due = |secs| Delayed { text: text.clone(), user: "ada".to_owned(), due: secs };
        notes::tend(&store, |notes| {
            notes.put("1", &due(100))?;
            notes.put("2", &due(200))
        })
        .unwrap();
        let waiting = || -> Vec<String> {
            notes::all::<Delayed>(&store).unwrap().into_iter().map(|(id, _)| id).collect()
        };
        run_due(&store, Time::from_secs(99)).unwrap();
        assert_eq!(waiting(), ["1", "2"]);
        run_due(&store, Time::from_secs(100)).unwrap();
        assert_eq!(waiting(), ["2"]);
        assert!(take(&store, "2").unwrap(), "whichever server comes first runs it");
        assert!(!take(&store, "2").unwrap());
        run_due(&store, Time::from_secs(300)).unwrap();
        assert!(waiting().is_empty());
    }
}
