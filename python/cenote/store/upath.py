"""Paths of ``universal_pathlib``: ``UPath('cenote:///lab')``."""

from __future__ import annotations

from upath import UPath

__all__ = ['CenoteUPath']


class CenoteUPath(UPath):
    """A path in a store, as ``UPath`` has it; :class:`cenote.Path` needs no further package."""

    __slots__ = ()
