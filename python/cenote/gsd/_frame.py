"""Frames of the HOOMD schema, and their containers.

A frame that was read holds the values of its own chunks. Inherited values (from frame 0, or the
defaults) are filled in on first access, in ``_inherit``; ``__dict__``, and with it ``vars``,
``copy`` and ``pickle``, see all values filled in.
"""

import copy
from collections import OrderedDict

import numpy


class _Stored:
    """Defines the ordinary ``__dict__`` of an instance."""


class _Nothing:
    """What frame 0 inherits from: a singleton, also when it is copied or pickled."""

    def __reduce__(self):
        return '_NOTHING'


_NOTHING = _Nothing()


class Part(_Stored):
    """Attributes, some of which are filled in on first access."""

    _own = _Stored.__dict__['__dict__']
    #: What an instance that was read inherits from; None for instances created by the user.
    _initial = None
    #: The attributes that are inherited.
    _inherited = ()

    def __getattr__(self, name):
        initial = self._initial
        if name not in self._inherited or (initial is None and not self._is_made_late(name)):
            message = f'{type(self).__name__!r} object has no attribute {name!r}'
            raise AttributeError(message)
        value = self._inherit(name, initial)
        self._own[name] = value
        return value

    def _is_made_late(self, name):
        return False

    @property
    def __dict__(self):
        own = self._own
        for name in self._inherited:
            if name not in own and (self._initial is not None or self._is_made_late(name)):
                getattr(self, name)
        own.pop('_initial', None)
        own.pop('_pending', None)
        return own

    # A copy has all values filled in: it depends neither on frame 0 nor on the file.

    def __getstate__(self):
        return dict(self.__dict__)

    def __setstate__(self, state):
        self._own.update(state)


class ConfigurationData(Part):
    """Step, dimensions and box.

    Attributes:
        step (int): Time step.
        dimensions (int): 2 or 3. Setting ``box`` sets it if it is None.
        box (numpy.ndarray): Lx, Ly, Lz, xy, xz, yz.
    """

    _default_value = OrderedDict(
        step=numpy.uint64(0),
        dimensions=numpy.uint8(3),
        box=numpy.array([1, 1, 1, 0, 0, 0], dtype=numpy.float32),
    )
    _inherited = ('step', 'dimensions', '_box')

    def __init__(self):
        self.step = None
        self.dimensions = None
        self._box = None

    @property
    def box(self):
        """numpy.ndarray: Lx, Ly, Lz, xy, xz, yz."""
        return self._box

    @box.setter
    def box(self, box):
        self._box = box
        try:
            Lz = box[2]
        except TypeError:
            return
        if self.dimensions is None:
            self.dimensions = 2 if Lz == 0 else 3

    def _inherit(self, name, initial):
        if initial is _NOTHING:
            return copy.copy(self._default_value[name.lstrip('_')])
        return copy.copy(getattr(initial, name))

    def cast(self):
        """The arrays to write, as a dictionary."""
        if self.box is None:
            return {}
        return {'box': numpy.ascontiguousarray(self.box, dtype=numpy.float32).reshape([6])}

    def validate(self, inplace=False):
        """Check the shapes, and with ``inplace`` replace the arrays with those of :meth:`cast`."""
        if inplace and self.box is not None:
            self.box = self.cast()['box']


class Things(Part):
    """N elements, each of which has a row in some arrays."""

    #: name: (dtype or None for floating point, columns)
    _arrays = {}

    def _inherit(self, name, initial):
        pending = self._own.get('_pending')
        if pending and name in pending:
            file, chunk = pending.pop(name)
            return file.read_chunk(0, chunk)
        if name == 'N':
            return 0 if initial is _NOTHING else initial.N
        if name not in self._arrays:
            source = self._default_value[name] if initial is _NOTHING else getattr(initial, name)
            return copy.copy(source)
        return self._inherit_array(name, initial)

    def _inherit_array(self, name, initial):
        if initial is not _NOTHING and initial.N == self.N:
            array = getattr(initial, name)
        else:
            default = numpy.asarray(self._default_value[name])
            array = numpy.empty((self.N, *default.shape), dtype=default.dtype)
            array[:] = default
        array.flags.writeable = False
        return array

    def _read_later(self, name, where):
        """Leave a large array of frame 0 in the file until it is accessed."""
        self._own.setdefault('_pending', {})[name] = where

    def _have(self, name, array):
        """Read an array that was left in the file."""
        self._own.get('_pending', {}).pop(name, None)
        self._own[name] = array

    def cast(self):
        """The arrays to write, as a dictionary."""
        casted = {}
        for name, (dtype, columns) in self._arrays.items():
            value = getattr(self, name)
            if value is not None:
                shape = [self.N] if columns == 1 else [self.N, columns]
                array = numpy.ascontiguousarray(value, dtype=dtype or _precision(value))
                casted[name] = array.reshape(shape)
        self._check_types()
        return casted

    def validate(self, inplace=False):
        """Check the types, and with ``inplace`` replace the arrays with those of :meth:`cast`."""
        if inplace:
            for name, array in self.cast().items():
                setattr(self, name, array)
        self._check_types()

    def _check_types(self):
        types = self._own.get('types')
        if types is not None and len(set(types)) != len(types):
            msg = 'Type names must be unique.'
            raise ValueError(msg)


def _precision(value):
    """Values are stored in single precision unless they are given in double precision."""
    if isinstance(value, (list, tuple)) or value.dtype == numpy.float64:
        return numpy.float64
    return numpy.float32


class ParticleData(Things):
    """The particles of a frame.

    Attributes:
        N (int): Their number.
        types (list[str]): The names of the types.
        typeid, mass, charge, diameter, body: Arrays of N.
        position, velocity, moment_inertia, image: Arrays of N x 3.
        orientation, angmom: Arrays of N x 4.
        type_shapes (list[dict]): A shape for each type.
    """

    _default_value = OrderedDict(
        N=numpy.uint32(0),
        types=['A'],
        typeid=numpy.uint32(0),
        mass=numpy.float32(1.0),
        charge=numpy.float32(0),
        diameter=numpy.float32(1.0),
        body=numpy.int32(-1),
        moment_inertia=numpy.array([0, 0, 0], dtype=numpy.float32),
        position=numpy.array([0, 0, 0], dtype=numpy.float32),
        orientation=numpy.array([1, 0, 0, 0], dtype=numpy.float32),
        velocity=numpy.array([0, 0, 0], dtype=numpy.float32),
        angmom=numpy.array([0, 0, 0, 0], dtype=numpy.float32),
        image=numpy.array([0, 0, 0], dtype=numpy.int32),
        type_shapes=[{}],
    )
    _inherited = tuple(_default_value)
    _arrays = {
        'typeid': (numpy.uint32, 1),
        'mass': (None, 1),
        'charge': (None, 1),
        'diameter': (None, 1),
        'body': (numpy.int32, 1),
        'moment_inertia': (None, 3),
        'position': (None, 3),
        'orientation': (None, 4),
        'velocity': (None, 3),
        'angmom': (None, 4),
        'image': (numpy.int32, 3),
    }

    def __init__(self):
        self.N = 0
        self.position = None
        self.orientation = None
        self.types = None
        self.typeid = None
        self.mass = None
        self.charge = None
        self.diameter = None
        self.body = None
        self.moment_inertia = None
        self.velocity = None
        self.angmom = None
        self.image = None
        self.type_shapes = None


class BondData(Things):
    """The bonds, angles, dihedrals, impropers or special pairs of a frame.

    Args:
        M (int): The number of particles in each.

    Attributes:
        N (int): Their number.
        types (list[str]): The names of the types.
        typeid (numpy.ndarray): N.
        group (numpy.ndarray): N x M, tags of particles.
    """

    _inherited = ('N', 'types', 'typeid', 'group')
    _by_M = {}

    def __init__(self, M):
        self.M = M
        self.N = 0
        self.types = None
        self.typeid = None
        self.group = None

    @property
    def _arrays(self):
        return {'typeid': (numpy.uint32, 1), 'group': (numpy.uint32, self.M)}

    @property
    def _default_value(self):
        found = self._by_M.get(self.M)
        if found is None:
            found = self._by_M[self.M] = OrderedDict(
                N=numpy.uint32(0),
                types=[],
                typeid=numpy.uint32(0),
                group=numpy.zeros(self.M, dtype=numpy.uint32),
            )
        return found


class ConstraintData(Things):
    """The pairwise distance constraints of a frame.

    Attributes:
        N (int): Their number.
        value (numpy.ndarray): N, distances.
        group (numpy.ndarray): N x 2, tags of particles.
    """

    _default_value = OrderedDict(
        N=numpy.uint32(0),
        value=numpy.float32(0),
        group=numpy.zeros(2, dtype=numpy.uint32),
    )
    _inherited = tuple(_default_value)
    _arrays = {'value': (None, 1), 'group': (numpy.uint32, 2)}

    def __init__(self):
        self.M = 2
        self.N = 0
        self.value = None
        self.group = None


def blank(cls, M=None):
    """An instance of which no attribute but ``M`` is filled in yet."""
    part = object.__new__(cls)
    if M is not None:
        part.M = M
    return part
