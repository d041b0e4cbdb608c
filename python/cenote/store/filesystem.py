"""The file system of fsspec: ``cenote:///path`` is a path in the store of the settings, and
``cenote://host[:port]/path`` one in the store on that host.

Invariant: a content appears under its name when it is complete; a URL alone does not decide who
is sent the credentials of the environment.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import unquote, urlsplit

from fsspec.asyn import AsyncFileSystem, get_loop, sync
from fsspec.callbacks import DEFAULT_CALLBACK

from cenote.store import _connect, _spec, _trees
from cenote.store._file import CenoteFile
from cenote.store._transaction import CenoteTransaction
from cenote.store.errors import Error, TransferError

__all__ = ['CenoteFileSystem']

#: Hosts that are reached without TLS unless the protocol says otherwise.
LOCAL = ('localhost', '127.0.0.1', '::1')


class CenoteFileSystem(AsyncFileSystem):
    """A store as a file system.

    Args:
        url: The address of the server; by default it is found as :func:`cenote.connect` does.
        host: The same from a URL of fsspec, with ``port``. Credentials of the settings are used
            there only if they are those of that server.
        user: The user, with ``password``; or ``token``, or ``ticket``.
    """

    protocol = ('cenote', 'cenote+https', 'cenote+http')
    root_marker = '/'
    transaction_type = CenoteTransaction

    def __init__(
        self,
        url: str | None = None,
        *,
        host: str | None = None,
        port: int | None = None,
        tls: bool | None = None,
        user: str | None = None,
        password: str | None = None,
        token: str | None = None,
        ticket: str | None = None,
        native: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if url is None and host is not None:
            url = _spec.address(host, port, host not in LOCAL if tls is None else tls)
        given = _connect.settings(url, user, password, token, ticket, None)
        only_own = host is not None and set(given) == {'url'}
        self._native = native or _connect.native(given, only_own=only_own)

    @classmethod
    def of(cls, store: Any) -> CenoteFileSystem:
        """The file system of a :class:`cenote.Store`, with its credentials."""
        return cls(native=store._native, skip_instance_cache=True)

    @property
    def loop(self) -> Any:
        """The event loop of this process: in a forked one, that of its parent does not run."""
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._loop = None if self.asynchronous else get_loop()
        return self._loop

    @property
    def fsid(self) -> str:
        """The address of the server."""
        return f'cenote-{self._native.url}'

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(item) for item in path]
        text = str(path)
        scheme, separator, rest = text.partition('://')
        if separator and scheme in cls.protocol:
            text = '/' + rest.partition('/')[2]
        return '/' + text.strip('/')

    @staticmethod
    def _get_kwargs_from_urls(urlpath: str) -> dict[str, Any]:
        parts = urlsplit(urlpath)
        if parts.scheme not in CenoteFileSystem.protocol or not parts.hostname:
            return {}
        found: dict[str, Any] = {'host': parts.hostname}
        if parts.port:
            found['port'] = parts.port
        if parts.scheme != 'cenote':
            found['tls'] = parts.scheme == 'cenote+https'
        if parts.username:
            found['user'], found['password'] = unquote(parts.username), unquote(parts.password or '')
        return found

    # Looking

    async def _info(self, path: str, **_: Any) -> dict[str, Any]:
        return _spec.info(await self._native.stat(self._strip_protocol(path)))

    async def _ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        path = self._strip_protocol(path)
        try:
            found = [_spec.info(row) for row in await every(self._native.ls(path))]
        except Error as error:
            if error.kind != 'wrong-kind':
                raise
            found = [await self._info(path)]
        return found if detail else [info['name'] for info in found]

    async def _find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False, **kwargs: Any
    ) -> Any:
        """All files below a path, in one request; with ``maxdepth=1`` a page of one."""
        if maxdepth is not None and maxdepth < 1:
            raise ValueError('maxdepth must be at least 1')
        path, detail = self._strip_protocol(path), kwargs.pop('detail', False)
        rows = {row['path']: row for row in await self._below(path, maxdepth, withdirs)}
        names = sorted(rows)
        return {name: _spec.info(rows[name]) for name in names} if detail else names

    async def _below(self, path: str, maxdepth: int | None, withdirs: bool) -> list[Any]:
        try:
            root = await self._native.stat(path)
        except FileNotFoundError:
            return []
        if root['kind'] != 'collection':
            return [root]
        rows = await every(self._native.ls(path) if maxdepth == 1 else self._native.walk(path))
        if withdirs:
            rows.append(root)
        deepest = _spec.depth(path) + maxdepth if maxdepth else None
        return [
            row
            for row in rows
            if (withdirs or row['kind'] != 'collection')
            and (deepest is None or _spec.depth(row['path']) <= deepest)
        ]

    async def _walk(
        self,
        path: str,
        maxdepth: int | None = None,
        topdown: bool = True,
        on_error: Any = 'omit',
        **kwargs: Any,
    ) -> Any:
        """The same as in fsspec, in one request."""
        if maxdepth is not None and maxdepth < 1:
            raise ValueError('maxdepth must be at least 1')
        path, detail = self._strip_protocol(path), kwargs.pop('detail', False)
        try:
            rows = await every(self._native.walk(path))
        except OSError as error:
            if on_error == 'raise':
                raise
            if callable(on_error):
                on_error(error)
            rows = []
        for folder in _spec.folders(path, rows, maxdepth, topdown, detail):
            yield folder

    async def _du(
        self, path: str, total: bool = True, maxdepth: int | None = None, **kwargs: Any
    ) -> Any:
        path = self._strip_protocol(path)
        if total and maxdepth is None and not kwargs:
            info = await self._info(path)
            if info['type'] == 'directory':
                return (await self._native.usage(path))['bytes']
            return info['size']
        sizes = await self._find(path, maxdepth=maxdepth, detail=True, **kwargs)
        sizes = {name: info['size'] for name, info in sizes.items()}
        return sum(sizes.values()) if total else sizes

    def created(self, path: str) -> Any:
        """When a resource was created."""
        return self.info(path)['created']

    def modified(self, path: str) -> Any:
        """When a file was last modified."""
        return self.info(path)['mtime']

    def checksum(self, path: str) -> int:
        """A number that changes with the content."""
        info = self.info(path)
        return int(_spec.tag(info['sha256'] or info['etag'] or info['id']), 16)

    # Contents

    async def _cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        path = self._strip_protocol(path)
        start, end = await self._limits(path, start, end)
        return await self._native.read(path, start, end, None, None)

    async def _limits(self, path: str, start: int | None, end: int | None) -> tuple[int, int | None]:
        """Offsets from the beginning; negative ones count from the end."""
        if (start or 0) < 0 or (end or 0) < 0:
            size = (await self._info(path))['size']
            start = max(0, size + start) if start is not None and start < 0 else start
            end = max(0, size + end) if end is not None and end < 0 else end
        return start or 0, end

    async def _cat_ranges(
        self,
        paths: list[str],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        batch_size: int | None = None,
        on_error: str = 'return',
        **_: Any,
    ) -> list[Any]:
        """Ranges of several files, read at the same time."""
        if not isinstance(paths, list):
            raise TypeError('the paths have to be a list')
        starts = starts if isinstance(starts, (list, tuple)) else [starts] * len(paths)
        ends = ends if isinstance(ends, (list, tuple)) else [ends] * len(paths)
        if not len(paths) == len(starts) == len(ends):
            raise ValueError('paths, starts and ends have different lengths')
        ranges = []
        for path, start, end in zip(paths, starts, ends):
            path = self._strip_protocol(path)
            ranges.append((path, *await self._limits(path, start, end)))
        found = await self._native.read_many(ranges)
        failed = next((item for item in found if isinstance(item, Exception)), None)
        if failed is not None and on_error != 'return':
            raise failed
        return found

    async def _pipe_file(self, path: str, value: Any, mode: str = 'overwrite', **_: Any) -> None:
        path, content = self._strip_protocol(path), bytes(value)
        options = _spec.putting(create_only=mode == 'create')
        try:
            await self._native.write(path, content, options)
        except Error as error:
            raise _spec.taken(error, path, mode) from None

    async def _pipe(
        self, path: Any, value: Any = None, batch_size: int | None = None, **kwargs: Any
    ) -> None:
        if isinstance(path, str):
            path = {path: value}
        if kwargs or len(path) == 1:
            for name, content in path.items():
                await self._pipe_file(name, content, **kwargs)
            return
        contents = {self._strip_protocol(name): bytes(content) for name, content in path.items()}
        await self._parents(contents)
        base, pairs = _spec.relative(list(contents.items()))
        fail(await self._native.put_batch(base, pairs))

    async def _put_file(
        self,
        lpath: str,
        rpath: str,
        callback: Any = DEFAULT_CALLBACK,
        mode: str = 'overwrite',
        **_: Any,
    ) -> None:
        path = self._strip_protocol(rpath)
        options = _spec.putting(create_only=mode == 'create')
        put = self._native.put_file(str(lpath), path, options, callback.relative_update, 4)
        try:
            await put
        except Error as error:
            raise _spec.taken(error, path, mode) from None

    async def _put(self, lpath: Any, rpath: Any, callback: Any = DEFAULT_CALLBACK, **kwargs: Any) -> None:
        if _trees.is_whole(lpath, rpath, kwargs) and os.path.isdir(lpath):
            fail(await _trees.put(self, lpath, rpath, callback))
            return
        pairs = _spec.Pairs(self)
        await AsyncFileSystem._put(pairs, lpath, rpath, **kwargs)
        files = {self._strip_protocol(path): str(local) for local, path in pairs.found}
        callback.set_size(len(files))
        await self._parents(files)

        async def put(some: Any) -> None:
            fail(await self._native.put_files(*_spec.relative(some), None, 4))
            callback.relative_update(len(some))

        await _spec.each_page(list(files.items()), put)

    async def _get_file(
        self, rpath: str, lpath: str, callback: Any = DEFAULT_CALLBACK, **_: Any
    ) -> None:
        _spec.make_parent(lpath)
        path = self._strip_protocol(rpath)
        if await self._isdir(path):
            _spec.make(lpath)
            return
        failures = await self._native.get_files([(path, str(lpath))], callback.relative_update, 4)
        if failures:
            raise failures[0][1]

    async def _get(self, rpath: Any, lpath: Any, callback: Any = DEFAULT_CALLBACK, **kwargs: Any) -> None:
        if _trees.is_whole(rpath, lpath, kwargs) and await self._isdir(rpath):
            fail(await _trees.get(self, rpath, lpath, callback))
            return
        pairs = _spec.Pairs(self)
        await AsyncFileSystem._get(pairs, rpath, lpath, **kwargs)
        files = [(self._strip_protocol(path), str(local)) for path, local in pairs.found]
        callback.set_size(len(files))

        async def get(some: Any) -> None:
            failures = await self._native.get_files(some, None, 4)
            fail(_spec.make_collections(some, failures))
            callback.relative_update(len(some))

        await _spec.each_page(files, get)

    def _open(
        self,
        path: str,
        mode: str = 'rb',
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: Any = None,
        **kwargs: Any,
    ) -> CenoteFile:
        return CenoteFile(self, path, mode, block_size, autocommit, cache_options=cache_options, **kwargs)

    # Changing the tree

    async def _mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        await self._native.make_collection(self._strip_protocol(path), create_parents, False)

    async def _makedirs(self, path: str, exist_ok: bool = False) -> None:
        path = self._strip_protocol(path)
        if path != '/':
            await self._native.make_collection(path, True, exist_ok)

    async def _parents(self, paths: Any) -> None:
        """Create the collections above these paths that are missing."""
        parents = sorted({path.rpartition('/')[0] for path in paths} - {''})
        found = await self._native.stat_many(parents)
        for parent, row in zip(parents, found):
            if isinstance(row, FileNotFoundError):
                await self._native.make_collection(parent, True, True)

    async def _rm_file(self, path: str, **_: Any) -> None:
        await self._native.remove(self._strip_protocol(path), False, True, False)

    async def _rm(
        self, path: Any, recursive: bool = False, maxdepth: int | None = None, **_: Any
    ) -> None:
        """A collection is removed with everything in it by one request."""
        if isinstance(path, str) and not _spec.has_magic(path) and maxdepth is None:
            await self._remove(self._strip_protocol(path), recursive)
            return
        below = recursive and maxdepth is not None
        paths = await self._expand_path(path, recursive=below, maxdepth=maxdepth)
        for each in sorted(paths, reverse=True):
            await self._remove(each, recursive)

    async def _remove(self, path: str, recursive: bool) -> None:
        await self._native.remove(path, recursive, True, False)

    async def _rmdir(self, path: str) -> None:
        path = self._strip_protocol(path)
        if (await self._info(path))['type'] != 'directory':
            raise NotADirectoryError(20, 'not a collection', path)
        await self._native.remove(path, False, False, False)

    def rmdir(self, path: str) -> None:
        """Remove an empty collection."""
        sync(self.loop, self._rmdir, path)

    async def _cp_file(self, path1: str, path2: str, **_: Any) -> None:
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        if await self._isdir(source):
            await self._makedirs(target, exist_ok=True)
            return
        await self._native.copy(source, target, True, True, False)

    async def _mv_file(self, path1: str, path2: str) -> None:
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        await self._native.relocate(source, target, True, True)

    def mv(
        self,
        path1: Any,
        path2: Any,
        recursive: bool = False,
        maxdepth: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Move a file or directory; to a path that is free, in one request."""
        plain = isinstance(path1, str) and isinstance(path2, str) and maxdepth is None
        if plain and not _spec.has_magic(path1) and not path2.endswith('/') and not self.exists(path2):
            if recursive or not self.isdir(path1):
                sync(self.loop, self._mv_file, path1, path2)
                return
        super().mv(path1, path2, recursive=recursive, maxdepth=maxdepth, **kwargs)

    async def _touch(self, path: str, truncate: bool = True, **_: Any) -> None:
        path = self._strip_protocol(path)
        if truncate or not await self._exists(path):
            await self._native.write(path, b'', _spec.putting())
        else:
            await self._native.set_attributes(path, None, _spec.now(), None, None)

    def touch(self, path: str, truncate: bool = True, **kwargs: Any) -> None:
        """Create an empty file; one that is there is emptied, or its time set to now."""
        sync(self.loop, self._touch, path, truncate, **kwargs)


async def every(rows: Any) -> list[Any]:
    """All rows."""
    found: list[Any] = []
    while some := await rows.next():
        found.extend(some)
    return found


def fail(failures: list[Any]) -> None:
    """Raise an exception if there are failures: that of the only one, or one for all."""
    if len(failures) == 1:
        raise failures[0][1]
    if failures:
        raise TransferError([(path, error) for path, error in failures])
