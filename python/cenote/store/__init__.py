"""Stores on a server: :func:`connect` returns a :class:`Store`, whose methods are the program's commands.

Every method exists twice: of :class:`Store`, which waits, and of :class:`AsyncStore`, which is
awaited. Failures are subclasses of :class:`Error`, and of the exceptions that Python has for them,
such as :class:`FileNotFoundError`.
"""

from typing import TYPE_CHECKING

from cenote.store._connect import connect, connect_async
from cenote.store._model import Change, Listing, Resource, Statement, TrashItem, Usage, Version
from cenote.store._model_access import (
    Access,
    Amount,
    Grant,
    Group,
    Identity,
    Only,
    Quota,
    Ticket,
    Token,
    User,
)
from cenote.store._model_places import Place, Replica
from cenote.store._sync import ChangeSet, Store
from cenote.store._sync_contents import Upload
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

if TYPE_CHECKING:
    from cenote.store._aio import AsyncChangeSet as AsyncChangeSet
    from cenote.store._aio import AsyncStore as AsyncStore
    from cenote.store._aio_contents import AsyncUpload as AsyncUpload

__all__ = [
    'Access', 'Amount', 'AsyncChangeSet', 'AsyncStore', 'AsyncUpload', 'Change', 'ChangeSet',
    'ChangedError', 'DamagedError', 'DeniedError', 'Error', 'ExistsError', 'Grant', 'Group',
    'Identity', 'InvalidError', 'Listing', 'NoSpaceError', 'NotEmptyError', 'NotFoundError', 'Only',
    'Path', 'Place', 'ProtocolError', 'Quota', 'Replica', 'Resource', 'Statement', 'Store',
    'Ticket', 'Token', 'TransferError', 'TrashItem', 'UnauthenticatedError', 'UnavailableError',
    'UnreachableError', 'Upload', 'Usage', 'User', 'Version', 'WrongKindError', 'connect',
    'connect_async',
]


def __getattr__(name: str) -> object:
    # Programs that wait do not need it, and importing it takes milliseconds.
    if name in ('AsyncChangeSet', 'AsyncStore', 'AsyncUpload'):
        from cenote.store import _aio, _aio_contents

        value: object = getattr(_aio_contents if name == 'AsyncUpload' else _aio, name)
        globals()[name] = value
        return value
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
