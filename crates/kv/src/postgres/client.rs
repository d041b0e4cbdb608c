//! A connection whose calls block the calling thread, as those of the crate `postgres`. Unlike them it sends two queries at once, and
//! one without waiting for its answer.
//!
//! Invariants: queries are answered in the order in which they were sent, so whatever follows one that nobody waits for is done after it.
//! An answer is waited for no longer than [`Patience`] says: a connection without one is closed, whatever the database does with what was
//! sent.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::ToSql;
use tokio_postgres::{
    AsyncMessage, Config, Connection, Error, Notification, Row, SimpleQueryMessage, Socket,
    Statement,
};

use super::failed::{Failed, error};

/// How long a database is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Until a connection is ready.
    pub(super) connect: Duration,
    /// Until a query is answered.
    pub(super) query: Duration,
}

/// The values of the parameters of a query.
pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection to a database.
pub(super) struct Client {
    // Dropped first: the line ends when nobody can send any more.
    client: tokio_postgres::Client,
    line: Line,
}

/// What the messages of a connection pass through, while somebody waits for one of them.
struct Line {
    runtime: Runtime,
    traffic: Traffic,
    patience: Duration,
}

/// What is sent and received.
struct Traffic {
    /// None once the connection has ended.
    messages: Option<Messages>,
    /// Notifications that nobody has taken yet.
    notified: VecDeque<Notification>,
}

/// Sends what is to be sent, and returns messages that are no answers; none at the end of the connection.
type Messages =
    Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<Result<AsyncMessage, Error>>> + Send>;

impl Client {
    pub(super) fn connect<T>(config: &Config, tls: T, patience: Patience) -> Result<Self, Failed>
    where
        T: MakeTlsConnect<Socket>,
        T::TlsConnect: TlsConnect<Socket>,
        T::Stream: Send + 'static,
    {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("the process has file descriptors and memory left");
        let Patience { connect: within, query: patience } = patience;
        let connected = runtime.block_on(async { timeout(within, config.connect(tls)).await });
        let late = |_| Failed::Late { setting: "connect_timeout", within };
        let (client, connection) = connected.map_err(late)??;
        let messages = Some(messages(connection));
        let traffic = Traffic { messages, notified: VecDeque::new() };
        Ok(Self { client, line: Line { runtime, traffic, patience } })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    pub(super) fn batch_execute(&mut self, query: &str) -> Result<(), Failed> {
        self.line.wait(self.client.batch_execute(query))
    }

    /// The same for work that takes as long as there are rows.
    pub(super) fn batch_execute_long(&mut self, query: &str) -> Result<(), Failed> {
        self.line.wait_within(Duration::MAX, self.client.batch_execute(query))
    }

    pub(super) fn simple_query(&mut self, query: &str) -> Result<Vec<SimpleQueryMessage>, Failed> {
        self.line.wait(self.client.simple_query(query))
    }

    pub(super) fn prepare(&mut self, query: &str) -> Result<Statement, Failed> {
        self.line.wait(self.client.prepare(query))
    }

    pub(super) fn query(
        &mut self,
        statement: &Statement,
        values: Parameters<'_>,
    ) -> Result<Vec<Row>, Failed> {
        self.line.wait(self.client.query(statement, values))
    }

    pub(super) fn query_one(&mut self, query: &str, values: Parameters<'_>) -> Result<Row, Failed> {
        self.line.wait(self.client.query_one(query, values))
    }

    /// The answers to `first` and to `statement`, which are sent together. Both were done, or refused, once one of them has failed.
    pub(super) fn query_after(
        &mut self,
        first: &str,
        statement: &Statement,
        values: Parameters<'_>,
    ) -> Result<(Vec<SimpleQueryMessage>, Vec<Row>), Failed> {
        let (first, then) = (self.client.simple_query(first), self.client.query(statement, values));
        // Polled in this order, which is that in which they are sent.
        let both = async { tokio::join!(biased; first, then) };
        let (first, then) = self.line.wait(async { Ok(both.await) })?;
        Ok((first?, then?))
    }

    /// Sends a query without waiting for its answer, which is lost.
    pub(super) fn send(&mut self, query: &str) -> Result<(), Error> {
        let mut sent = pin!(self.client.batch_execute(query));
        let Line { runtime, traffic, .. } = &mut self.line;
        runtime.block_on(poll_fn(|cx| {
            traffic.pass(cx)?;
            let _ = sent.as_mut().poll(cx);
            Poll::Ready(traffic.pass(cx).map(drop))
        }))
    }

    /// Fails if the database does not answer within this time.
    pub(super) fn check(&mut self, within: Duration) -> crate::Result<()> {
        // Inside, since a timer needs the runtime.
        let answer = async { Ok(timeout(within, self.client.simple_query("")).await) };
        match self.line.wait(answer).map_err(error)? {
            Ok(answer) => answer.map(drop).map_err(error),
            Err(late) => Err(crate::Error::Io(Box::new(late))),
        }
    }

    /// The next notification, if one comes within this time.
    pub(super) fn notification(&mut self, within: Duration) -> Result<Option<Notification>, Error> {
        let Line { runtime, traffic, .. } = &mut self.line;
        let next = poll_fn(|cx| {
            let is_open = traffic.pass(cx)?;
            match traffic.notified.pop_front() {
                None if is_open => Poll::Pending,
                next => Poll::Ready(Ok(next)),
            }
        });
        let next = async { timeout(within, next).await };
        runtime.block_on(next).unwrap_or(Ok(None))
    }
}

impl Line {
    /// Drives the connection until `answer` is there, or is late.
    fn wait<T>(&mut self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Failed> {
        self.wait_within(self.patience, answer)
    }

    fn wait_within<T>(
        &mut self,
        within: Duration,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Failed> {
        let mut answer = pin!(answer);
        let Self { runtime, traffic, .. } = self;
        let answered = poll_fn(|cx| {
            traffic.pass(cx)?;
            answer.as_mut().poll(cx)
        });
        if let Ok(answer) = runtime.block_on(async { timeout(within, answered).await }) {
            return Ok(answer?);
        }
        traffic.messages = None;
        Err(Failed::Late { setting: "query_timeout", within })
    }
}

/// Says goodbye to the database, so that its log has no lost connection.
impl Drop for Line {
    fn drop(&mut self) {
        let Self { runtime, traffic, patience } = self;
        let ended = poll_fn(|cx| match traffic.pass(cx)? {
            true => Poll::Pending,
            false => Poll::Ready(Ok::<_, Error>(())),
        });
        let _ = runtime.block_on(async { timeout(*patience, ended).await });
    }
}

impl Traffic {
    /// Sends and receives what can be at once; returns whether the connection is open.
    fn pass(&mut self, cx: &mut Context<'_>) -> Result<bool, Error> {
        while let Some(next) = &mut self.messages {
            match next(cx) {
                Poll::Pending => return Ok(true),
                Poll::Ready(Some(Ok(AsyncMessage::Notification(sent)))) => {
                    self.notified.push_back(sent);
                }
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(failed))) => {
                    self.messages = None;
                    return Err(failed);
                }
                Poll::Ready(None) => self.messages = None,
            }
        }
        Ok(false)
    }
}

/// The first value of an answer.
pub(super) fn first_value(answer: &[SimpleQueryMessage]) -> Option<&str> {
    answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    })
}

fn messages<T>(mut connection: Connection<Socket, T>) -> Messages
where
    Connection<Socket, T>: Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    Box::new(move |cx| connection.poll_message(cx))
}

#[cfg(all(test, feature = "conformance"))]
mod tests {
    use super::super::{connect::Address, postgres_server};
    use super::*;

    fn pair() -> Option<[Client; 2]> {
        let address = Address::parse(&postgres_server::fresh_schema()?).expect("it is an address");
        Some([(); 2].map(|()| address.connect().expect("the server takes connections")))
    }

    #[test]
    fn what_is_sent_is_done_before_what_follows() {
        let Some([mut client, _]) = pair() else { return };
        client.batch_execute("CREATE TEMPORARY TABLE t (n int)").unwrap();
        client.batch_execute("BEGIN; INSERT INTO t VALUES (1)").unwrap();
        client.send("ROLLBACK").unwrap();
        assert_eq!(first_value(&client.simple_query("SELECT count(*) FROM t").unwrap()), Some("0"));
        let statement = client.prepare("SELECT n + $1 FROM t").unwrap();
        let (first, then) = client
            .query_after("INSERT INTO t VALUES (2); SELECT 7", &statement, &[&1_i32])
            .unwrap();
        assert_eq!((first_value(&first), then[0].get::<_, i32>(0)), (Some("7"), 3));
    }

    #[test]
    fn a_refused_query_leaves_the_connection_open() {
        let Some([mut client, _]) = pair() else { return };
        let statement = client.prepare("SELECT 1 / $1::int").unwrap();
        client.query_after("SELECT 1", &statement, &[&0_i32]).unwrap_err();
        client.query_after("SELECT 1 / 0", &statement, &[&1_i32]).unwrap_err();
        client.send("nonsense").unwrap();
        assert_eq!(first_value(&client.simple_query("SELECT 1").unwrap()), Some("1"));
        client.check(Duration::from_secs(30)).unwrap();
        assert!(!client.is_closed());
    }

    #[test]
    fn the_end_of_a_connection_is_noticed_by_each_call() {
        for call in 0..4 {
            let Some([mut client, mut other]) = pair() else { return };
            let own = client.query_one("SELECT pg_backend_pid()", &[]).unwrap().get::<_, i32>(0);
            other.query_one("SELECT pg_terminate_backend($1, 30000)", &[&own]).unwrap();
            match call {
                0 => client.check(Duration::from_secs(30)).unwrap_err().to_string(),
                1 => client.simple_query("SELECT 1").unwrap_err().to_string(),
                2 => client.notification(Duration::from_secs(30)).unwrap_err().to_string(),
                // Its answer is lost anyway; what comes next fails.
                _ => match client.send("ROLLBACK") {
                    Ok(()) => client.batch_execute("").unwrap_err().to_string(),
                    Err(ended) => ended.to_string(),
                },
            };
            assert!(client.is_closed());
            client.batch_execute("").unwrap_err();
            drop(client);
        }
    }

    #[test]
    fn notifications_come_in_order_or_not_in_time() {
        let Some([mut client, mut other]) = pair() else { return };
        client.batch_execute("LISTEN events").unwrap();
        assert!(client.notification(Duration::ZERO).unwrap().is_none());
        other.batch_execute("NOTIFY events, 'one'; NOTIFY events, 'two'").unwrap();
        for expected in ["one", "two"] {
            let notification = client.notification(Duration::from_secs(30)).unwrap().unwrap();
            assert_eq!(notification.payload(), expected);
        }
    }
}
