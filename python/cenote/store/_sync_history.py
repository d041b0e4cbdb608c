"""A store. Made from ``_aio_history.py`` by ``python/scripts/unasync.py``: change that one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from cenote.store import _local
from cenote.store._wait import done
from cenote.store._local import Moment
from cenote.store._model import Change, Resource, TrashItem, Version

if TYPE_CHECKING:
    from cenote._cenote import store as _native

__all__ = ['History']


class History:
    """The methods of :class:`Store` that are about the past."""

    _native: _native.Connection

    def versions(self, path: str) -> list[Version]:
        """The versions of a resource, the newest first."""
        return [Version(row) for row in done(self._native.versions(path))]

    def versions_keep(self, path: str, label: str | None = None) -> None:
        """Keep the current state of a resource as a version."""
        done(self._native.keep_version(path, label))

    def versions_restore(self, path: str, version: int) -> None:
        """Make a version the current state."""
        done(self._native.restore_version(path, version))

    def versions_label(self, path: str, version: int, label: str | None) -> None:
        """Give a version a label, with which it is kept; ``None`` removes the label."""
        done(self._native.label_version(path, version, label))

    def versions_prune(
        self,
        path: str,
        *,
        keep: int | None = None,
        daily: int | None = None,
        weekly: int | None = None,
        monthly: int | None = None,
    ) -> None:
        """Remove the versions of a resource that no rule keeps; those with a label are kept.

        Args:
            path: The resource.
            keep: Keep this many, the newest.
            daily: Keep the newest of each of the last days that have one (in UTC).
            weekly: The same for weeks.
            monthly: The same for months.
        """
        done(self._native.prune_versions(path, (keep, daily, weekly, monthly)))

    def versions_policy(
        self,
        path: str,
        policy: Literal['off', 'on-request', 'each-change'],
        *,
        keep: int | None = None,
        daily: int | None = None,
        weekly: int | None = None,
        monthly: int | None = None,
    ) -> None:
        """Set when replaced states are kept as versions, for a collection and everything below it.

        Args:
            path: The collection.
            policy: Never, when :meth:`versions_keep` says so, or with each change.
            keep: How many are kept; see :meth:`versions_prune` for the others. Without a rule, all are.
        """
        rules = (keep, daily, weekly, monthly)
        done(self._native.set_versioning(path, policy, rules))

    def changes(
        self, path: str | None = None, since: str | None = None, *, follow: bool = False
    ) -> Iterator[Change]:
        """Changes of a resource and everything below it, or of the whole store.

        >>> [change.kind for change in store.changes('/lab') if change.name == 'run7.csv']
        ['created']

        Args:
            path: The resource.
            since: The position of a change after which to start. Without one: all changes that the
                feed still has or, with ``follow``, those from now on.
            follow: Wait for further changes, without an end.
        """
        rows = self._native.changes(path, since, follow)
        while some := done(rows.next()):
            for row in some:
                # The server also reports positions without a change.
                if 'kind' in row:
                    yield Change(row)

    # What was

    def restore(
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
        return Resource(done(restored))

    def trash(self, path: str | None = None) -> list[TrashItem]:
        """Removed resources that can be restored, optionally only those formerly below a collection."""
        rows, found = self._native.trash(path), list[TrashItem]()
        while some := done(rows.next()):
            found.extend(map(TrashItem, some))
        return found

    def trash_restore(
        self, item: int | TrashItem, to: str | None = None, *, parents: bool = False
    ) -> Resource:
        """Restore a removed resource, with everything below it.

        Args:
            item: The item of :meth:`trash`, or its id.
            to: The new path; by default the former one.
            parents: Create missing collections.
        """
        number = item.id if isinstance(item, TrashItem) else item
        return Resource(done(self._native.restore_removed(number, to, parents)))

    def trash_empty(self, item: int | TrashItem | None = None) -> int:
        """Permanently remove an item, or everything that the caller could restore.

        Returns:
            How many items were removed.
        """
        number = item.id if isinstance(item, TrashItem) else item
        return done(self._native.empty_trash(number))

    def trash_keep(self, path: str, seconds: int, *, at_most: int | None = None) -> None:
        """Set how long a collection keeps what is removed below it.

        Args:
            path: The collection.
            seconds: How long; 0 removes for good at once.
            at_most: How many bytes of what was removed last; ``None`` is no limit.
        """
        done(self._native.keep_removed(path, seconds, at_most))
