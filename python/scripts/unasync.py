"""Makes ``cenote/store/_sync.py`` from ``_aio.py``: the same methods, which wait.

Run it after each change of ``_aio.py``; a test compares the two.
"""

import pathlib
import re

STORE = pathlib.Path(__file__).parents[1] / 'cenote' / 'store'
WORDS = {
    'AsyncIterator': 'Iterator',
    'AsyncStore': 'Store',
    'AsyncUpload': 'Upload',
    '__aenter__': '__enter__',
    '__aexit__': '__exit__',
    'connect_async': 'connect',
    '_async': '_wait',
}
HEADER = '"""A store. Made from ``_aio.py`` by ``python/scripts/unasync.py``: change that one."""\n'


def made():
    """The text of ``_sync.py``."""
    text = (STORE / '_aio.py').read_text()
    text = HEADER + text.split('"""', 2)[2].lstrip('\n').join(['\n', ''])
    text = re.sub(r'\b(async|await) ', '', text)
    for word, other in WORDS.items():
        text = re.sub(rf'(?<![A-Za-z]){word}\b', other, text)
    head, body = text.split('\n\n\n', 1)
    return sort_imports(head) + '\n\n\n' + body


def sort_imports(head):
    """The names of each import in order, as they were."""

    def names(match):
        return 'import ' + ', '.join(sorted(match[1].split(', ')))

    return re.sub(r'import (\w+(?:, \w+)+)$', names, head, flags=re.M)


if __name__ == '__main__':
    (STORE / '_sync.py').write_text(made())
