"""A store. Made from ``_aio_tree.py`` by ``python/scripts/unasync.py``: change that one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from cenote.store import _local
from cenote.store._wait import done
from cenote.store._local import Condition, Moment
from cenote.store._model import Listing, Resource, Statement, Usage
from cenote.store.errors import Error

if TYPE_CHECKING:
    from cenote._cenote import store as _native

__all__ = ['Tree']


class Tree:
    """The methods of :class:`Store` that are about resources, but not about their contents."""

    _native: _native.Connection

    # Looking

    def stat(self, path: str, *, as_of: Moment | None = None) -> Resource:
        """The attributes of a resource, and what the caller may do with it.

        >>> store.stat('/lab/run7.csv').size
        26

        Args:
            path: The resource.
            as_of: The state at a moment: a time, or the position of a change.

        Raises:
            NotFoundError: It does not exist, or the caller may not see it.
            ChangedError: Its state at that moment is no longer kept.
        """
        if as_of is not None:
            return Resource(done(self._native.stat_as_of(path, _local.moment(as_of))))
        return Resource(done(self._native.stat(path)))

    def stat_many(self, paths: Iterable[str]) -> list[Resource | Error]:
        """The attributes of many resources in one request; an exception for each that failed."""
        found = done(self._native.stat_many(list(paths)))
        return [row if isinstance(row, Error) else Resource(row) for row in found]

    def exists(self, path: str, *, as_of: Moment | None = None) -> bool:
        """Whether the resource exists, or did at a moment, and the caller may see it."""
        try:
            self.stat(path, as_of=as_of)
        except FileNotFoundError:
            return False
        return True

    def ls(self, path: str = '/', *, as_of: Moment | None = None) -> Listing:
        """The children of a collection, by name.

        >>> [resource.name for resource in store.ls('/lab')]
        ['run7.csv']

        Args:
            path: The collection.
            as_of: As it was then. Of a resource of the kind ``lost`` only path and id are known.
        """
        listing = Listing()
        if as_of is not None:
            rows = self._native.ls_as_of(path, _local.moment(as_of))
        else:
            rows = self._native.ls(path)
        while some := done(rows.next()):
            listing.extend(map(Resource, some))
        return listing

    def tree(
        self, path: str = '/', *, as_of: Moment | None = None
    ) -> Iterator[Resource]:
        """Everything below a collection, by path, as it arrives; see :meth:`ls` for ``as_of``."""
        if as_of is not None:
            rows = self._native.walk_as_of(path, _local.moment(as_of))
        else:
            rows = self._native.walk(path)
        while some := done(rows.next()):
            for row in some:
                yield Resource(row)

    def find(
        self,
        under: str = '/',
        *where: Condition,
        name: str | None = None,
        kind: Literal['object', 'collection', 'link', 'description'] | None = None,
        text: str | None = None,
        as_of: Moment | None = None,
    ) -> Iterator[Resource]:
        """Resources below a collection whose name and description match.

        >>> store.meta_set('/lab/run7.csv', 'temperature', 300, 'K')
        >>> [found.path for found in store.find('/lab', ('temperature', '>=', '280'))]
        ['/lab/run7.csv']

        Args:
            under: The collection.
            where: Conditions, all of which have to hold: ``('temperature', '>=', '300')``, or
                ``('temperature', 'exists')``. Operators are ``=``, ``!=``, ``<``, ``<=``, ``>``,
                ``>=``, ``like`` and ``exists``.
            name: A pattern for the name, such as ``*.gsd``.
            kind: Only resources of this kind.
            text: Words in the name or in the values of the description; ``word*`` is each that begins so,
                and quotation marks make a phrase.
            as_of: Those for which it held then. What may have matched is of the kind ``lost``.
        """
        conditions = [_local.condition(each) for each in where]
        if as_of is not None:
            moment = _local.moment(as_of)
            rows = self._native.find_as_of(moment, under, conditions, name, kind, text)
        else:
            rows = self._native.find(under, conditions, name, kind, text)
        while some := done(rows.next()):
            for row in some:
                yield Resource(row)

    def sparql(self, query: str, accept: str = 'application/sparql-results+json') -> bytes:
        """The result of a SPARQL 1.1 query, in the media type ``accept``."""
        return done(self._native.sparql(query, accept))

    def du(self, path: str = '/') -> Usage:
        """The number and size of the resources below a resource."""
        found = done(self._native.usage(path))
        return Usage(found['objects'], found['collections'], found['bytes'])

    # Changing the tree

    def mkdir(self, path: str, *, parents: bool = False, exist_ok: bool = False) -> Resource:
        """Create a collection."""
        return Resource(done(self._native.make_collection(path, parents, exist_ok)))

    def rm(
        self, path: str, *, recursive: bool = False, versions: bool = False, permanent: bool = False
    ) -> None:
        """Remove a resource; it is kept in the trash if the store has one there.

        Args:
            path: The resource.
            recursive: With everything below it.
            versions: Even if it has versions.
            permanent: Not into the trash.
        """
        done(self._native.remove(path, recursive, versions, permanent))

    def mv(
        self, source: str, target: str, *, replace: bool = False, parents: bool = False
    ) -> Resource:
        """Move a resource with everything below it, atomically."""
        return Resource(done(self._native.relocate(source, target, replace, parents)))

    def cp(
        self,
        source: str,
        target: str,
        *,
        recursive: bool = False,
        replace: bool = False,
        parents: bool = False,
    ) -> Resource:
        """Copy a resource; the bytes are shared, not copied."""
        return Resource(done(self._native.copy(source, target, replace, parents, recursive)))

    def touch(self, path: str, mtime: datetime | None = None) -> Resource:
        """Set the modification time of a resource, by default to now."""
        when = _local.rfc3339(mtime)
        return Resource(done(self._native.set_attributes(path, None, when, None, None)))

    # Descriptions

    def meta(self, path: str, *, as_of: Moment | None = None) -> list[Statement]:
        """The description of a resource, or the one that it had at a moment."""
        if as_of is not None:
            rows = done(self._native.meta_as_of(path, _local.moment(as_of)))
        else:
            rows = done(self._native.meta(path))
        return [Statement(row['attribute'], row['value'], row.get('unit')) for row in rows]

    def meta_add(
        self, path: str, attribute: str, value: object, unit: str | None = None
    ) -> None:
        """Add a statement to a description."""
        statement = (attribute, str(value), unit)
        done(self._native.change_meta(path, [], [statement], []))

    def meta_set(
        self, path: str, attribute: str, value: object, unit: str | None = None
    ) -> None:
        """Replace all values of an attribute.

        >>> store.meta_set('/lab/run7.csv', 'temperature', 310, 'K')
        >>> store.meta('/lab/run7.csv')
        [Statement(attribute='temperature', value='310', unit='K')]
        """
        statement = (attribute, str(value), unit)
        done(self._native.change_meta(path, [], [], [statement]))

    def meta_rm(
        self, path: str, attribute: str, value: object, unit: str | None = None
    ) -> None:
        """Remove a statement from a description."""
        statement = (attribute, str(value), unit)
        done(self._native.change_meta(path, [statement], [], []))
