"""A server, the connections to it, and when a request is sent again.

Invariant: a request is sent again only if that cannot make a change twice: one that reads or replaces, and whose body can
be read again. A connection is used by one request at a time, and never by a process that did not open it.
"""

from __future__ import annotations

import base64
import errno
import io
import os
import selectors
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from cenote.lakesuperior._http.response import Response
from cenote.store.errors import InvalidError, UnreachableError

if TYPE_CHECKING:
    from cenote._cenote import store as _native

#: What is read and sent at a time.
BLOCK = 256 << 10
#: Methods that have the same effect when they are repeated.
REPEATABLE = ('GET', 'HEAD', 'PUT')
#: Seconds before each further attempt.
PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6)
LONGEST_PAUSE = 5.0
#: Seconds for a connection to be made.
CONNECT = 10.0
#: Seconds without an answer after which the other machine is probed, between probes, and how many may be lost.
PROBES = (('TCP_KEEPIDLE', 30), ('TCP_KEEPINTVL', 10), ('TCP_KEEPCNT', 6))

Body = bytes | IO[bytes]


class Server:
    """A server, and the caller."""

    def __init__(self, connection: _native.Connection) -> None:
        address = urlsplit(connection.url)
        #: Host and port, as the header ``Host`` has them, from which the server makes addresses.
        self.authority = _authority(connection.url)
        #: Scheme and authority.
        self.origin = f'{address.scheme}://{self.authority}'
        #: Whether there is a caller.
        self.is_anonymous = connection.credential is None and connection.ticket is None
        self._host, self._port = address.hostname or '', address.port
        self._headers = _identity(connection)
        self._tls = _tls(connection.ca_file) if address.scheme == 'https' else None
        self._idle: tuple[int, list[HTTPConnection]] = (os.getpid(), [])

    def send(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: Body = b''
    ) -> Response:
        """The answer, whatever its status.

        Raises:
            UnreachableError: There is none.
        """
        start = _position(body)
        pauses = iter(PAUSES if method in REPEATABLE and start is not None else ())
        while True:
            outcome = self._outcome(method, path, headers or {}, body)
            pause = next(pauses, None) if _may_pass(outcome) else None
            if pause is None:
                return _answer(outcome)
            time.sleep(_requested(outcome) or pause)
            if not isinstance(body, bytes):
                body.seek(start or 0)

    def _outcome(self, method: str, path: str, headers: Mapping[str, str], body: Body) -> Response | UnreachableError:
        """The answer of one attempt, or why there is none."""
        try:
            return self._attempt(method, path, headers, body)
        except _Unreadable as unreadable:
            raise unreadable.args[0] from None
        except (OSError, HTTPException) as error:
            lost = self._lost(error, method)
            lost.__cause__ = error
            return lost

    def _attempt(self, method: str, path: str, headers: Mapping[str, str], body: Body) -> Response:
        connection, process = self._take(), os.getpid()
        try:
            answer = _exchange(connection, method, path, {**self._headers, **headers}, body)
        except BaseException:
            connection.close()
            raise
        return Response(answer, lambda: self._put_back(connection, process), connection.close)

    def _take(self) -> HTTPConnection:
        """A connection of this process that the server has not closed."""
        idle = self._own()
        while True:
            try:
                connection = idle.pop()
            except IndexError:
                return self._connect()
            if connection.sock and not _has_ended(connection.sock):
                return connection
            connection.close()

    def _own(self) -> list[HTTPConnection]:
        process, idle = self._idle
        if process != os.getpid():
            idle = []
            self._idle = (os.getpid(), idle)
        return idle

    def _put_back(self, connection: HTTPConnection, process: int) -> None:
        # An answer may have been begun by another process.
        if process == os.getpid():
            self._own().append(connection)

    def _connect(self) -> HTTPConnection:
        if self._tls:
            made: HTTPConnection = HTTPSConnection(
                self._host, self._port, timeout=CONNECT, context=self._tls, blocksize=BLOCK
            )
        else:
            made = HTTPConnection(self._host, self._port, timeout=CONNECT, blocksize=BLOCK)
        made.connect()
        # A check of much data takes as long as it takes: it is the machine that must not be gone.
        made.sock.settimeout(None)
        _keep_alive(made.sock)
        return made

    def _lost(self, error: Exception, method: str) -> UnreachableError:
        code = getattr(error, 'errno', None) or errno.ECONNRESET
        hint = 'check the address, and whether the server is running'
        if method not in REPEATABLE:
            hint += '; whether the change was made is not known'
        text = str(error) or type(error).__name__
        return UnreachableError(code, f'no answer from {self.origin}: {text}', kind='unreachable', hint=hint)


def _authority(url: str) -> str:
    address = urlsplit(url)
    host = (address.hostname or '').encode('idna').decode()
    host = f'[{host}]' if ':' in host else host
    default = 443 if address.scheme == 'https' else 80
    return host if address.port in (None, default) else f'{host}:{address.port}'


def _identity(connection: _native.Connection) -> dict[str, str]:
    """Who the caller is."""
    headers = {'User-Agent': 'cenote-python'}
    if credential := connection.credential:
        user, secret = credential
        basic = base64.b64encode(f'{user}:{secret}'.encode()).decode()
        headers['Authorization'] = f'Bearer {secret}' if user is None else f'Basic {basic}'
    if connection.ticket:
        headers['Cenote-Ticket'] = connection.ticket
    if connection.changeset:
        # It is refused, instead of taking effect at once.
        headers['Cenote-Changeset'] = connection.changeset
    return headers


def _tls(ca_file: os.PathLike[str] | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    return context


class _Unreadable(Exception):
    """A stream failed while it was sent."""


def _exchange(
    connection: HTTPConnection, method: str, path: str, headers: Mapping[str, str], body: Body
) -> HTTPResponse:
    length = _length(body)
    # Without a length, http.client sends chunks, whose end is missing if the stream fails.
    known = {'Content-Length': str(length)} if body and length is not None else {}
    content = _pieces(body, length) if not isinstance(body, bytes) else body or None
    try:
        connection.request(method, path, content, {**headers, **known})
    except (BrokenPipeError, ConnectionResetError):
        # The server may have refused it before all was sent: then there is an answer.
        answer = connection.getresponse()
        answer.will_close = True
        return answer
    return connection.getresponse()


def _pieces(stream: IO[bytes], length: int | None) -> Iterator[bytes]:
    """What is sent of a stream; one that is shorter than it seemed is an error."""
    left = length
    while left is None or left > 0:
        piece = _piece(stream, BLOCK if left is None else min(BLOCK, left))
        if not piece:
            break
        left = None if left is None else left - len(piece)
        yield piece
    if left:
        raise _Unreadable(InvalidError(errno.EINVAL, 'the stream has become shorter', kind='invalid'))


def _piece(stream: IO[bytes], size: int) -> bytes:
    try:
        piece = stream.read(size)
    except Exception as error:
        raise _Unreadable(error) from error
    if isinstance(piece, str):
        raise _Unreadable(InvalidError(errno.EINVAL, 'the stream must be opened in binary mode', kind='invalid'))
    return piece


def _position(body: Body) -> int | None:
    """Where a body begins, if it can be read again from there."""
    if isinstance(body, bytes):
        return 0
    try:
        return body.tell() if body.seekable() else None
    except (AttributeError, OSError, io.UnsupportedOperation):
        return None


def _length(body: Body) -> int | None:
    """The bytes of a body, if they are known before it is read."""
    if isinstance(body, bytes):
        return len(body)
    start = _position(body)
    if start is None:
        return None
    end = body.seek(0, os.SEEK_END)
    body.seek(start)
    return end - start


def _has_ended(sock: socket.socket) -> bool:
    """Whether an unused connection has been closed by the server: there is something to read."""
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def _keep_alive(sock: socket.socket) -> None:
    """Have a connection end when the other machine is gone."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in PROBES:
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    if hasattr(socket, 'TCP_USER_TIMEOUT'):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 90_000)


def _answer(outcome: Response | UnreachableError) -> Response:
    if isinstance(outcome, Response):
        return outcome
    raise outcome


def _may_pass(outcome: Response | UnreachableError) -> bool:
    """Whether another attempt may have another outcome."""
    if isinstance(outcome, Response):
        return outcome.status == 503
    return not isinstance(outcome.__cause__, ssl.SSLCertVerificationError)


def _requested(outcome: Response | UnreachableError) -> float | None:
    """The seconds that the server asks to wait, after which its answer is not needed."""
    if not isinstance(outcome, Response):
        return None
    outcome.close()
    asked = outcome.header('Retry-After')
    return min(float(asked), LONGEST_PAUSE) if asked.isdecimal() else None
