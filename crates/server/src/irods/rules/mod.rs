//! `rules`: there is no rule engine. Only what clients use to check that a server responds is supported:
//! writing lines to the client or to the server's log, at once or later.

mod delayed;
mod text;

use axum::http::StatusCode;
use serde_json::{Value, json};

pub(super) use delayed::{Delayed, run_due};
use text::{Line, Output, Rule};

use super::call::answer;
use super::call::answer::Answer;
use super::call::code::{Code, Refusal};
use super::call::request::Call;

/// The operations that change something.
pub(super) const CHANGES: &[&str] = &["execute", "remove_delay_rule"];
/// The rule engine that rule texts are addressed to.
const ENGINE: &str = "irods_rule_engine_plugin-irods_rule_language-instance";

pub(super) async fn answer(operation: &str, call: Call) -> Answer {
    match operation {
        "execute" => execute(call).await,
        "list_rule_engines" => answer::member("rule_engine_plugin_instances", vec![ENGINE]),
        _ => delayed::remove(call).await,
    }
}

async fn execute(call: Call) -> Answer {
    let text = call.need("rule-text")?;
    if call.form.text("rep-instance").is_some_and(|instance| instance != ENGINE) {
        return Ok(nothing(Code::InvalidArgument, "no such rule engine"));
    }
    let rules = match text::parse(text) {
        Ok(rules) => rules,
        Err(fault) => return Ok(nothing(Code::NoMicroservice, &fault)),
    };
    let mut lines = Vec::new();
    for rule in rules {
        match rule {
            Rule::Line(line) => lines.push(line),
            Rule::Delay { seconds, text } => delayed::add(&call, seconds, text).await?,
        }
    }
    log(call.caller.name(), &lines);
    let body = json!({
        "irods_response": { "status_code": 0 },
        "stderr": written(&lines, Output::Error),
        "stdout": written(&lines, Output::Client),
    });
    Ok(answer::json(StatusCode::OK, body))
}

/// The response when nothing was done.
fn nothing(code: Code, message: &str) -> axum::response::Response {
    let status = json!({ "status_code": code as i32, "status_message": message });
    let body = json!({ "irods_response": status, "stderr": Value::Null, "stdout": Value::Null });
    answer::json(StatusCode::OK, body)
}

/// The lines written to this output; null if there are none.
fn written(lines: &[Line], output: Output) -> Option<String> {
    let lines = lines.iter().filter(|line| line.output == output);
    let text: String = lines.map(|line| format!("{}\n", line.text)).collect();
    Some(text).filter(|text| !text.is_empty())
}

fn log(user: &str, lines: &[Line]) {
    for line in lines.iter().filter(|line| line.output == Output::Log) {
        tracing::info!(target: "cenote::irods", user, rule = line.text);
    }
}

/// The refusal for a rule that belongs to another user, or does not exist.
fn unknown_rule() -> Refusal {
    Refusal::code(Code::NoRows).with_message("no such delayed rule")
}
