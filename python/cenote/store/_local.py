"""Files of this machine, and values as the native part takes them."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from typing import Any

from cenote.store._model import Resource, nanoseconds
from cenote.store.errors import InvalidError


#: A time, or the position of a change.
Moment = str | datetime
#: A condition on a description: an attribute, an operator, a value and a unit.
Condition = tuple[str, str] | tuple[str, str, str | None] | tuple[str, str, str | None, str | None]


def binary(content: bytes | bytearray | memoryview | str) -> bytes | bytearray:
    """The bytes of a content."""
    if isinstance(content, str):
        return content.encode()
    return content.tobytes() if isinstance(content, memoryview) else content


def require_offsets(start: int, stop: int | None) -> None:
    """Refuse a range that does not count from the beginning."""
    if start < 0 or (stop is not None and stop < 0):
        raise InvalidError(22, 'offsets are counted from the beginning', kind='invalid')


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


def moment(as_of: Moment) -> str:
    """A moment of the past, as the server takes it."""
    return rfc3339(as_of) if isinstance(as_of, datetime) else as_of


def condition(given: Condition) -> tuple[str, str, str | None, str | None]:
    """A condition on a description, with all its parts."""
    attribute, op, *rest = given
    value, unit = (*rest, None, None)[:2]
    return attribute, op, value, unit


def target(path: str | None, user: str | None, group: str | None) -> tuple[str, str]:
    """What a quota is for."""
    every = {'path': path, 'user': user, 'group': group}
    named = [(what, name) for what, name in every.items() if name is not None]
    if len(named) != 1:
        raise InvalidError(22, 'a quota is for one of path, user and group', kind='invalid')
    return named[0]


def below(
    directory: str | os.PathLike[str], follow: bool = False, keep: bool = False
) -> list[tuple[str, str | None]]:
    """Files below a directory: the path there, and the file; none for directories, which come first.

    Links to directories are directories, and empty ones unless they are followed; with ``keep``, they are like files.
    """
    root = os.fspath(directory)
    found: list[tuple[str, str | None]] = []
    for folder, names, files in os.walk(root, followlinks=follow):
        relative = os.path.relpath(folder, root).replace(os.sep, '/')
        prefix = '' if relative == '.' else f'{relative}/'
        names.sort()
        links = [name for name in names if keep and os.path.islink(os.path.join(folder, name))]
        found.extend((prefix + name, None) for name in names if name not in links)
        found.extend((prefix + name, os.path.join(folder, name)) for name in sorted(files + links))
    return found


class There:
    """What is below a collection, compared with files."""

    def __init__(self, path: str, follow: bool) -> None:
        self._prefix, self._follow = path.rstrip('/') + '/', follow
        self._found: dict[str, Resource] = {}

    def add(self, resource: Resource) -> None:
        """Note a resource below the collection."""
        self._found[resource.path.removeprefix(self._prefix)] = resource

    def new(self, files: list[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
        """Those of the files, links and directories that are missing or other ones."""
        return [(relative, local) for relative, local in files if not self._has(relative, local)]

    def _has(self, relative: str, local: str | None) -> bool:
        found = self._found.get(relative)
        if found is None:
            return False
        if local is None:
            return found.is_collection()
        if not self._follow and os.path.islink(local):
            return found.target == os.readlink(local)
        try:
            file = os.stat(local)
        except OSError:
            # It is reported with the others that cannot be sent.
            return False
        mode = found.mode is None or (found.mode ^ file.st_mode) & 0o777 == 0
        time = nanoseconds(found.fields.get('mtime')) == file.st_mtime_ns
        return found.is_object() and mode and time and found.size == file.st_size
