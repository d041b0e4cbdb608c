"""Files of this machine, and values as the native part takes them."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from typing import Any

from cenote.store._model import Resource
from cenote.store.errors import InvalidError


def binary(content: bytes | bytearray | memoryview | str) -> bytes | bytearray:
    """The bytes of a content."""
    if isinstance(content, str):
        return content.encode()
    return content.tobytes() if isinstance(content, memoryview) else content


def putting(
    parents: bool, create_only: bool, if_match: str | None, media_type: str | None
) -> dict[str, Any]:
    """The options of a put."""
    return {
        'parents': parents,
        'create_only': create_only,
        'if_match': if_match,
        'media_type': media_type,
        'mode': None,
        'mtime': None,
        'place': None,
    }


def rfc3339(moment: datetime | None) -> str:
    """A time, by default now; one without a zone is local."""
    moment = moment or datetime.now(timezone.utc)
    return moment.astimezone(timezone.utc).isoformat()


def below(directory: str | os.PathLike[str]) -> list[tuple[str, str | None]]:
    """Files below a directory: the path there, and the file; none for directories, which come first."""
    root = os.fspath(directory)
    found: list[tuple[str, str | None]] = []
    for folder, directories, files in os.walk(root, followlinks=True):
        directories.sort()
        relative = os.path.relpath(folder, root).replace(os.sep, '/')
        if relative != '.':
            found.append((relative, None))
        prefix = '' if relative == '.' else f'{relative}/'
        found.extend((prefix + name, os.path.join(folder, name)) for name in sorted(files))
    return found


class Files:
    """The files that a collection becomes."""

    def __init__(self, path: str, local: str | os.PathLike[str]) -> None:
        self._prefix = path.rstrip('/') + '/'
        self._root = os.fspath(local)
        self._directories = {self._root}
        #: The path of each object, and its file.
        self.pairs: list[tuple[str, str]] = []

    def add(self, resource: Resource) -> None:
        """Note a resource below the collection."""
        names = resource.path.removeprefix(self._prefix).split('/')
        if not resource.path.startswith(self._prefix) or '..' in names:
            raise InvalidError(22, f'not a name for a file: {resource.path}', kind='invalid')
        local = os.path.join(self._root, *names)
        if resource.is_collection():
            self._directories.add(local)
        elif resource.is_object():
            self._directories.add(os.path.dirname(local))
            self.pairs.append((resource.path, local))

    def make_directories(self) -> None:
        """Create the directories."""
        for directory in sorted(self._directories):
            os.makedirs(directory, exist_ok=True)
