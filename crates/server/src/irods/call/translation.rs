//! Every translation of the store's errors into those of iRODS: by what a call was doing, and the kind of the error.

use axum::http::StatusCode;
use cenote_store::{Error, ErrorKind};

use super::code::{Code, Refusal};
use super::request::nowhere;
use super::target::no_replica;

/// What a call was doing when the store refused it, where that decides what is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Anything else.
    Other,
    /// Logging in, or saying who calls.
    LogIn,
    /// Something that only administrators may do.
    Administer,
    /// Changing users and groups.
    People,
    /// Changing storage resources.
    Resources,
    /// Removing a ticket.
    RemoveTicket,
    /// Changing an access list.
    ChangeAccess,
    /// Creating a collection.
    CreateCollection,
    /// Creating a collection with those above it.
    CreateCollections,
    /// Removing a collection that has to be empty.
    RemoveEmpty,
    /// Reading the bytes of a data object.
    Read,
    /// Writing a data object.
    Write,
    /// Writing through a handle of a parallel write.
    WritePart,
    /// Ending a parallel write.
    Publish,
    /// Copying a data object.
    Copy,
    /// Removing replicas.
    Trim,
    /// Registering a file.
    Register,
    /// Finding the replicas that have a checksum.
    FindReplicas,
}

/// How an error is reported.
enum Reported {
    /// As this code, with the message of the error.
    As(Code),
    /// In these words.
    Exactly(Refusal),
}

impl Doing {
    /// How an error of the store is reported.
    pub(crate) fn refusal(self, error: Error) -> Refusal {
        match self.reported(error.kind()).or_else(|| code_of(error.kind()).map(Reported::As)) {
            Some(Reported::As(code)) => Refusal::code(code).with_message(&error.to_string()),
            Some(Reported::Exactly(refusal)) => refusal,
            None => Refusal::Failed(error.into()),
        }
    }

    /// What is reported otherwise than by most calls.
    fn reported(self, kind: ErrorKind) -> Option<Reported> {
        use ErrorKind as K;
        use Reported::{As, Exactly};
        Some(match (self, kind) {
            (Self::LogIn, K::Unauthenticated) => Exactly(Refusal::Plain(StatusCode::UNAUTHORIZED)),
            (Self::Administer | Self::People | Self::Resources, K::Denied) => {
                As(Code::NoApiPrivilege)
            }
            (Self::People | Self::ChangeAccess, K::NotFound) => As(Code::InvalidUser),
            (Self::People, K::NotEmpty) => As(Code::CollectionNotEmpty),
            (Self::Resources, K::NotFound) => As(Code::ResourceDoesNotExist),
            (Self::Resources, K::Invalid | K::NotEmpty) => As(Code::InvalidResource),
            (Self::RemoveTicket, K::Unauthenticated | K::NotFound) => {
                Exactly(Refusal::code(Code::TicketInvalid))
            }
            (Self::CreateCollection, K::NotFound) => Exactly(nowhere()),
            // The caller may not create there, or not even see it.
            (Self::CreateCollections, K::Denied | K::NotFound) => As(Code::InvalidInput),
            (Self::RemoveEmpty, K::NotEmpty) => Exactly(not_empty()),
            (Self::Read, K::NotFound | K::Denied | K::WrongKind) => {
                Exactly(Refusal::Plain(StatusCode::NOT_FOUND))
            }
            // A caller who may not see the collection may not write there, either.
            (Self::Write, K::Denied | K::NotFound) => As(Code::NoAccess),
            (Self::WritePart, K::NotFound) => Exactly(Refusal::BAD),
            (Self::Publish, K::Conflict) => As(Code::InvalidHandle),
            // The object has been changed in the meantime, through an opening without the lock.
            (Self::Publish, K::Precondition) => As(Code::Locked),
            (Self::Copy, K::Exists) => Exactly(Refusal::code(Code::OverwriteWithoutForce)),
            (Self::Trim, K::NotFound) => Exactly(no_replica()),
            (Self::Register, K::Precondition) => As(Code::AlreadyExists),
            (Self::FindReplicas, K::NotFound) => Exactly(Refusal::code(Code::NoRows)),
            _ => return None,
        })
    }
}

fn not_empty() -> Refusal {
    Refusal::code(Code::SysCollectionNotEmpty)
        .with_message("cannot remove non-empty collection: SYS_COLLECTION_NOT_EMPTY")
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Doing::Other.refusal(error)
    }
}

/// The code for a kind of error; `None` for a server fault, for which no code would help.
fn code_of(kind: ErrorKind) -> Option<Code> {
    use ErrorKind as K;
    Some(match kind {
        K::Invalid | K::Expired | K::Range | K::TooLarge | K::Dangling => Code::InvalidInput,
        K::NotFound => Code::PathDoesNotExist,
        K::Exists => Code::AlreadyExists,
        K::WrongKind => Code::NotADataObject,
        K::NotEmpty => Code::SysCollectionNotEmpty,
        K::Denied => Code::NoAccess,
        K::Unauthenticated => Code::InvalidAuthentication,
        K::Precondition => Code::OverwriteWithoutForce,
        K::Conflict => Code::Locked,
        K::Mismatch => Code::ChecksumMismatch,
        K::NoSpace | K::Quota => Code::NoSpace,
        K::ReadOnly | K::Unavailable | K::Damaged | K::Unknown => return None,
    })
}

#[cfg(test)]
mod tests {
    use ErrorKind as K;

    use super::*;

    /// Each kind of error with its number, a positive one for a status without a code, or 0 for a failure of the server.
    const KINDS: [(ErrorKind, i32); 20] = [
        (K::Invalid, -130_000),
        (K::NotFound, -358_000),
        (K::Exists, -809_000),
        (K::WrongKind, -171_000),
        (K::NotEmpty, -79_000),
        (K::Denied, -818_000),
        (K::Unauthenticated, -826_000),
        (K::Precondition, -312_000),
        (K::Conflict, -406_000),
        (K::Expired, -130_000),
        (K::TooLarge, -130_000),
        (K::Range, -130_000),
        (K::Dangling, -130_000),
        (K::Mismatch, -314_000),
        (K::NoSpace, -110_000),
        (K::Quota, -110_000),
        (K::ReadOnly, 0),
        (K::Unavailable, 0),
        (K::Damaged, 0),
        (K::Unknown, 0),
    ];

    /// What each operation reports otherwise.
    const OTHERWISE: [(Doing, &[(ErrorKind, i32)]); 18] = [
        (Doing::Other, &[]),
        (Doing::LogIn, &[(K::Unauthenticated, 401)]),
        (Doing::Administer, &[(K::Denied, -13_000)]),
        (Doing::People, &[(K::Denied, -13_000), (K::NotFound, -827_000), (K::NotEmpty, -821_000)]),
        (
            Doing::Resources,
            &[
                (K::Denied, -13_000),
                (K::NotFound, -78_000),
                (K::Invalid, -831_000),
                (K::NotEmpty, -831_000),
            ],
        ),
        (Doing::RemoveTicket, &[(K::Unauthenticated, -890_000), (K::NotFound, -890_000)]),
        (Doing::ChangeAccess, &[(K::NotFound, -827_000)]),
        (Doing::CreateCollection, &[]),
        (Doing::CreateCollections, &[(K::Denied, -130_000), (K::NotFound, -130_000)]),
        (Doing::RemoveEmpty, &[]),
        (Doing::Read, &[(K::NotFound, 404), (K::Denied, 404), (K::WrongKind, 404)]),
        (Doing::Write, &[(K::NotFound, -818_000)]),
        (Doing::WritePart, &[(K::NotFound, 400)]),
        (Doing::Publish, &[(K::Conflict, -175_000), (K::Precondition, -406_000)]),
        (Doing::Copy, &[(K::Exists, -312_000)]),
        (Doing::Trim, &[(K::NotFound, -164_000)]),
        (Doing::Register, &[(K::Precondition, -809_000)]),
        (Doing::FindReplicas, &[(K::NotFound, -808_000)]),
    ];

    fn number(refusal: &Refusal) -> i32 {
        match refusal {
            Refusal::Plain(status) => i32::from(status.as_u16()),
            Refusal::Failed(_) => 0,
            coded => coded.number().unwrap(),
        }
    }

    #[test]
    fn each_error_has_one_translation_for_each_operation() {
        for (doing, others) in OTHERWISE {
            for (kind, usual) in KINDS {
                let other = others.iter().find(|(other, _)| *other == kind);
                let expected = other.map_or(usual, |(_, number)| *number);
                let refusal = doing.refusal(Error::new(kind, "why"));
                assert_eq!(number(&refusal), expected, "{doing:?}, {kind:?}");
            }
        }
    }
}
