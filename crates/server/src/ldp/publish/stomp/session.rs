//! One connection to a broker: the login, messages with their receipts, and heart-beats in both directions.
//!
//! Invariant: waiting for a frame can be given up at any time without losing a byte; an error ends the session for good.

use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep_until};

use super::address::Stream;
use super::frame::{Frame, LARGEST};

/// What a broker says of an error is reported up to here.
const REPORTED: usize = 200;
/// How long taking leave may take.
const LEAVE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Session {
    stream: Box<dyn Stream>,
    arrived: BytesMut,
    /// How often this side sends something, and when it did.
    beat: Option<Duration>,
    sent: Instant,
    /// How long the broker may be silent, and when it was not.
    silence: Option<Duration>,
    heard: Instant,
}

impl Session {
    /// Logs in.
    pub(super) async fn begin(
        stream: Box<dyn Stream>,
        host: &str,
        login: Option<(&str, &str)>,
        heartbeat: Duration,
        patience: Duration,
    ) -> Result<Self, String> {
        let millis = heartbeat.as_millis().to_string();
        let mut connect =
            Frame::new("CONNECT").header("accept-version", "1.2").header("host", host);
        connect = connect.header("heart-beat", &format!("{millis},{millis}"));
        if let Some((login, passcode)) = login {
            connect = connect.header("login", login).header("passcode", passcode);
        }
        let now = Instant::now();
        let arrived = BytesMut::new();
        let mut session =
            Self { stream, arrived, beat: None, sent: now, silence: None, heard: now };
        session.write(&connect, patience).await?;
        let connected = session.frame(Some(now + patience)).await?;
        match (connected.command.as_str(), connected.get("version")) {
            ("CONNECTED", Some("1.2")) => session.agree(heartbeat, connected.get("heart-beat"))?,
            ("CONNECTED", _) => return Err("the broker does not speak STOMP 1.2".to_owned()),
            (command, _) => return Err(format!("the broker answered with {}", cut(command))),
        }
        Ok(session)
    }

    /// Both sides say what they can send and what they want; the slower one decides.
    fn agree(&mut self, own: Duration, theirs: Option<&str>) -> Result<(), String> {
        let numbers = theirs.unwrap_or("0,0").split_once(',');
        let numbers =
            numbers.and_then(|(sends, wants)| Some((sends.parse().ok()?, wants.parse().ok()?)));
        let (sends, wants): (u32, u32) =
            numbers.ok_or_else(|| "the broker has no valid heart-beat".to_owned())?;
        let slower = |theirs: u32| {
            let theirs = Duration::from_millis(theirs.into());
            (!own.is_zero() && !theirs.is_zero()).then(|| own.max(theirs))
        };
        // A beat may be late by as much as it takes.
        self.silence = slower(sends).map(|every| every * 2);
        self.beat = slower(wants).map(|every| every / 2);
        Ok(())
    }

    /// Sends a message, and waits for the receipt with this id.
    pub(super) async fn send(
        &mut self,
        message: &Frame,
        receipt: &str,
        patience: Duration,
    ) -> Result<(), String> {
        let until = Instant::now() + patience;
        self.write(message, patience).await?;
        loop {
            let frame = self.frame(Some(until)).await?;
            if frame.command == "RECEIPT" && frame.get("receipt-id") == Some(receipt) {
                return Ok(());
            }
        }
    }

    /// Keeps the connection until it ends, and returns why.
    pub(super) async fn idle(&mut self) -> String {
        loop {
            if let Err(why) = self.frame(None).await {
                return why;
            }
        }
    }

    /// Takes leave; all messages have their receipts.
    pub(super) async fn end(mut self) {
        let _ = self.write(&Frame::new("DISCONNECT"), LEAVE).await;
        let _ = tokio::time::timeout(LEAVE, self.stream.shutdown()).await;
    }

    async fn write(&mut self, frame: &Frame, patience: Duration) -> Result<(), String> {
        let bytes = frame.bytes();
        let written = async {
            self.stream.write_all(&bytes).await?;
            self.stream.flush().await
        };
        match tokio::time::timeout(patience, written).await {
            Ok(Ok(())) => self.sent = Instant::now(),
            Ok(Err(error)) => return Err(format!("the connection broke: {error}")),
            Err(_) => return Err("the broker does not read".to_owned()),
        }
        Ok(())
    }

    /// The next frame that is not an error, until then.
    async fn frame(&mut self, until: Option<Instant>) -> Result<Frame, String> {
        loop {
            let taken = Frame::take(&mut self.arrived);
            match taken.map_err(|why| format!("the broker sent what is no frame: {}", why.0))? {
                Some(frame) if frame.command == "ERROR" => {
                    let message = frame.get("message").unwrap_or("an error");
                    return Err(format!("the broker refused: {}", cut(message)));
                }
                Some(frame) => return Ok(frame),
                None => self.more(until).await?,
            }
        }
    }

    /// Reads something or sends a heart-beat, whichever comes first.
    async fn more(&mut self, until: Option<Instant>) -> Result<(), String> {
        let beat = self.beat.map(|every| self.sent + every);
        let silent = self.silence.map(|most| self.heard + most);
        self.arrived.reserve(LARGEST.min(4 << 10));
        tokio::select! {
            read = self.stream.read_buf(&mut self.arrived) => match read {
                Ok(0) => Err("the broker closed the connection".to_owned()),
                Ok(_) => {
                    self.heard = Instant::now();
                    Ok(())
                }
                Err(error) => Err(format!("the connection broke: {error}")),
            },
            () = at(beat) => self.beat().await,
            () = at(silent) => Err("the broker sent no heart-beat".to_owned()),
            () = at(until) => Err("the broker did not confirm in time".to_owned()),
        }
    }

    /// One byte: it is sent or not, whenever this is given up.
    async fn beat(&mut self) -> Result<(), String> {
        self.sent = Instant::now();
        let beat = async {
            self.stream.write_all(b"\n").await?;
            self.stream.flush().await
        };
        beat.await.map_err(|error| format!("the connection broke: {error}"))
    }
}

async fn at(when: Option<Instant>) {
    match when {
        Some(when) => sleep_until(when).await,
        None => std::future::pending().await,
    }
}

/// Text of a broker for the log: short, and on one line.
fn cut(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(REPORTED).collect()
}
