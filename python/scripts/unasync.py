"""Generates ``_sync.py`` of ``cenote/store`` from ``_aio.py``, and likewise for its other modules: the same methods, which block.

Run it after each change of ``_aio*.py``; a test compares them.
"""

import pathlib
import re

STORE = pathlib.Path(__file__).parents[1] / 'cenote' / 'store'
#: The files, and what is made from each.
FILES = {
    source: source.replace('_aio', '_sync')
    for source in (
        '_aio.py', '_aio_access.py', '_aio_contents.py', '_aio_history.py', '_aio_places.py', '_aio_tree.py',
    )
}
WORDS = {
    'AsyncChangeSet': 'ChangeSet',
    'AsyncContents': 'Contents',
    'AsyncHistory': 'History',
    'AsyncIterator': 'Iterator',
    'AsyncPermissions': 'Permissions',
    'AsyncPlaces': 'Places',
    'AsyncStore': 'Store',
    'AsyncTree': 'Tree',
    'AsyncUpload': 'Upload',
    '__aenter__': '__enter__',
    '__aexit__': '__exit__',
    'connect_async': 'connect',
    '_aio_access': '_sync_access',
    '_aio_contents': '_sync_contents',
    '_aio_history': '_sync_history',
    '_aio_places': '_sync_places',
    '_aio_tree': '_sync_tree',
    '_async': '_wait',
}
HEADER = '"""A store. Made from ``{}`` by ``python/scripts/unasync.py``: change that one."""\n'


def made(source):
    """The text of the file that is made from another one."""
    text = (STORE / source).read_text()
    text = text.split('"""', 2)[2].lstrip('\n').join(['\n', ''])
    text = re.sub(r'\b(async|await) ', '', text)
    for word, other in WORDS.items():
        text = re.sub(rf'(?<![A-Za-z]){word}\b', other, text)
    head, body = text.split('\n\n\n', 1)
    return HEADER.format(source) + sort_imports(head) + '\n\n\n' + body


def sort_imports(head):
    """The names of each import in order, as they were."""

    def names(match):
        return 'import ' + ', '.join(sorted(match[1].split(', '), key=lambda name: (not name.isupper(), name)))

    return re.sub(r'import (\w+(?:, \w+)+)$', names, head, flags=re.M)


if __name__ == '__main__':
    for source, target in FILES.items():
        (STORE / target).write_text(made(source))
