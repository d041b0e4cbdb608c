"""The file layer: chunks of data, by frame and name.

A chunk is a 1- or 2-dimensional array, or a string. Chunks become visible and durable with
:meth:`GSDFile.flush`, which :meth:`GSDFile.close` calls.
"""

import os
from pickle import PickleError as PickleError

from cenote._cenote import gsd as _native

from . import _log

__getattr__ = _log.logger_of(__name__, 'gsd.fl')

GSDFile = _native.GSDFile

#: The schemes of URLs that are read in ranges.
_SCHEMES = ('cenote://', 'cenote+https://', 'cenote+http://', 'https://', 'http://')


def open(name, mode, application=None, schema=None, schema_version=None):
    """Open a GSD file.

    >>> with cenote.gsd.fl.open('a.gsd', 'r') as file:
    ...     file.read_chunk(0, 'particles/position')
    >>> cenote.gsd.fl.open('cenote://store.example.org/lab/a.gsd', 'r').nframes
    100

    Args:
        name: A path. For reading also a URL, ``cenote://host/path`` (a path in a store),
            ``https://`` or ``http://``; or any object with ``read_range(offset, length)`` and
            ``size``, or with ``seek`` and ``read``.
        mode: ``'r'``, ``'r+'``, ``'w'`` (create or empty), ``'x'`` (create, never replace)
            or ``'a'`` (open or create).
        application: The program that writes the file, at most 63 bytes; required to create a file.
        schema: The name of the schema, at most 63 bytes. An existing file must have it.
        schema_version: Two numbers; required to create a file.

    Returns:
        GSDFile: The open file.

    Raises:
        ValueError: The mode is invalid, or an argument required to create a file is missing.
        OSError: The file does not exist, or cannot be opened or created.
        RuntimeError: It is not a GSD file, is damaged, or has another schema.
    """
    if _is_url(name) or is_source(name):
        if mode != 'r':
            raise ValueError("Only mode 'r' can read from a URL or an object: " + mode)
        if _is_url(name):
            # Importing HTTP takes megabytes and a third of the import time: only for URLs.
            from ._ranges import Ranges

            name = Ranges(name)
        label = getattr(name, 'name', None) or getattr(name, 'url', None) or repr(name)
        return GSDFile._from_source(name, str(label), schema)
    return GSDFile(str(name), mode, application, schema, schema_version)


def _is_url(name):
    """Whether a name is a URL."""
    return isinstance(name, str) and name.startswith(_SCHEMES)


def is_source(name):
    """Whether :func:`open` reads from this object itself rather than from a path."""
    if isinstance(name, (str, os.PathLike)):
        return False
    return hasattr(name, 'read_range') or (hasattr(name, 'seek') and hasattr(name, 'read'))
