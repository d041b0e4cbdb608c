"""The names, signatures, exceptions and help of the modules, compared with those of the reference."""

import importlib
import inspect

import numpy
import pytest

import cenote.gsd.fl
import cenote.gsd.hoomd
import cenote.gsd.pygsd

MODULES = ('fl', 'hoomd', 'pygsd', 'version')
#: What the modules of the reference import, and has no meaning of theirs.
IMPORTED = {'OrderedDict', 'copy', 'fnfilter', 'gsd', 'json', 'logging', 'namedtuple', 'numpy'}
IMPORTED |= {'os', 'struct', 'sys', 'warnings'}
#: The public names of `gsd` 5.0.1, with the arguments of those that are called.
NAMES = {
    'fl': {
        'GSDFile': None,
        'PickleError': None,
        'logger': None,
        'open': '(name, mode, application=None, schema=None, schema_version=None)',
    },
    'hoomd': {
        'BondData': '(M)',
        'ConfigurationData': '()',
        'ConstraintData': '()',
        'Frame': '()',
        'HOOMDTrajectory': "(file, precision='single')",
        'ParticleData': '()',
        '_HOOMDTrajectoryIterable': '(trajectory, indices)',
        '_HOOMDTrajectoryView': '(trajectory, indices)',
        'fl_imported': None,
        'logger': None,
        'open': "(name, mode='r', precision='single')",
        'read_log': "(name, scalar_only=False, glob_pattern='*')",
    },
    'pygsd': {
        'GSDFile': '(file)',
        'gsd_header': '(magic, index_location, index_allocated_entries, namelist_location,'
        ' namelist_allocated_entries, schema_version, gsd_version, application, schema, reserved)',
        'gsd_header_struct': None,
        'gsd_index_entry': '(frame, N, location, M, id, type, flags)',
        'gsd_index_entry_struct': None,
        'gsd_type_mapping': None,
        'logger': None,
        'version': None,
    },
    'version': {'version': None},
}
#: The public members of its classes, with the arguments of methods.
MEMBERS = {
    'fl.GSDFile': {
        'application': None,
        'chunk_exists': '(frame, name)',
        'close': '()',
        'end_frame': '()',
        'find_matching_chunk_names': '(match)',
        'flush': '()',
        'gsd_version': None,
        'maximum_write_buffer_size': None,
        'mode': None,
        'name': None,
        'nframes': None,
        'read_chunk': '(frame, name)',
        'schema': None,
        'schema_version': None,
        'truncate': '()',
        'upgrade': '()',
        'write_chunk': '(name, data)',
    },
    'pygsd.GSDFile': {
        'application': None,
        'chunk_exists': '(frame, name)',
        'close': '()',
        'end_frame': '()',
        'file': None,
        'find_matching_chunk_names': '(match)',
        'gsd_version': None,
        'mode': None,
        'name': None,
        'nframes': None,
        'read_chunk': '(frame, name)',
        'schema': None,
        'schema_version': None,
        'truncate': '()',
        'write_chunk': '(name, data)',
    },
    'hoomd.HOOMDTrajectory': {
        'append': '(frame)',
        'close': '()',
        'extend': '(iterable)',
        'file': None,
        'flush': '()',
        'precision': None,
        'truncate': '()',
    },
    'hoomd.Frame': {'validate': '(inplace=False)'},
    'hoomd.ConfigurationData': {'box': None, 'cast': '()', 'validate': '(inplace=False)'},
    'hoomd.ParticleData': {'cast': '()', 'validate': '(inplace=False)'},
    'hoomd.BondData': {'cast': '()', 'validate': '(inplace=False)'},
    'hoomd.ConstraintData': {'cast': '()', 'validate': '(inplace=False)'},
}


def module(package, name):
    return importlib.import_module(f'{package}.{name}')


def member(package, path):
    """The object at a dotted path."""
    name, *rest = path.split('.')
    found = module(package, name)
    for part in rest:
        found = getattr(found, part)
    return found


def arguments(function):
    """Its parameters: names and defaults, without annotations and `self`."""
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in inspect.signature(function).parameters.items()
        if name != 'self'
    ]
    return inspect.Signature(parameters)


def takes(function, expected):
    """Whether a function accepts every call of this signature; it may accept more."""
    if expected is None:
        return True
    names = arguments(function).parameters
    wanted = [part.strip() for part in expected.strip('()').split(',') if part.strip()]
    found = [str(parameter) for parameter in names.values()]
    more = list(names.values())[len(wanted) :]
    return found[: len(wanted)] == wanted and all(
        parameter.default is not inspect.Parameter.empty for parameter in more
    )


@pytest.mark.parametrize('name', MODULES)
def test_every_name_of_the_reference_exists(name):
    for public, expected in NAMES[name].items():
        assert takes(getattr(module('cenote.gsd', name), public), expected), public


@pytest.mark.parametrize('path', MEMBERS)
def test_every_member_of_the_reference_exists(path):
    for public, expected in MEMBERS[path].items():
        assert takes(getattr(member('cenote.gsd', path), public), expected), public


def test_the_tables_are_those_of_the_reference():
    pytest.importorskip('gsd.fl')
    for name in MODULES:
        real = {n for n in dir(module('gsd', name)) if not n.startswith('__')} - IMPORTED
        assert real == set(NAMES[name]), name
    for path, members in MEMBERS.items():
        own = {n for n in dir(member('gsd', path)) if not n.startswith('_')}
        assert own == set(members), path


def test_the_layout_is_that_of_the_reference():
    real = pytest.importorskip('gsd.pygsd')
    ours = cenote.gsd.pygsd
    assert ours.gsd_type_mapping == real.gsd_type_mapping
    assert ours.gsd_header._fields == real.gsd_header._fields
    assert ours.gsd_index_entry._fields == real.gsd_index_entry._fields
    assert ours.gsd_header_struct.format == real.gsd_header_struct.format
    assert ours.gsd_index_entry_struct.format == real.gsd_index_entry_struct.format


def test_the_structure_of_a_file_can_be_inspected(fixture_file):
    data = fixture_file('g5_one.gsd').read_bytes()
    ours = cenote.gsd.pygsd
    header = ours.gsd_header._make(ours.gsd_header_struct.unpack(data[:256]))
    assert header.magic == 0x65DF65DF65DF65DF
    entry = data[header.index_location :][: ours.gsd_index_entry_struct.size]
    entry = ours.gsd_index_entry._make(ours.gsd_index_entry_struct.unpack(entry))
    assert (entry.N, ours.gsd_type_mapping[entry.type][0]) == (3, 'float32')


CALLS = {
    'chunk_exists': (0, 'a'),
    'read_chunk': (0, 'a'),
    'write_chunk': ('a', numpy.zeros(2)),
    'find_matching_chunk_names': ('',),
}
#: What the reference raises on a closed file; what it answers otherwise.
CLOSED = {
    'chunk_exists': False,
    'close': None,
    **dict.fromkeys(
        'end_frame find_matching_chunk_names flush maximum_write_buffer_size nframes read_chunk'
        ' truncate upgrade write_chunk'.split(),
        ValueError,
    ),
}


def outcome(file, name):
    """The value of a member, or the exception."""
    try:
        found = getattr(file, name)
        return found(*CALLS.get(name, ())) if callable(found) else found
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize('mode', ['r', 'r+'])
@pytest.mark.parametrize('name', MEMBERS['fl.GSDFile'])
def test_a_closed_file_behaves_like_the_reference(fixture_file, name, mode):
    path = fixture_file('g5_one.gsd')
    file = cenote.gsd.fl.open(path, mode)
    known = outcome(file, name)
    file.close()
    expected = CLOSED.get(name, known)
    if expected is ValueError:
        expected = ValueError, 'File is not open'
    assert outcome(file, name) == expected


@pytest.mark.parametrize('mode', ['r', 'r+'])
def test_closed_files_are_those_of_the_reference(fixture_file, mode):
    reference = pytest.importorskip('gsd.fl')
    path = fixture_file('g5_one.gsd')
    files = reference.open(str(path), mode), cenote.gsd.fl.open(path, mode)
    for file in files:
        file.close()
    for name in MEMBERS['fl.GSDFile']:
        assert outcome(files[1], name) == outcome(files[0], name), name


def test_a_closed_pygsd_file(fixture_file):
    file = cenote.gsd.pygsd.GSDFile(fixture_file('g5_one.gsd').open('rb'))
    file.close()
    file.close()
    for name in ('chunk_exists', 'read_chunk', 'find_matching_chunk_names', 'nframes'):
        assert outcome(file, name) == (ValueError, 'File is not open')
    assert file.schema == 'golden'


def public(module):
    """The public functions, classes and members of a module, by their paths."""
    for name, value in vars(module).items():
        own = getattr(value, '__module__', '').startswith(('cenote', 'gsd.'))
        if name.startswith('_') or not own or not callable(value):
            continue
        yield f'{module.__name__}.{name}', value
        if inspect.isclass(value):
            for part, inner in vars(value).items():
                if not part.startswith('_') and (callable(inner) or hasattr(inner, '__get__')):
                    yield f'{module.__name__}.{name}.{part}', inner


def test_every_public_name_has_help():
    modules = [importlib.import_module('cenote.gsd')]
    modules += [module('cenote.gsd', name) for name in (*MODULES, 'alias', '_frame', '__main__')]
    found = dict(pair for module in modules for pair in public(module))
    assert len(found) > 60
    without = [path for path, value in found.items() if not (inspect.getdoc(value) or '').strip()]
    without += [module.__name__ for module in modules if not module.__doc__]
    assert not without


@pytest.mark.parametrize('path', ['fl.GSDFile', 'hoomd.HOOMDTrajectory', 'hoomd.Frame', 'fl.open'])
def test_help_contains_examples(path):
    import pydoc

    text = pydoc.plain(pydoc.render_doc(member('cenote.gsd', path)))
    assert '>>>' in text, 'an example'
    assert 'Args:' in text or 'Attributes:' in text
    assert all(name in text for name in MEMBERS.get(path, {}))
