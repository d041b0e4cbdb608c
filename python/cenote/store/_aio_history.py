"""The history in a store: versions, changes, the trash.

``_sync_history.py`` is made from this file by ``python/scripts/unasync.py``: change this one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from cenote.store import _local
from cenote.store._async import done
from cenote.store._local import Moment
from cenote.store._model import Change, Resource, TrashItem, Version

if TYPE_CHECKING:
    from cenote._cenote import store as _native

__all__ = ['AsyncHistory']


class AsyncHistory:
    """The methods of :class:`AsyncStore` that are about the past."""

    _native: _native.Connection

    async def versions(self, path: str) -> list[Version]:
        """The versions of a resource, the newest first."""
        return [Version(row) for row in await done(self._native.versions(path))]

    async def versions_keep(self, path: str, label: str | None = None) -> None:
        """Keep the current state of a resource as a version."""
        await done(self._native.keep_version(path, label))

    async def versions_restore(self, path: str, version: int) -> None:
        """Make a version the current state."""
        await done(self._native.restore_version(path, version))

    async def changes(
        self, path: str | None = None, since: str | None = None, *, follow: bool = False
    ) -> AsyncIterator[Change]:
        """Changes of a resource and everything below it, or of the whole store.

        Args:
            path: The resource.
            since: The position of a change after which to start. Without one: all changes that the
                feed still has or, with ``follow``, those from now on.
            follow: Wait for further changes, without an end.
        """
        rows = self._native.changes(path, since, follow)
        while some := await done(rows.next()):
            for row in some:
                # The server also reports positions without a change.
                if 'kind' in row:
                    yield Change(row)

    # What was

    async def restore(
        self,
        path: str,
        as_of: Moment,
        to: str,
        *,
        recursive: bool = False,
        parents: bool = False,
        partial: bool = False,
    ) -> Resource:
        """Restore what was at a path, under a path that is free.

        Args:
            path: Its former path.
            as_of: When: a time, or the position of a change.
            to: The new path.
            recursive: With everything that was below it.
            parents: Create missing collections.
            partial: Leave out what is no longer kept, instead of restoring nothing.
        """
        moment = _local.moment(as_of)
        restored = self._native.restore_as_of(path, moment, to, recursive, parents, partial)
        return Resource(await done(restored))

    async def trash(self, path: str | None = None) -> list[TrashItem]:
        """Removed resources that can be restored, optionally only those formerly below a collection."""
        rows, found = self._native.trash(path), list[TrashItem]()
        while some := await done(rows.next()):
            found.extend(map(TrashItem, some))
        return found

    async def trash_restore(
        self, item: int | TrashItem, to: str | None = None, *, parents: bool = False
    ) -> Resource:
        """Restore a removed resource, with everything below it.

        Args:
            item: The item of :meth:`trash`, or its id.
            to: The new path; by default the former one.
            parents: Create missing collections.
        """
        number = item.id if isinstance(item, TrashItem) else item
        return Resource(await done(self._native.restore_removed(number, to, parents)))

    async def trash_empty(self, item: int | TrashItem | None = None) -> int:
        """Permanently remove an item, or everything that the caller could restore.

        Returns:
            How many items were removed.
        """
        number = item.id if isinstance(item, TrashItem) else item
        return await done(self._native.empty_trash(number))
