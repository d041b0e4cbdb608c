//! Stores the bytes of a write as they arrive.
//!
//! Invariants: a caller who may not write is refused before the bytes are read, wherever that can be known by
//! then; and bytes that end up unreferenced are not kept.

use bytes::Bytes;
use cenote_store::{PlaceId, ReceiveOptions, Received, ReceivedBlob, Store, TicketUse};
use futures_util::{Stream, TryStreamExt, stream};
use multer::{Field, Multipart};

use super::{parallel, write};
use crate::irods::call::answer::Answer;
use crate::irods::call::body::cut_short;
use crate::irods::call::code::Refusal;
use crate::irods::call::request::Call;
use crate::layer::{Admission, Gathering};

impl Call {
    /// Takes the body of a write whose parameters are all known.
    pub(crate) async fn take_body<E: std::fmt::Display>(
        &mut self,
        host: &str,
        bytes: impl Stream<Item = Result<Bytes, E>>,
    ) -> Result<(), Refusal> {
        if self.form.text("parallel-write-handle").is_none() {
            self.need("lpath")?;
        }
        self.received = Some(self.receive(host, bytes, true).await?);
        Ok(())
    }

    /// Takes bytes that are passed as a parameter of a write.
    pub(crate) async fn take_parameter(&mut self, host: &str) -> Result<(), Refusal> {
        match (self.form.text("op"), self.form.bytes("bytes").cloned()) {
            (Some("write"), Some(bytes)) => {
                self.take_body(host, stream::iter([Ok::<_, String>(bytes)])).await
            }
            _ => Ok(()),
        }
    }

    /// Takes the parts of a multipart body, in any order.
    pub(crate) async fn take_parts(
        &mut self,
        host: &str,
        admission: &Admission,
        mut parts: Multipart<'_>,
    ) -> Result<(), Refusal> {
        let mut left = self.app.limits().json_bytes;
        while let Some(part) = parts.next_field().await.map_err(broken)? {
            match part.name().map(str::to_owned).ok_or(Refusal::BAD)? {
                name if name == "bytes" && self.received.is_some() => return Err(Refusal::BAD),
                name if name == "bytes" => {
                    self.received = Some(self.receive(host, part, false).await?);
                }
                name => {
                    let value = small(part, admission, left).await?;
                    left -= value.len();
                    if self.received.is_some() && selects_place(&name, &value) {
                        return Err(Refusal::BAD);
                    }
                    self.form.insert(name, value);
                }
            }
        }
        Ok(())
    }

    /// Stores bytes, unless it is already clear that they may not be written to their destination. A handle
    /// may still follow them (rirods sends it so), unless all parameters are known.
    async fn receive<E: std::fmt::Display>(
        &self,
        host: &str,
        bytes: impl Stream<Item = Result<Bytes, E>>,
        all_known: bool,
    ) -> Result<Received, Refusal> {
        let mut probe = Self::new(&self.app, self.caller.clone(), self.form.clone());
        let what = if self.has_handle() { TicketUse::More(0) } else { TicketUse::Look };
        probe.show_ticket(host.to_owned(), what).await?;
        let place = probe.destination(all_known).await?;
        let bytes = bytes.map_err(|fault| fault.to_string());
        let options = ReceiveOptions { place, ..ReceiveOptions::default() };
        Ok(self.app.store().receive(bytes, options).await?)
    }

    /// The blob of the bytes received.
    pub(crate) fn blob(&self) -> Option<ReceivedBlob> {
        self.received.as_ref().and_then(Received::blob)
    }

    /// Where the bytes go.
    async fn destination(&self, all_known: bool) -> Result<Option<PlaceId>, Refusal> {
        if let Some(handle) = self.form.text("parallel-write-handle") {
            return parallel::destination(self, handle).await;
        }
        if self.form.text("lpath").is_none() {
            return Ok(None);
        }
        let path = self.path("lpath")?;
        write::may_put(self, self.caller.clone().elevated(false), path.clone()).await?;
        if all_known {
            write::check_lock(self, path.clone()).await?;
        }
        self.place(&path).await
    }
}

/// A multipart body that cannot be read further: truncated, or not conforming to RFC 7578.
fn broken(error: multer::Error) -> Refusal {
    use multer::Error::{
        IncompleteFieldData, IncompleteHeaders, IncompleteStream, StreamReadFailed,
    };
    match error {
        StreamReadFailed(fault) => cut_short(&fault),
        IncompleteFieldData { .. } | IncompleteHeaders | IncompleteStream => cut_short(&error),
        _ => Refusal::BAD,
    }
}

/// A parameter; `most` is the rest of the limit for all of them together.
async fn small(mut part: Field<'_>, admission: &Admission, most: usize) -> Result<Bytes, Refusal> {
    let mut value = Gathering::new(admission, most);
    while let Some(chunk) = part.chunk().await.map_err(broken)? {
        value.push(&chunk)?;
    }
    Ok(value.finish())
}

/// Whether a parameter directs bytes elsewhere than to the default place of new contents: then it has to precede them.
fn selects_place(name: &str, value: &[u8]) -> bool {
    match name {
        "replica-number" | "resource" => !value.is_empty(),
        "parallel-write-handle" => {
            std::str::from_utf8(value).is_ok_and(|handle| parallel::place(handle).is_some())
        }
        _ => false,
    }
}

/// Passes an answer on. If the call was refused, the bytes sent with it are removed; if the store failed
/// they may be in use, and the sweep will find out.
pub(crate) async fn settled(store: &Store, blob: Option<ReceivedBlob>, answer: Answer) -> Answer {
    if let (Some(blob), false) = (blob, matches!(answer, Err(Refusal::Failed(_)))) {
        store.discard_unused(blob).await;
    }
    answer
}
