"""What the file system of fsspec needs that is no call: rows as its dictionaries, paths, pages."""

from __future__ import annotations

import asyncio
import hashlib
import os
import posixpath
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime, timezone
from typing import Any

from fsspec.core import has_magic
from fsspec.utils import stringify_path

from cenote.store import _local
from cenote.store._model import moment
from cenote.store.errors import Error, ExistsError

__all__ = [
    'Pairs', 'address', 'depth', 'each_page', 'folders', 'has_magic', 'info', 'make', 'make_collections',
    'make_parent', 'now', 'putting', 'relative', 'tag', 'taken',
]

#: What fsspec calls the kinds.
TYPES = {'collection': 'directory', 'object': 'file', 'link': 'link'}
#: Files of one call.
PAGE = 1_000
#: Calls at the same time: one is prepared while the server answers the other.
CALLS = 2


def info(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the server as fsspec describes a file."""
    return dict(
        name=row['path'],
        size=row['size'] or 0,
        type=TYPES.get(row['kind'], 'other'),
        created=moment(row['created']),
        mtime=moment(row['mtime'] or row['content_modified'] or row['modified']),
        id=row['id'],
        etag=row['etag'],
        sha256=row['sha256'],
        media_type=row['media_type'],
        islink=row['kind'] == 'link',
        mode=row['mode'],
    )


def address(host: str, port: int | None, tls: bool) -> str:
    """The address of a server."""
    name = f'[{host}]' if ':' in host else host
    return f'http{"s" if tls else ""}://{name}' + (f':{port}' if port else '')


def depth(path: str) -> int:
    """How many names a path has."""
    return len([name for name in path.split('/') if name])


def tag(value: object) -> str:
    """A digest of a value."""
    return hashlib.sha256(str(value).encode()).hexdigest()


def now() -> str:
    """The time."""
    return datetime.now(timezone.utc).isoformat()


def putting(create_only: bool = False) -> dict[str, Any]:
    """The options of a put; collections above are created."""
    return _local.putting(True, create_only, None, None)


def taken(error: Error, path: str, mode: str) -> Error:
    """The error, or for a name that had to be free that it is not."""
    if mode != 'create' or error.kind not in ('precondition', 'exists'):
        return error
    return ExistsError(17, f'the name is taken: {path}', kind='exists', hint=error.hint)


def pages(items: Sequence[Any]) -> Iterator[Any]:
    """The items in lists of bounded length."""
    return (items[start : start + PAGE] for start in range(0, len(items), PAGE))


async def each_page(items: Sequence[Any], work: Callable[[Any], Awaitable[None]]) -> None:
    """Do this with pages of the items, some of them at the same time. An error cancels the rest."""
    gate = asyncio.Semaphore(CALLS)

    async def one(page: Any) -> None:
        async with gate:
            await work(page)

    tasks = [asyncio.ensure_future(one(page)) for page in pages(items)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def relative(items: list[tuple[str, Any]]) -> tuple[str, list[tuple[str, Any]]]:
    """The collection that all paths are below, and the items by their paths from there."""
    base = posixpath.commonpath([posixpath.dirname(path) for path, _ in items])
    skip = len(base.rstrip('/')) + 1
    return base, [(path[skip:], item) for path, item in items]


def make(directory: Any) -> None:
    """Create a local directory."""
    os.makedirs(stringify_path(directory), exist_ok=True)


def make_parent(path: Any) -> None:
    """Create the directory that a local file is in."""
    if parent := os.path.dirname(stringify_path(path)):
        os.makedirs(parent, exist_ok=True)


def make_collections(files: list[tuple[str, str]], failures: list[Any]) -> list[Any]:
    """Create a directory for each collection among the paths, and return the failures of the others."""
    collections = {path for path, error in failures if error.kind == 'wrong-kind'}
    for path, local in files:
        if path in collections:
            make(local)
    return [failure for failure in failures if failure[0] not in collections]


class Pairs:
    """A file system that notes which files fsspec would transfer, and whereto."""

    def __init__(self, fs: Any) -> None:
        self._fs = fs
        self.found: list[tuple[Any, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fs, name)

    async def _put_file(self, lpath: Any, rpath: Any, **_: Any) -> None:
        self.found.append((lpath, rpath))

    async def _get_file(self, rpath: Any, lpath: Any, **_: Any) -> None:
        self.found.append((rpath, lpath))


def folders(
    path: str, rows: list[Any], maxdepth: int | None, topdown: bool, detail: bool
) -> Iterator[tuple[str, Any, Any]]:
    """The directories among the rows below ``path``: each with its directories and files."""
    children: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {path: ({}, {})}
    for row in rows:
        found = info(row)
        parent, _, name = found['name'].rpartition('/')
        dirs, files = children.setdefault(parent or '/', ({}, {}))
        (dirs if found['type'] == 'directory' else files)[name] = found

    def visit(folder: str, depth_left: int | None) -> Iterator[tuple[str, Any, Any]]:
        dirs, files = children.get(folder, ({}, {}))
        shown = (dirs, files) if detail else (list(dirs), list(files))
        if topdown:
            yield folder, *shown
        if depth_left != 1:
            # A caller may remove directories that are not to be visited.
            for name in list(shown[0]):
                below = f'{folder.rstrip("/")}/{name}'
                yield from visit(below, depth_left - 1 if depth_left else None)
        if not topdown:
            yield folder, *shown

    return visit(path, maxdepth)
