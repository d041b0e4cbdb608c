//! The source of files: the current store, by id, or the store as of a moment in the past, by path.

use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cenote_client::{At, Client, Content, Error, ReadOptions, Resource, Retry, Xattr};
use futures_util::stream::TryReadyChunksError;
use futures_util::{Stream, TryStreamExt};
use tokio::time::{Instant, sleep, timeout};

use crate::error::{Fault, Result};
use crate::found::{Found, Listing};
use crate::layout::Placed;
use crate::options::Options;
use crate::past::Past;
use crate::reach::Reach;

/// How many entries of a listing are taken at once, as they arrive.
const ARRIVING: usize = 1_000;
/// The maximum number of resources requested at once by name.
const STATS: usize = 500;
/// The shortest and the longest pause between attempts.
const PAUSES: Range<Duration> = Duration::from_millis(50)..Duration::from_secs(1);
/// How many deadlines long the server may take to read a content before it answers.
const READING: u32 = 10;

/// Names a resource in both ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) id: u64,
    /// Used for the past only, where nothing is renamed.
    pub(crate) path: String,
}

/// The store, now or as of a moment.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) client: Client,
    pub(crate) past: Option<Past>,
    deadline: Duration,
    pub(crate) reach: Reach,
    /// Whether the server is not used.
    offline: Arc<AtomicBool>,
}

impl Source {
    pub(crate) fn new(client: Client, options: &Options) -> Self {
        let Options { deadline, patience, .. } = *options;
        Self {
            client,
            past: Past::of(options),
            deadline,
            reach: Reach::new(patience),
            offline: Arc::default(),
        }
    }

    /// The same, but it alone decides whether something is sent again, and not the client, which does not know for how long to wait.
    pub(crate) fn that_insists(mut self) -> Self {
        self.client = self.client.with_retry(Retry { attempts: 1, ..Retry::default() });
        self
    }

    pub(crate) fn is_past(&self) -> bool {
        self.past.is_some()
    }

    fn moment(&self) -> Option<&str> {
        self.past.as_ref().map(Past::moment)
    }

    pub(crate) fn is_offline(&self) -> bool {
        self.offline.load(Ordering::Relaxed)
    }

    pub(crate) fn set_offline(&self, offline: bool) {
        self.offline.store(offline, Ordering::Relaxed);
    }

    /// Waits for the answer to a call, up to the deadline.
    pub(crate) async fn within<T>(
        &self,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T> {
        self.limited(self.deadline, call).await
    }

    async fn limited<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T> {
        self.admit().await?;
        let begun = Instant::now();
        let Ok(answer) = timeout(limit, call).await else {
            self.reach.missed(begun);
            return Err(Fault::late());
        };
        self.noted(answer)
    }

    /// Refuses an operation if the server is not used, or known to be away.
    pub(crate) async fn admit(&self) -> Result<()> {
        if self.is_offline() {
            return Err(Fault::offline());
        }
        self.reach.admit(|| is_there(self.client.clone(), self.deadline)).await
    }

    /// Notes whether there was an answer.
    pub(crate) fn noted<T>(&self, answer: Result<T, Error>) -> Result<T> {
        let answer = answer.map_err(Fault::from);
        match answer.as_ref().is_err_and(|fault| fault.away) {
            true => self.reach.failed(),
            false => self.reach.heard(),
        }
        answer
    }

    /// Repeats a call, whose repetition changes nothing, while the server cannot be reached.
    pub(crate) async fn insist<T, F>(&self, call: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        self.repeat(call, |fault| fault.away).await
    }

    /// Repeats a change while there is no connection to the server. If it may have been sent, it is not repeated: it may have been made.
    pub(crate) async fn change<T, F>(&self, call: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = Result<T, Error>>,
    {
        self.repeat(|| self.within(call()), |fault| fault.unsent).await
    }

    async fn repeat<T, F>(
        &self,
        call: impl Fn() -> F,
        may_repeat: impl Fn(&Fault) -> bool,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let (mut pause, mut before) = (PAUSES.start, None);
        loop {
            let fault = match call().await {
                Err(fault) => fault,
                found => return found,
            };
            let left = self.reach.patience();
            if !may_repeat(&fault) || left.is_zero() {
                // That it is away now says less.
                return Err(before.filter(|_| fault.is_gone()).unwrap_or(fault));
            }
            before = Some(fault);
            sleep(pause.min(left)).await;
            pause = (pause * 2).min(PAUSES.end);
        }
    }

    /// The same as `within` for the publication of a content, which the server may have to read first: it may take longer while the server
    /// answers others.
    pub(crate) async fn patiently<T>(
        &self,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T> {
        let (mut call, begun) = (pin!(call), Instant::now());
        loop {
            match self.within(call.as_mut()).await {
                Err(fault) if fault.is_late() && begun.elapsed() < self.deadline * READING => {}
                outcome => return outcome,
            }
        }
    }

    pub(crate) fn deadline(&self) -> Duration {
        self.deadline
    }

    pub(crate) async fn root(&self, path: &str) -> Result<Resource> {
        match self.moment() {
            None => self.within(self.client.stat(&path.into())).await,
            Some(moment) => self.within(self.client.stat_as_of(path, moment)).await,
        }
    }

    pub(crate) async fn stat(&self, place: &Place) -> Result<Resource> {
        let Some(moment) = self.moment() else { return self.stat_of(place.id).await };
        self.insist(|| self.within(self.client.stat_as_of(&place.path, moment))).await
    }

    /// What is at places now.
    pub(crate) async fn stat_many(&self, places: &[Placed]) -> Result<Vec<(Placed, Resource)>> {
        let mut found = Vec::with_capacity(places.len());
        for places in places.chunks(STATS) {
            let items: Vec<At> = places.iter().map(|place| place.resource.clone()).collect();
            let answers = self.within(self.client.stat_many(&items)).await?;
            for (place, answer) in places.iter().zip(answers) {
                let answer = answer.map_err(Fault::from);
                let resource = answer.map_err(|fault| Fault {
                    message: format!("{}: {fault}", place.at),
                    ..fault
                })?;
                found.push((place.clone(), resource));
            }
        }
        Ok(found)
    }

    /// The current state of a resource.
    pub(crate) async fn stat_of(&self, id: u64) -> Result<Resource> {
        let at = At::Id(id);
        self.insist(|| self.within(self.client.stat(&at))).await
    }

    /// What has a name in a collection.
    pub(crate) async fn child(&self, parent: &Place, name: &str) -> Result<Option<Resource>> {
        let Some(moment) = self.moment() else {
            return self.child_of(parent.id, name).await;
        };
        let path = join(&parent.path, name);
        match self.insist(|| self.within(self.client.stat_as_of(&path, moment))).await {
            Ok(resource) => Ok(Some(resource)),
            Err(fault) if fault.errno == libc::ENOENT => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// What has a name in a collection now.
    pub(crate) async fn child_of(&self, parent: u64, name: &str) -> Result<Option<Resource>> {
        self.insist(|| self.within(self.client.find_child(parent, name))).await
    }

    /// All that is in a collection.
    pub(crate) async fn list(&self, place: &Place) -> Result<Listing> {
        if let Some(past) = &self.past {
            let list = || self.within(past.list(&self.client, &place.path));
            return Ok(vec![self.insist(list).await?.iter().map(Found::from).collect()]);
        }
        self.insist(|| self.list_now(place.id, None)).await
    }

    /// What is in a collection now; at most so many entries.
    pub(crate) async fn list_now(&self, id: u64, limit: Option<u32>) -> Result<Listing> {
        let at = At::Id(id);
        let arriving = self.within(self.client.list_brief(&at, limit)).await?;
        let chunks = arriving.try_ready_chunks(ARRIVING);
        let mut chunks = pin!(chunks.map_err(|TryReadyChunksError(_, error)| error));
        let mut listing = Listing::new();
        while let Some(chunk) = self.next(&mut chunks).await? {
            // The room of the chunk is for as many as may arrive at once.
            let mut portion = Vec::with_capacity(chunk.len());
            portion.extend(chunk.into_iter().map(Found::from));
            listing.push(portion);
        }
        Ok(listing)
    }

    /// Begins to read a range of a content that has this tag.
    pub(crate) async fn read(
        &self,
        place: &Place,
        range: Range<u64>,
        etag: Option<&str>,
    ) -> Result<Content> {
        let options = ReadOptions { if_match: etag.map(str::to_owned), ..bytes_of(range) };
        match self.moment() {
            None => self.insist(|| self.within(self.client.read(place.id, &options))).await,
            Some(moment) => {
                let read = || self.client.read_as_of(&place.path, moment, &options);
                self.insist(|| self.within(read())).await
            }
        }
    }

    /// Begins to read a range of a content that is leased.
    pub(crate) async fn read_leased(&self, lease: &str, range: Range<u64>) -> Result<Content> {
        let options = bytes_of(range);
        self.insist(|| self.within(self.client.read_leased(lease, &options))).await
    }

    /// Begins to read a range of a kept version that has this tag.
    pub(crate) async fn read_version(
        &self,
        (id, version): (u64, u64),
        range: Range<u64>,
        etag: &str,
    ) -> Result<Content> {
        let (version, if_match) = (Some(version), Some(etag.to_owned()));
        let options = ReadOptions { version, if_match, ..bytes_of(range) };
        self.insist(|| self.within(self.client.read(id, &options))).await
    }

    /// Waits for the answer to a call whose failure says nothing of the server.
    pub(crate) async fn aside<T>(&self, call: impl Future<Output = Result<T, Error>>) -> Result<T> {
        let answer = timeout(self.deadline, call).await;
        answer.map_err(|_| Fault::late())?.map_err(Fault::from)
    }

    /// What arrives next of an answer.
    pub(crate) async fn next<T>(
        &self,
        stream: &mut (impl Stream<Item = Result<T, Error>> + Unpin),
    ) -> Result<Option<T>> {
        self.within(stream.try_next()).await
    }

    pub(crate) async fn xattrs(&self, place: &Place) -> Result<Vec<Xattr>> {
        let Some(moment) = self.moment() else {
            let at = At::Id(place.id);
            return self.insist(|| self.within(self.client.xattrs(&at))).await;
        };
        let statements =
            self.insist(|| self.within(self.client.meta_as_of(&place.path, moment))).await?;
        let mut found: Vec<Xattr> = Vec::new();
        for avu in statements {
            if !found.iter().any(|xattr| xattr.name == avu.attribute) {
                found.push(Xattr { name: avu.attribute, value: Some(avu.value), base64: None });
            }
        }
        Ok(found)
    }
}

fn bytes_of(range: Range<u64>) -> ReadOptions {
    let length = Some(range.end - range.start);
    ReadOptions { offset: range.start, length, ..ReadOptions::default() }
}

/// Whether the server answers, whatever it says.
async fn is_there(client: Client, deadline: Duration) -> bool {
    let client = client.with_retry(Retry { attempts: 1, ..Retry::default() });
    let response = timeout(deadline, client.whoami()).await;
    response.is_ok_and(|answer| answer.map_or_else(|error| !Fault::from(error).away, |_| true))
}

/// The path of a name in a collection.
pub(crate) fn join(parent: &str, name: &str) -> String {
    match parent {
        "/" => format!("/{name}"),
        parent => format!("{parent}/{name}"),
    }
}

/// Whether a failed read means that the content has been replaced, or removed.
pub(crate) fn has_changed(fault: &Fault) -> bool {
    [libc::ESTALE, libc::ENOENT].contains(&fault.errno)
}
