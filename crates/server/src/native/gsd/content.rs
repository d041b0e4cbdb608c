//! The content of an object as a GSD file, read on a thread that may block.
//!
//! Invariant: one request reads at most [`MOST`] bytes into memory, and [`App::format_turn`] bounds
//! how many do so at a time. Data that is larger is streamed.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use cenote_gsd::{Error, ReadAhead, Reader, Source};
use cenote_store::{At, Caller, ErrorKind, Opened, ReadOptions};
use futures_util::TryStreamExt;
use tokio::runtime::Handle;

use crate::app::App;
use crate::problem::{Problem, ProblemKind};

/// What a request may read of header, names, index and of the data that it answers as JSON.
const MOST: u64 = 16 << 20;

/// A GSD file in the store.
pub(super) type StoreReader = Reader<ReadAhead<StoreContent>>;

/// Opens the content of an object as a GSD file and reads something from it.
pub(super) async fn examine<T: Send + 'static>(
    app: &App,
    caller: Caller,
    at: At,
    version: Option<u64>,
    question: impl FnOnce(&StoreReader) -> Result<T, Problem> + Send + 'static,
) -> Result<(Opened, T), Problem> {
    let turn = app.format_turn().await;
    let runtime = Handle::current();
    let examined = app.blocking(move |store| {
        // Released when the work ends, even if the request has been abandoned.
        let _turn = turn;
        let opened =
            store.open(&caller, &at, &ReadOptions { version, ..ReadOptions::default() })?;
        let content = StoreContent { opened: opened.clone(), left: MOST.into(), runtime };
        let reader = Reader::open(ReadAhead::new(content)).map_err(refused);
        Ok(reader.and_then(|reader| Ok((opened, question(&reader)?))))
    });
    examined.await?
}

/// The problem for an error of the format.
pub(super) fn refused(error: Error) -> Problem {
    match error {
        Error::Io(error) => match error.downcast::<cenote_store::Error>() {
            Ok(error) => error.into(),
            Err(error) => Problem::new(ProblemKind::Internal, error.to_string()),
        },
        error => Problem::new(ProblemKind::Format, error.to_string())
            .with_hint("`cenote gsd check` lists what is wrong with a file"),
    }
}

/// A content, as bytes at an offset.
pub(super) struct StoreContent {
    opened: Opened,
    /// Bytes that may still be read.
    left: AtomicU64,
    runtime: Handle,
}

impl StoreContent {
    fn spend(&self, bytes: u64) -> Result<(), cenote_store::Error> {
        let spent = |left: u64| left.checked_sub(bytes);
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spent) {
            Ok(_) => Ok(()),
            Err(_) => Err(cenote_store::Error::new(
                ErrorKind::TooLarge,
                format!("the names and index to read for this are larger than {MOST} bytes"),
            )
            .with_hint("get the file and inspect it with `cenote gsd`")),
        }
    }

    async fn fill(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let range = offset..offset.saturating_add(buffer.len() as u64);
        let mut chunks = self.opened.clone().bytes(range).map_err(io::Error::other)?;
        let mut rest = buffer;
        while let Some(chunk) = chunks.try_next().await.map_err(io::Error::other)? {
            let (part, after) = rest.split_at_mut(chunk.len().min(rest.len()));
            part.copy_from_slice(&chunk[..part.len()]);
            rest = after;
        }
        if rest.is_empty() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

impl Source for StoreContent {
    fn size(&self) -> io::Result<u64> {
        Ok(self.opened.size())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.spend(buffer.len() as u64).map_err(io::Error::other)?;
        self.runtime.block_on(self.fill(offset, buffer))
    }
}
