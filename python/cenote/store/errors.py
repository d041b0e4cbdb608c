"""Why a call failed: subclasses of :class:`OSError`, with the server's hint.

Where Python has an exception for the failure, the class is also a subclass of that one: a program
that catches :class:`FileNotFoundError` catches :class:`NotFoundError`.
"""

from __future__ import annotations

import errno

__all__ = [
    'ChangedError', 'DamagedError', 'DeniedError', 'Error', 'ExistsError', 'InvalidError',
    'NoSpaceError', 'NotEmptyError', 'NotFoundError', 'ProtocolError', 'TransferError',
    'UnauthenticatedError', 'UnavailableError', 'UnreachableError', 'WrongKindError',
]


class Error(OSError):
    """A call that failed.

    Attributes:
        kind: The kind of the failure in one word, as in ``docs/native-api.md``.
        hint: What to do next, in a sentence, or ``None``.
        request_id: The id of the request in the server's log, or ``None``.
    """

    kind: str
    hint: str | None
    request_id: str | None

    def __init__(
        self,
        code: int,
        message: str,
        *,
        kind: str = 'unknown',
        hint: str | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(code, message)
        self.kind, self.hint, self.request_id = kind, hint, request_id

    def __str__(self) -> str:
        hint = f'\n  hint: {self.hint}' if self.hint else ''
        return f'{self.strerror}{hint}'

    def __reduce__(self) -> tuple[object, ...]:
        fields = {name: value for name, value in vars(self).items() if name != '__notes__'}
        return type(self), self.args, fields


class InvalidError(Error, ValueError):
    """The request is invalid, such as a malformed path."""


class UnauthenticatedError(Error, PermissionError):
    """The login failed: a wrong password, or a token that is wrong or has expired."""


class DeniedError(Error, PermissionError):
    """The caller does not have permission."""


class NotFoundError(Error, FileNotFoundError):
    """The resource does not exist, or the caller may not see it."""


class ExistsError(Error, FileExistsError):
    """The name is taken."""


class NotEmptyError(Error):
    """The collection has children, or the object has versions."""


class WrongKindError(Error, IsADirectoryError, NotADirectoryError):
    """The resource is of another kind, such as a collection where an object is needed."""


class ChangedError(Error):
    """It was changed concurrently, or a condition does not hold."""


class NoSpaceError(Error):
    """No space is left, a quota does not allow it, or it is larger than a limit."""


class DamagedError(Error):
    """Bytes differ from their checksum."""


class UnavailableError(Error):
    """The store is busy or accepts no changes now."""


class UnreachableError(Error, ConnectionError):
    """The server could not be reached, or the connection was lost."""


class ProtocolError(Error):
    """The response is not from a cenote server of a compatible version."""


class TransferError(Error):
    """Some of several files could not be transferred; the others were.

    Attributes:
        failures: The path of each, and why it failed.
    """

    failures: list[tuple[str, Error]]

    def __init__(self, failures: list[tuple[str, Error]]) -> None:
        path, first = failures[0]
        message = f'{len(failures)} failed; the others succeeded. {path}: {first.strerror}'
        super().__init__(first.errno or errno.EIO, message, kind=first.kind, hint=first.hint)
        self.failures = failures

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.failures,)


#: The class and the number of each kind of failure.
KINDS: dict[str, tuple[type[Error], int]] = {
    'invalid': (InvalidError, errno.EINVAL),
    'changeset': (InvalidError, errno.EINVAL),
    'range': (InvalidError, errno.EINVAL),
    'unauthenticated': (UnauthenticatedError, errno.EACCES),
    'denied': (DeniedError, errno.EACCES),
    'not-found': (NotFoundError, errno.ENOENT),
    'dangling': (NotFoundError, errno.ENOENT),
    'exists': (ExistsError, errno.EEXIST),
    'not-empty': (NotEmptyError, errno.ENOTEMPTY),
    'wrong-kind': (WrongKindError, errno.EISDIR),
    'conflict': (ChangedError, errno.EBUSY),
    'precondition': (ChangedError, errno.EBUSY),
    'expired': (ChangedError, errno.ESTALE),
    'too-large': (NoSpaceError, errno.EFBIG),
    'no-space': (NoSpaceError, errno.ENOSPC),
    'quota': (NoSpaceError, errno.EDQUOT),
    'mismatch': (DamagedError, errno.EIO),
    'damaged': (DamagedError, errno.EIO),
    'read-only': (UnavailableError, errno.EROFS),
    'unavailable': (UnavailableError, errno.EAGAIN),
    'unreachable': (UnreachableError, errno.ECONNREFUSED),
    'protocol': (ProtocolError, errno.EPROTO),
}


#: The class for the number of a failure on this machine.
LOCAL: dict[int | None, type[Error]] = {
    errno.EEXIST: ExistsError,
    errno.EISDIR: WrongKindError,
    errno.ENOTDIR: WrongKindError,
}


def of_kind(
    kind: str, message: str, hint: str | None, request_id: str | None, code: int | None = None
) -> Error:
    """The exception for a failure as the client reports it; ``code`` is its number on this machine."""
    cls, usual = KINDS.get(kind, (LOCAL.get(code, Error), code or errno.EIO))
    return cls(usual, message, kind=kind, hint=hint, request_id=request_id)
