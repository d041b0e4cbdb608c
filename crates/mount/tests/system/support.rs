//! A store, its mounts, and a client beside them.

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use axum::Extension;
use bytes::Bytes;
use cenote_client::{
    AccessOperation, Body, Client, Credential, NewUser, PutOptions, Resource, Retry,
    ServiceTransport, Transport, TransportError, body_of,
};
use cenote_mount::{FileSystem, Options, Ownership, Result as Outcome, Stale};
use cenote_server::embedded::{Embedded, init_dir};
use cenote_server::{Config, Limits, LocalCaller, router};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyDataStream, StreamBody};
use tokio::sync::Barrier;
use tokio::sync::mpsc::UnboundedReceiver;

pub(crate) const ROOT: u64 = 1;

/// After how many bytes a response ends that is cut off.
pub(crate) const CUT: usize = 300_000;

/// Faults of the connection.
#[derive(Debug, Default)]
pub(crate) struct Weather {
    /// Requests whose target contains this never get a response.
    pub(crate) swallowed: Option<String>,
    /// Requests whose target contains this are refused on their way.
    pub(crate) forbidden: Option<String>,
    /// The server does not know this parameter of queries.
    pub(crate) unknown: Option<&'static str>,
    /// No request reaches the server.
    pub(crate) away: bool,
    /// The number of requests whose target contains this that do not reach the server.
    pub(crate) refused: Option<(String, u32)>,
    /// The number of requests whose target contains this that the server performs, but whose response is
    /// lost.
    pub(crate) lost: Option<(String, u32)>,
    /// The number of requests whose target contains this whose response ends after [`CUT`] bytes.
    pub(crate) cut: Option<(String, u32)>,
    /// The number of requests whose target contains this that wait for each other, and their barrier.
    pub(crate) meeting: Option<(String, u32, Arc<Barrier>)>,
    /// The same of requests that the server has performed: they wait before they are answered.
    pub(crate) withheld: Option<(String, u32, Arc<Barrier>)>,
    /// The number of requests whose target contains this that reach the server late, when nobody waits for them any more, and their barrier: they wait at
    /// it before they are sent, and after they were answered.
    pub(crate) late: Option<(String, u32, Arc<Barrier>)>,
    /// The targets of all requests.
    pub(crate) sent: Vec<String>,
    /// The targets of those that were answered as if nothing had happened.
    pub(crate) answered: Vec<String>,
}

/// The connection to the server.
#[derive(Debug, Clone)]
pub(crate) struct Gate(Arc<dyn Transport>, pub(crate) Arc<Mutex<Weather>>);

impl Gate {
    pub(crate) fn set(&self, change: impl FnOnce(&mut Weather)) {
        change(&mut self.1.lock().unwrap());
    }

    /// The targets of the requests since the last call, other than for changes.
    pub(crate) fn sent(&self) -> Vec<String> {
        let mut sent = std::mem::take(&mut self.1.lock().unwrap().sent);
        sent.retain(|target| !target.contains("/v1/changes"));
        sent
    }
}

impl Transport for Gate {
    fn send(
        &self,
        mut request: Request<Body>,
    ) -> BoxFuture<'_, Result<Response<Body>, TransportError>> {
        let target = request.uri().to_string();
        let mut weather = self.1.lock().unwrap();
        if let Some(unknown) = weather.unknown {
            // The server refuses what it does not know, under whatever name.
            *request.uri_mut() =
                target.replace(&format!("{unknown}="), "unknown=").parse().unwrap();
        }
        let forbidden = weather.forbidden.as_ref().is_some_and(|text| target.contains(text));
        let swallowed = weather.swallowed.as_ref().is_some_and(|text| target.contains(text));
        let refused = weather.away || strikes(&mut weather.refused, &target);
        let lost = strikes(&mut weather.lost, &target);
        let cut = strikes(&mut weather.cut, &target);
        let meeting = joins(&mut weather.meeting, &target);
        let withheld = joins(&mut weather.withheld, &target);
        let late = joins(&mut weather.late, &target);
        weather.sent.push(target.clone());
        let refusal = || std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let away = move || Err(TransportError(refusal().into()));
        let lost_answer = || Err(TransportError("the connection was lost".into()));
        if let Some(meeting) = meeting {
            return async move {
                meeting.wait().await;
                self.0.send(request).await
            }
            .boxed();
        }
        if let Some(withheld) = withheld {
            return async move {
                let answer = self.0.send(request).await;
                withheld.wait().await;
                answer
            }
            .boxed();
        }
        if let Some(late) = late {
            let server = Arc::clone(&self.0);
            tokio::spawn(async move {
                late.wait().await;
                // What it says is of no interest to anybody.
                let _unread = server.send(request).await;
                late.wait().await;
            });
            return std::future::pending().boxed();
        }
        if cut {
            return self.0.send(request).map(|answer| Ok(answer?.map(cut_off))).boxed();
        }
        if forbidden {
            let answer = Response::builder().status(403).body(body_of(Bytes::new()));
            return ready(answer.map_err(|error| TransportError(error.into()))).boxed();
        }
        match (swallowed, refused, lost) {
            (true, _, _) => std::future::pending().boxed(),
            (_, true, _) => ready(away()).boxed(),
            (_, _, true) => self.0.send(request).map(move |_| lost_answer()).boxed(),
            _ => async move {
                let answer = self.0.send(request).await;
                self.1.lock().unwrap().answered.push(target);
                answer
            }
            .boxed(),
        }
    }
}

/// The beginning of a body, and then an error.
fn cut_off(body: Body) -> Body {
    let mut left = CUT;
    let chunks = BodyDataStream::new(body).map(move |chunk| {
        let mut chunk = chunk?;
        chunk.truncate(left);
        left -= chunk.len();
        Ok(Frame::data(chunk))
    });
    let lost = Err(TransportError("the connection was lost".into()));
    Body::new(StreamBody::new(chunks.chain(stream::iter([lost]))))
}

/// The barrier at which a request with this target waits.
fn joins(meeting: &mut Option<(String, u32, Arc<Barrier>)>, target: &str) -> Option<Arc<Barrier>> {
    let (text, left, barrier) = meeting.as_mut()?;
    if *left == 0 || !target.contains(&*text) {
        return None;
    }
    *left -= 1;
    Some(Arc::clone(barrier))
}

/// Whether a fault affects a request with this target.
fn strikes(fault: &mut Option<(String, u32)>, target: &str) -> bool {
    match fault {
        Some((text, times)) if *times > 0 && target.contains(&*text) => {
            *times -= 1;
            true
        }
        _ => false,
    }
}

/// A store in a directory.
pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) gate: Gate,
    store: Embedded,
    _dir: tempfile::TempDir,
}

fn connection(server: Arc<dyn Transport>) -> (Gate, Client) {
    let gate = Gate(server, Arc::default());
    let client = Client::new(gate.clone());
    (gate, client.with_retry(Retry { attempts: 1, ..Retry::default() }))
}

/// A mount without a kernel.
#[derive(Debug)]
pub(crate) struct Mount {
    pub(crate) system: FileSystem,
    pub(crate) stale: UnboundedReceiver<Stale>,
}

/// A user without a password.
pub(crate) fn user(name: &str) -> NewUser {
    NewUser { name: name.to_owned(), password: None, role: "user".into() }
}

pub(crate) fn now() -> SystemTime {
    jiff::Timestamp::now().into()
}

pub(crate) fn options() -> Options {
    let owner = Ownership { uid: 1000, gid: 1000 };
    let (deadline, patience) = (Duration::from_secs(20), Duration::ZERO);
    Options { write: true, deadline, patience, ..Options::new(owner, now) }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_leases(10)
    }

    /// A store whose server leases this many files.
    pub(crate) fn with_leases(leases: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = init_dir(dir.path().join("store"), "ada", "a secret of the tests").unwrap();
        let admin = LocalCaller::administrator(store.store()).unwrap();
        let limits = Limits { local_file_leases: leases, ..Limits::default() };
        let routes = router(store.store().clone(), &Config { limits, ..Config::default() });
        let service = ServiceTransport::new(routes.layer(Extension(admin)));
        let (gate, client) = connection(Arc::new(service));
        Self { client, gate, store, _dir: dir }
    }

    /// The same over a connection of its own: late requests of earlier mounts, such as those that end their leases, are not counted there.
    pub(crate) fn reconnected(self) -> Self {
        let (gate, client) = connection(Arc::clone(&self.gate.0));
        Self { client, gate, ..self }
    }

    /// A new user, who may read a collection and everything below it, and a mount of theirs.
    pub(crate) async fn mount_of_reader(&self, name: &str, path: &str) -> Mount {
        self.client.add_user(&user(name)).await.unwrap();
        self.grant(name, path, "read").await;
        let store = self.store.store();
        let caller = LocalCaller::named(store, name).unwrap();
        let routes = router(store.clone(), &Config::default()).layer(Extension(caller));
        self.mount_as(Client::new(ServiceTransport::new(routes)), options()).await
    }

    /// A user who logs in with a password, and a mount of theirs.
    pub(crate) async fn mount_of_login(&self, name: &str, options: Options) -> Mount {
        let password = "a secret of theirs".to_owned();
        self.client
            .add_user(&NewUser { password: Some(password.clone()), ..user(name) })
            .await
            .unwrap();
        let login = self.client_of(Credential::Password { user: name.into(), password });
        self.mount_as(login, options).await
    }

    /// A client that is authenticated with each request.
    pub(crate) fn client_of(&self, credential: Credential) -> Client {
        self.stranger().with_credential(&credential).unwrap()
    }

    /// A client without a credential.
    pub(crate) fn stranger(&self) -> Client {
        let routes = router(self.store.store().clone(), &Config::default());
        Client::new(ServiceTransport::new(routes))
    }

    pub(crate) async fn mount_as(&self, client: Client, options: Options) -> Mount {
        let (system, stale) = FileSystem::open(client, options).await.unwrap();
        Mount { system, stale }
    }

    /// Grants a user rights on a collection and everything below it.
    pub(crate) async fn grant(&self, name: &str, path: &str, level: &str) {
        let (name, level, scope) = (name.to_owned(), level.to_owned(), "subtree".to_owned());
        let operation = AccessOperation { name, level, scope, only: None };
        self.client.change_access(&path.into(), &[operation], None, None).await.unwrap();
    }

    pub(crate) async fn mount(&self) -> Mount {
        self.mount_with(options()).await
    }

    pub(crate) async fn mount_with(&self, options: Options) -> Mount {
        self.mount_as(self.client.clone(), options).await
    }

    pub(crate) async fn put(&self, path: &str, bytes: impl Into<Bytes>) -> Resource {
        let options = PutOptions { parents: true, ..PutOptions::default() };
        self.client.put_bytes(path, bytes.into(), &options).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Vec<u8> {
        use futures_util::TryStreamExt;
        let content = self.client.read(path, &Default::default()).await.unwrap();
        content.into_stream().try_collect::<Vec<Bytes>>().await.unwrap().concat()
    }

    /// Waits until a mount has processed all changes.
    pub(crate) async fn settle(&self, mount: &Mount) {
        let now = self.client.changes(None, Some("now"), 0).await.unwrap();
        mount.system.reached(&now.next).await;
    }
}

impl Mount {
    /// What the kernel was told to drop since the last call.
    pub(crate) fn dropped(&mut self) -> Vec<Stale> {
        std::iter::from_fn(|| self.stale.try_recv().ok()).collect()
    }

    /// The inode at a path.
    pub(crate) async fn find(&self, path: &str) -> Outcome<u64> {
        let mut at = ROOT;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            at = self.system.lookup(at, name).await?.ino;
        }
        Ok(at)
    }

    pub(crate) async fn read(&self, path: &str) -> Outcome<Vec<u8>> {
        let ino = self.find(path).await?;
        let open = self.system.open_file(ino, false).await?;
        let bytes = self.read_all(open.handle).await;
        self.system.release(open.handle).await;
        bytes
    }

    pub(crate) async fn read_all(&self, handle: u64) -> Outcome<Vec<u8>> {
        let mut all = Vec::new();
        loop {
            let bytes = self.system.read(handle, all.len() as u64, 100_000).await?;
            if bytes.is_empty() {
                return Ok(all);
            }
            all.extend_from_slice(&bytes);
        }
    }

    pub(crate) async fn names(&self, path: &str) -> Outcome<Vec<String>> {
        let ino = self.find(path).await?;
        let handle = self.system.opendir(ino).await?;
        let listing = self.system.listing(handle)?;
        self.system.releasedir(handle);
        Ok(listing.iter().skip(2).map(|entry| entry.name.clone()).collect())
    }

    /// Creates a file in the root, with these bytes.
    pub(crate) async fn write_new(&self, name: &str, bytes: impl Into<Bytes>) -> Outcome<u64> {
        let (entry, open) = self.system.create(ROOT, name, 0o644, false).await?;
        self.system.write(open.handle, 0, bytes.into(), false).await?;
        let closed = self.system.flush(open.handle).await;
        self.system.release(open.handle).await;
        closed.map(|()| entry.ino)
    }
}
