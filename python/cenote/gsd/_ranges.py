"""Byte ranges of a file over HTTP, which :func:`cenote.gsd.fl.open` uses for URLs.

Invariants: the content is pinned by its ETag and size, which every response must repeat, so that
two contents are never mixed; and credentials are sent only to the server that they are for,
wherever it redirects to.
"""

import base64
import email.utils
import errno
import http.client
import json
import os
import queue
import random
import re
import time
from urllib.parse import quote, unquote, urljoin, urlsplit

#: Bytes of the first request, whose response also gives the size of the content.
FIRST = 1 << 16
ATTEMPTS = 6
#: Redirects followed for one request.
REDIRECTS = 10
#: Seconds: the timeout of a request, the first delay before a retry, and the longest one.
TIMEOUT = 60
FIRST_WAIT = 0.2
LONGEST_WAIT = 60
LOCAL = ('localhost', '127.0.0.1', '::1')
#: Schemes of paths in a store; the first chooses TLS unless the server is on this machine.
STORE = ('cenote', 'cenote+https', 'cenote+http')
#: Status codes after which the same request may succeed later.
BUSY = (429, 500, 502, 503, 504)
REDIRECT = (301, 302, 303, 307, 308)


class Clock:
    """The source of time and randomness for :class:`Ranges`."""

    sleep = staticmethod(time.sleep)
    now = staticmethod(time.time)
    random = staticmethod(random.random)


class Ranges:
    """The content of a URL.

    Args:
        url: ``http://``, ``https://``, or ``cenote://host[:port]/path``: a path in a store. That
            is HTTPS, except on this machine; use ``cenote+https://`` or ``cenote+http://`` to
            choose. The credentials are taken from the URL, from CENOTE_TOKEN, or from CENOTE_USER
            and CENOTE_PASSWORD; a ticket in CENOTE_TICKET is sent as well. Credentials from the
            environment are sent only to the server in CENOTE_URL, and to another machine never in
            clear text, unless CENOTE_URL is HTTP. For ``https://`` only those in the URL are used.
        clock: The source of time and randomness.

    A pickled instance contains the URL with any credentials in it, but none from the environment.
    """

    def __init__(self, url, clock=Clock):
        self._prepare(url, clock)
        try:
            self._first, self.size = self._open()
        except OSError as error:
            error.filename = self.name
            raise

    def _prepare(self, url, clock):
        """Set up everything that needs no request."""
        parts = urlsplit(url)
        if not parts.hostname:
            raise ValueError(f'The URL does not name a host: {without_password(url)}')
        self.name = without_password(url)
        self._url, self._clock = url, clock
        self._is_store = parts.scheme in STORE
        tls = parts.scheme.endswith('https') or (
            parts.scheme == 'cenote' and parts.hostname not in LOCAL
        )
        self._headers, self._withheld = secrets(parts, tls)
        target = (parts.path or '/') + (f'?{parts.query}' if parts.query else '')
        if self._is_store:
            target = '/v1/fs' + quote(unquote(parts.path))
        self._home = Place(tls, *server(parts, tls), target)
        #: Where the server redirected to; tried first as long as it responds.
        self._elsewhere = None
        self._idle, self._process = {}, os.getpid()
        self._first, self.size = b'', None
        self._tag = self._modified = None

    def __getstate__(self):
        pinned = {name: getattr(self, name) for name in ('size', '_tag', '_modified')}
        clock = self._clock if self._clock is not Clock else None
        return {'url': self._url, 'clock': clock, 'pinned': pinned}

    def __setstate__(self, state):
        self._prepare(state['url'], state['clock'] or Clock)
        vars(self).update(state['pinned'])

    def renewed(self):
        """The content as it is now."""
        return Ranges(self._url, self._clock)

    def read_range(self, offset, length):
        """At most ``length`` bytes from ``offset`` on; fewer at the end of the content."""
        if offset + length <= len(self._first):
            return self._first[offset : offset + length]
        wanted = min(length, self.size - offset)
        data = b''
        while len(data) < wanted:
            response, part = self._get(offset + len(data), wanted - len(data))
            if response.status != 206:
                raise self._failure(response, part)
            self._check(response, offset + len(data), part)
            data += part
        return data

    def _open(self):
        response, data = self._get(0, FIRST)
        if response.status == 416 and response.headers.get('Content-Range') == 'bytes */0':
            return b'', 0
        if response.status != 206:
            raise self._failure(response, data)
        self._tag = response.headers.get('ETag')
        self._modified = response.headers.get('Last-Modified')
        return data, self._check(response, 0, data)

    def _check(self, response, offset, data):
        """Check that a response has the requested bytes of the pinned content.

        Returns:
            int: How many bytes the content has.
        """
        found = re.fullmatch(
            r'bytes (\d+)-(\d+)/(\d+)', response.headers.get('Content-Range', '').strip()
        )
        if not found:
            raise self._error('the server did not send the range and size of the content')
        start, last, size = map(int, found.groups())
        if response.headers.get('Content-Encoding', 'identity') != 'identity':
            raise self._error('the server sent compressed bytes')
        tag, modified = response.headers.get('ETag'), response.headers.get('Last-Modified')
        pinned = self.size in (None, size) and tag == self._tag
        if not pinned or (tag is None and modified != self._modified):
            raise self._error('it was replaced while being read: open it again')
        if start != offset or last + 1 - start != len(data) or not data or last >= size:
            raise self._error(f'the server sent bytes {start} to {last}, not those from {offset} on')
        return size

    def _get(self, offset, length):
        """One range, requested again after failures of the connection or the server."""
        for attempt in range(ATTEMPTS):
            last = attempt == ATTEMPTS - 1
            wait = FIRST_WAIT * 2**attempt * (0.5 + self._clock.random() / 2)
            try:
                response, data = self._follow(offset, length)
            except (ConnectionError, http.client.HTTPException, TimeoutError) as error:
                if last:
                    raise connection_error(error, self.name) from error
            else:
                if last or response.status not in BUSY:
                    return response, data
                asked = self._asked_to_wait(response)
                if asked is not None and asked > LONGEST_WAIT:
                    return response, data
                wait = max(wait, asked or 0)
            self._clock.sleep(wait)

    def _asked_to_wait(self, response):
        """The seconds that the server asks to wait (given as a number or a date), if any."""
        asked = response.headers.get('Retry-After', '').strip()
        if asked.isdigit():
            return int(asked)
        try:
            return email.utils.parsedate_to_datetime(asked).timestamp() - self._clock.now()
        except (TypeError, ValueError):
            return None

    def _follow(self, offset, length):
        """The response to a request, following redirects."""
        start = place = self._elsewhere or self._home
        for _ in range(REDIRECTS + 1):
            response, data = self._request(place, offset, length)
            location = response.headers.get('Location')
            if response.status not in REDIRECT or not location:
                if start is not self._home and response.status in (401, 403, 404, 410):
                    # The targets of redirects are often valid only for some time.
                    self._elsewhere = None
                    return self._follow(offset, length)
                self._elsewhere = None if place == self._home else place
                return response, data
            place = self._redirected(place, location)
        raise self._error(f'the server redirects more than {REDIRECTS} times')

    def _redirected(self, place, location):
        parts = urlsplit(urljoin(place.url(), location))
        tls = parts.scheme == 'https'
        if parts.scheme not in ('http', 'https') or not parts.hostname:
            raise self._error(f'the server redirects to {without_password(location)}')
        if place.tls and not tls:
            raise self._error('the server redirects from HTTPS to HTTP')
        target = (parts.path or '/') + (f'?{parts.query}' if parts.query else '')
        return Place(tls, *server(parts, tls), target)

    def _request(self, place, offset, length):
        headers = {'Range': f'bytes={offset}-{offset + length - 1}', 'Accept-Encoding': 'identity'}
        if self._tag and not self._tag.startswith('W/'):
            headers['If-Match'] = self._tag
        if place.server() == self._home.server():
            headers.update(self._headers)
        idle = self._connections(place)
        connection = self._connection(place, idle)
        try:
            connection.request('GET', place.target, headers=headers)
            response = connection.getresponse()
            if response.status == 200:
                raise OSError(errno.EOPNOTSUPP, 'the server does not support byte ranges', self.name)
            data = response.read()
        except BaseException:
            connection.close()
            raise
        idle.put(connection)
        return response, data

    def _connections(self, place):
        """Connections to a server that no other thread is using. They are not shared with a
        forked process: each would read responses meant for the other."""
        if self._process != os.getpid():
            self._idle, self._process = {}, os.getpid()
        return self._idle.setdefault(place.server(), queue.LifoQueue())

    def _connection(self, place, idle):
        try:
            return idle.get_nowait()
        except queue.Empty:
            kind = http.client.HTTPSConnection if place.tls else http.client.HTTPConnection
            return kind(place.host, place.port, timeout=TIMEOUT)

    def _error(self, what):
        return OSError(errno.EIO, what, self.name)

    def _failure(self, response, data):
        """The exception for a response that is not a range."""
        try:
            detail = json.loads(data)['detail']
        except (ValueError, KeyError, TypeError):
            detail = f'{response.status} {response.reason}'
        if self._withheld and response.status in (401, 403, 404):
            detail += ' (the credentials of the environment are sent to CENOTE_URL only)'
        elif response.status == 401:
            detail += self._hint()
        if response.status == 404:
            return FileNotFoundError(errno.ENOENT, detail, self.name)
        if response.status in (401, 403):
            return PermissionError(errno.EACCES, detail, self.name)
        if response.status == 412:
            detail = 'it was replaced while being read: open it again'
        return self._error(detail)

    def _hint(self):
        """A hint on how to log in."""
        if not self._is_store:
            return ' (write https://USER:PASSWORD@HOST/...)'
        if self._headers:
            return ' (check CENOTE_TOKEN, or CENOTE_USER and CENOTE_PASSWORD)'
        home = urlsplit(self._home.url())
        return (
            f' (to log in, set CENOTE_URL={home.scheme}://{home.netloc} and CENOTE_TOKEN, or'
            ' CENOTE_USER and CENOTE_PASSWORD)'
        )


class Place:
    """The target of a request: a server, and a resource on it."""

    def __init__(self, tls, host, port, target):
        self.tls, self.host, self.port, self.target = tls, host, port, target

    def __eq__(self, other):
        return vars(self) == vars(other)

    def server(self):
        """Scheme, host and port."""
        return self.tls, self.host, self.port

    def url(self):
        """Its address."""
        host = f'[{self.host}]' if ':' in self.host else self.host
        return f'http{"s" if self.tls else ""}://{host}:{self.port}{self.target}'


def without_password(url):
    """A URL without its password, for messages."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition('@')[2]).geturl()


def connection_error(error, name):
    """An exception of the HTTP client as an :class:`OSError` that names the file."""
    if isinstance(error, OSError) and error.errno is not None:
        return error
    return OSError(errno.EIO, f'the connection was lost ({type(error).__name__})', name)


def secrets(parts, tls):
    """The headers with credentials, and whether credentials were withheld from this server.

    A URL may come from anywhere, so it alone does not decide who is sent the secrets of the
    environment: they are those of the server that CENOTE_URL names.
    """
    is_store = parts.scheme in STORE
    home = urlsplit(os.environ.get('CENOTE_URL', ''))
    is_home = is_store and home.hostname and server(home, home.scheme == 'https') == server(parts, tls)
    own = environment() if is_store else {}
    headers = own if is_home else {}
    if parts.username is not None:
        headers = {**headers, **basic(unquote(parts.username), unquote(parts.password or ''))}
    in_clear = not tls and parts.hostname not in LOCAL
    if headers and in_clear and not (is_home and home.scheme == 'http'):
        raise ValueError(
            f'No credentials are sent in clear text: {parts.hostname}. Read from '
            'cenote+https://, or set CENOTE_URL to the http:// address of this server'
        )
    return headers, is_store and bool(own) and not is_home


def server(parts, tls):
    """Host and port."""
    return parts.hostname, parts.port or (443 if tls else 80)


def environment():
    """The headers with the credentials of the environment."""
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
