"""Reading GSD files from any seekable binary file object.

The reference has a reader in pure Python under this name; here it uses the same fast code as the
other modules.
"""

import io
import struct
from collections import namedtuple

import numpy

from . import _log, fl
from .version import version

__getattr__ = _log.logger_of(__name__, 'gsd.pygsd')

__all__ = [
    'GSDFile',
    'gsd_header',
    'gsd_header_struct',
    'gsd_index_entry',
    'gsd_index_entry_struct',
    'gsd_type_mapping',
    'version',
]

# The layout of a file, for programs that parse files themselves.

#: The fields of the header, the first 256 bytes of a file.
gsd_header = namedtuple(
    'gsd_header',
    'magic index_location index_allocated_entries namelist_location namelist_allocated_entries '
    'schema_version gsd_version application schema reserved',
)
gsd_header_struct = struct.Struct('QQQQQII64s64s80s')

#: The fields of an entry of the index.
gsd_index_entry = namedtuple('gsd_index_entry', 'frame N location M id type flags')
gsd_index_entry_struct = struct.Struct('QQqIHBB')

#: Names and NumPy types by type number; 11 is a string.
gsd_type_mapping = {
    number: (name, numpy.dtype(name))
    for number, name in enumerate(
        'uint8 uint16 uint32 uint64 int8 int16 int32 int64 float32 float64'.split(), 1
    )
}
gsd_type_mapping[11] = ('str', numpy.dtype('int8'))


class GSDFile:
    """A GSD file open for reading.

    Args:
        file: A file object open in binary mode: a file on disk, in memory, in an archive.
    """

    def __init__(self, file):
        _log.info('gsd.pygsd', 'opening file: %s', file)
        self._file_object = file
        self._core = fl.GSDFile._from_source(file, str(getattr(file, 'name', file)))

    def close(self):
        """Close the file, and the file object."""
        self._core.close()
        self._file_object.close()

    def truncate(self):
        """Not supported: this file is read only."""
        raise NotImplementedError

    def end_frame(self):
        """Not supported: this file is read only."""
        raise NotImplementedError

    def write_chunk(self, name, data):
        """Not supported: this file is read only."""
        raise NotImplementedError

    def chunk_exists(self, frame, name):
        """Whether a frame has a chunk of this name."""
        self.nframes  # raises when the file is closed
        return self._core.chunk_exists(frame, name)

    def read_chunk(self, frame, name):
        """Read a chunk: an array, or a string."""
        return self._core.read_chunk(frame, name)

    def find_matching_chunk_names(self, match):
        """The names of chunks, in any frame, that begin with ``match``."""
        return self._core.find_matching_chunk_names(match)

    def __getstate__(self):
        # A file on disk is opened again by its name; any other object is copied.
        file = self._file_object
        if isinstance(file, (io.BufferedReader, io.BufferedRandom, io.FileIO)):
            return {'name': file.name}
        return {'file': file}

    def __setstate__(self, state):
        self.__init__(state['file'] if 'file' in state else open(state['name'], 'rb'))

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    @property
    def name(self):
        """str: The name of the file object."""
        return self._file_object.name

    @property
    def file(self):
        """The file object."""
        return self._file_object

    @property
    def mode(self):
        """str: Always ``'r'``."""
        return 'r'

    @property
    def gsd_version(self):
        """tuple[int, int]: The version of the file layer."""
        return self._core.gsd_version

    @property
    def schema_version(self):
        """tuple[int, int]: The version of the schema."""
        return self._core.schema_version

    @property
    def schema(self):
        """str: The name of the schema."""
        return self._core.schema

    @property
    def application(self):
        """str: The program that wrote the file."""
        return self._core.application

    @property
    def nframes(self):
        """int: The number of frames."""
        return self._core.nframes
