"""The program `cenote`, which serves stores to the tests."""

import os
import pathlib

PASSWORD = 'a secret of the tests'


def program():
    """The program `cenote`: the path in CENOTE_PROGRAM, or the one built by cargo."""
    if named := os.environ.get('CENOTE_PROGRAM'):
        return named
    root = pathlib.Path(__file__).parents[2]
    target = root / os.environ.get('CARGO_TARGET_DIR', 'target')
    built = [target / profile / 'cenote' for profile in ('debug', 'release')]
    return next((str(path) for path in built if path.exists()), None)
