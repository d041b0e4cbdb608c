"""Damaged files raise; they never crash, hang or take much memory."""

import contextlib

import pytest
from conftest import sidecar

import cenote.gsd.fl
import cenote.gsd.hoomd

RECIPES = sidecar('corrupt.json')


def damage(path, recipe):
    data = bytearray(path.read_bytes())
    for offset, patch in recipe['patches']:
        patch = bytes.fromhex(patch)
        data[offset : offset + len(patch)] = patch
    if recipe['truncate'] is not None:
        data = data[: recipe['truncate']]
    path.write_bytes(data)


@pytest.mark.parametrize('mode', ['r', 'r+'])
@pytest.mark.parametrize('recipe', RECIPES, ids=[recipe['name'] for recipe in RECIPES])
def test_recipes_raise_the_exception_of_the_reference(fixture_file, recipe, mode):
    path = fixture_file(recipe['base'])
    damage(path, recipe)
    real = recipe['real'][mode]
    stricter = 'wraps' in recipe['name'] or 'location -5' in recipe['name']
    if real.get('open') == 'ok' and not stricter:
        with cenote.gsd.fl.open(path, mode) as file:
            assert file.nframes == real['nframes']
            assert list(file.gsd_version) == real['version']
            assert file.find_matching_chunk_names('') == real['names']
        return
    with pytest.raises(RuntimeError) as raised:
        cenote.gsd.fl.open(path, mode)
    if real.get('open') == 'RuntimeError' and 'Invalid gsd argument' not in real['msg']:
        assert str(raised.value).startswith(real['msg'].replace('PATH', str(path)))
    else:
        assert str(raised.value).startswith(f'Corrupt GSD file: {path} (')


def test_every_bit_of_header_and_index(fixture_file):
    path = fixture_file('g5_hoomd_defaults.gsd')
    whole = path.read_bytes()
    for offset in [*range(256 + 6 * 32), *range(4352, 4372)]:
        for bit in range(8):
            data = bytearray(whole)
            data[offset] ^= 1 << bit
            path.write_bytes(data)
            with contextlib.suppress(RuntimeError, OSError, ValueError, UnicodeDecodeError):
                read_everything(path)


def read_everything(path):
    with cenote.gsd.hoomd.open(path) as traj:
        for frame in traj[:4]:
            # The number of particles in a frame must not be trusted.
            if frame.particles.N < 1000:
                vars(frame.particles)


def test_check_reports_problems_with_their_offsets(fixture_file):
    path = fixture_file('g5_frames150.gsd')
    with cenote.gsd.fl.open(path, 'r') as file:
        assert file.check() == []
    damage(path, next(r for r in RECIPES if r['name'] == 'hole at index 10'))
    with cenote.gsd.fl.open(path, 'r') as file:
        assert [what for _, what in file.check()] == [
            'index entry 10: hole before the end of the index'
        ]
