"""Every public name is documented."""

import inspect

import cenote.keyset


def test_every_public_name_has_a_docstring():
    assert cenote.keyset.__doc__
    for name in cenote.keyset.__all__:
        thing = getattr(cenote.keyset, name)
        assert thing.__doc__, name
        if not inspect.isclass(thing) or issubclass(thing, Exception):
            continue
        for member in dir(thing):
            if not member.startswith('_'):
                assert getattr(thing, member).__doc__, f'{name}.{member}'
