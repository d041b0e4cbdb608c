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
load = _native.load

Mapping.register(Meta)

__all__ = ['Columns', 'Key', 'KeySet', 'KeySetError', 'MergeConflict', 'Meta', 'dump', 'load']
