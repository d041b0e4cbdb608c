"""The file layer: differences from the reference, and additions to it."""

import io
import logging
import os
import pickle
import subprocess
import sys

import numpy
import pytest

import cenote.gsd.fl
import cenote.gsd.hoomd
import cenote.gsd.pygsd


@pytest.fixture
def path(tmp_path):
    path = tmp_path / 'file.gsd'
    with create(path) as file:
        file.write_chunk('rows', numpy.arange(30, dtype=numpy.float32).reshape(10, 3))
        file.write_chunk('text', 'hello')
        file.end_frame()
        file.write_chunk('rows', numpy.arange(10, dtype=numpy.uint16))
        file.end_frame()
    return path


def create(path, mode='w'):
    return cenote.gsd.fl.open(path, mode, 'test', 'none', [1, 2])


class Ranges:
    """A source that counts its requests."""

    def __init__(self, data):
        self.data = data
        self.size = len(data)
        self.requests = 0

    def read_range(self, offset, length):
        self.requests += 1
        return self.data[offset : offset + length]


@pytest.mark.parametrize('source', [io.BytesIO, Ranges])
def test_any_source_can_be_read(path, source):
    file = cenote.gsd.fl.open(source(path.read_bytes()), 'r')
    assert file.nframes == 2
    assert file.read_chunk(0, 'rows').tolist() == numpy.arange(30).reshape(10, 3).tolist()
    assert file.read_chunk(0, 'text') == 'hello'


def test_a_source_gets_few_requests(path):
    source = Ranges(path.read_bytes())
    file = cenote.gsd.fl.open(source, 'r')
    file.read_chunk(0, 'rows')
    file.read_chunk(1, 'rows')
    assert source.requests == 1


def test_an_error_of_a_source_is_propagated(path):
    class Broken(Ranges):
        def read_range(self, offset, length):
            raise ConnectionError('gone')

    with pytest.raises(ConnectionError, match='gone'):
        cenote.gsd.fl.open(Broken(path.read_bytes()), 'r')


def test_a_source_that_gives_too_little_is_an_error(path):
    class Short(Ranges):
        def read_range(self, offset, length):
            return super().read_range(offset, length)[:-1]

    with pytest.raises(OSError, match='shorter'):
        cenote.gsd.fl.open(Short(path.read_bytes()), 'r')


def test_a_source_is_only_read(path):
    with pytest.raises(ValueError, match="Only mode 'r'"):
        cenote.gsd.fl.open(io.BytesIO(path.read_bytes()), 'a')
    file = cenote.gsd.fl.open(io.BytesIO(path.read_bytes()), 'r')
    with pytest.raises(RuntimeError, match='must be writable'):
        file.end_frame()


@pytest.mark.parametrize('rows', [slice(2, 5), slice(None, 3), slice(-2, None), slice(4, 4)])
def test_some_rows_of_a_chunk(path, rows):
    with cenote.gsd.fl.open(path, 'r') as file:
        for frame in (0, 1):
            whole = file.read_chunk(frame, 'rows')
            part = file.read_chunk(frame, 'rows', rows=rows)
            numpy.testing.assert_array_equal(part, whole[rows])
            assert part.dtype == whole.dtype


def test_rows_are_read_with_step_1(path):
    with cenote.gsd.fl.open(path, 'r') as file, pytest.raises(NotImplementedError):
        file.read_chunk(0, 'rows', rows=slice(0, 10, 2))


def test_strings_are_any_text(path):
    texts = ['', 'a', 'naïve', '中文', 'x' * 5000]
    with create(path) as file:
        for text in texts:
            file.write_chunk('text', text)
            file.end_frame()
    with cenote.gsd.fl.open(path, 'r') as file:
        assert [file.read_chunk(i, 'text') for i in range(len(texts))] == texts


@pytest.mark.parametrize('name', ['', 'a\0b'])
def test_names_that_would_corrupt_the_file_are_refused(path, name):
    with create(path) as file, pytest.raises(RuntimeError, match='Invalid gsd argument'):
        file.write_chunk(name, numpy.zeros(1))


def test_many_empty_frames(path):
    with create(path) as file:
        for _ in range(200):
            file.end_frame()
        file.write_chunk('a', numpy.zeros(1))
        file.end_frame()
    with cenote.gsd.fl.open(path, 'r') as file:
        assert file.nframes == 201


def test_a_closed_file(path):
    file = cenote.gsd.fl.open(path, 'r')
    file.close()
    file.close()
    assert (file.name, file.mode, file.schema) == (str(path), 'r', 'none')
    assert file.schema_version == (1, 2)
    assert not file.chunk_exists(0, 'rows')
    for use in (
        lambda: file.nframes,
        lambda: file.read_chunk(0, 'rows'),
        lambda: file.find_matching_chunk_names(''),
        file.flush,
        file.end_frame,
        file.truncate,
        file.upgrade,
    ):
        with pytest.raises(ValueError, match='File is not open'):
            use()


@pytest.mark.parametrize(
    ('mode', 'error', 'text'),
    [
        ('r', FileNotFoundError, 'No such file'),
        ('rb', ValueError, 'Invalid mode: rb'),
        ('w', ValueError, 'Provide application when creating a file'),
    ],
)
def test_opening_invalid_files(tmp_path, mode, error, text):
    with pytest.raises(error, match=text):
        cenote.gsd.fl.open(tmp_path / 'none.gsd', mode)


def test_an_existing_file_is_not_recreated(path):
    with pytest.raises(FileExistsError) as raised:
        create(path, 'x')
    assert raised.value.filename == str(path)


def test_frame_numbers(path):
    with cenote.gsd.fl.open(path, 'r') as file:
        assert file.chunk_exists(1.9, 'rows')
        assert not file.chunk_exists(-1, 'rows')
        with pytest.raises(OverflowError):
            file.chunk_exists(2**63, 'rows')
        with pytest.raises(KeyError, match='frame 2 / chunk rows not found in'):
            file.read_chunk(2, 'rows')


def test_arrays_that_must_be_copied_are_logged(path, caplog):
    with caplog.at_level(logging.WARNING, 'gsd.fl'), create(path) as file:
        file.write_chunk('plain', numpy.zeros((3, 2)))
        assert not caplog.records
        file.write_chunk('turned', numpy.zeros((3, 2)).T)
    assert caplog.messages == ['implicit data copy when writing chunk: turned']


def test_opened_files_are_logged(path, caplog):
    with caplog.at_level(logging.INFO, 'gsd'):
        cenote.gsd.fl.open(path, 'r').close()
    assert caplog.messages == [f'opening file: {path} with mode: r', f'closing file: {path}']
    loggers = [module.logger.name for module in (cenote.gsd.fl, cenote.gsd.hoomd, cenote.gsd.pygsd)]
    assert loggers == ['gsd.fl', 'gsd.hoomd', 'gsd.pygsd']
    with pytest.raises(AttributeError, match='no attribute .loger.'):
        cenote.gsd.fl.loger


def test_large_modules_are_imported_only_when_needed(path):
    program = """
import sys, numpy
before = set(sys.modules)
import cenote.gsd.hoomd
cenote.gsd.fl.open(sys.argv[1], 'r').read_chunk(0, 'rows')
print({'logging', 'json'} & (set(sys.modules) - before))
"""
    command = [sys.executable, '-c', program, str(path)]
    assert subprocess.run(command, check=True, capture_output=True).stdout == b'set()\n'


@pytest.mark.parametrize(
    'data', [numpy.zeros((2, 2, 2)), numpy.array(['a']), numpy.zeros(2, '>f4'), object()]
)
def test_values_that_a_chunk_cannot_hold(path, data):
    with create(path) as file, pytest.raises(ValueError, match='thing'):
        file.write_chunk('thing', data)


def test_read_only_files_can_be_pickled(path):
    with cenote.gsd.fl.open(path, 'r') as file:
        again = pickle.loads(pickle.dumps(file))
        assert again.read_chunk(0, 'text') == 'hello'
    with cenote.gsd.fl.open(path, 'r+') as file, pytest.raises(pickle.PickleError):
        pickle.dumps(file)


def test_a_forgotten_file_is_flushed(path):
    file = create(path)
    file.write_chunk('a', numpy.zeros(3))
    file.end_frame()
    del file
    with cenote.gsd.fl.open(path, 'r') as file:
        assert file.nframes == 1


def test_a_file_that_shrank_is_an_error(path):
    file = cenote.gsd.fl.open(path, 'r')
    os.truncate(path, path.stat().st_size - 30)
    with pytest.raises(OSError, match='shorter than its index says'):
        file.read_chunk(1, 'rows')
