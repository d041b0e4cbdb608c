//! Requests whose connections may break.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Longer than any fault lasts.
const PATIENCE: Duration = Duration::from_secs(90);

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// What stands for the answer of a server that is not there.
    pub(crate) fn unavailable() -> Self {
        Self { status: 503, body: br#"{"type":"unavailable"}"#.to_vec() }
    }

    /// The name of the problem that it reports; in the form of iRODS the status stands for it.
    pub(crate) fn problem(&self) -> String {
        let json = self.json();
        match self.status {
            500 if json["irods_response"].is_object() => return "unknown".to_owned(),
            503 if json["irods_response"].is_object() => return "unavailable".to_owned(),
            _ => {}
        }
        let kind = json["type"].as_str().unwrap_or("none");
        kind.rsplit(['/', ':', '#']).next().unwrap_or(kind).to_owned()
    }

    /// Null if it is none.
    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        let ends = text.find('{').zip(text.rfind('}'));
        ends.and_then(|(from, to)| serde_json::from_str(text.get(from..=to)?).ok())
            .unwrap_or_default()
    }
}

/// The answer of the server at `url`; an error if it is not whole.
pub(crate) fn send(url: &str, login: &str, request: &str, body: &[u8]) -> io::Result<Answer> {
    let host = url.strip_prefix("http://").unwrap_or_default();
    let mut line = TcpStream::connect(host)?;
    line.set_read_timeout(Some(PATIENCE))?;
    let kind = match body {
        [b'{', ..] => "application/json",
        [b'<', ..] => "text/turtle",
        [b'o', b'p', b'=', ..] => "application/x-www-form-urlencoded",
        _ => "application/octet-stream",
    };
    write!(
        line,
        "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: {login}\r\n\
         Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )?;
    line.write_all(body)?;
    let mut answer = Vec::new();
    line.read_to_end(&mut answer)?;
    whole(&answer).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// An answer with all bytes that it announces.
fn whole(answer: &[u8]) -> Option<Answer> {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?.to_lowercase();
    let (status, body) = (head.get(9..12)?.parse().ok()?, answer[end + 4..].to_vec());
    let announced = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let is_whole = match announced {
        Some(length) => body.len() == length.parse::<usize>().ok()?,
        None => status == 204 || body.ends_with(b"0\r\n\r\n"),
    };
    is_whole.then_some(Answer { status, body })
}

/// Waits, for things that only time brings.
pub(crate) fn pause(time: Duration) {
    let (_keep, never) = std::sync::mpsc::channel::<()>();
    let _ = never.recv_timeout(time);
}
