"""Stores on a server: :func:`connect` returns a :class:`Store`, whose methods are the program's commands.

Every method exists twice: of :class:`Store`, which waits, and of :class:`AsyncStore`, which is
awaited. Failures are subclasses of :class:`Error`, and of the exceptions that Python has for them,
such as :class:`FileNotFoundError`.
"""

from cenote.store._aio import AsyncChangeSet, AsyncStore, AsyncUpload
from cenote.store._connect import connect, connect_async
from cenote.store._model import (
    Access,
    Amount,
    Change,
    Grant,
    Identity,
    Listing,
    Only,
    Quota,
    Resource,
    Statement,
    Ticket,
    TrashItem,
    Usage,
    Version,
)
from cenote.store._sync import ChangeSet, Store, Upload
from cenote.store.errors import (
    ChangedError,
    DamagedError,
    DeniedError,
    Error,
    ExistsError,
    InvalidError,
    NoSpaceError,
    NotEmptyError,
    NotFoundError,
    ProtocolError,
    TransferError,
    UnauthenticatedError,
    UnavailableError,
    UnreachableError,
    WrongKindError,
)
from cenote.store.path import Path

__all__ = [
    'Access', 'Amount', 'AsyncChangeSet', 'AsyncStore', 'AsyncUpload', 'Change', 'ChangeSet',
    'ChangedError', 'DamagedError', 'DeniedError', 'Error', 'ExistsError', 'Grant', 'Identity',
    'InvalidError', 'Listing', 'NoSpaceError', 'NotEmptyError', 'NotFoundError', 'Only',
    'Path', 'ProtocolError', 'Quota', 'Resource', 'Statement', 'Store', 'Ticket', 'TransferError',
    'TrashItem', 'UnauthenticatedError', 'UnavailableError', 'UnreachableError', 'Upload', 'Usage',
    'Version', 'WrongKindError', 'connect', 'connect_async',
]
