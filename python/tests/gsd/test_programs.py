"""``python -m cenote.gsd``, and being imported as ``gsd``."""

import subprocess
import sys

import pytest

import cenote.gsd.hoomd


@pytest.fixture
def path(tmp_path):
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd', 'w') as traj:
        traj.append(cenote.gsd.hoomd.Frame())
        frame = cenote.gsd.hoomd.Frame()
        frame.configuration.step = 7
        traj.append(frame)
    return tmp_path / 'a.gsd'


def run(*arguments, program=('-m', 'cenote.gsd'), standard_input=''):
    return subprocess.run(
        [sys.executable, *program, *map(str, arguments)],
        input=standard_input,
        capture_output=True,
        text=True,
    )


def test_read_opens_an_interpreter(path):
    done = run('read', path, standard_input='print(len(traj), handle.nframes, traj[1].configuration.step)')
    assert done.returncode == 0
    assert '2 2 7' in done.stdout
    assert 'Number of frames: 2' in done.stderr
    done = run('read', '-s', 'none', path, standard_input='print(handle.schema)')
    assert 'hoomd' in done.stdout


@pytest.mark.parametrize(
    ('arguments', 'code', 'text'),
    [
        ((), 2, ''),
        (('read', '/nowhere.gsd'), 1, 'Error: '),
        (('read', '-s', 'none', '-m', 'w', 'a.gsd'), 1, 'Error: Unsupported schema'),
        (('read', '-m', 'rb', 'a.gsd'), 2, 'invalid choice'),
    ],
)
def test_unreadable_files(arguments, code, text):
    done = run(*arguments)
    assert done.returncode == code
    assert text in done.stderr


def test_the_version():
    assert run('--version').stdout == 'gsd 5.0.1\n'


def test_importing_as_gsd(path):
    program = (
        'import cenote.gsd.alias; cenote.gsd.alias.install(); import gsd.hoomd, gsd.fl, gsd.pygsd, gsd.version;'
        f'print(len(gsd.hoomd.open({str(path)!r})), gsd.fl.__name__, gsd.version.version)'
    )
    assert run(program=('-c', program)).stdout == '2 cenote.gsd.fl 5.0.1\n'
