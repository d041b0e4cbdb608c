"""A store, for programs that use ``asyncio``.

``_sync.py`` is made from this file by ``python/scripts/unasync.py``: change this one.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from datetime import datetime
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from cenote.store import _local
from cenote.store._aio_history import AsyncHistory
from cenote.store._async import done
from cenote.store._local import Condition, Moment
from cenote.store._model import (
    Access,
    Grant,
    Identity,
    Listing,
    Quota,
    Resource,
    Statement,
    Ticket,
    Usage,
    entry_of,
    grant_of,
)
from cenote.store.errors import Error, TransferError

if TYPE_CHECKING:
    from cenote._cenote import store as _native

__all__ = ['AsyncChangeSet', 'AsyncStore', 'AsyncUpload']

Progress = Callable[[int], object]


class AsyncStore(AsyncHistory):
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

    # Looking

    async def stat(self, path: str, *, as_of: Moment | None = None) -> Resource:
        """The attributes of a resource, and what the caller may do with it.

        Args:
            path: The resource.
            as_of: The state at a moment: a time, or the position of a change.

        Raises:
            NotFoundError: It does not exist, or the caller may not see it.
            ChangedError: Its state at that moment is no longer kept.
        """
        if as_of is not None:
            return Resource(await done(self._native.stat_as_of(path, _local.moment(as_of))))
        return Resource(await done(self._native.stat(path)))

    async def stat_many(self, paths: Iterable[str]) -> list[Resource | Error]:
        """The attributes of many resources in one request; an exception for each that failed."""
        found = await done(self._native.stat_many(list(paths)))
        return [row if isinstance(row, Error) else Resource(row) for row in found]

    async def exists(self, path: str) -> bool:
        """Whether the resource exists and the caller may see it."""
        try:
            await done(self._native.stat(path))
        except FileNotFoundError:
            return False
        return True

    async def ls(self, path: str = '/', *, as_of: Moment | None = None) -> Listing:
        """The children of a collection, by name.

        Args:
            path: The collection.
            as_of: As it was then. Of a resource of the kind ``lost`` only path and id are known.
        """
        listing = Listing()
        if as_of is not None:
            rows = self._native.ls_as_of(path, _local.moment(as_of))
        else:
            rows = self._native.ls(path)
        while some := await done(rows.next()):
            listing.extend(map(Resource, some))
        return listing

    async def tree(
        self, path: str = '/', *, as_of: Moment | None = None
    ) -> AsyncIterator[Resource]:
        """Everything below a collection, by path, as it arrives; see :meth:`ls` for ``as_of``."""
        if as_of is not None:
            rows = self._native.walk_as_of(path, _local.moment(as_of))
        else:
            rows = self._native.walk(path)
        while some := await done(rows.next()):
            for row in some:
                yield Resource(row)

    async def find(
        self,
        under: str = '/',
        *where: Condition,
        name: str | None = None,
        kind: Literal['object', 'collection', 'link', 'description'] | None = None,
        as_of: Moment | None = None,
    ) -> AsyncIterator[Resource]:
        """Resources below a collection whose name and description match.

        Args:
            under: The collection.
            where: Conditions, all of which have to hold: ``('temperature', '>=', '300')``, or
                ``('temperature', 'exists')``. Operators are ``=``, ``!=``, ``<``, ``<=``, ``>``,
                ``>=``, ``like`` and ``exists``.
            name: A pattern for the name, such as ``*.gsd``.
            kind: Only resources of this kind.
            as_of: Those for which it held then. What may have matched is of the kind ``lost``.
        """
        conditions = [_local.condition(each) for each in where]
        if as_of is not None:
            moment = _local.moment(as_of)
            rows = self._native.find_as_of(moment, under, conditions, name, kind)
        else:
            rows = self._native.find(under, conditions, name, kind)
        while some := await done(rows.next()):
            for row in some:
                yield Resource(row)

    async def sparql(self, query: str, accept: str = 'application/sparql-results+json') -> bytes:
        """The result of a SPARQL 1.1 query, in the media type ``accept``."""
        return await done(self._native.sparql(query, accept))

    async def du(self, path: str = '/') -> Usage:
        """The number and size of the resources below a resource."""
        found = await done(self._native.usage(path))
        return Usage(found['objects'], found['collections'], found['bytes'])

    async def whoami(self) -> Identity:
        """The identity of the caller."""
        who = await done(self._native.whoami())
        return Identity(who['name'], who['role'], who['groups'])

    # Contents

    async def read(
        self,
        path: str,
        start: int = 0,
        stop: int | None = None,
        *,
        version: int | None = None,
        if_match: str | None = None,
        as_of: Moment | None = None,
    ) -> bytes:
        """The bytes of an object, or those from ``start`` up to, and without, ``stop``.

        Args:
            path: The object.
            start: The first byte.
            stop: The byte before which reading ends.
            version: A kept version instead of the current content.
            if_match: Only while the content has this tag (:attr:`Resource.etag`).
            as_of: Its content at a moment.
        """
        if as_of is not None:
            moment = _local.moment(as_of)
            return await done(self._native.read_as_of(path, moment, start, stop, if_match))
        return await done(self._native.read(path, start, stop, if_match, version))

    async def read_many(
        self, ranges: Iterable[str | tuple[str, int, int | None]]
    ) -> list[bytes | Error]:
        """Several contents or ranges ``(path, start, stop)``, read at the same time.

        An item is an exception where reading failed.
        """
        every = [(item, 0, None) if isinstance(item, str) else item for item in ranges]
        return await done(self._native.read_many(every))

    async def write(
        self,
        path: str,
        content: bytes | bytearray | memoryview | str,
        *,
        parents: bool = True,
        create_only: bool = False,
        if_match: str | None = None,
        media_type: str | None = None,
    ) -> Resource:
        """Put a content that is in memory; the server checks every byte before it is visible.

        Args:
            path: Where it is put. Another content there is replaced.
            content: The bytes; text is encoded as UTF-8.
            parents: Create missing collections.
            create_only: Fail with :class:`ExistsError` or :class:`ChangedError` if the path is taken.
            if_match: Only while the present content has this tag.
            media_type: The media type.
        """
        options = _local.putting(parents, create_only, if_match, media_type)
        return Resource(await done(self._native.write(path, _local.binary(content), options)))

    async def append(self, path: str, content: bytes | bytearray | memoryview | str) -> Resource:
        """Append to an existing object."""
        return Resource(await done(self._native.append(path, _local.binary(content))))

    async def batch(
        self, path: str, contents: Mapping[str, bytes | bytearray | memoryview | str]
    ) -> None:
        """Put many small contents below a collection, in few requests.

        Args:
            path: The collection, which has to exist.
            contents: Each content by its path below the collection.

        Raises:
            TransferError: Some failed; the others were put.
        """
        pairs = [(name, _local.binary(content)) for name, content in contents.items()]
        fail(await done(self._native.put_batch(path, pairs)))

    async def put(
        self,
        local: str | os.PathLike[str],
        path: str,
        *,
        parents: bool = True,
        create_only: bool = False,
        if_match: str | None = None,
        media_type: str | None = None,
        progress: Progress | None = None,
        jobs: int = 4,
    ) -> Resource:
        """Put a local file at ``path``, or a directory with everything in it.

        A file appears under its name once it is complete and verified. Large files are sent in
        parts, small files of a directory in batches. Files of a directory whose size, time and mode
        are those that the store has are passed over. Symbolic links in a directory are followed.

        Args:
            local: The file or directory.
            path: Where it is put.
            parents: Create missing collections.
            create_only: Fail if the path is taken (files only).
            if_match: Only while the present content has this tag (files only).
            media_type: The media type (files only).
            progress: Called with each number of bytes that were sent, such as ``tqdm.update``.
            jobs: Number of requests at the same time.

        Raises:
            TransferError: Some files of a directory failed; the others were put.
        """
        if os.path.isdir(local):
            there = await self._there(path)
            await done(self._native.make_collection(path, parents, True))
            files = there.new(_local.below(local))
            fail(await done(self._native.put_files(path, files, progress, jobs)))
            return Resource(await done(self._native.stat(path)))
        options = _local.putting(parents, create_only, if_match, media_type)
        put = self._native.put_file(os.fspath(local), path, options, progress, jobs)
        return Resource(await done(put))

    async def _there(self, path: str) -> _local.There:
        """The existing resources below a collection."""
        there = _local.There(path)
        if await self.exists(path):
            async for resource in self.tree(path):
                there.add(resource)
        return there

    async def get(
        self,
        path: str,
        local: str | os.PathLike[str],
        *,
        progress: Progress | None = None,
        jobs: int = 4,
    ) -> None:
        """Get an object into the file ``local``, or everything below a collection into a directory.

        A file appears under its name once it is complete and verified; an interrupted transfer
        continues where it stopped. Links in the store are left out.

        Args:
            path: The object or collection.
            local: The file, which is replaced, or the directory.
            progress: Called with each number of bytes that were received, such as ``tqdm.update``.
            jobs: Number of requests at the same time.

        Raises:
            TransferError: Some files of a collection failed; the others were written.
        """
        found = await self.stat(path)
        if not found.is_collection():
            one = [(found.path, os.fspath(local))]
            failures = await done(self._native.get_files(one, progress, jobs))
            if failures:
                raise failures[0][1]
            return
        root, below = os.fspath(local), await done(self._native.collect(found.path))
        below.make_directories(root)
        fail(await done(below.get(root, 0, len(below), progress, jobs)))

    async def upload(
        self,
        path: str,
        size: int,
        *,
        parents: bool = True,
        create_only: bool = False,
        if_match: str | None = None,
        media_type: str | None = None,
    ) -> AsyncUpload:
        """Start an upload in parts, of a content of ``size`` bytes."""
        begin = self._native.begin_upload(path, size, media_type, parents, create_only, if_match)
        return AsyncUpload(self._native, await done(begin))

    # Changing the tree

    async def mkdir(self, path: str, *, parents: bool = False, exist_ok: bool = False) -> Resource:
        """Create a collection."""
        return Resource(await done(self._native.make_collection(path, parents, exist_ok)))

    async def rm(
        self, path: str, *, recursive: bool = False, versions: bool = False, permanent: bool = False
    ) -> None:
        """Remove a resource; it is kept in the trash if the store has one there.

        Args:
            path: The resource.
            recursive: With everything below it.
            versions: Even if it has versions.
            permanent: Not into the trash.
        """
        await done(self._native.remove(path, recursive, versions, permanent))

    async def mv(
        self, source: str, target: str, *, replace: bool = False, parents: bool = False
    ) -> Resource:
        """Move a resource with everything below it, atomically."""
        return Resource(await done(self._native.relocate(source, target, replace, parents)))

    async def cp(
        self,
        source: str,
        target: str,
        *,
        recursive: bool = False,
        replace: bool = False,
        parents: bool = False,
    ) -> Resource:
        """Copy a resource; the bytes are shared, not copied."""
        return Resource(await done(self._native.copy(source, target, replace, parents, recursive)))

    async def touch(self, path: str, mtime: datetime | None = None) -> Resource:
        """Set the modification time of a resource, by default to now."""
        when = _local.rfc3339(mtime)
        return Resource(await done(self._native.set_attributes(path, None, when, None, None)))

    # Descriptions

    async def meta(self, path: str, *, as_of: Moment | None = None) -> list[Statement]:
        """The description of a resource, or the one that it had at a moment."""
        if as_of is not None:
            rows = await done(self._native.meta_as_of(path, _local.moment(as_of)))
        else:
            rows = await done(self._native.meta(path))
        return [Statement(row['attribute'], row['value'], row.get('unit')) for row in rows]

    async def meta_add(
        self, path: str, attribute: str, value: object, unit: str | None = None
    ) -> None:
        """Add a statement to a description."""
        statement = (attribute, str(value), unit)
        await done(self._native.change_meta(path, [], [statement], []))

    async def meta_set(
        self, path: str, attribute: str, value: object, unit: str | None = None
    ) -> None:
        """Replace all values of an attribute."""
        statement = (attribute, str(value), unit)
        await done(self._native.change_meta(path, [], [], [statement]))

    async def meta_rm(
        self, path: str, attribute: str, value: object, unit: str | None = None
    ) -> None:
        """Remove a statement from a description."""
        statement = (attribute, str(value), unit)
        await done(self._native.change_meta(path, [statement], [], []))

    # Access

    async def acl(self, path: str) -> Access:
        """The permissions on a resource."""
        found = await done(self._native.access(path))
        rows = found['grants']
        grants = [grant_of(row) for row in rows]
        return Access(grants, found['closed'], found['inherit'])

    async def acl_set(
        self,
        path: str,
        *grants: Grant | tuple[str, str, str],
        closed: bool | None = None,
        inherit: bool | None = None,
    ) -> None:
        """Change an access list.

        Args:
            path: The resource.
            grants: A user or group, a level such as ``read`` (``none`` takes the entry away), and a
                scope: ``this``, ``default`` or ``subtree``. A ``Grant`` with ``only`` is an entry of its own beside
                the one for all of the scope.
            closed: Whether defaults of the collections above are not applied.
            inherit: Whether new children get a copy of the entries.
        """
        entries = [entry_of(grant) for grant in grants]
        await done(self._native.change_access(path, entries, closed, inherit))

    async def tickets(self, path: str | None = None) -> list[Ticket]:
        """The tickets on a resource, or all that the caller created."""
        return [Ticket(row) for row in await done(self._native.tickets(path))]

    async def ticket_add(
        self,
        path: str,
        level: Literal['read', 'write'] = 'read',
        *,
        uses: int | None = None,
        expires_in: int | None = None,
    ) -> Ticket:
        """Create a ticket, whose bearer may read or write the resource.

        Args:
            path: The resource.
            level: What it allows.
            uses: How often it may be used.
            expires_in: Seconds until it expires.
        """
        return Ticket(await done(self._native.add_ticket(path, level, uses, expires_in)))

    async def ticket_rm(self, ticket: str | Ticket) -> None:
        """Remove a ticket."""
        text = (ticket.id or ticket.ticket) if isinstance(ticket, Ticket) else ticket
        await done(self._native.remove_ticket(text or ''))

    # Quotas

    async def quotas(
        self, *, path: str | None = None, user: str | None = None, group: str | None = None
    ) -> list[Quota]:
        """The quotas that the caller may see, or those that apply to a path, a user or a group."""
        of = _local.target(path, user, group) if path or user or group else None
        return [Quota(row) for row in await done(self._native.quotas(of))]

    async def quota_set(
        self,
        *,
        path: str | None = None,
        user: str | None = None,
        group: str | None = None,
        bytes: int | None = None,
        resources: int | None = None,
        soft_bytes: int | None = None,
        soft_resources: int | None = None,
        grace: int | None = None,
    ) -> Quota:
        """Limit what is below a collection, or what a user or the members of a group own.

        Args:
            path: The collection; or ``user``, or ``group``.
            bytes: The most bytes of contents; ``None`` is no limit.
            resources: The most resources.
            soft_bytes: A limit on bytes that may be exceeded for a time.
            soft_resources: The same for resources.
            grace: That time in seconds; seven days by default.
        """
        limits = (bytes, resources), (soft_bytes, soft_resources)
        of = _local.target(path, user, group)
        return Quota(await done(self._native.set_quota(of, *limits, grace)))

    async def quota_rm(
        self, *, path: str | None = None, user: str | None = None, group: str | None = None
    ) -> None:
        """Remove a quota."""
        await done(self._native.remove_quota(_local.target(path, user, group)))

    # Change sets

    def changeset(self, idle: int | None = None) -> AsyncChangeSet:
        """Make changes that take effect together, in one commit, or not at all.

        >>> with store.changeset() as changes:             # doctest: +SKIP
        ...     changes.write('/lab/a', b'1')
        ...     changes.mv('/lab/b', '/lab/c')

        Args:
            idle: Seconds without a call after which it expires; three minutes by default.
        """
        return AsyncChangeSet(self._native, idle)


class AsyncUpload:
    """An upload in parts. Parts may be sent in any order, and by several threads.

    As a context manager it is completed at the end, or abandoned if there was an exception.
    """

    def __init__(self, native: _native.Connection, id: str) -> None:
        self._native = native
        #: Identifies it; keep it secret.
        self.id = id

    async def put(self, offset: int, content: bytes | bytearray | memoryview) -> None:
        """Send a part; the server verifies it."""
        await done(self._native.put_part(self.id, offset, _local.binary(content)))

    async def parts(self) -> list[tuple[int, int]]:
        """The offset and the length of each part that has arrived."""
        return [(part[0], part[1]) for part in await done(self._native.upload_parts(self.id))]

    async def complete(self) -> Resource:
        """Publish the content."""
        return Resource(await done(self._native.complete_upload(self.id)))

    async def abandon(self) -> None:
        """Abandon the upload."""
        await done(self._native.abandon_upload(self.id))

    async def __aenter__(self) -> AsyncUpload:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            await self.complete()
        else:
            await self.abandon()


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


def fail(failures: list[Any]) -> None:
    """Raise an exception if there are failures."""
    if failures:
        raise TransferError([(path, error) for path, error in failures])
