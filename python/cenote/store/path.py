"""Paths of a store, with the methods of :mod:`pathlib`."""

from __future__ import annotations

import io
import posixpath
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import total_ordering
from html import escape
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cenote.store._local import Moment
    from cenote.store._model import Resource
    from cenote.store._sync import Store

__all__ = ['Path']


@total_ordering
class Path:
    """A path of a store. It has no state: every method asks the store.

    >>> path = cenote.Path('/lab')
    >>> (path / 'run7.csv').read_text().splitlines()[0]
    'step,energy'

    Args:
        path: An absolute path, such as ``/lab/run7``.
        store: The store, by default :func:`cenote.connect`.
        as_of: A time, or the position of a change: what was there then. It can only be read.
    """

    __slots__ = ('_pure', 'as_of', 'store')

    def __init__(
        self,
        path: str | PurePosixPath = '/',
        store: Store | None = None,
        *,
        as_of: Moment | None = None,
    ) -> None:
        if store is None:
            from cenote.store._connect import connect

            store = connect()
        #: The store.
        self.store = store
        #: The moment that it is about; none for the present.
        self.as_of = as_of
        self._pure = PurePosixPath(posixpath.join('/', str(path)))

    def _with(self, pure: PurePosixPath) -> Path:
        return Path(pure, self.store, as_of=self.as_of)

    def __truediv__(self, name: str | PurePosixPath) -> Path:
        return self._with(self._pure / name)

    def __str__(self) -> str:
        return str(self._pure)

    def __repr__(self) -> str:
        moment = '' if self.as_of is None else f', as_of={self.as_of!r}'
        return f'Path({str(self)!r}, {self.store!r}{moment})'

    def _repr_html_(self) -> str:
        return f'<b>{escape(str(self))}</b> in {escape(self.store.url)}'

    def __fspath__(self) -> str:
        raise TypeError(f'{self} is in a store, not on this machine: read it with open() or get()')

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Path) and self._key() == other._key()

    def __lt__(self, other: Path) -> bool:
        return self._key() < other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, str, str]:
        return self.store.url, str(self._pure), str(self.as_of or '')

    def _now(self) -> str:
        """The path, to be changed: there is no way to change what was."""
        if self.as_of is not None:
            raise io.UnsupportedOperation(f'{self} is a path of the past, which can only be read')
        return str(self)

    @property
    def name(self) -> str:
        """The last name."""
        return self._pure.name

    @property
    def stem(self) -> str:
        """The last name without its suffix."""
        return self._pure.stem

    @property
    def suffix(self) -> str:
        """The suffix of the last name."""
        return self._pure.suffix

    @property
    def parts(self) -> tuple[str, ...]:
        """All names."""
        return self._pure.parts

    @property
    def parent(self) -> Path:
        """The collection that it is in."""
        return self._with(self._pure.parent)

    @property
    def parents(self) -> list[Path]:
        """The collections above it, the nearest first."""
        return [self._with(parent) for parent in self._pure.parents]

    def joinpath(self, *names: str) -> Path:
        """A path below this one."""
        return self._with(self._pure.joinpath(*names))

    def with_name(self, name: str) -> Path:
        """The same path with another last name."""
        return self._with(self._pure.with_name(name))

    def with_suffix(self, suffix: str) -> Path:
        """The same path with another suffix."""
        return self._with(self._pure.with_suffix(suffix))

    def relative_to(self, other: Path | str) -> PurePosixPath:
        """The path from ``other`` to this one."""
        return self._pure.relative_to(str(other))

    def match(self, pattern: str) -> bool:
        """Whether the path matches a pattern."""
        return self._pure.match(pattern)

    def stat(self) -> Resource:
        """The attributes of the resource."""
        return self.store.stat(str(self), as_of=self.as_of)

    def exists(self) -> bool:
        """Whether there is a resource."""
        return self.store.exists(str(self), as_of=self.as_of)

    def is_dir(self) -> bool:
        """Whether it is a collection."""
        return self._is('collection')

    def is_file(self) -> bool:
        """Whether it is an object."""
        return self._is('object')

    def _is(self, kind: str) -> bool:
        try:
            return self.stat().kind == kind
        except FileNotFoundError:
            return False

    def iterdir(self) -> Iterator[Path]:
        """The children of the collection."""
        return (self / resource.name for resource in self.store.ls(str(self), as_of=self.as_of))

    def glob(self, pattern: str) -> Iterator[Path]:
        """Resources below whose names match a pattern; ``**`` stands for any number of names."""
        wanted = PurePosixPath(pattern).parts
        start = len(self.parts)
        for resource in self.store.tree(str(self), as_of=self.as_of):
            path = PurePosixPath(resource.path)
            if _matches(path.parts[start:], wanted):
                yield self._with(path)

    def rglob(self, pattern: str) -> Iterator[Path]:
        """Resources at any depth whose names match a pattern."""
        return self.glob(f'**/{pattern}')

    def read_bytes(self) -> bytes:
        """The content."""
        return self.store.read(str(self), as_of=self.as_of)

    def read_text(self, encoding: str = 'utf-8') -> str:
        """The content as text."""
        return self.read_bytes().decode(encoding)

    def write_bytes(self, content: bytes | bytearray | memoryview) -> int:
        """Replace the content."""
        self.store.write(self._now(), content, parents=False)
        return len(content)

    def write_text(self, text: str, encoding: str = 'utf-8') -> int:
        """Replace the content with text."""
        self.write_bytes(text.encode(encoding))
        return len(text)

    def open(self, mode: str = 'r', **options: Any) -> IO[Any]:
        """A file object (needs fsspec). What is written is published when it is closed."""
        if self.as_of is not None and mode in ('r', 'rt', 'rb'):
            content = io.BytesIO(self.read_bytes())
            return content if mode == 'rb' else io.TextIOWrapper(content, **options)
        path = self._now()
        from cenote.store.filesystem import CenoteFileSystem

        files: Any = CenoteFileSystem.of(self.store)
        return files.open(path, mode, **options)

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        """Create a collection."""
        self.store.mkdir(self._now(), parents=parents, exist_ok=exist_ok)

    def rmdir(self) -> None:
        """Remove an empty collection."""
        self.store.rm(self._now())

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove an object."""
        try:
            self.store.rm(self._now())
        except FileNotFoundError:
            if not missing_ok:
                raise

    def rename(self, target: Path | str) -> Path:
        """Move it to a path that is free."""
        return self._with(PurePosixPath(self.store.mv(self._now(), str(target)).path))

    def replace(self, target: Path | str) -> Path:
        """Move it over what is at a path."""
        moved = self.store.mv(self._now(), str(target), replace=True)
        return self._with(PurePosixPath(moved.path))

    def touch(self, exist_ok: bool = True) -> None:
        """Create an empty object, or set the modification time of an existing one."""
        try:
            self.store.write(self._now(), b'', parents=False, create_only=True)
        except OSError:
            if not exist_ok or not self.exists():
                raise
            self.store.touch(self._now())


def _matches(names: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Whether names match patterns, one each, where ``**`` stands for any number of names."""
    if not wanted:
        return not names
    if wanted[0] == '**':
        return any(_matches(names[skip:], wanted[1:]) for skip in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0], wanted[0]) and _matches(names[1:], wanted[1:])
