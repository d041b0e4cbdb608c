"""Where contents are: the results of a store about places and replicas."""

from __future__ import annotations

from datetime import datetime

from cenote.store._model import Row, moment

__all__ = ['Place', 'Replica']


class Place(Row):
    """A directory or a bucket that has contents, or a group of places."""

    __slots__ = ()
    _shown = ('name', 'kind', 'state', 'group', 'default', 'bytes', 'free', 'problem')

    @property
    def name(self) -> str:
        """The name."""
        return self.fields['name']

    @property
    def kind(self) -> str:
        """``main``, ``leaf`` or ``group``."""
        return self.fields['kind']

    @property
    def address(self) -> str | None:
        """Its address, which only administrators see."""
        return self.fields.get('address')

    @property
    def group(self) -> str | None:
        """The group that it is in."""
        return self.fields.get('group')

    @property
    def state(self) -> str:
        """``up``, ``down`` or ``draining``."""
        return self.fields['state']

    @property
    def default(self) -> bool:
        """Whether new contents are stored there."""
        return self.fields['default']

    @property
    def bytes(self) -> int | None:
        """The size of the contents in it, which only administrators see."""
        return self.fields.get('bytes')

    @property
    def free(self) -> int | None:
        """How many bytes are free, if that is known."""
        return self.fields.get('free')

    @property
    def problem(self) -> str | None:
        """Why it cannot be used, if so."""
        return self.fields.get('problem')


class Replica(Row):
    """A copy of the content of an object."""

    __slots__ = ()
    _shown = ('number', 'place', 'good', 'size')

    @property
    def number(self) -> int:
        """Its number, unique for the object."""
        return self.fields['number']

    @property
    def place(self) -> str:
        """The place that it is in."""
        return self.fields['place']

    @property
    def good(self) -> bool:
        """Whether it is the current content."""
        return self.fields['good']

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self.fields['size']

    @property
    def modified(self) -> datetime | None:
        """When it was last changed."""
        return moment(self.fields.get('modified'))
