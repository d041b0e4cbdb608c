//! A collection of a million children, and a restart with it.

use std::time::Duration;

use crate::connection::Connection;
use crate::report::{median, seconds, timed};
use crate::served::Served;
use crate::{Bench, Outcome};

const CHILDREN: usize = 1_000_000;
const BATCH: usize = 10_000;
const ROUNDS: usize = 101;

pub(crate) fn measure(bench: &mut Bench) -> Outcome {
    let mut served = Served::new(bench, "million")?;
    let mut connection = served.connect()?;
    for name in ["many", "empty"] {
        let body = format!(r#"{{"path":"/{name}","kind":"collection"}}"#);
        connection.send("POST", "/v1/create", body.as_bytes())?;
    }
    let filled = timed(|| fill(&mut connection))?;
    let rate = CHILDREN as f64 / filled.as_secs_f64();
    bench.report.row(
        "put 1,000,000 children, 10,000 a request",
        &format!("{rate:.0}/s"),
        "",
        "",
        "",
    );
    let page = repeated(|_| connection.send("GET", "/v1/list?path=/many", b"").map(drop))?;
    bench.report.row("first page (1,000 of 1,000,000)", &seconds(page), "", "", "< 20 ms");
    creates(bench, &mut connection)?;
    let rename = repeated(|round| {
        let (from, to) = if round % 2 == 0 { ("many", "moved") } else { ("moved", "many") };
        let body = format!(r#"{{"from":{{"path":"/{from}"}},"to":"/{to}"}}"#);
        connection.send("POST", "/v1/move", body.as_bytes()).map(drop)
    })?;
    bench.report.row("rename of the collection", &seconds(rename), "", "", "< 10 ms");
    finds(bench, &mut connection)?;
    let mut restarts = (0..bench.rounds).map(|_| served.restart()).collect::<Outcome<Vec<_>>>()?;
    bench.report.row(
        "answering after `kill -9`",
        &seconds(median(&mut restarts)),
        "",
        "",
        "< 0.5 s",
    );
    Ok(())
}

/// Creates alternately among a million children and among a few, so that both are measured under the same conditions.
fn creates(bench: &mut Bench, connection: &mut Connection) -> Outcome {
    let (mut many, mut few) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        for (collection, times) in [("many", &mut many), ("empty", &mut few)] {
            let path = format!("/v1/fs/{collection}/new{round}");
            times.push(timed(|| connection.send("PUT", &path, b"some bytes").map(drop))?);
        }
    }
    let (many, few) = (median(&mut many), median(&mut few));
    let ratio = format!("{:.2}", many.as_secs_f64() / few.as_secs_f64());
    bench.report.row(
        "a create among 1,000,000 resources, and in an empty collection",
        &seconds(many),
        &seconds(few),
        &ratio,
        "<= 1.3",
    );
    Ok(())
}

/// Finds one object among a million, by an attribute, which is indexed, and by its name, for which the collection is
/// walked.
fn finds(bench: &mut Bench, connection: &mut Connection) -> Outcome {
    let attribute = r#"{"op":"add","attribute":"temperature","value":"291.5","unit":"K"}"#;
    let change = format!(r#"{{"path":"/many/0500000","operations":[{attribute}]}}"#);
    connection.send("POST", "/v1/meta", change.as_bytes())?;
    let by_attribute =
        br#"{"under":"/many","where":[{"attribute":"temperature","value":"291.5"}]}"#;
    let found = repeated(|_| connection.send("POST", "/v1/search", by_attribute).map(drop))?;
    let row = "find one of 1,000,000 by an attribute";
    bench.report.row(row, &seconds(found), "", "", "");
    let walked = timed(|| find_by_name(connection))?;
    bench.report.row("find one of 1,000,000 by its name", &seconds(walked), "", "", "");
    Ok(())
}

/// Follows the pages, which may be empty, to the end.
fn find_by_name(connection: &mut Connection) -> Outcome {
    let mut question = serde_json::json!({ "under": "/many", "name": "*00000" });
    loop {
        let body = connection.send("POST", "/v1/search", question.to_string().as_bytes())?;
        let mut page: serde_json::Value = serde_json::from_slice(&body)?;
        match page["next"].take() {
            serde_json::Value::Null => return Ok(()),
            next => question["after"] = next,
        }
    }
}

fn repeated(mut work: impl FnMut(usize) -> Outcome) -> Outcome<Duration> {
    let mut times =
        (0..ROUNDS + 1).map(|round| timed(|| work(round))).collect::<Outcome<Vec<_>>>()?;
    Ok(median(&mut times))
}

fn fill(connection: &mut Connection) -> Outcome {
    for start in (0..CHILDREN).step_by(BATCH) {
        let mut tar = tar::Builder::new(Vec::with_capacity(BATCH * 1_024));
        for i in start..start + BATCH {
            let mut header = tar::Header::new_ustar();
            header.set_size(8);
            header.set_mode(0o644);
            tar.append_data(&mut header, format!("{i:07}"), &b"8 bytes!"[..])?;
        }
        connection.send("POST", "/v1/batch?path=/many", &tar.into_inner()?)?;
    }
    Ok(())
}
