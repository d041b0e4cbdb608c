//! What survives `kill -9` of a server. Clients write over HTTP until it is killed; after each kill a server is
//! restarted on the same store, and every acknowledged change (200, 201) is present with all its bytes, a change in
//! progress is applied completely or not at all, and a check is clean.
//!
//! `CENOTE_CRASH_ROUNDS` sets the number of kills; a history can be repeated with the seed that a failure prints
//! (`CENOTE_CRASH_SEED`), as far as the timing of the machine allows.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "../../store/tests/crash/history.rs"]
mod history;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use cenote_client::transfer::{Item, LocalFile, Options, Source, Transfer, Unobserved};
use cenote_client::{
    Avu, Client, CrcDigest, Credential, HttpTransport, Kind, MetaOperation, NewStage, NewUpload,
    Patch, PutOptions, ReadOptions, Relocation, Removal, Resource, ResourceKind, RestoreRemoved,
    Result, Retry, StageFrom,
};
use futures_util::TryStreamExt;

use crate::history::{Dice, Objects, Op, apply, op, states};

const PASSWORD: &str = "a secret of the tests";
const WRITERS: u64 = 3;
/// A new store is created after this many rounds, so that a long run does not slow down.
const ROUNDS_A_STORE: u64 = 20;

fn cenote(arguments: &[&str], dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cenote"));
    command.args(arguments).env_clear().current_dir(dir).env("CENOTE_CONFIG", dir.join("none"));
    command
}

fn make_store(dir: &Path) {
    std::fs::write(dir.join("none"), "").unwrap();
    let init = ["init", "store", "--admin", "ada", "--password-stdin"];
    let mut init = cenote(&init, dir).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    init.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
    assert!(init.wait().unwrap().success());
}

/// A server on the store, and its address.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(dir: &Path) -> Self {
        let mut command = cenote(&["serve", "store", "--listen", "127.0.0.1:0"], dir);
        let process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut process = process.unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self { process, url }
    }

    fn client(&self) -> Client {
        let credential =
            Credential::Password { user: "ada".to_owned(), password: PASSWORD.to_owned() };
        let client = Client::new(HttpTransport::new(&self.url, None).unwrap());
        let once = Retry { attempts: 1, ..Retry::default() };
        client.with_credential(&credential).unwrap().with_retry(once)
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One of the writers.
struct Writer {
    client: Client,
    home: String,
    /// The directory of the files that it puts in batches.
    scratch: PathBuf,
}

impl Writer {
    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.home)
    }

    async fn perform(&self, op: &Op) -> Result<()> {
        match op {
            Op::Put(name, bytes) => self.put(name, bytes).await,
            Op::Upload(name, bytes) => self.upload(name, bytes).await,
            Op::Move(from, to) => {
                let relocation = Relocation { versions: true, ..self.relocation(from, to) };
                self.client.relocate(&relocation).await.map(drop)
            }
            Op::Copy(from, to) => {
                self.client.copy(&self.relocation(from, to), false).await.map(drop)
            }
            Op::Remove(name) => {
                self.client.remove(&self.path(name), &self.removal(false)).await.map(drop)
            }
            Op::Describe(name, value) => {
                let value = Avu { attribute: "step".into(), value: value.clone(), unit: None };
                let change = [MetaOperation::Set(value)];
                self.client.change_meta(&self.path(name).as_str().into(), &change).await
            }
            Op::MakeTree(name, bytes) => self.put_tree(name, bytes).await,
            Op::RemoveTree(name) => {
                self.client.remove(&self.path(name), &self.removal(true)).await.map(drop)
            }
            Op::Undone(name) => {
                let kept = self.client.remove(&self.path(name), &self.removal(true)).await?;
                let id = kept.expect("the trash keeps it").id;
                let restore = RestoreRemoved { id, to: None, parents: false };
                self.client.restore_removed(&restore).await.map(drop)
            }
            Op::Together(ops) => Box::pin(self.together(ops)).await,
            Op::Stage(name, offset, bytes, size) => self.stage(name, *offset, bytes, *size).await,
            Op::Write(..) | Op::Append(..) | Op::Truncate(..) => Ok(()),
        }
    }

    /// Several changes in one change set. Refusals in it are part of the history.
    async fn together(&self, ops: &[Op]) -> Result<()> {
        let id = self.client.begin_changeset(None).await?.id;
        let set = Self {
            client: self.client.clone().with_changeset(&id)?,
            home: self.home.clone(),
            scratch: self.scratch.clone(),
        };
        for op in ops {
            let done = match op {
                // Its parts are sent outside of the set.
                Op::Upload(name, bytes) => set.put(name, bytes).await,
                // A stage cannot be created in a set.
                Op::Stage(..) => Ok(()),
                op => set.perform(op).await,
            };
            match done {
                Err(error) if !matches!(error.kind(), Kind::NotFound | Kind::Exists) => {
                    return Err(error);
                }
                _ => {}
            }
        }
        self.client.commit_changeset(&id).await.map(drop)
    }

    async fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let options = PutOptions { parents: true, ..PutOptions::default() };
        self.client.put_bytes(&self.path(name), bytes.to_vec().into(), &options).await.map(drop)
    }

    async fn upload(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let new = NewUpload {
            at: self.path(name).as_str().into(),
            size: bytes.len() as u64,
            media_type: None,
            mode: None,
            mtime: None,
            if_match: None,
            if_none_match: None,
            parents: true,
            place: None,
        };
        let upload = self.client.begin_upload(&new).await?;
        // A part that is sent again replaces the one of its offset: only the last may be empty.
        let (first, second) = bytes.split_at(bytes.len().div_ceil(2));
        for (offset, part) in [(first.len(), second), (0, first)] {
            let digest = CrcDigest::of(part);
            self.client.put_part(&upload, offset as u64, part.to_vec().into(), digest).await?;
        }
        self.client.complete_upload(&upload).await.map(drop)
    }

    async fn stage(&self, name: &str, offset: u64, bytes: &[u8], size: u64) -> Result<()> {
        let new = NewStage {
            at: self.path(name).as_str().into(),
            from: StageFrom::Object,
            media_type: None,
            mode: None,
            if_match: None,
            if_none_match: None,
        };
        let stage = self.client.begin_stage(&new).await?.id;
        for patch in [Patch::Write(offset, bytes.to_vec().into()), Patch::Truncate(size)] {
            self.client.patch_stage(&stage, &patch).await?;
        }
        self.client.publish_stage(&stage, None, false).await.map(drop)
    }

    fn relocation(&self, from: &str, to: &str) -> Relocation {
        let (from, to) = (self.path(from).as_str().into(), self.path(to).into());
        Relocation { from, to, replace: true, parents: true, versions: false }
    }

    fn removal(&self, recursive: bool) -> Removal<'static> {
        Removal { recursive, versions: true, permanent: false, if_match: None }
    }

    /// Two files in one request, which is one commit.
    async fn put_tree(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let item = |leaf: &str| {
            let path = self.scratch.join(leaf);
            std::fs::write(&path, bytes).unwrap();
            let source = Source::File(LocalFile::new(&path).unwrap());
            Item { relative: format!("{name}/{leaf}"), source, mode: None, mtime: None }
        };
        let transfer =
            Transfer::new(self.client.clone(), Options::default(), std::sync::Arc::new(Unobserved));
        let mut outcomes = transfer.put_items(&self.home, vec![item("a"), item("b")]);
        while let Some(outcome) = futures_util::StreamExt::next(&mut outcomes).await {
            outcome.result?;
        }
        Ok(())
    }

    /// Writes until the server is killed, and returns the number of acknowledged changes.
    async fn write(&self, seed: u64, writer: u64, acknowledged: impl Fn()) -> u64 {
        for step in 0.. {
            match self.perform(&op(seed, writer, step)).await {
                Ok(()) => acknowledged(),
                Err(error) => match error.kind() {
                    // These errors are caused by the state of the resources, not by the crash.
                    Kind::NotFound | Kind::Exists => acknowledged(),
                    Kind::Unreachable => return step,
                    _ => panic!("step {step} of writer {writer}: {error:?}"),
                },
            }
        }
        unreachable!("the server is killed before the steps run out")
    }

    async fn read_objects(&self) -> Objects {
        let top = format!("{}/", self.home);
        let walk = self.client.walk(&self.home.as_str().into()).await.unwrap();
        let found: Vec<Resource> = walk.try_collect().await.unwrap();
        let mut objects = Objects::new();
        for object in found.iter().filter(|found| found.kind == ResourceKind::Object) {
            let content = self.client.read(&object.path, &ReadOptions::default()).await.unwrap();
            let chunks: Vec<bytes::Bytes> = content.into_stream().try_collect().await.unwrap();
            let avus = self.client.meta(&object.path.as_str().into()).await.unwrap();
            let step = avus.into_iter().next().map(|avu| avu.value);
            let name = object.path.strip_prefix(&top).unwrap().to_owned();
            objects.insert(name, (chunks.concat(), step));
        }
        objects
    }
}

/// The changes that the program supports: it does not write in place.
fn supported(op: Op) -> Op {
    match op {
        Op::Write(..) | Op::Append(..) | Op::Truncate(..) => Op::Together(Vec::new()),
        Op::Together(mut ops) => {
            ops.retain(|op| !matches!(op, Op::Stage(..)));
            Op::Together(ops.into_iter().map(supported).collect())
        }
        op => op,
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn writers(server: &Server, dir: &Path, round: u64) -> Vec<Writer> {
    let writer = |number| {
        let scratch = dir.join(format!("scratch{number}"));
        std::fs::create_dir_all(&scratch).unwrap();
        Writer { client: server.client(), home: format!("/r{round}/w{number}"), scratch }
    };
    (0..WRITERS).map(writer).collect()
}

/// Runs all writers until `enough` changes are acknowledged, then kills the server.
async fn write_until_killed(
    mut server: Server,
    dir: &Path,
    round: u64,
    enough: u64,
    seed: u64,
) -> Vec<u64> {
    let writers = writers(&server, dir, round);
    for writer in &writers {
        writer.put("first", b"so that the collection is there").await.unwrap();
    }
    let seen = AtomicU64::new(0);
    let process = Mutex::new(&mut server);
    let acknowledged = || {
        if seen.fetch_add(1, Ordering::SeqCst) + 1 == enough {
            process.lock().unwrap().kill();
        }
    };
    let all =
        writers.iter().zip(0..).map(|(writer, number)| writer.write(seed, number, acknowledged));
    futures_util::future::join_all(all).await
}

async fn verify(server: &Server, dir: &Path, round: u64, seed: u64, done: &[u64]) {
    for (number, writer) in (0..).zip(writers(server, dir, round)) {
        let done = done[number as usize];
        let mut expected = Objects::new();
        apply(&mut expected, &Op::Put("first".into(), b"so that the collection is there".into()));
        let steps = (0..done).map(|step| supported(op(seed, number, step)));
        steps.for_each(|op| apply(&mut expected, &op));
        let under_way = supported(op(seed, number, done));
        let there = writer.read_objects().await;
        assert!(
            states(&expected, &under_way).contains(&there),
            "seed {seed}, round {round}, writer {number}: after {done} changes, {under_way:?} under way"
        );
    }
    let findings = server.client().check(100, false).await.unwrap();
    let findings: Vec<_> = findings.try_collect().await.unwrap();
    assert!(findings.is_empty(), "seed {seed}, round {round}: {findings:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_acknowledged_change_survives_killing_the_server_and_none_is_partial() {
    let rounds = number("CENOTE_CRASH_ROUNDS").unwrap_or(4);
    let seed = number("CENOTE_CRASH_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    let mut dir = tempfile::tempdir().unwrap();
    for round in 0..rounds {
        if round.is_multiple_of(ROUNDS_A_STORE) {
            dir = tempfile::tempdir().unwrap();
            make_store(dir.path());
        }
        let (server, seed) = (Server::start(dir.path()), seed ^ round);
        let enough = 1 + Dice::new(&[seed]).below(200);
        let done = write_until_killed(server, dir.path(), round, enough, seed).await;
        verify(&Server::start(dir.path()), dir.path(), round, seed, &done).await;
    }
}
