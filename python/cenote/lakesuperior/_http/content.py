"""The bytes of a resource as a file that is open for reading.

Invariant: all bytes are those of one state of the resource, whose tag is compared whenever it is requested again.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from typing import Any

from cenote.lakesuperior._http.response import Response
from cenote.store.errors import ChangedError, UnreachableError

#: The bytes that are read ahead for small reads.
AHEAD = 256 << 10
#: How often reading goes on after a lost connection, without any byte in between.
ATTEMPTS = 5


class Content(io.RawIOBase):
    """Bytes that ``ask`` returns from an offset on."""

    def __init__(self, ask: Callable[[int], Response]) -> None:
        self._ask, self._at = ask, 0
        self._response: Response | None = None
        self._tag = ''
        self._size = 0
        self._begin()

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """It can be read from anywhere; this is a request."""
        return True

    def tell(self) -> int:
        """The offset of the next byte."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go on at an offset."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise OSError(errno.EINVAL, 'before the beginning')
        if start + offset != self._at:
            self._drop()
            self._at = start + offset
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        """Read what has arrived, at most as much as the buffer has room for."""
        view = memoryview(buffer)
        piece = self._piece(len(view)) if len(view) and self._at < self._size else b''
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def close(self) -> None:
        """Stop reading."""
        self._drop()
        super().close()

    def _piece(self, size: int) -> bytes:
        for attempt in range(ATTEMPTS):
            try:
                return (self._response or self._begin()).read(size)
            except UnreachableError:
                self._drop()
                if attempt == ATTEMPTS - 1:
                    raise
        raise AssertionError('it returns or raises')

    def _begin(self) -> Response:
        response = self._ask(self._at)
        tag = response.header('ETag')
        if self._tag and tag != self._tag:
            response.close()
            raise ChangedError(errno.EBUSY, 'it was replaced while it was read', kind='conflict')
        self._tag, self._response = tag, response
        # Without a length, its end is where nothing more comes.
        self._size = sys.maxsize if response.left is None else self._at + response.left
        return response

    def _drop(self) -> None:
        if self._response:
            self._response.close()
        self._response = None


def opened(ask: Callable[[int], Response]) -> io.BufferedReader:
    """A file, open for reading."""
    return io.BufferedReader(Content(ask), AHEAD)
