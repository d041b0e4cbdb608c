"""Whole directories, put and got by the file system of fsspec without a task for each file.

The rules of where a directory is copied to are those of fsspec: into the target if that exists or ends
with a slash, unless the source ends with one; else the target becomes the copy. Symbolic links to
directories are copied as empty directories, as fsspec does. Links in the store are left out.
"""

from __future__ import annotations

import os
import posixpath
from typing import Any

from fsspec.implementations.local import make_path_posix, trailing_sep

from cenote.store import _local, _spec

#: Requests at the same time for one page of files.
JOBS = 4


def is_whole(source: Any, target: Any, options: dict[str, Any]) -> bool:
    """Whether the arguments of a put or get can name one directory, to be copied with all below it."""
    given = isinstance(source, str) and isinstance(target, (str, os.PathLike))
    everything = options.get('recursive', False) and options.get('maxdepth') is None
    return given and everything and not _spec.has_magic(source)


async def put(fs: Any, lpath: str, rpath: str, callback: Any) -> list[Any]:
    """Put the directory ``lpath``; the failures."""
    lpath, rpath = make_path_posix(lpath), os.fspath(rpath)
    into = trailing_sep(rpath) or await fs._isdir(rpath)
    target = _inside(fs._strip_protocol(rpath), lpath, into)
    await fs._makedirs(target, exist_ok=True)
    below = _local.below(lpath)
    directories = [item for item in below if item[1] is None]
    files = [item for item in below if item[1] is not None]
    callback.set_size(len(files))
    failures: list[Any] = []

    async def page(some: Any) -> None:
        failures.extend(await fs._native.put_files(target, some, None, JOBS))
        callback.relative_update(len(some))

    if directories:
        failures.extend(await fs._native.put_files(target, directories, None, 1))
    await _spec.each_page(files, page)
    return failures


async def get(fs: Any, rpath: str, lpath: str, callback: Any) -> list[Any]:
    """Get the collection ``rpath``; the failures."""
    lpath = make_path_posix(lpath)
    into = trailing_sep(lpath) or os.path.isdir(lpath)
    target = _inside(lpath, rpath, into)
    below = await fs._native.collect(fs._strip_protocol(rpath))
    below.make_directories(target, False)
    callback.set_size(len(below))
    failures: list[Any] = []

    async def page(some: Any) -> None:
        failures.extend(await below.get(target, some.start, some.stop, None, JOBS))
        callback.relative_update(len(some))

    await _spec.each_page(range(len(below)), page)
    return failures


def _inside(target: str, source: str, into: bool) -> str:
    """Where a source is copied to: ``target``, or its own name in it."""
    if not into or trailing_sep(source):
        return target
    return posixpath.join(target, posixpath.basename(source))
