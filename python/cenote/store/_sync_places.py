"""A store. Made from ``_aio_places.py`` by ``python/scripts/unasync.py``: change that one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cenote.store._wait import done
from cenote.store._model_places import Place, Replica

if TYPE_CHECKING:
    from cenote._cenote import store as _native

__all__ = ['Places']


class Places:
    """The methods of :class:`Store` that are about places for contents."""

    _native: _native.Connection

    def places(self) -> list[Place]:
        """All places."""
        return [Place(row) for row in done(self._native.places())]

    def place_add(
        self,
        name: str,
        address: str | None = None,
        *,
        into: str | None = None,
        default: bool = False,
    ) -> Place:
        """Add a place, which accepts contents immediately; without an address, a group of places.

        Args:
            name: The name.
            address: ``file:///data/vault`` or ``s3://bucket/prefix``. The server has the credentials.
            into: The group to add it to.
            default: Store new contents there.
        """
        return Place(done(self._native.add_place(name, address, into, default)))

    def place_set(
        self,
        name: str,
        *,
        rename: str | None = None,
        state: Literal['up', 'down'] | None = None,
        into: str | None = None,
        default: bool = False,
    ) -> Place:
        """Change a place.

        Args:
            name: The place.
            rename: Its new name.
            state: ``down`` takes it out of use, ``up`` puts it back.
            into: The group to add it to; an empty name takes it out of its group.
            default: Store new contents there.
        """
        return Place(done(self._native.change_place(name, rename, state, into, default)))

    def place_drain(self, name: str, to: str | None = None) -> None:
        """Close a place and move everything in it to another one, or to where new contents go."""
        done(self._native.drain_place(name, to))

    def place_rm(self, name: str) -> None:
        """Remove an empty place."""
        done(self._native.remove_place(name))

    def replicas(self, path: str) -> list[Replica]:
        """The replicas of an object."""
        return [Replica(row) for row in done(self._native.replicas(path))]

    def replicate(self, path: str, to: str, *, recursive: bool = False) -> None:
        """Copy the content of an object to a place.

        Args:
            path: The object; or a collection.
            to: The place, or a group: each place in it.
            recursive: For all objects below a collection.
        """
        done(self._native.replicate(path, to, recursive))

    def trim(
        self,
        path: str,
        *,
        replica: int | None = None,
        place: str | None = None,
        keep: int = 1,
        recursive: bool = False,
    ) -> None:
        """Remove replicas of an object, but never the last good one.

        Without ``replica`` and ``place``, stale ones are removed, then good ones, the newest first.

        Args:
            path: The object; or a collection.
            replica: Only the one with this number.
            place: Only those in this place or group.
            keep: How many good ones are left at least.
            recursive: For all objects below a collection.
        """
        done(self._native.trim(path, keep, recursive, replica, place))
