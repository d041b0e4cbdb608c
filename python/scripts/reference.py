"""Generates ``docs/python-reference.md`` from the docstrings of the installed package.

Run it after each change of a docstring or a signature; a test compares them, and runs the examples.
"""

import functools
import importlib
import inspect
import pathlib
import re
import textwrap

TARGET = pathlib.Path(__file__).parents[2] / 'docs' / 'python-reference.md'
HEAD = """# Python reference

Generated from the docstrings by `python/scripts/reference.py`; `help()` shows the same. The [guide](python.md) comes first, those to
[trajectories](gsd.md) and [key sets](keyset.md) have more about these. In the examples, `store` is a connected store with the file `/lab/run7.csv`, which is also in
the working directory.

"""
#: The modules, and what they are called here.
MODULES = {
    'cenote.store': 'The store',
    'cenote.store.filesystem': 'The file system of fsspec',
    'cenote.gsd.hoomd': 'Trajectories',
    'cenote.gsd.fl': 'The file layer of trajectories',
    'cenote.keyset': 'Key sets',
    'cenote.lakesuperior': "LAKEsuperior's API",
    'cenote.lakesuperior.env': 'Its repository',
    'cenote.lakesuperior.exceptions': 'Its exceptions',
}
#: What comes first; the rest is in the order of the names.
FIRST = ('Store', 'Upload', 'ChangeSet', 'AsyncStore', 'Path', 'Error', 'Repository')
#: Where the classes are that a class was divided into.
DIVIDED = {'cenote.store': ('_sync',), 'cenote.lakesuperior': ('_resources', '_queries', '_administration')}
SECTIONS = ('Args:', 'Attributes:', 'Raises:')


def page():
    """The text of the reference."""
    sections = [f'- [{title}](#{anchor(title)}): `{name}`' for name, title in MODULES.items()]
    return HEAD + '\n'.join(sections) + '\n\n' + '\n'.join(module(*item) for item in MODULES.items())


def anchor(title):
    return re.sub(r'[^\w -]', '', title.lower()).replace(' ', '-')


def module(name, title):
    """A module: its functions, then its classes."""
    found = importlib.import_module(name)
    names = sorted(public(found), key=lambda each: FIRST.index(each) if each in FIRST else len(FIRST))
    values = [(each, getattr(found, each)) for each in names]
    functions = [function(each, value, '###') for each, value in values if inspect.isroutine(value)]
    classes = [described(each, value) for each, value in values if inspect.isclass(value)]
    text = f'## {title}\n\n`{name}`. {markdown(inspect.getdoc(found))}\n' + ''.join([*functions, *classes])
    return re.sub(r'\n{3,}', '\n\n', text)


def public(found):
    """The names that a module is for."""
    if hasattr(found, '__all__'):
        return found.__all__
    own = (name for name, value in vars(found).items() if getattr(value, '__module__', None) == found.__name__)
    return [name for name in own if not name.startswith('_')]


def described(name, cls):
    """A class, with its methods and properties."""
    if name.startswith('Async') and name != 'AsyncStore':
        return ''
    text = f'\n### {name}\n\n{bases(cls)}{markdown(inspect.getdoc(cls))}\n'
    if name == 'AsyncStore':
        return text + '\nIts methods are those of `Store`, and are awaited; `tree`, `find` and `changes` are asynchronous iterators.\n'
    return text + ''.join(part(base) for base in parts(cls))


def bases(cls):
    """The exceptions that an exception also is."""
    names = [base.__name__ for base in cls.__bases__ if issubclass(cls, Exception)]
    return f'A subclass of {" and ".join(f"`{name}`" for name in names)}. ' if names else ''


def parts(cls):
    """The classes whose members are described with a class: those that it was divided into."""
    own = cls.__module__.rpartition('.')[0]
    prefixes = tuple(f'{own}.{name}' for name in DIVIDED.get(own, ()))
    return [cls, *(base for base in cls.__mro__[1:] if base.__module__.startswith(prefixes))]


def part(cls):
    """The members of a class that are its own."""
    texts = []
    for name, value in members(cls):
        if isinstance(value, (property, functools.cached_property)) or inspect.isgetsetdescriptor(value):
            text = markdown(inspect.getdoc(value)).replace('\n\n', ' ')
            texts.append(f'- `{name}`: {text}' if is_described(name, value) else '')
        elif inspect.isroutine(value) or isinstance(value, (classmethod, staticmethod)):
            texts.append(function(name, getattr(cls, name), '####') if is_described(name, value) else '')
    properties = [text for text in texts if text.startswith('- ')]
    listed = '\n' + '\n'.join(properties) + '\n' if properties else ''
    return listed + ''.join(text for text in texts if text.startswith('\n'))


def members(cls):
    """The members in their order; those of a native class have none."""
    found = vars(cls).items()
    is_native = any(inspect.isgetsetdescriptor(value) and not name.startswith('__') for name, value in found)
    return sorted(found) if is_native else found


def is_described(name, value):
    return not name.startswith('_') and bool(inspect.getdoc(value))


def function(name, value, heading):
    """A function or method."""
    return f'\n{heading} {name}\n\n`{name}{signature(value)}`\n\n{markdown(inspect.getdoc(value))}\n'


def signature(value):
    try:
        found = inspect.signature(value)
    except ValueError:
        return '(…)'
    shown = [each for each in found.parameters.values() if each.name not in ('self', 'cls')]
    # As text, annotations would be in quotation marks.
    bare = [each.replace(annotation=Bare.of(each.annotation)) for each in shown]
    text = str(found.replace(parameters=bare, return_annotation=Bare.of(found.return_annotation)))
    return text.replace('cenote.store.', '')


class Bare:
    """An annotation that is shown as it is written."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text

    @classmethod
    def of(cls, annotation):
        return cls(annotation) if isinstance(annotation, str) else annotation


def markdown(text):
    """A docstring as Markdown."""
    text = re.sub(r':\w+:`~?([^`]*)`', r'`\1`', text or '')
    text = re.sub(r'``([^`]*)``', r'`\1`', text)
    return '\n'.join(block(each) for each in text.split('\n\n')).rstrip()


def block(text):
    """A paragraph, an example, or a section of parameters."""
    head, _, rest = text.partition('\n')
    if head in ('Returns:', 'Yields:'):
        return f'{head} {" ".join(textwrap.dedent(rest).split(chr(10)))}\n'
    if head in SECTIONS:
        items = re.sub(r'\n +', ' ', re.sub(r'^    (?! )', '- ', rest, flags=re.M))
        label = '' if head == 'Args:' else f'{head}\n\n'
        return label + re.sub(r'^- (\*{0,2}\w+):', r'- `\1`:', items, flags=re.M) + '\n'
    if head.startswith('>>>'):
        run = '<!-- not run: python/tests/store/test_reference.py runs it -->'
        return f'{run}\n```python\n{textwrap.dedent(text)}\n```\n'
    return text.replace('\n', ' ') + '\n'


if __name__ == '__main__':
    TARGET.write_text(page())
