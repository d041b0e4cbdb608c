"""A content of a store that is written in place, and published as a whole.

Invariant: under its name the store has the content published last, or the earlier one. Written data waits in memory and in a stage
of the server, which is invisible to others.
"""

import atexit
import errno
import os
import weakref
from urllib.parse import unquote, urlsplit

from cenote.store._connect import native, settings
from cenote.store.errors import (
    ChangedError,
    Error,
    ExistsError,
    NotFoundError,
    UnreachableError,
    WrongKindError,
)

from ._ranges import LOCAL, without_password

#: The variables with credentials, which come before the logins of the settings.
CREDENTIALS = ('CENOTE_TOKEN', 'CENOTE_USER', 'CENOTE_TICKET')
#: Bytes that wait in memory before they are sent, and the most that wait while the server is away.
WAITING = 8 << 20
MOST = 256 << 20
#: Bytes of one request, of the smallest read, and how many of these are kept.
PIECE = 8 << 20
BLOCK = 64 << 10
KEPT = 64

#: Files that are open for writing: published when the interpreter ends, as files on disk are flushed.
_open_files = weakref.WeakSet()


def close_at_exit(file):
    """Close a file when the interpreter ends, unless it was closed before."""
    _open_files.add(file)


@atexit.register
def _close_all():
    for file in list(_open_files):
        # The next one has to be published, too. Errors are reported to programs that close it
        # themselves.
        try:
            file.close()
        except (OSError, RuntimeError):
            pass


class Stored:
    """A content of a store that the settings know, for reading: all that is read is one content.

    Args:
        url: ``cenote://host[:port]/path``, or ``cenote:///path`` in the store of the settings.
    """

    def __init__(self, url):
        self.name, self._path = url, unquote(urlsplit(url).path)
        self._connect()
        found = self._native.stat(self._path).wait()
        if found['etag'] is None:
            raise WrongKindError(errno.EISDIR, f'it has no content: {self._path}', kind='wrong-kind')
        self._tag, self.size = found['etag'], found['size']

    def _connect(self):
        self._native = connection(self.name)

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != '_native'}

    def __setstate__(self, state):
        vars(self).update(state)
        self._connect()

    def read_range(self, offset, length):
        """The bytes from ``offset`` on."""
        try:
            return self._native.read(self._path, offset, offset + length, self._tag, None).wait()
        except ChangedError as error:
            text = f'it was replaced while being read: {self._path}'
            raise ChangedError(errno.EBUSY, text, kind=error.kind, hint='open it again') from None

    def renewed(self):
        """The content as it is now."""
        return Stored(self.name)


def stored(url):
    """The content of a URL, where the settings know how to log in there; ``None`` where only the environment may."""
    parts = urlsplit(url)
    if not parts.hostname:
        return Stored(url) if parts.path else None
    if parts.username is not None or any(map(os.environ.get, CREDENTIALS)):
        return None
    try:
        has_login = connection(url).user is not None
    except Error:
        # Errors in the settings do not matter, since they are not needed.
        return None
    return Stored(url) if has_login else None


class Stage:
    """A content that is open for writing.

    Args:
        url: ``cenote://host[:port]/path``, or ``cenote:///path`` in the store of the settings.
        mode: ``'w'``, ``'x'``, ``'a'`` or ``'r+'``.

    The store is found, and the login, as :func:`cenote.connect` does; credentials of the settings
    are sent to another host than theirs only if that has a login of its own.
    """

    def __init__(self, url, mode):
        self.name = without_password(url)
        self.path = unquote(urlsplit(url).path)
        self._native = connection(url)
        self._process = os.getpid()
        self._id = self._tag = None
        # A publication whose response was lost may have happened.
        self._is_lost = False
        self._blocks = {}
        #: Whether it has no content yet.
        self.is_new = self._is_new(mode)
        self._create_only = mode == 'x' or (mode == 'a' and self.is_new)
        self._writes, self._waiting, self._enough = [], 0, WAITING
        # Whether there is anything to publish.
        self._changed = self.is_new
        self._begin()
        self.size = self._kept = self._staged

    def _is_new(self, mode):
        if mode == 'w':
            return True
        try:
            found = self._native.stat(self.path).wait()
        except NotFoundError:
            if mode == 'r+':
                raise
            return True
        if mode == 'x':
            raise ExistsError(errno.EEXIST, f'the name is taken: {self.path}', kind='exists')
        if found['etag'] is None:
            raise WrongKindError(errno.EISDIR, f'it has no content: {self.path}', kind='wrong-kind')
        self._tag = found['etag']
        return False

    # Reading what it would be if it were published now

    def read_range(self, offset, length):
        """The bytes from ``offset`` on."""
        end = min(offset + length, self.size)
        data = bytearray(self._staged_range(offset, min(end, self._kept)))
        data.extend(bytes(max(0, end - offset - len(data))))
        for start, written in self._writes:
            first, last = max(offset, start), min(end, start + len(written))
            if first < last:
                data[first - offset : last - offset] = written[first - start : last - start]
        return bytes(data)

    def _staged_range(self, start, stop):
        """Bytes that were sent or already existed."""
        if start >= stop:
            return b''
        if any(at <= start and stop <= at + len(written) for at, written in self._writes):
            # They are overlaid by buffered bytes.
            return bytes(stop - start)
        if stop - start > BLOCK:
            return self._request(start, stop)
        blocks = (self._block(number) for number in range(start // BLOCK, (stop - 1) // BLOCK + 1))
        skip = start % BLOCK
        return b''.join(blocks)[skip : skip + stop - start]

    def _block(self, number):
        found = self._blocks.get(number)
        if found is None:
            if len(self._blocks) >= KEPT:
                self._blocks.pop(next(iter(self._blocks)), None)
            found = self._request(number * BLOCK, min((number + 1) * BLOCK, self._kept))
            self._blocks[number] = found
        return found

    def _request(self, start, stop):
        if self._id is not None:
            return self._native.read_stage(self._id, start, stop).wait()
        return self._native.read(self.path, start, stop, self._tag, None).wait()

    # Writing

    def write_at(self, offset, data):
        """Write bytes; what lies between the end and ``offset`` becomes zero."""
        self._check_process()
        if not self._changed and self._is_there(offset, data):
            return
        self._changed = True
        last = self._writes[-1] if self._writes else None
        if last is not None and offset == last[0] + len(last[1]):
            last[1].extend(data)
        else:
            self._writes.append((offset, bytearray(data)))
        self._waiting += len(data)
        self.size = max(self.size, offset + len(data))

    def _is_there(self, offset, data):
        """Whether it is known to have these bytes already: opening writes the header, mostly the same."""
        block = self._blocks.get(offset // BLOCK, b'')
        return block[offset % BLOCK :][: len(data)] == data

    def set_size(self, size):
        """Truncate it, or extend it with zeros."""
        self._check_process()
        self._changed = True
        self.size, self._kept = size, min(self._kept, size)
        self._writes = [(at, written[: size - at]) for at, written in self._writes if at < size]
        self._waiting = sum(len(written) for _, written in self._writes)

    def relieve(self):
        """Send buffered bytes if there are enough. While the server is unreachable, more are buffered until the next attempt."""
        if self._waiting < self._enough:
            return
        try:
            self._send()
            self._enough = WAITING
        except UnreachableError:
            self._enough = self._waiting + WAITING
            if self._waiting > MOST:
                raise

    def _send(self):
        """Send everything; sent bytes are no longer buffered, even if the rest fails."""
        if self._id is None:
            self._begin()
        self._blocks.clear()
        if self._kept < self._staged:
            self._staged = self._native.resize_stage(self._id, self._kept).wait()
        while self._writes:
            offset, written = self._writes[0]
            for at in range(0, len(written), PIECE):
                piece = bytes(memoryview(written)[at : at + PIECE])
                self._staged = self._native.write_stage(self._id, offset + at, piece).wait()
            self._waiting -= len(written)
            del self._writes[0]
            self._kept = max(self._kept, self._staged)
        if self._staged != self.size:
            self._staged = self._native.resize_stage(self._id, self.size).wait()
        self._kept = self.size

    def _begin(self):
        """Begin a stage: from nothing, or from the content that this one continues."""
        from_object = self._tag is not None
        arguments = (self.path, from_object, self._create_only, None, self._tag)
        try:
            begun = self._native.begin_stage(*arguments).wait()
        except NotFoundError:
            if from_object:
                raise
            self._native.make_collection(self.path.rpartition('/')[0] or '/', True, True).wait()
            begun = self._native.begin_stage(*arguments).wait()
        except ChangedError as error:
            raise self._conflict(error) from None
        self._id, self._staged = begun

    # Publishing

    def publish(self):
        """Make the content visible under its name, as one version."""
        self._check_process()
        if not self._changed:
            return
        self._send()
        was_lost, self._is_lost = self._is_lost, True
        try:
            # A new content replaces any, unless the name has to be free.
            force = self._tag is None and not self._create_only
            self._tag = self._native.publish_stage(self._id, force).wait()['etag']
        except ChangedError as error:
            raise self._conflict(error) from None
        except NotFoundError:
            self._is_lost = was_lost
            if not was_lost:
                raise
            self._tag = self._published()
        self._id, self._create_only = None, False
        self._is_lost = self._changed = False

    def _published(self):
        """The tag of the content, if it was published although the response was lost."""
        found = self._native.stat(self.path).wait()
        if found['size'] != self.size:
            raise self._conflict(None)
        return found['etag']

    def _conflict(self, error):
        if self._create_only:
            return ExistsError(errno.EEXIST, f'the name is taken: {self.path}', kind='exists')
        text = f'it was changed by somebody else: {self.path}'
        hint = 'write to another name, or open it again'
        return ChangedError(errno.EBUSY, text, kind='precondition', hint=getattr(error, 'hint', None) or hint)

    def discard(self):
        """Drop unpublished data."""
        stage, self._id = self._id, None
        if stage is None or self._process != os.getpid():
            return
        try:
            self._native.abandon_upload(stage).wait()
        except Error:
            # The server drops it after some days.
            pass

    def _check_process(self):
        if self._process != os.getpid():
            text = 'it was opened for writing by another process'
            raise OSError(errno.EBADF, text, self.name)


def connection(url):
    """A connection to the store that a URL names."""
    parts = urlsplit(url)
    if not parts.hostname:
        return native({})
    tls = parts.scheme.endswith('https') or (parts.scheme == 'cenote' and parts.hostname not in LOCAL)
    host = f'[{parts.hostname}]' if ':' in parts.hostname else parts.hostname
    address = f'http{"s" if tls else ""}://{host}' + (f':{parts.port}' if parts.port else '')
    user = unquote(parts.username) if parts.username else None
    password = unquote(parts.password or '') if user else None
    given = settings(address, user, password, None, None, None)
    return native(given, only_own=user is None)
