"""An answer, read at once or bit by bit.

Invariant: its connection is used again only after all of it was read; and an answer that is broken off is an error, not a
shorter answer.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse

from cenote.store.errors import UnreachableError


class Response:
    """The answer to a request."""

    def __init__(self, answer: HTTPResponse, keep: Callable[[], None], drop: Callable[[], None]) -> None:
        self._answer, self._keep, self._drop = answer, keep, drop
        self.status = answer.status
        length = answer.length
        #: The bytes that are still to come, if the server says how many.
        self.left = length
        self._is_open, self._is_whole = True, False
        if length == 0:
            self._finish()

    def header(self, name: str) -> str:
        """The values of a header, or the empty text."""
        return self._answer.headers.get(name, '')

    def headers(self, name: str) -> list[str]:
        """Each value of a header."""
        return self._answer.headers.get_all(name, [])

    def read(self, size: int) -> bytes:
        """At most ``size`` further bytes; none at the end.

        Raises:
            UnreachableError: The connection was lost before the end.
        """
        if self._is_whole:
            return b''
        if not self._is_open:
            raise self._broken('it is closed')
        try:
            piece = self._answer.read1(size)
        except (OSError, HTTPException) as error:
            raise self._broken(str(error)) from error
        except BaseException:
            # It was interrupted: where it goes on is not known.
            self.close()
            raise
        if self.left is not None:
            self.left -= len(piece)
        if not piece and self.left:
            raise self._broken('the connection was closed')
        if not piece or self.left == 0:
            self._finish()
        return piece

    def all(self) -> bytes:
        """All bytes."""
        pieces = list(iter(lambda: self.read(1 << 20), b''))
        return b''.join(pieces)

    def text(self) -> str:
        """All bytes as text."""
        return self.all().decode('utf-8', 'replace')

    def close(self) -> None:
        """Stop reading."""
        if self._is_open:
            self._is_open = False
            self._drop()

    def _finish(self) -> None:
        if self._is_open:
            self._is_open, self._is_whole = False, True
            # A connection is free for another request once its answer is closed.
            self._answer.close()
            (self._drop if self._answer.will_close else self._keep)()

    def _broken(self, why: str) -> UnreachableError:
        self.close()
        return UnreachableError(errno.ECONNRESET, f'the answer is incomplete: {why}', kind='unreachable')
