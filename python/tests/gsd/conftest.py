"""Files of the reference library, shared with the Rust tests."""

import json
import pathlib
import shutil

import pytest

FIXTURES = pathlib.Path(__file__).parents[3] / 'crates' / 'gsd' / 'tests' / 'fixtures'


def sidecar(name):
    """The expected values of a fixture, from the JSON file beside it."""
    return json.loads((FIXTURES / name).read_text())


@pytest.fixture
def fixture_file(tmp_path):
    """A function that copies a fixture so that it can be changed."""

    def copy(name):
        return pathlib.Path(shutil.copy(FIXTURES / 'files' / name, tmp_path / name))

    return copy
