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

#: The schemes of paths in a store, and of all URLs that are read in ranges.
_STORE = ('cenote://', 'cenote+https://', 'cenote+http://')
_SCHEMES = (*_STORE, 'https://', 'http://')


def open(name, mode, application=None, schema=None, schema_version=None):
    """Open a GSD file.

    >>> with cenote.gsd.fl.open('a.gsd', 'r') as file:
    ...     positions = file.read_chunk(0, 'particles/position')
    >>> cenote.gsd.fl.open('cenote://store.example.org/lab/a.gsd', 'r').nframes
    100

    A file in a store is published when it is flushed or closed, as a whole; until then nobody sees
    what is written, and if the program ends, the file is as it was published last. It is closed
    when the interpreter ends.

    Args:
        name: A path, or ``cenote://host/path`` (a path in a store; ``cenote:///path`` in that of
            the settings). For reading also ``https://`` or ``http://``; or any object with
            ``read_range(offset, length)`` and ``size``, or with ``seek`` and ``read``.
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
    if mode != 'r' and _is_url(name) and name.startswith(_STORE):
        return _open_stage(name, mode, application, schema, schema_version)
    if _is_url(name) or is_source(name):
        if mode != 'r':
            raise ValueError("Only mode 'r' can read from an object or from another server: " + mode)
        source = _ranges(name) if _is_url(name) else name
        label = getattr(source, 'name', None) or getattr(source, 'url', None) or repr(source)
        return GSDFile._from_source(source, str(label), schema)
    return GSDFile(str(name), mode, application, schema, schema_version)


def _ranges(url):
    """The content of a URL. HTTP is imported here: it takes megabytes and a third of the import time."""
    if url.startswith(_STORE):
        from ._stage import stored

        if source := stored(url):
            return source
    from ._ranges import Ranges

    return Ranges(url)


def _open_stage(name, mode, application, schema, schema_version):
    """A file in a store, open for writing."""
    from ._stage import Stage, close_at_exit

    if mode not in ('r+', 'w', 'x', 'a'):
        raise ValueError('Invalid mode: ' + mode)
    stage = Stage(name, mode)
    try:
        new = (application, schema, schema_version, stage.is_new)
        file = GSDFile._from_stage(stage, (stage.name, mode), *new)
    except BaseException:
        stage.discard()
        raise
    close_at_exit(file)
    return file


def _is_url(name):
    """Whether a name is a URL."""
    return isinstance(name, str) and name.startswith(_SCHEMES)


def is_source(name):
    """Whether :func:`open` reads from this object itself rather than from a path."""
    if isinstance(name, (str, os.PathLike)):
        return False
    return hasattr(name, 'read_range') or (hasattr(name, 'seek') and hasattr(name, 'read'))
