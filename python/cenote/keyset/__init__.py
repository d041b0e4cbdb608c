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

#: The schemes of URLs that :func:`load` accepts.
_SCHEMES = ('cenote://', 'cenote+http://', 'cenote+https://', 'http://', 'https://')


def load(path_or_bytes, parent, format=None, *, strict=False):
    """Read a key set.

    Args:
        path_or_bytes: A path, bytes, or a URL: ``cenote://host[:port]/path`` is a path in a
            store, and ``cenote:///path`` one in the store of the settings; see
            :func:`cenote.gsd.fl.open`.
        parent: The parent key of the names in the file.
        format: ``quickdump``, ``dump``, ``json``, ``toml`` or ``ini``; by default it is detected
            from the content or the extension.
        strict: Refuse duplicate keys, keys out of order and text that is not UTF-8.

    Raises:
        KeySetError: It is not a valid key set of that format; ``offset`` is the byte.
    """
    if isinstance(path_or_bytes, str) and path_or_bytes.startswith(_SCHEMES):
        from . import _remote

        path_or_bytes, format = _remote.fetch(path_or_bytes, format)
    return _native.load(path_or_bytes, parent, format, strict=strict)


__all__ = [
    'Columns', 'Key', 'KeySet', 'KeySetError', 'MergeConflict', 'Meta', 'dump', 'join', 'load'
]
