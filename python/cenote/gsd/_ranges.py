"""Byte ranges of a file behind HTTP: what :func:`cenote.gsd.fl.open` does with a URL.

The content is pinned by its tag: if it is replaced while it is read, reading fails rather than
mixing two files.
"""

import base64
import errno
import http.client
import json
import os
import queue
import time
from urllib.parse import quote, unquote, urlsplit

#: Bytes of the first request, which also tells how much there is.
FIRST = 1 << 16
ATTEMPTS = 4
TIMEOUT = 60
LOCAL = ('localhost', '127.0.0.1', '::1')
#: Schemes of paths in a store; the first finds out by itself whether there is TLS.
STORE = ('cenote', 'cenote+https', 'cenote+http')


class Ranges:
    """The bytes behind a URL.

    Args:
        url: ``http://``, ``https://``, or ``cenote://host[:port]/path``: a path in a store. That
            is HTTPS, except on this machine; ``cenote+https://`` and ``cenote+http://`` say which.
            Who asks is said in the URL, or by CENOTE_TOKEN, or CENOTE_USER and CENOTE_PASSWORD;
            CENOTE_TICKET shows a ticket besides. What the environment says goes to the server of
            CENOTE_URL only, and nothing of it to another machine in clear text, unless CENOTE_URL
            is HTTP.
    """

    def __init__(self, url):
        parts = urlsplit(url)
        if not parts.hostname:
            raise ValueError(f'The URL does not name a host: {url}')
        self.name = url.replace(f'{parts.username}:{parts.password}@', '')
        self._host, self._port = parts.hostname, parts.port
        self._headers, self._withheld = {}, False
        self._tls = parts.scheme.endswith('https')
        if parts.scheme in STORE:
            self._tls |= parts.scheme == 'cenote' and parts.hostname not in LOCAL
            self._target = '/v1/fs' + quote(unquote(parts.path))
            self._headers, self._withheld = secrets(parts, self._tls)
        else:
            self._target = (parts.path or '/') + (f'?{parts.query}' if parts.query else '')
        self._idle = queue.LifoQueue()
        self._first = b''
        try:
            self._first, self.size = self._open()
        except OSError as error:
            error.filename = self.name
            raise

    def read_range(self, offset, length):
        """The bytes from ``offset`` on."""
        if offset + length <= len(self._first):
            return self._first[offset : offset + length]
        response, data = self._get(offset, length)
        if response.status != 206:
            raise self._failure(response, data)
        return data

    def _open(self):
        response, data = self._get(0, FIRST)
        if response.status == 416:
            return b'', 0
        if response.status != 206:
            raise self._failure(response, data)
        if tag := response.headers.get('ETag'):
            self._headers['If-Match'] = tag
        return data, int(response.headers['Content-Range'].rpartition('/')[2])

    def _get(self, offset, length):
        """One range; tried again when the connection or the server falters."""
        headers = {**self._headers, 'Range': f'bytes={offset}-{offset + length - 1}'}
        for attempt in range(ATTEMPTS):
            last = attempt == ATTEMPTS - 1
            connection = self._connection()
            try:
                connection.request('GET', self._target, headers=headers)
                response = connection.getresponse()
                if response.status == 200:
                    connection.close()
                    raise OSError(errno.EOPNOTSUPP, 'the server gives no byte ranges', self.name)
                data = response.read()
            except (ConnectionError, http.client.HTTPException, TimeoutError):
                connection.close()
                if last:
                    raise
            else:
                self._idle.put(connection)
                if last or response.status not in (502, 503, 504):
                    return response, data
            time.sleep(0.1 * 2**attempt)

    def _connection(self):
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            kind = http.client.HTTPSConnection if self._tls else http.client.HTTPConnection
            return kind(self._host, self._port, timeout=TIMEOUT)

    def _failure(self, response, data):
        """The exception for an answer that is no range."""
        try:
            detail = json.loads(data)['detail']
        except (ValueError, KeyError, TypeError):
            detail = f'{response.status} {response.reason}'
        if self._withheld and response.status in (401, 403, 404):
            detail += ' (who you are, as the environment says it, is told to CENOTE_URL only)'
        if response.status == 404:
            return FileNotFoundError(errno.ENOENT, detail, self.name)
        if response.status in (401, 403):
            return PermissionError(errno.EACCES, detail, self.name)
        if response.status == 412:
            detail = 'it was replaced while it was read: open it again'
        return OSError(errno.EIO, detail, self.name)


def secrets(parts, tls):
    """The headers that say who asks, and whether others were withheld from this server.

    A URL may come from anywhere, so it alone does not decide who is told the secrets of the
    environment: they are those of the server that CENOTE_URL names.
    """
    home = urlsplit(os.environ.get('CENOTE_URL', ''))
    is_home = home.hostname and server(home, home.scheme == 'https') == server(parts, tls)
    own = environment()
    headers = own if is_home else {}
    if parts.username is not None:
        headers = {**headers, **basic(unquote(parts.username), unquote(parts.password or ''))}
    in_clear = not tls and parts.hostname not in LOCAL
    if headers and in_clear and not (is_home and home.scheme == 'http'):
        raise ValueError(
            f'Nobody is told in clear text who you are: {parts.hostname}. Read from '
            'cenote+https://, or set CENOTE_URL to the http:// address of this server'
        )
    return headers, bool(own) and not is_home


def server(parts, tls):
    """Host and port."""
    return parts.hostname, parts.port or (443 if tls else 80)


def environment():
    """The headers with what the environment says of who asks."""
    headers = {}
    user, password = os.environ.get('CENOTE_USER'), os.environ.get('CENOTE_PASSWORD')
    if token := os.environ.get('CENOTE_TOKEN'):
        headers['Authorization'] = 'Bearer ' + token
    elif user and password is not None:
        headers = basic(user, password)
    if ticket := os.environ.get('CENOTE_TICKET'):
        headers['Cenote-Ticket'] = ticket
    return headers


def basic(user, password):
    """The header that gives a user and a password."""
    pair = base64.b64encode(f'{user}:{password}'.encode()).decode()
    return {'Authorization': 'Basic ' + pair}
