//! Many small files, each durable when it is acknowledged.

use std::time::Duration;

use crate::append_server::AppendServer;
use crate::connection::Connection;
use crate::report::{median, timed};
use crate::served::Served;
use crate::tools::run;
use crate::{Bench, Outcome};

const FILES: usize = 10_000;

pub(crate) fn measure(bench: &mut Bench) -> Outcome {
    let served = Served::new(bench, "small")?;
    let peer = AppendServer::start(&bench.dir.join("appended"))?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut connection = served.connect()?;
    for round in 0..bench.rounds {
        theirs.push(one_by_one(&mut Connection::open(&peer.url, "x", "x")?, "/append")?);
        let path = format!("/v1/fs/one{round}");
        let body = format!(r#"{{"path":"/one{round}","kind":"collection"}}"#);
        connection.send("POST", "/v1/create", body.as_bytes())?;
        ours.push(one_by_one(&mut connection, &path)?);
    }
    let (ours, theirs) = (rate(median(&mut ours)), rate(median(&mut theirs)));
    bench.report.row(
        "10,000 files of 1 KiB, one at a time",
        &format!("{ours:.0}/s"),
        &format!("{theirs:.0}/s (bare synced append)"),
        &format!("{:.2}", ours / theirs),
        ">= 0.5",
    );
    put_directory(bench, &served)
}

fn one_by_one(connection: &mut Connection, path: &str) -> Outcome<Duration> {
    let body = [0x5a; 1_024];
    timed(|| {
        (0..FILES).try_for_each(|i| connection.send("PUT", &format!("{path}/{i}"), &body).map(drop))
    })
}

fn put_directory(bench: &mut Bench, served: &Served) -> Outcome {
    let dir = bench.dir.join("files");
    std::fs::create_dir(&dir)?;
    for i in 0..FILES {
        std::fs::write(dir.join(i.to_string()), [i as u8; 1_024])?;
    }
    let mut times = Vec::new();
    for round in 0..bench.rounds {
        let to = format!("/dir{round}");
        times.push(timed(|| run(served.command().args(["put", "-r"]).arg(&dir).arg(&to)))?);
    }
    let rate = rate(median(&mut times));
    bench.report.row(
        "`put -r` of 10,000 files of 1 KiB",
        &format!("{rate:.0}/s"),
        "",
        "",
        ">= 5,000/s",
    );
    let again = timed(|| run(served.command().args(["put", "-r"]).arg(&dir).arg("/dir0")))?;
    bench.report.row(
        "the same command again, with nothing to do",
        &crate::report::seconds(again),
        "",
        "",
        "",
    );
    Ok(())
}

fn rate(time: Duration) -> f64 {
    FILES as f64 / time.as_secs_f64()
}
