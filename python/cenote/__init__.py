"""cenote: one store for research data, accessible through the tools that researchers use.

>>> import cenote
>>> store = cenote.connect()
>>> store.put('run7.csv', '/lab/2026/run7.csv').size
26

Submodules: :mod:`cenote.gsd` (trajectories), :mod:`cenote.keyset` (key sets), and
:mod:`cenote.store`, whose names are also available here. They are imported when they are first
used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cenote.store import AsyncStore as AsyncStore
    from cenote.store import Error as Error
    from cenote.store import Path as Path
    from cenote.store import Resource as Resource
    from cenote.store import Store as Store
    from cenote.store import connect as connect
    from cenote.store import connect_async as connect_async

#: Names of :mod:`cenote.store` that are available here, too.
__all__ = ['AsyncStore', 'Error', 'Path', 'Resource', 'Store', 'connect', 'connect_async']


def __getattr__(name: str) -> object:
    if name in __all__:
        from cenote import store

        value: object = getattr(store, name)
        globals()[name] = value
        return value
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
