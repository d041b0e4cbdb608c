//! A minimal client, so that only the server is measured: one HTTP/1.1 connection, one request at a
//! time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::Outcome;

/// An open connection.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    authorization: String,
}

impl Connection {
    /// Connects to a server at `http://host:port`.
    pub(crate) fn open(url: &str, user: &str, password: &str) -> Outcome<Self> {
        let address = url.strip_prefix("http://").unwrap_or(url);
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let secret = BASE64_STANDARD.encode(format!("{user}:{password}"));
        Ok(Self { stream: BufReader::new(stream), authorization: format!("Basic {secret}") })
    }

    /// Sends a request and reads the response; anything but success is an error.
    pub(crate) fn send(&mut self, method: &str, path: &str, body: &[u8]) -> Outcome<Vec<u8>> {
        self.send_from(method, path, body.len() as u64, &mut &body[..])
    }

    /// The same, with a body of `length` bytes that are read while sending.
    pub(crate) fn send_from(
        &mut self,
        method: &str,
        path: &str,
        length: u64,
        body: &mut dyn Read,
    ) -> Outcome<Vec<u8>> {
        let kind = if path.starts_with("/v1/fs") {
            "application/octet-stream"
        } else {
            "application/json"
        };
        let kind = if path.starts_with("/v1/batch") { "application/x-tar" } else { kind };
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: bench\r\nauthorization: {}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n",
            self.authorization
        )
        .into_bytes();
        if length <= 65_536 {
            body.take(length).read_to_end(&mut head)?;
        }
        self.stream.get_mut().write_all(&head)?;
        let mut block = vec![0; 256 << 10];
        loop {
            let read = body.read(&mut block)?;
            if read == 0 {
                break;
            }
            self.stream.get_mut().write_all(&block[..read])?;
        }
        self.answer()
    }

    fn answer(&mut self) -> Outcome<Vec<u8>> {
        let status = self.line()?;
        let (mut length, mut chunked) = (0, false);
        loop {
            let line = self.line()?.to_ascii_lowercase();
            match line.split_once(':') {
                Some(("content-length", value)) => length = value.trim().parse()?,
                Some(("transfer-encoding", value)) => chunked = value.trim() == "chunked",
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        if chunked {
            body = self.chunks()?;
        }
        match status.split(' ').nth(1) {
            Some(code) if code.starts_with('2') => Ok(body),
            _ => Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into()),
        }
    }

    fn chunks(&mut self) -> Outcome<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let length = usize::from_str_radix(self.line()?.trim(), 16)?;
            let start = body.len();
            body.resize(start + length, 0);
            self.stream.read_exact(&mut body[start..])?;
            self.line()?;
            if length == 0 {
                return Ok(body);
            }
        }
    }

    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err("the server closed the connection".into());
        }
        Ok(line.trim_end().to_owned())
    }
}
