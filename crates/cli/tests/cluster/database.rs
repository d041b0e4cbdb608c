//! A proxy before PostgreSQL, which follows the messages of its protocol (version 3, "Frontend/Backend Protocol").
//!
//! Invariant: a fault concerns commits as they are sent, or whole connections; whatever is passed on is passed on unchanged.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

/// What happens to a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Its connection ends before it is passed on.
    Cut,
    /// Its connection ends once the database has answered.
    LoseAnswer,
    /// It is refused, as by a disk that is full.
    Full,
    /// It is passed on later.
    Stall(Duration),
    /// It is answered, and then the database is out of reach for the next attempts to connect.
    Last,
}

/// Each read makes one attempt, and what a server does in the background some.
const REFUSALS: usize = 4;

/// A running proxy, on a port of its own.
#[derive(Debug)]
pub(crate) struct Database {
    port: u16,
    state: Arc<State>,
    _runtime: tokio::runtime::Runtime,
}

#[derive(Debug)]
struct State {
    socket: PathBuf,
    armed: Mutex<Option<(Fault, usize)>>,
    refuses: AtomicBool,
    /// So many more connections are refused.
    refusals: AtomicUsize,
    cuts: watch::Sender<()>,
    /// Nothing is passed on for now.
    hangs: watch::Sender<bool>,
    /// The round trips since somebody began to record them.
    trips: Mutex<Option<Vec<String>>>,
}

impl Database {
    /// Before the server whose sockets are in `dir`.
    pub(crate) fn before(dir: &str) -> Self {
        let state = Arc::new(State {
            socket: PathBuf::from(dir).join(".s.PGSQL.5432"),
            armed: Mutex::default(),
            refuses: AtomicBool::new(false),
            refusals: AtomicUsize::new(0),
            cuts: watch::Sender::new(()),
            hangs: watch::Sender::new(false),
            trips: Mutex::default(),
        });
        let (runtime, listener) = listening();
        let port = listener.local_addr().unwrap().port();
        runtime.spawn(accept(listener, state.clone()));
        Self { port, state, _runtime: runtime }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Does this to the next commits.
    pub(crate) fn arm(&self, fault: Fault, commits: usize) {
        *self.state.armed.lock().unwrap() = Some((fault, commits));
    }

    pub(crate) fn disarm(&self) {
        *self.state.armed.lock().unwrap() = None;
    }

    /// Ends all connections.
    pub(crate) fn cut(&self) {
        self.state.cuts.send_replace(());
    }

    /// Ends all connections and takes none, or takes them again.
    pub(crate) fn refuse(&self, refuses: bool) {
        self.state.refuses.store(refuses, Ordering::SeqCst);
        self.cut();
    }

    /// Says nothing more on any connection, and takes further ones; or passes on what was held back.
    pub(crate) fn hang(&self, hangs: bool) {
        self.state.hangs.send_replace(hangs);
    }

    /// What is asked while `work` runs, a line for each round trip. The end of a snapshot is none: it is passed on with what comes next
    /// on its connection, so that whoever waited for it would wait forever.
    pub(crate) fn trips_of(&self, work: impl FnOnce()) -> Vec<String> {
        *self.state.trips.lock().unwrap() = Some(Vec::new());
        work();
        self.state.trips.lock().unwrap().take().unwrap()
    }
}

/// A port of the loopback, and what drives its connections.
pub(crate) fn listening() -> (tokio::runtime::Runtime, TcpListener) {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    (runtime, listener)
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    while let Ok((client, _)) = listener.accept().await {
        if state.refuses.load(Ordering::SeqCst) || state.takes_refusal() {
            continue;
        }
        let state = state.clone();
        tokio::spawn(async move {
            let mut cut = state.cuts.subscribe();
            tokio::select! {
                _ = cut.changed() => {}
                _ = relay(client, &state) => {}
            }
        });
    }
}

/// Passes messages on until either side ends, or a fault does.
async fn relay(mut client: TcpStream, state: &State) -> io::Result<()> {
    client.set_nodelay(true)?;
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = UnixStream::connect(&state.socket).await?.into_split();
    let (mut requests, mut responses) = (BytesMut::new(), BytesMut::new());
    let mut session = Session::default();
    loop {
        tokio::select! {
            read = from_client.read_buf(&mut requests) => {
                ended(read?)?;
                state.flows().await;
                while let Some(message) = session.next(&mut requests) {
                    match session.judge(&message, state) {
                        Verdict::Pass => {
                            to_server.write_all(&std::mem::take(&mut session.withheld)).await?;
                            to_server.write_all(&message).await?;
                        }
                        Verdict::Withhold => session.withheld.extend_from_slice(&message),
                        Verdict::Drop => {}
                        Verdict::Refuse => to_server.write_all(&full()).await?,
                        Verdict::End => return Ok(()),
                        Verdict::Wait(time) => {
                            tokio::time::sleep(time).await;
                            to_server.write_all(&message).await?;
                        }
                    }
                }
            }
            read = from_server.read_buf(&mut responses) => {
                ended(read?)?;
                state.flows().await;
                session.trip = None;
                if session.loses_answer {
                    return Ok(());
                }
                if session.is_last && is_bound(&responses) {
                    state.refusals.store(REFUSALS, Ordering::SeqCst);
                    to_client.write_all_buf(&mut responses).await?;
                    state.cuts.send_replace(());
                }
                to_client.write_all_buf(&mut responses).await?;
            }
        }
    }
}

/// Whether it answers a prepared statement, and not only the end of a snapshot that was sent before it (the message `BindComplete`).
fn is_bound(answered: &[u8]) -> bool {
    answered.windows(5).any(|message| message == b"2\0\0\0\x04")
}

fn ended(read: usize) -> io::Result<()> {
    if read == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// What becomes of a message.
enum Verdict {
    Pass,
    /// It is passed on with the next one.
    Withhold,
    Drop,
    Refuse,
    End,
    Wait(Duration),
}

/// What a connection has said so far.
#[derive(Debug, Default)]
struct Session {
    begun: bool,
    /// Prepared statements.
    statements: HashMap<Vec<u8>, String>,
    /// What the messages until the next end of a round trip do.
    doing: String,
    /// A commit is being refused.
    refusing: bool,
    loses_answer: bool,
    is_last: bool,
    withheld: Vec<u8>,
    /// The number of the round trip that has not been answered yet: what is sent meanwhile is part of it.
    trip: Option<usize>,
}

impl Session {
    /// The next whole message: a byte for its type, except of the first one, and its length with that of itself.
    fn next(&mut self, received: &mut BytesMut) -> Option<BytesMut> {
        let kind = usize::from(self.begun);
        let length = received.get(kind..kind + 4)?.get_u32() as usize + kind;
        if received.len() < length {
            received.reserve(length - received.len());
            return None;
        }
        self.begun = true;
        Some(received.split_to(length))
    }

    fn judge(&mut self, message: &[u8], state: &State) -> Verdict {
        match message[0] {
            b'P' => self.prepare(&message[5..]),
            b'B' => {
                let name = words(&message[5..]).nth(1).unwrap_or_default();
                self.doing = self.statements.get(name).cloned().unwrap_or_default();
                if self.doing.contains("cenote_rows") {
                    let after_names =
                        message[5..].iter().enumerate().filter(|(_, byte)| **byte == 0);
                    let start = after_names.map(|(at, _)| at + 6).nth(1).unwrap_or(5);
                    let is_joint = self.doing.contains("unnest($2");
                    self.doing = tables(&message[start..], is_joint).unwrap_or_default();
                }
                if self.doing.contains("cenote_apply(") {
                    return self.commit(state);
                }
            }
            b'Q' => {
                self.doing = text(words(&message[5..]).next().unwrap_or_default());
                if self.doing == "ROLLBACK" && state.trips.lock().unwrap().is_some() {
                    return Verdict::Withhold;
                }
                self.made_trip(state);
            }
            b'S' => {
                self.made_trip(state);
                if std::mem::take(&mut self.refusing) {
                    return Verdict::Refuse;
                }
            }
            _ => {}
        }
        if self.refusing { Verdict::Drop } else { Verdict::Pass }
    }

    fn prepare(&mut self, message: &[u8]) {
        let mut words = words(message);
        let name = words.next().unwrap_or_default().to_vec();
        let query = text(words.next().unwrap_or_default());
        self.doing = format!("prepare {query}");
        self.statements.insert(name, query);
    }

    fn commit(&mut self, state: &State) -> Verdict {
        match state.next_fault() {
            None => Verdict::Pass,
            Some(Fault::Cut) => Verdict::End,
            Some(Fault::Stall(time)) => Verdict::Wait(time),
            Some(Fault::LoseAnswer) => {
                self.loses_answer = true;
                Verdict::Pass
            }
            Some(Fault::Last) => {
                self.is_last = true;
                Verdict::Pass
            }
            Some(Fault::Full) => {
                self.refusing = true;
                Verdict::Drop
            }
        }
    }

    fn made_trip(&mut self, state: &State) {
        let doing = std::mem::take(&mut self.doing);
        let mut trips = state.trips.lock().unwrap();
        let Some(trips) = &mut *trips else { return };
        match self.trip.and_then(|trip| trips.get_mut(trip)) {
            Some(trip) => *trip = format!("{trip}; {doing}"),
            None => {
                self.trip = Some(trips.len());
                trips.push(doing);
            }
        }
    }
}

impl State {
    fn takes_refusal(&self) -> bool {
        let less = |left: usize| left.checked_sub(1);
        self.refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
    }

    /// Waits until it no longer hangs.
    async fn flows(&self) {
        let mut hangs = self.hangs.subscribe();
        let _ = hangs.wait_for(|hangs| !hangs).await;
    }

    fn next_fault(&self) -> Option<Fault> {
        let mut armed = self.armed.lock().unwrap();
        let (fault, left) = armed.take()?;
        *armed = (left > 1).then_some((fault, left - 1));
        Some(fault)
    }
}

/// The parts of a message that end with a zero.
fn words(message: &[u8]) -> impl Iterator<Item = &[u8]> {
    message.split(|byte| *byte == 0)
}

/// The tables of the catalog that a read is about: `get` with the first byte of each key, `scan` with that of each range.
fn tables(mut values: &[u8], is_joint: bool) -> Option<String> {
    let formats = values.try_get_u16().ok()?;
    values.advance(2 * usize::from(formats));
    let count = values.try_get_u16().ok()?;
    let mut value = || {
        let length = values.try_get_u32().ok()? as usize;
        (values.len() >= length).then(|| values.copy_to_bytes(length))
    };
    match (count, value()?) {
        (1, keys) => Some(format!("get {}", letters(keys)?)),
        (_, keys) if is_joint => {
            Some(format!("get {} scan {}", letters(keys)?, letters(value()?)?))
        }
        (_, start) => Some(format!("scan {}", char::from(*start.first()?))),
    }
}

/// The first byte of each element of an array, after its dimensions, flags, type, length and lower bound.
fn letters(mut array: Bytes) -> Option<String> {
    let mut letters = String::new();
    // One without elements has no dimension, and so no length and bound.
    if array.len() <= 12 {
        return Some(letters);
    }
    array.advance(20);
    while let Ok(length) = array.try_get_u32() {
        letters.push(char::from(*array.first()?));
        array.advance(length as usize);
    }
    Some(letters)
}

/// In one line.
fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A query that the database refuses as it does when its disk is full (SQLSTATE 53100), in its turn: what was sent before is answered
/// before.
fn full() -> Vec<u8> {
    let query = b"DO $$ BEGIN RAISE disk_full; END $$\0";
    let mut message = vec![b'Q'];
    message.extend((query.len() as u32 + 4).to_be_bytes());
    message.extend(query);
    message
}
