//! A call: the caller, and the parameters of the operation.

use axum::extract::Request;
use axum::http::StatusCode;
use cenote_store::{At, Caller, Error, Received, Store, StorePath, TicketUse};

use super::code::{Code, Refusal};
use super::form::Form;
use super::lpath;
use crate::app::App;
use crate::config::Irods;
use crate::irods::data_objects::parallel;
use crate::layer::peer;

/// A call of an operation.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) app: App,
    pub(crate) caller: Caller,
    pub(crate) form: Form,
    /// The bytes sent with it, already stored.
    pub(crate) received: Option<Received>,
}

impl Call {
    pub(crate) fn new(app: &App, caller: Caller, form: Form) -> Self {
        Self { app: app.clone(), caller, form, received: None }
    }

    pub(crate) fn settings(&self) -> &Irods {
        self.app.irods()
    }

    /// The caller with iRODS semantics: an administrator sees everything, but changes what belongs to others
    /// only if the call has `admin=1`.
    pub(crate) fn acting(&self) -> Caller {
        self.caller.clone().elevated(self.form.flag("admin", false))
    }

    /// Copies the parameter `known_as`, if present, to `name`.
    pub(crate) fn also(&mut self, name: &str, known_as: &str) {
        if let Some(value) = self.form.bytes(known_as).cloned() {
            self.form.insert(name.to_owned(), value);
        }
    }

    /// A required parameter.
    pub(crate) fn need(&self, name: &str) -> Result<&str, Refusal> {
        self.form.text(name).ok_or(Refusal::BAD)
    }

    /// A required logical path.
    pub(crate) fn path(&self, name: &str) -> Result<StorePath, Refusal> {
        lpath::parse(&self.settings().zone, self.need(name)?).ok_or_else(nowhere)
    }

    pub(crate) fn at(&self) -> Result<At, Refusal> {
        Ok(self.path("lpath")?.into())
    }

    /// A non-negative number, if present.
    pub(crate) fn count(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let number = self.form.number(name).map_err(|_| Refusal::BAD)?;
        number.map(|number| u64::try_from(number).map_err(|_| Refusal::BAD)).transpose()
    }

    /// Calls the store on a thread that may block.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Refusal> {
        Ok(self.app.blocking(move |store| Ok(question(store))).await??)
    }

    /// The bytes sent with the call.
    pub(crate) fn bytes(&mut self) -> Result<Received, Refusal> {
        self.received.take().ok_or(Refusal::BAD)
    }

    /// The use of the ticket by the call: the name of the operation determines whether it queries, reads or writes.
    pub(crate) fn ticket_use(&self, post: bool, operation: &str) -> TicketUse {
        let size = self.received.as_ref().map_or(0, Received::size);
        match (post, operation) {
            (false, "read" | "verify_checksum") | (true, "calculate_checksum") => TicketUse::Read,
            (false, _) => TicketUse::Look,
            (true, "write") if self.has_handle() => TicketUse::More(size),
            (true, "write") => TicketUse::Write(size),
            (true, "parallel_write_shutdown") => TicketUse::More(0),
            (true, _) => TicketUse::Write(0),
        }
    }

    /// Whether the call continues a parallel write, which was counted when it began.
    pub(crate) fn has_handle(&self) -> bool {
        self.form.text("parallel-write-handle").is_some()
    }

    /// Uses the ticket, if there is one, for this purpose.
    pub(crate) async fn show_ticket(
        &mut self,
        host: String,
        what: TicketUse,
    ) -> Result<(), Refusal> {
        let handle = self.form.text("parallel-write-handle");
        let shown = self.form.text("ticket").map(str::to_owned);
        let Some(ticket) = shown.or_else(|| parallel::ticket(handle?)) else { return Ok(()) };
        let caller = self.caller.clone();
        let grant =
            self.blocking(move |store| store.use_ticket(&caller, &ticket, &host, what)).await;
        self.caller = self.caller.clone().with_ticket(grant.map_err(bad_ticket)?);
        Ok(())
    }

    /// Counts a further use of the ticket.
    pub(crate) fn count_use(&self, what: TicketUse) -> Result<(), Refusal> {
        let counted = self.app.store().count_use(&self.caller, what);
        counted.map_err(|error| bad_ticket(error.into()))
    }
}

/// The address from which a request comes.
pub(crate) fn host(request: &Request) -> String {
    peer(request.extensions()).to_string()
}

/// The refusal of a path outside this zone.
pub(crate) fn nowhere() -> Refusal {
    Refusal::code(Code::PathDoesNotExist)
        .with_message("path does not exist: OBJ_PATH_DOES_NOT_EXIST")
}

fn bad_ticket(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Coded { .. } => Refusal::Coded {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            code: Code::TicketInvalid,
            message: Some("Error enabling ticket on connection.".to_owned()),
        },
        other => other,
    }
}
