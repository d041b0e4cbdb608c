"""A store. Made from ``_aio_contents.py`` by ``python/scripts/unasync.py``: change that one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from cenote.store import _local
from cenote.store._sync_tree import Tree
from cenote.store._wait import done
from cenote.store._local import Moment
from cenote.store._model import Resource
from cenote.store.errors import Error, TransferError, of_kind

if TYPE_CHECKING:
    from cenote._cenote import store as _native

__all__ = ['Contents', 'Upload']

Progress = Callable[[int], object]


class Contents(Tree):
    """The methods of :class:`Store` that are about contents."""

    def read(
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

        >>> store.read('/lab/run7.csv', 0, 4)
        b'step'

        Args:
            path: The object.
            start: The first byte.
            stop: The byte before which reading ends.
            version: A kept version instead of the current content.
            if_match: Only while the content has this tag (:attr:`Resource.etag`).
            as_of: Its content at a moment.
        """
        _local.require_offsets(start, stop)
        if as_of is not None:
            moment = _local.moment(as_of)
            return done(self._native.read_as_of(path, moment, start, stop, if_match))
        return done(self._native.read(path, start, stop, if_match, version))

    def read_many(
        self, ranges: Iterable[str | tuple[str, int, int | None]]
    ) -> list[bytes | Error]:
        """Several contents or ranges ``(path, start, stop)``, read at the same time.

        An item is an exception where reading failed.
        """
        every = [(item, 0, None) if isinstance(item, str) else item for item in ranges]
        for _, start, stop in every:
            _local.require_offsets(start, stop)
        return done(self._native.read_many(every))

    def write(
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

        >>> store.write('/lab/note.txt', 'a first try').size
        11

        Args:
            path: Where it is put. Another content there is replaced.
            content: The bytes; text is encoded as UTF-8.
            parents: Create missing collections.
            create_only: Fail with :class:`ExistsError` or :class:`ChangedError` if the path is taken.
            if_match: Only while the present content has this tag.
            media_type: The media type.
        """
        options = _local.putting(parents, create_only, if_match, media_type)
        return Resource(done(self._native.write(path, _local.binary(content), options)))

    def append(self, path: str, content: bytes | bytearray | memoryview | str) -> Resource:
        """Append to an existing object."""
        return Resource(done(self._native.append(path, _local.binary(content))))

    def batch(
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
        fail(done(self._native.put_batch(path, pairs)))

    def put(
        self,
        local: str | os.PathLike[str],
        path: str,
        *,
        parents: bool = True,
        create_only: bool = False,
        if_match: str | None = None,
        media_type: str | None = None,
        follow: bool = False,
        progress: Progress | None = None,
        jobs: int = 4,
    ) -> Resource:
        """Put a local file at ``path``, or a directory with everything in it.

        >>> store.put('run7.csv', '/lab/2026/run8.csv').name
        'run8.csv'

        A file appears under its name once it is complete and verified. Large files are sent in
        parts, small files of a directory in batches. Files of a directory whose size, time and mode
        are those that the store has are passed over. Symbolic links in a directory are put as links,
        unless ``follow``.

        Args:
            local: The file or directory.
            path: Where it is put.
            parents: Create missing collections.
            create_only: Fail if the path is taken (files only).
            if_match: Only while the present content has this tag (files only).
            media_type: The media type (files only).
            follow: Put what the symbolic links in a directory point to.
            progress: Called with each number of bytes that were sent, such as ``tqdm.update``.
            jobs: Number of requests at the same time.

        Raises:
            TransferError: Some files of a directory failed; the others were put.
        """
        if os.path.isdir(local):
            there = self._there(path, follow)
            done(self._native.make_collection(path, parents, True))
            files = there.new(_local.below(local, follow, keep=not follow))
            fail(done(self._native.put_files(path, files, progress, jobs, follow)))
            return Resource(done(self._native.stat(path)))
        options = _local.putting(parents, create_only, if_match, media_type)
        put = self._native.put_file(os.fspath(local), path, options, progress, jobs)
        return Resource(done(put))

    def _there(self, path: str, follow: bool) -> _local.There:
        """The existing resources below a collection."""
        there = _local.There(path, follow)
        if self.exists(path):
            for resource in self.tree(path):
                there.add(resource)
        return there

    def get(
        self,
        path: str,
        local: str | os.PathLike[str],
        *,
        as_of: Moment | None = None,
        progress: Progress | None = None,
        jobs: int = 4,
    ) -> None:
        """Get an object into the file ``local``, or everything below a collection into a directory.

        >>> store.get('/lab/run7.csv', 'copy.csv')

        A file appears under its name once it is complete and verified; an interrupted transfer
        continues where it stopped. Files in a directory whose size, time and mode are those of the
        object are passed over. Links in the store become symbolic links; nothing is written through
        one that is in the directory already.

        Args:
            path: The object or collection.
            local: The file, which is replaced, or the directory.
            as_of: As it was at a moment. What is no longer kept is reported as failed.
            progress: Called with each number of bytes that were received, such as ``tqdm.update``.
            jobs: Number of requests at the same time.

        Raises:
            TransferError: Some files of a collection failed; the others were written.
        """
        moment: str | None = None
        if as_of is not None:
            # All requests are about the same state, whatever happens meanwhile.
            moment = done(self._native.position_of(_local.moment(as_of)))
        found = self.stat(path, as_of=moment)
        if not found.is_collection():
            one = [(found.path, os.fspath(local))]
            failures = done(self._native.get_files(one, progress, jobs, moment))
            if failures:
                raise failures[0][1]
            return
        root, below = os.fspath(local), done(self._native.collect(found.path, moment))
        below.make_directories(root, True)
        failures = done(below.get(root, 0, len(below), progress, jobs, True))
        links = done(below.make_links(root))
        fail([*failures, *links, *((lost, not_kept()) for lost in below.lost())])

    def upload(
        self,
        path: str,
        size: int,
        *,
        parents: bool = True,
        create_only: bool = False,
        if_match: str | None = None,
        media_type: str | None = None,
    ) -> Upload:
        """Start an upload in parts, of a content of ``size`` bytes.

        >>> with store.upload('/lab/large', 6) as upload:
        ...     upload.put(3, b'def')
        ...     upload.put(0, b'abc')
        >>> store.read('/lab/large')
        b'abcdef'
        """
        begin = self._native.begin_upload(path, size, media_type, parents, create_only, if_match)
        return Upload(self._native, done(begin))


class Upload:
    """An upload in parts. Parts may be sent in any order, and by several threads.

    As a context manager it is completed at the end, or abandoned if there was an exception.
    """

    def __init__(self, native: _native.Connection, id: str) -> None:
        self._native = native
        #: Identifies it; keep it secret.
        self.id = id

    def put(self, offset: int, content: bytes | bytearray | memoryview) -> None:
        """Send a part; the server verifies it."""
        done(self._native.put_part(self.id, offset, _local.binary(content)))

    def parts(self) -> list[tuple[int, int]]:
        """The offset and the length of each part that has arrived."""
        return [(part[0], part[1]) for part in done(self._native.upload_parts(self.id))]

    def complete(self) -> Resource:
        """Publish the content."""
        return Resource(done(self._native.complete_upload(self.id)))

    def abandon(self) -> None:
        """Abandon the upload."""
        done(self._native.abandon_upload(self.id))

    def __enter__(self) -> Upload:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.complete()
        else:
            self.abandon()


def not_kept() -> Error:
    """Why what was at a path is not got."""
    text = 'its state at that moment is no longer kept'
    return of_kind('expired', text, 'versions_policy says which versions are kept', None)


def fail(failures: list[Any]) -> None:
    """Raise an exception if there are failures."""
    if failures:
        raise TransferError([(path, error) for path, error in failures])
