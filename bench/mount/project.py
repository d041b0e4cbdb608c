"""A project in C, untarred, built and looked at by git: in the mount and on the local disk."""

import io
import statistics
import tarfile
from subprocess import DEVNULL

from world import run, seconds

#: Each has a source and a header; the others of the files are texts.
MODULES = 200
TEXTS = 800
#: git compares files that were changed just now by content; these are to be older.
OLD = 1_700_000_000
GIT = ('git', '-c', 'user.name=a', '-c', 'user.email=a@example.org')


class Project:
    """Compares directories in turn; it is made for one that is a mount and one that is not."""

    def __init__(self, archive, roots):
        self.archive, self.roots = archive, roots
        with tarfile.open(archive, 'w') as tar:
            for name, text in files():
                add(tar, name, text)

    def measure(self, rounds):
        """The median seconds of each step in each directory."""
        times = {}
        for number in range(rounds):
            for root in self.roots:
                for step, taken in self.run(root / f'project{number}'):
                    times.setdefault(step, {}).setdefault(root, []).append(taken)
        return {step: [statistics.median(of[root]) for root in self.roots] for step, of in times.items()}

    def run(self, at):
        at.mkdir()
        yield 'untar', seconds(lambda: run('tar', '-xf', self.archive, '-C', at))
        yield 'build', seconds(lambda: run('make', '-s', '-j2', cwd=at))
        run(*GIT, 'init', '-q', cwd=at)
        run(*GIT, 'add', '.', cwd=at)
        run(*GIT, 'commit', '-qm', 'one', cwd=at)
        for step in ('`git status`', '`git status`, again'):
            yield step, seconds(lambda: run(*GIT, 'status', '-s', cwd=at, stdout=DEVNULL))


def files():
    """The names and texts of all files."""
    modules = [f'm{number:03}' for number in range(MODULES)]
    objects = ' '.join(f'src/{name}.o' for name in modules)
    yield 'Makefile', f'main: src/main.o {objects}\n\tcc -o $@ $^\n'
    yield '.gitignore', '*.o\nmain\n'
    yield 'src/main.c', main(modules)
    for name in modules:
        yield f'src/{name}.h', f'int {name}(int given);\n'
        yield f'src/{name}.c', f'#include <stdio.h>\n#include "{name}.h"\nint {name}(int given) {{ return given + 1; }}\n'
    for number in range(TEXTS):
        yield f'doc/{number % 20}/{number}.txt', f'{number}\n' * 400


def main(modules):
    headers = ''.join(f'#include "{name}.h"\n' for name in modules)
    calls = '0'
    for name in modules:
        calls = f'{name}({calls})'
    return f'{headers}int main(void) {{ return {calls} - {len(modules)}; }}\n'


def add(tar, name, text):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime = len(text), OLD
    tar.addfile(entry, io.BytesIO(text.encode()))
