//! One large file, in both directions.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::report::{median, timed};
use crate::served::Served;
use crate::tools::{Nginx, has, noise, run};
use crate::{Bench, Outcome};

const GIB: usize = 1 << 30;

pub(crate) fn measure(bench: &mut Bench) -> Outcome {
    let served = Served::new(bench, "big")?;
    let file = noise(&bench.dir.join("noise"), GIB)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..bench.rounds {
        let copy = bench.dir.join("copy");
        theirs.push(timed(|| write_then_hash(&file, &copy))?);
        ours.push(timed(|| curl_put(&served, &file, &format!("put{round}")))?);
    }
    let peer = ("write and fsync, then SHA-256", median(&mut theirs));
    bench.report.times("put 1 GiB (curl)", median(&mut ours), peer, ">= 0.6");
    if has("nginx") {
        get(bench, &served)?
    } else {
        eprintln!("nginx is not installed: no row for get")
    }
    Ok(())
}

fn get(bench: &mut Bench, served: &Served) -> Outcome {
    let nginx = Nginx::start(&bench.dir)?;
    let (mut ours, mut verified, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    let to = bench.dir.join("got");
    for _ in 0..bench.rounds {
        theirs.push(curl_get(&format!("{}/noise", nginx.url), "x:x", &to)?);
        ours.push(curl_get(&format!("{}/v1/fs/put0", served.url), &served.credentials(), &to)?);
        let fresh = bench.dir.join("verified");
        let _ = std::fs::remove_file(&fresh);
        verified.push(timed(|| run(served.command().args(["get", "/put0"]).arg(&fresh)))?);
    }
    let peer = ("curl from nginx", median(&mut theirs));
    bench.report.times("get 1 GiB to a file (curl)", median(&mut ours), peer, ">= 0.8");
    bench.report.times("get 1 GiB, verified (`cenote get`)", median(&mut verified), peer, "");
    Ok(())
}

fn curl_put(served: &Served, file: &Path, name: &str) -> Outcome {
    let url = format!("{}/v1/fs/{name}", served.url);
    run(Command::new("curl")
        .args(["-sSf", "-o", "/dev/null", "-u", &served.credentials(), "-H", "Expect:", "-T"])
        .arg(file)
        .arg(url))
}

fn curl_get(url: &str, user: &str, to: &Path) -> Outcome<Duration> {
    let _ = std::fs::remove_file(to);
    timed(|| {
        run(Command::new("curl")
            .args(["-sSf", "-u", user, "-o"])
            .arg(to)
            .arg(url)
            .stdout(Stdio::null()))
    })
}

fn write_then_hash(from: &Path, to: &Path) -> Outcome {
    let _ = std::fs::remove_file(to);
    let (mut input, mut output) = (File::open(from)?, File::create(to)?);
    let mut block = vec![0; 1 << 20];
    each_block(&mut input, &mut block, |bytes| output.write_all(bytes))?;
    output.sync_all()?;
    let mut hash = Sha256::new();
    each_block(&mut File::open(to)?, &mut block, |bytes| {
        hash.update(bytes);
        Ok(())
    })?;
    std::hint::black_box(hash.finalize());
    Ok(())
}

fn each_block(
    file: &mut File,
    block: &mut [u8],
    mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
) -> Outcome {
    loop {
        match file.read(block)? {
            0 => return Ok(()),
            read => take(&block[..read])?,
        }
    }
}
