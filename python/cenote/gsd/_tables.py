"""Trajectories as pandas and xarray have them; both are optional, and imported when they are used."""

import numpy

#: The dimension of the columns of a quantity, by its number of columns.
_COLUMNS = {3: 'xyz', 4: 'quaternion'}
_GROUPS = ('bonds', 'angles', 'dihedrals', 'impropers', 'constraints', 'pairs')
#: Texts, which are no arrays.
_TEXTS = ('types', 'type_shapes')
#: What a frame counts or numbers itself.
_COUNTS = ('N', 'step', 'dimensions')


def frame_of_log(logged):
    """The quantities of :func:`cenote.gsd.hoomd.read_log` as a table: a row for each frame."""
    pandas = _optional('pandas')
    columns = {}
    for name, values in logged.items():
        if values.ndim == 1:
            columns[name] = values
            continue
        flat = values.reshape(len(values), -1)
        places = numpy.ndindex(values.shape[1:])
        columns.update(
            (f'{name}[{", ".join(map(str, place))}]', flat[:, number])
            for number, place in enumerate(places)
        )
    steps = columns.pop('configuration/step', None)
    return pandas.DataFrame(columns, index=pandas.Index(steps, name='step'))


def dataset(trajectory, names=None):
    """A trajectory as a dataset whose arrays are read when they are used."""
    xarray = _optional('xarray')
    if names is None:
        names = [name for name in _names(trajectory) if _is_array(name)]
    variables = {}
    for name in names:
        quantity = _Quantity.of(trajectory, name)
        variables[_label(name)] = (quantity.dims, quantity.lazy(), {'chunk': name})
    length = len(trajectory)
    steps = trajectory.read_many('configuration/step') if length else numpy.zeros(0, dtype='uint64')
    coordinates = {'step': ('frame', steps.reshape(length)), 'frame': numpy.arange(length)}
    attributes = {'types': trajectory[0].particles.types} if length else {}
    return xarray.Dataset(variables, coordinates, attributes)


def _names(trajectory):
    return trajectory.file.find_matching_chunk_names('')


def _is_array(name):
    """Whether a quantity is one array for each frame."""
    container, _, field = name.partition('/')
    known = container in ('configuration', 'particles', 'log', *_GROUPS)
    return known and (container == 'log' or field not in (*_TEXTS, *_COUNTS))


def _label(name):
    """The name of a variable: without slashes, which separate groups in files."""
    container, _, field = name.partition('/')
    field = field.replace('/', '.')
    return field if container in ('particles', 'configuration') else f'{container}.{field}'


def _dims(name, shape):
    """The dimensions of a quantity of this shape."""
    container, _, field = name.partition('/')
    if container == 'configuration':
        return ('frame', field)[: len(shape)]
    if container == 'log':
        return ('frame', *(f'{_label(name)}_{axis}' for axis in range(len(shape) - 1)))
    rows = container.removesuffix('s')
    columns = 'member' if field == 'group' else _COLUMNS.get(shape[-1], 'column')
    columns = columns if container == 'particles' else f'{rows}_{columns}'
    return ('frame', rows, columns)[: len(shape)]


class _Quantity:
    """One quantity of all frames, which have the same shape."""

    def __init__(self, trajectory, name, shape, dtype):
        self.trajectory, self.name, self.shape, self.dtype = trajectory, name, shape, dtype
        self.dims = _dims(name, shape)

    @classmethod
    def of(cls, trajectory, name):
        """The quantity, whose shape is that of the first frame."""
        first = trajectory.read_many(name, [0])
        container = name.partition('/')[0]
        if container in ('particles', *_GROUPS):
            counts = numpy.unique(trajectory.read_many(f'{container}/N'))
            if len(counts) > 1:
                raise ValueError(
                    f'{name}: frames have from {counts[0]} to {counts[-1]} {container}, and an array'
                    ' has as many in each; name the quantities that are needed, or use some frames'
                )
        # A logged number is an array of one.
        shape = () if container == 'log' and first.shape[1:] == (1,) else first.shape[1:]
        return cls(trajectory, name, (len(trajectory), *shape), first.dtype)

    def lazy(self):
        """An array of xarray that reads what is indexed."""
        from xarray.backends import BackendArray
        from xarray.core import indexing

        quantity, outer = self, indexing.IndexingSupport.OUTER

        class Lazy(BackendArray):
            shape, dtype = quantity.shape, quantity.dtype

            def __getitem__(self, key):
                return indexing.explicit_indexing_adapter(key, quantity.shape, outer, quantity.read)

        return indexing.LazilyIndexedArray(Lazy())

    def read(self, key):
        """What a number, slice or array of numbers for each dimension selects."""
        frames, *rest = key
        numbers = numpy.arange(self.shape[0])[frames]
        rows = None
        if rest and isinstance(rest[0], slice) and self.name.partition('/')[0] == 'particles':
            start, stop, step = rest[0].indices(self.shape[1])
            if step > 0 and start < stop:
                rows, rest[0] = slice(start, stop), slice(None, None, step)
        wanted = numpy.atleast_1d(numbers).tolist()
        if wanted:
            data = self.trajectory.read_many(self.name, wanted, rows=rows)
            data = data.reshape(len(wanted)) if len(self.shape) == 1 else data
        else:
            data = numpy.zeros((0, *self.shape[1:]), dtype=self.dtype)
        # From the last one on, since a number removes its dimension.
        for axis in range(len(rest), 0, -1):
            data = data[(slice(None),) * axis + (rest[axis - 1],)]
        return data if numpy.ndim(numbers) else data[0]


def _optional(name):
    """A package that is needed here only."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f'this needs the package {name}: pip install {name}', name=name) from error
