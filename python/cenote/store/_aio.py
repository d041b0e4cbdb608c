"""A store, for programs that use ``asyncio``.

``_sync.py`` is made from this file by ``python/scripts/unasync.py``: change this one.
"""

from __future__ import annotations

from html import escape
from types import TracebackType
from typing import TYPE_CHECKING

from cenote.store._aio_access import AsyncPermissions
from cenote.store._aio_contents import AsyncContents
from cenote.store._aio_history import AsyncHistory
from cenote.store._aio_places import AsyncPlaces
from cenote.store._async import done

if TYPE_CHECKING:
    from cenote._cenote import store as _native

__all__ = ['AsyncChangeSet', 'AsyncStore']


class AsyncStore(AsyncContents, AsyncPermissions, AsyncHistory, AsyncPlaces):
    """A store on a server; :func:`cenote.connect_async` makes one.

    It may be used by several threads, and after a fork. Paths are absolute, such as
    ``/lab/run7.csv``.
    """

    def __init__(self, native: _native.Connection) -> None:
        self._native = native

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._native.url

    def __repr__(self) -> str:
        user = f', user={self._native.user!r}' if self._native.user else ''
        return f'{type(self).__name__}({self.url!r}{user})'

    def _repr_html_(self) -> str:
        user = escape(self._native.user or '')
        return f'<b>cenote</b> {escape(self.url)} {user}'

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled is the address: another process logs in by its own settings."""
        if self._native.is_bound:
            raise TypeError('a store with a ticket or in a change set stays in its process')
        from cenote.store._connect import connect_async

        return connect_async, (self.url,)

    def changeset(self, idle: int | None = None) -> AsyncChangeSet:
        """Make changes that take effect together, in one commit, or not at all.

        >>> with store.changeset() as changes:
        ...     _ = changes.write('/lab/note.txt', 'renamed')
        ...     _ = changes.mv('/lab/run7.csv', '/lab/run8.csv')
        >>> [resource.name for resource in store.ls('/lab')]
        ['note.txt', 'run8.csv']

        Args:
            idle: Seconds without a call after which it expires; three minutes by default.
        """
        return AsyncChangeSet(self._native, idle)


class AsyncChangeSet:
    """Changes that take effect together, which :meth:`AsyncStore.changeset` begins.

    As a context manager it is a store in which they are made. They are committed at the end, or
    dropped if there was an exception.

    Raises:
        ChangedError: From the commit: the same was changed concurrently; nothing is done.
    """

    def __init__(self, native: _native.Connection, idle: int | None) -> None:
        self._native, self._idle = native, idle
        #: Identifies it, once it has begun: what ``CENOTE_CHANGESET`` takes.
        self.id = ''

    async def __aenter__(self) -> AsyncStore:
        self.id = (await done(self._native.begin_changeset(self._idle)))['id']
        return AsyncStore(self._native.in_changeset(self.id))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            await done(self._native.commit_changeset(self.id))
        else:
            await done(self._native.drop_changeset(self.id))
