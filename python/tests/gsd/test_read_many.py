"""One quantity over many frames equals the values of the individual frames, whatever their source."""

import json

import numpy
import pytest

import cenote.gsd.hoomd
from cenote.gsd.hoomd import Frame

#: Every chunk of the schema.
CHUNKS = [
    f'{container}/{field}'
    for container in cenote.gsd.hoomd._CONTAINERS
    for field in getattr(Frame(), container)._default_value
]
#: In which of six frames, that have 4, 4, 5, 4, 0 and 4 of all things, the chunk itself is.
STORED = {'nowhere': (), 'in frame 0': (0,), 'later': (1, 3), 'in all': range(6)}
COUNTS = (4, 4, 5, 4, 0, 4)


def some_value(chunk, frame, rng):
    """A value that is not the default, of the shape that all frames of its N have."""
    container, field = chunk.split('/')
    default = getattr(frame, container)._default_value[field]
    N = COUNTS[0] if container == 'configuration' else getattr(frame, container).N
    if field == 'box':
        return rng.uniform(2, 9, 6).astype(numpy.float32)
    if field in ('step', 'dimensions'):
        return 2
    if field == 'types':
        return ['C', 'longer']
    if field == 'type_shapes':
        return [{'type': 'Sphere'}]
    default = numpy.asarray(default)
    return rng.integers(2, 9, (N, *default.shape)).astype(default.dtype)


def written(path, chunk, stored):
    """A file in which a chunk is in some of the frames."""
    container, field = chunk.split('/')
    rng = numpy.random.default_rng(7)
    with cenote.gsd.hoomd.open(path, 'w') as traj:
        for number, count in enumerate(COUNTS):
            frame = Frame()
            # Other chunks keep frames without this one in the file.
            frame.log['number'] = numpy.array([number])
            if container != 'configuration' and (field != 'N' or number in stored):
                getattr(frame, container).N = count
            if number in stored and field != 'N':
                setattr(getattr(frame, container), field, some_value(chunk, frame, rng))
            traj.append(frame)


def as_stored(chunk, value):
    """The value of a frame as it is, or would be, in the file."""
    field = chunk.split('/')[1]
    if field == 'type_shapes':
        value = [json.dumps(shape) for shape in value]
    if field in ('types', 'type_shapes'):
        width = max(map(len, value), default=0) + 1
        cells = [text.encode().ljust(width, b'\0') for text in value]
        rows = numpy.frombuffer(b''.join(cells), dtype=numpy.int8)
        return rows.reshape(len(value), width) if width > 1 else rows
    return numpy.atleast_1d(numpy.asarray(value))


@pytest.mark.parametrize('stored', STORED)
@pytest.mark.parametrize('chunk', CHUNKS)
def test_every_chunk_of_the_schema(tmp_path, chunk, stored):
    container, field = chunk.split('/')
    written(tmp_path / 'a.gsd', chunk, STORED[stored])
    # Earlier content of this memory must not be visible.
    del [numpy.full((6, n), 0x77, dtype=numpy.uint8) for n in range(1, 600)][:]
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd') as traj:
        each = [as_stored(chunk, getattr(getattr(frame, container), field)) for frame in traj]
        for frames in ([0, 1, 3, 5], [2], [4], [1, 0], [3, 3, 3]):
            expected = [each[number] for number in frames]
            if len({value.shape for value in expected}) > 1:
                with pytest.raises(ValueError, match='read them one by one'):
                    traj.read_many(chunk, frames)
                continue
            for rows in (None, slice(0, 1), slice(1, None), slice(-1, None), slice(2, 2)):
                found = traj.read_many(chunk, frames, rows=rows)
                wanted = numpy.stack([value[rows or slice(None)] for value in expected])
                assert found.dtype == wanted.dtype or wanted.dtype == int
                numpy.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize('dtype', ['u1', 'i2', 'u4', 'i8', 'f4', 'f8'])
def test_logs_of_every_type_and_shape(tmp_path, dtype):
    shapes = {'one': (1,), 'row': (1, 3), 'many': (4,), 'table': (4, 3), 'none': (0,)}
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd', 'w') as traj:
        for number in range(4):
            frame = Frame()
            for name, shape in shapes.items():
                if number in (0, 2):
                    frame.log[name] = numpy.full(shape, number + 1, dtype=dtype)
            frame.log['note'] = 'abcd'[number:] + 'xyz'[:number]
            traj.append(frame)
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd') as traj:
        for name, shape in shapes.items():
            found = traj.read_many(f'log/{name}')
            wanted = numpy.stack([numpy.full(shape, n, dtype=dtype) for n in (1, 1, 3, 1)])
            assert found.dtype == wanted.dtype
            numpy.testing.assert_array_equal(found, wanted)
        texts = traj.read_many('log/note').reshape(4, -1)
        assert [row.tobytes().decode() for row in texts] == ['abcd', 'bcdx', 'cdxy', 'dxyz']
