"""Trajectories of HOOMD-blue.

>>> import cenote.gsd.hoomd
>>> with cenote.gsd.hoomd.open('trajectory.gsd') as traj:
...     frame = traj[-1]
...     positions = traj.read_many('particles/position', slice(0, 100))
"""

import operator
import os
import sys
import warnings
from fnmatch import filter as fnfilter

import numpy

from cenote._cenote import gsd as _native

from . import _log, fl, version
from ._frame import (
    _NOTHING,
    BondData,
    ConfigurationData,
    ConstraintData,
    Part,
    ParticleData,
    blank,
)

__getattr__ = _log.logger_of(__name__, 'gsd.hoomd')

_SCHEMA_VERSION = [2, 0]

#: Whether files can be opened by name; in the reference this needs its C library.
fl_imported = True

#: The class and arguments of each container of a frame, in the order in which frames are written.
_CONTAINERS = {
    'configuration': (ConfigurationData, {}),
    'particles': (ParticleData, {}),
    'bonds': (BondData, {'M': 2}),
    'angles': (BondData, {'M': 3}),
    'dihedrals': (BondData, {'M': 4}),
    'impropers': (BondData, {'M': 4}),
    'constraints': (ConstraintData, {}),
    'pairs': (BondData, {'M': 2}),
}


class Frame(Part):
    """A frame of a trajectory.

    >>> traj = cenote.gsd.hoomd.open('new.gsd', 'w')
    >>> frame = cenote.gsd.hoomd.Frame()
    >>> frame.configuration.box = [20, 20, 20, 0, 0, 0]
    >>> frame.particles.N = 2
    >>> frame.particles.position = [[0, 0, 0], [1, 1, 1]]
    >>> frame.log['energy'] = [-1.5]
    >>> traj.append(frame)

    Attributes that stay ``None`` are not written, and read as the value of frame 0, or the
    default. In a frame that was read, no attribute is ``None``. Copies and pickled frames have
    all values filled in.

    Attributes:
        configuration (ConfigurationData): Step, dimensions and box.
        particles (ParticleData): Particles.
        bonds, angles, dihedrals, impropers, pairs (BondData): Groups of particles.
        constraints (ConstraintData): Distance constraints.
        log (dict): Logged quantities: arrays or strings, by name.
    """

    _inherited = tuple(_CONTAINERS)

    def __init__(self):
        self.log = {}

    def _is_made_late(self, name):
        return True

    def _inherit(self, name, initial):
        if initial is None:
            cls, arguments = _CONTAINERS[name]
            return cls(**arguments)
        container = blank(*_BLANKS[name])
        container._initial = _NOTHING if initial is _NOTHING else getattr(initial, name)
        return container

    def validate(self, inplace=False):
        """Check that the containers are consistent.

        Args:
            inplace: Replace the arrays by contiguous ones of the types that are written.

        Raises:
            ValueError: An array has the wrong size, or a type name comes twice.
        """
        for name in _CONTAINERS:
            getattr(self, name).validate(inplace)

    def __reduce__(self):
        return _restore, (None if type(self) is Frame else type(self), dict(self.__dict__))


# Some programs recognise frames only by the name of their class.
Frame.__module__ = 'gsd.hoomd'


def _restore(cls, state):
    frame = object.__new__(cls or Frame)
    frame._own.update(state)
    return frame


#: The arguments of :func:`blank` for each container of a frame that was read.
_BLANKS = {
    name: (cls, 2 if cls is ConstraintData else arguments.get('M'))
    for name, (cls, arguments) in _CONTAINERS.items()
}


class _HOOMDTrajectoryIterable:
    """Iterates over some frames of a trajectory, any number of times."""

    def __init__(self, trajectory, indices):
        self._trajectory = trajectory
        self._indices = indices
        self._indices_iterator = iter(indices)

    def __next__(self):
        return self._trajectory[next(self._indices_iterator)]

    next = __next__

    def __iter__(self):
        return type(self)(self._trajectory, self._indices)

    def __len__(self):
        return len(self._indices)


class _HOOMDTrajectoryView:
    """Some frames of a trajectory, read when they are accessed."""

    def __init__(self, trajectory, indices):
        self._trajectory = trajectory
        self._indices = indices

    def __iter__(self):
        return _HOOMDTrajectoryIterable(self._trajectory, self._indices)

    def __len__(self):
        return len(self._indices)

    def __getitem__(self, key):
        if isinstance(key, slice):
            return type(self)(self._trajectory, self._indices[key])
        return self._trajectory[self._indices[key]]

    def read_many(self, name, rows=None, threads=None):
        """One quantity over these frames: see :meth:`HOOMDTrajectory.read_many`."""
        return self._trajectory.read_many(name, self._indices, rows, threads)


class HOOMDTrajectory:
    """The frames of a file: a sequence that can be appended to.

    >>> traj = cenote.gsd.hoomd.open('traj.gsd')
    >>> len(traj), int(traj[-1].configuration.step)
    (100, 99000)
    >>> means = [frame.particles.position.mean(axis=0) for frame in traj[10:20]]

    Trajectories that are open for reading can be pickled, for worker processes.

    Args:
        file: A :class:`cenote.gsd.fl.GSDFile` or :class:`cenote.gsd.pygsd.GSDFile`.
        precision: ``'single'`` or ``'double'``: how floating point numbers are written.
    """

    def __init__(self, file, precision='single'):
        if precision not in ('single', 'double'):
            message = "precision must be 'single' or 'double'"
            raise ValueError(message)
        self._file = file
        self._precision = precision
        self._initial_frame = None
        _log.info('gsd.hoomd', 'opening HOOMDTrajectory: %s', file)
        if file.schema != 'hoomd':
            raise RuntimeError('GSD file is not a hoomd schema file: ' + str(file))
        found = file.schema_version
        if not (1, 0) <= found < (3, 0):
            message = f'Incompatible hoomd schema version {found} in: {file}'
            raise RuntimeError(message)
        if found < (2, 0) and precision == 'double':
            message = "schema 1.x files are not compatible with precision='double'"
            raise RuntimeError(message)
        self._frames = _native.Trajectory(_core(file), sys.modules[__name__])
        _log.info('gsd.hoomd', 'found %d frames', len(self))

    def __repr__(self):
        try:
            frames = f'{len(self)} frames'
        except ValueError:
            frames = 'closed'
        return f'<{type(self).__name__} {self._file.name!r}, {frames}>'

    @property
    def file(self):
        """The file of this trajectory."""
        return self._file

    @property
    def precision(self):
        """str: ``'single'`` or ``'double'``."""
        return self._precision

    def __len__(self):
        return self._file.nframes

    def append(self, frame):
        """Append a frame, omitting values that equal those of frame 0 or the defaults.

        Raises:
            ValueError: The frame is not consistent; nothing of it is written.
        """
        if isinstance(frame, Frame) and type(frame).validate is not Frame.validate:
            frame.validate()
        if self._initial_frame is None and len(self) > 0:
            self._initial_frame = self._frames.read_initial()
        self._frames.append(frame, self._initial_frame, self._precision == 'double')

    def extend(self, iterable):
        """Append each frame of an iterable."""
        for item in iterable:
            self.append(item)

    def truncate(self):
        """Remove all frames."""
        self._file.truncate()
        self._frames.forget()
        self._initial_frame = None

    def flush(self):
        """Make the frames appended so far visible and durable."""
        self._file.flush()

    def refresh(self):
        """Look at the file again, for frames that were flushed since it was opened.

        >>> traj = cenote.gsd.hoomd.open('traj.gsd')
        >>> seen = len(traj)
        >>> traj.refresh()
        >>> for frame in traj[seen:]:
        ...     print(frame.configuration.step)
        """
        _core(self._file).refresh()
        self._frames.forget()
        self._initial_frame = None

    def close(self):
        """Flush and close the file."""
        self._file.close()
        del self._initial_frame

    def read_many(self, name, frames=None, rows=None, threads=None):
        """Read one quantity over many frames, in parallel, as one array.

        A frame without the quantity inherits that of frame 0, or the default, as in ``traj[i]``.

        Args:
            name: The name of its chunks, such as ``'particles/position'`` or ``'log/energy'``.
            frames: A slice or a sequence of indices; the default is all frames.
            rows: A slice of step 1 of the rows (particles) of each frame.
            threads: The number of threads; the default is the number of processors, at most 8.

        Returns:
            numpy.ndarray: frames x rows, or frames x rows x columns.

        Raises:
            ValueError: Two frames differ in type or shape.
            KeyError: No frame has such a quantity.
        """
        if frames is None:
            frames = slice(None)
        length = len(self)
        if isinstance(frames, slice):
            numbers = list(range(*frames.indices(length)))
        else:
            numbers = [self._number(index, length) for index in frames]
        if threads is None:
            threads = min(os.cpu_count() or 1, 8)
        return self._frames.read_many(name, numbers, rows, threads)

    def to_xarray(self, names=None):
        """The trajectory as an ``xarray.Dataset``, whose arrays are read when they are used.

        >>> data = cenote.gsd.hoomd.open('traj.gsd').to_xarray()
        >>> data.position.isel(frame=slice(0, None, 10)).mean('particle').shape
        (10, 3)
        >>> spread = data.chunk(frame=100).velocity.std().compute()

        Variables are called as in a frame (``position``, ``box``), those of groups and logs with
        their container (``bonds.group``, ``log.energy``). The dimension of time is ``frame``, with
        the coordinate ``step``.

        Args:
            names: The names of chunks, such as ``['particles/position', 'log/energy']``; the
                default is all that are arrays.

        Raises:
            ValueError: The number of particles, bonds or others differs between frames.
            ImportError: xarray is not installed.
        """
        from ._tables import dataset

        return dataset(self, names)

    @staticmethod
    def _number(index, length):
        """The number of a frame, which may be counted from the end."""
        number = operator.index(index)
        if number < 0:
            number += length
        if not 0 <= number < length:
            raise IndexError
        return number

    def __getitem__(self, key):
        if isinstance(key, slice):
            return _HOOMDTrajectoryView(self, range(*key.indices(len(self))))
        if self._initial_frame is None and len(self) > 0:
            self._initial_frame = self._frames.read_initial()
        return self._frames.read(key, self._initial_frame)

    def __iter__(self):
        return _HOOMDTrajectoryIterable(self, range(len(self)))

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self._file.close()

    def __getstate__(self):
        return {**vars(self), '_frames': None, '_initial_frame': None}

    def __setstate__(self, state):
        vars(self).update(state)
        self._frames = _native.Trajectory(_core(self._file), sys.modules[__name__])


def _core(file):
    """The native file in a file of either module."""
    core = getattr(file, '_core', file)
    if not isinstance(core, fl.GSDFile):
        raise TypeError('a trajectory needs a file of cenote.gsd.fl or cenote.gsd.pygsd')
    return core


def open(name, mode='r', precision='single'):
    """Open a trajectory.

    >>> with cenote.gsd.hoomd.open('traj.gsd', 'w') as traj:
    ...     traj.append(cenote.gsd.hoomd.Frame())

    Args:
        name: A path, ``cenote://host/path`` (a path in a store), or for reading any URL or object
            that :func:`cenote.gsd.fl.open` takes.
        mode: ``'r'``, ``'r+'``, ``'w'``, ``'x'`` or ``'a'``: see :func:`cenote.gsd.fl.open`.
        precision: ``'single'`` or ``'double'``: how floating point numbers are written.

    Returns:
        HOOMDTrajectory: The trajectory.
    """
    file = fl.open(
        name=name,
        mode=mode,
        application='gsd.hoomd ' + version.version,
        schema='hoomd',
        schema_version=_SCHEMA_VERSION,
    )
    return HOOMDTrajectory(file, precision=precision)


def read_log(name, scalar_only=False, glob_pattern='*', *, as_frame=False):
    """Read all logged quantities of a file.

    Args:
        name: As in :func:`open`.
        scalar_only: Leave out quantities that are not one number for each frame.
        glob_pattern: Which names to read, such as ``'log/*energy*'``.
        as_frame: As a ``pandas.DataFrame``: a row for each frame, with the step as index, and a
            column for each number, such as ``log/pressure[0]`` of a quantity with several.

    Returns:
        dict[str, numpy.ndarray]: Arrays whose first axis is the frame, by name, with
        ``configuration/step`` first. Quantities that frame 0 does not have are omitted.
    """
    with fl.open(name=name, mode='r', schema='hoomd') as file:
        names = file.find_matching_chunk_names('log/')
        if glob_pattern != '*':
            names = fnfilter(names, glob_pattern)
        if not names:
            warnings.warn(f'No logged data in file: {name}', RuntimeWarning, stacklevel=2)
        logged = {}
        for log in ['configuration/step', *names]:
            value = _first_value(file, log)
            if value is not None and not (scalar_only and value.shape[0] != 1):
                logged[log] = _for_each_frame(value, file.nframes)
        _native.read_log(file, logged)
    if as_frame:
        from ._tables import frame_of_log

        return frame_of_log(logged)
    return logged


def _first_value(file, log):
    """The value of a quantity in frame 0, as an array, if there is one."""
    if not file.chunk_exists(frame=0, name=log):
        is_step = log == 'configuration/step'
        return numpy.array([0], dtype=numpy.uint64) if is_step else None
    value = file.read_chunk(frame=0, name=log)
    if isinstance(value, str):
        return numpy.array([value], dtype=_string_dtype())
    return value


def _string_dtype():
    if int(numpy.version.version.split('.')[0]) < 2:
        raise RuntimeError('read_log of strings requires numpy >= 2.0')
    return numpy.dtypes.StringDType


def _for_each_frame(value, nframes):
    """The value repeated for each frame; a single number does not get an axis."""
    if value.shape == (1,):
        return numpy.full(fill_value=value[0], shape=(nframes,), dtype=value.dtype)
    return numpy.tile(value, (nframes, *(1 for _ in value.shape)))


# How `append` handles values that are not yet arrays of the right type and shape.
# Each function returns the array to write, or None if it equals that of frame 0 or the default.


def _is_said(value, initial, default):
    if initial is not None:
        return numpy.array_equal(initial, value)
    return numpy.array_equiv(value, default)


def _one_chunk(value, initial, default, dtype, N, columns):
    return None if _is_said(value, initial, default) else numpy.array([value], dtype=dtype)


def _box_chunk(value, initial, default, dtype, N, columns):
    # A box always has single precision, however it is written.
    box = numpy.ascontiguousarray(value, dtype=numpy.float32).reshape([6])
    return None if _is_said(value, initial, default) else box.astype(dtype)


def _rows_chunk(value, initial, default, dtype, N, columns):
    array = numpy.ascontiguousarray(value, dtype=dtype)
    array = array.reshape([N] if columns == 1 else [N, columns])
    return None if _is_said(value, initial, default) else array


def _shapes_chunk(value, initial, default, dtype, N, columns):
    if _is_said(value, initial, default):
        return None
    from json import dumps

    texts = [dumps(shape).encode() for shape in value]
    width = max(map(len, texts), default=0) + 1
    packed = numpy.array(texts, dtype=numpy.dtype((bytes, width)))
    return packed.view(dtype=numpy.int8).reshape(len(texts), width)


def _shapes(texts):
    from json import loads

    return [loads(text) for text in texts]
