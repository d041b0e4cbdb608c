"""The stubs match the modules."""

import subprocess
import sys


def test_stubs_agree_with_the_modules():
    modules = [f'cenote.gsd.{name}' for name in ('fl', 'hoomd', 'pygsd', '_frame')]
    done = subprocess.run(
        [sys.executable, '-m', 'mypy.stubtest', *modules], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_program_is_checked(tmp_path):
    program = tmp_path / 'program.py'
    program.write_text(
        'import cenote.gsd.hoomd\n'
        "with cenote.gsd.hoomd.open('a.gsd') as traj:\n"
        '    frame: cenote.gsd.hoomd.Frame = traj[0]\n'
        '    wrong: int = traj[1:2]\n'
    )
    done = subprocess.run(
        [sys.executable, '-m', 'mypy', str(program)], capture_output=True, text=True
    )
    assert done.stdout.count(': error:') == 1, done.stdout
    assert 'program.py:4' in done.stdout
