"""Files of the reference are read with the same results as by its own reader, version 5.0.1."""

import numpy
import pytest
from conftest import FIXTURES, sidecar

import cenote.gsd.hoomd
import cenote.gsd.pygsd

CASES = sorted(path.name for path in (FIXTURES / 'files').glob('*.r501.json'))


def described(value):
    """A value in the form of the sidecars."""
    if isinstance(value, numpy.ndarray):
        flat = value.ravel().tolist()
        return {
            'dtype': str(value.dtype),
            'shape': list(value.shape),
            'w': value.flags.writeable,
            'v': flat,
        }
    if isinstance(value, numpy.generic):
        return {'scalar': str(value.dtype), 'v': value.item()}
    return value


def described_frame(frame):
    containers = {
        name: ('N', 'types', 'typeid', 'group')
        for name in ('bonds', 'angles', 'dihedrals', 'impropers', 'pairs')
    }
    containers['configuration'] = ('step', 'dimensions', 'box')
    containers['particles'] = tuple(cenote.gsd.hoomd.ParticleData._default_value)
    containers['constraints'] = ('N', 'value', 'group')
    seen = {
        name: {field: described(getattr(getattr(frame, name), field)) for field in fields}
        for name, fields in containers.items()
    }
    seen['log'] = {name: described(value) for name, value in frame.log.items()}
    return seen


@pytest.mark.parametrize('case', CASES)
def test_frames_are_those_of_the_reference(case):
    expected = sidecar('files/' + case)['frames']
    with cenote.gsd.hoomd.open(FIXTURES / 'files' / case.replace('.r501.json', '')) as traj:
        assert len(traj) == len(expected)
        assert [described_frame(frame) for frame in traj] == expected


@pytest.mark.parametrize('case', CASES)
def test_frames_read_from_a_file_object_are_the_same(case):
    expected = sidecar('files/' + case)['frames']
    path = FIXTURES / 'files' / case.replace('.r501.json', '')
    with cenote.gsd.pygsd.GSDFile(path.open('rb')) as file:
        traj = cenote.gsd.hoomd.HOOMDTrajectory(file)
        assert [described_frame(frame) for frame in traj] == expected


@pytest.mark.parametrize('case', CASES)
def test_logs_are_those_of_the_reference(case):
    expected = sidecar('files/' + case)['read_log']
    if isinstance(expected, str):
        pytest.skip('the reference fails: ' + expected)
    path = FIXTURES / 'files' / case.replace('.r501.json', '')
    with pytest.warns() if len(expected) == 1 else _silence():
        seen = cenote.gsd.hoomd.read_log(path)
    assert list(seen) == list(expected)
    for name, value in expected.items():
        assert described(seen[name]) == {**value, 'w': True}


class _silence:
    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return None
