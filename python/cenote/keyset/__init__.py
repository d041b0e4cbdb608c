"""Elektra key sets, in the formats ``quickdump`` and ``dump``, and as JSON, TOML and INI.

>>> from cenote.keyset import Key, KeySet, dump, load
>>> keys = KeySet([Key('user:/app/port', '8080', {'type': 'long'})])
>>> load(dump(keys, parent='user:/app'), 'user:/app')['user:/app/port'].value
'8080'
"""

from collections.abc import Mapping

from cenote._cenote import keyset as _native

Columns = _native.Columns
Key = _native.Key
KeySet = _native.KeySet
KeySetError = _native.KeySetError
MergeConflict = _native.MergeConflict
Meta = _native.Meta
dump = _native.dump
join = _native.join

Mapping.register(Meta)

#: What a URL starts with that :func:`load` reads.
_SCHEMES = ('cenote://', 'cenote+http://', 'cenote+https://', 'http://', 'https://')


def load(path_or_bytes, parent, format=None, *, strict=False):
    """Reads a key set.

    Args:
        path_or_bytes: A file, bytes, or the URL of a content: ``cenote://host[:port]/path`` is a
            path in a store, read as CENOTE_TOKEN, or CENOTE_USER and CENOTE_PASSWORD, if
            CENOTE_URL names that server; see :func:`cenote.gsd.fl.open`.
        parent: The key that the names in it are below.
        format: ``quickdump``, ``dump``, ``json``, ``toml`` or ``ini``; without it the content or
            the end of the path decides.
        strict: Refuse what only lenient readers read: duplicates, disorder, text that is not UTF-8.

    Raises:
        KeySetError: It is not a key set of that format; ``offset`` is the byte.
    """
    if isinstance(path_or_bytes, str) and path_or_bytes.startswith(_SCHEMES):
        from . import _remote

        path_or_bytes, format = _remote.fetch(path_or_bytes, format)
    return _native.load(path_or_bytes, parent, format, strict=strict)


__all__ = [
    'Columns', 'Key', 'KeySet', 'KeySetError', 'MergeConflict', 'Meta', 'dump', 'join', 'load'
]
