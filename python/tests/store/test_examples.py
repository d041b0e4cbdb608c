"""The examples of the guide pass strict type checkers."""

import ast
import doctest
import pathlib
import re
import subprocess
import sys

import pytest

GUIDE = pathlib.Path(__file__).parents[3] / 'docs' / 'python.md'
#: Libraries without types, or whose types are not those of this package.
UNTYPED = ('dask', 'fsspec', 'pandas', 'pyarrow', 'tqdm', 'upath', 'xarray', 'zarr')


def program(block):
    """A block of Python as a program: what a session would show is printed."""
    if '>>>' not in block:
        return block
    lines = [example.source for example in doctest.DocTestParser().get_examples(block)]
    return ''.join(printed(line) for line in lines)


def printed(line):
    parsed = ast.parse(line).body
    is_shown = len(parsed) == 1 and isinstance(parsed[0], ast.Expr) and not isinstance(parsed[0].value, ast.Call)
    return f'print({line.strip()})\n' if is_shown else line


def imports(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            yield node.module.split('.')[0]
        elif isinstance(node, ast.Import):
            yield from (name.name.split('.')[0] for name in node.names)


def examples():
    blocks = re.findall(r'^```python\n(.*?)^```', GUIDE.read_text(), re.M | re.S)
    programs = [program(block) for block in blocks]
    return '\n'.join(text for text in programs if not {*imports(text)} & {*UNTYPED})


@pytest.mark.parametrize('checker', [['mypy', '--strict'], ['pyright', '--pythonpath', sys.executable]])
def test_the_examples_of_the_guide_are_checked_strictly(checker, tmp_path):
    assert examples().count('\n') > 40
    (tmp_path / 'pyrightconfig.json').write_text('{"typeCheckingMode": "strict"}')
    (tmp_path / 'program.py').write_text(examples())
    run = [sys.executable, '-m', *checker, 'program.py']
    done = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
