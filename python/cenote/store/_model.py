"""The results of a store: immutable views of the server's rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from html import escape
from typing import Any, ClassVar, NamedTuple

__all__ = ['Change', 'Listing', 'Resource', 'Statement', 'TrashItem', 'Usage', 'Version']

Fields = dict[str, Any]


class Row:
    """A row of the server. Its properties are those that programs need most; ``fields`` has all."""

    __slots__ = ('fields',)

    #: The properties in ``repr`` and in tables.
    _shown: ClassVar[tuple[str, ...]] = ()

    fields: Fields

    def __init__(self, fields: Fields) -> None:
        self.fields = fields

    def __repr__(self) -> str:
        values = ((name, getattr(self, name)) for name in self._shown)
        shown = ', '.join(f'{name}={value!r}' for name, value in values if value is not None)
        return f'{type(self).__name__}({shown})'

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.fields == getattr(other, 'fields', None)

    def __hash__(self) -> int:
        return hash(repr(self))

    def _repr_html_(self) -> str:
        return table(self._shown, [self])


class Resource(Row):
    """A resource: an object, a collection, a link or a description."""

    __slots__ = ()
    _shown = ('path', 'kind', 'size', 'media_type', 'modified')

    @property
    def path(self) -> str:
        """Its path."""
        return self.fields['path']

    @property
    def name(self) -> str:
        """Its name; empty for the root."""
        return self.fields.get('name') or ''

    @property
    def id(self) -> int:
        """Its id, which is never reused."""
        return self.fields['id']

    @property
    def kind(self) -> str:
        """``object``, ``collection``, ``link`` or ``description``.

        Of the past also ``lost``: it existed, and only its path and id are known.
        """
        return self.fields['kind']

    @property
    def size(self) -> int | None:
        """The size of its content in bytes; ``None`` without content."""
        return self.fields.get('size')

    @property
    def sha256(self) -> str | None:
        """The SHA-256 of its content in hexadecimal, if it is known."""
        return self.fields.get('sha256')

    @property
    def media_type(self) -> str | None:
        """The media type of its content."""
        return self.fields.get('media_type')

    @property
    def etag(self) -> str | None:
        """The tag of its content, for ``if_match``."""
        return self.fields.get('etag')

    @property
    def owner(self) -> str | None:
        """Its owner."""
        return self.fields.get('owner')

    @property
    def level(self) -> str | None:
        """What the caller may do, if that was requested, as :meth:`Store.stat` does."""
        return self.fields.get('level')

    @property
    def created(self) -> datetime | None:
        """When it was created."""
        return moment(self.fields.get('created'))

    @property
    def modified(self) -> datetime | None:
        """When its content, description or access last changed."""
        return moment(self.fields.get('modified'))

    @property
    def mtime(self) -> datetime | None:
        """The modification time that a client set."""
        return moment(self.fields.get('mtime'))

    @property
    def mode(self) -> int | None:
        """Mode bits as in ``st_mode & 0o7777``."""
        return self.fields.get('mode')

    @property
    def target(self) -> str | None:
        """Where it points, for a link."""
        return self.fields.get('target')

    def is_collection(self) -> bool:
        """Whether it is a collection."""
        return self.kind == 'collection'

    def is_object(self) -> bool:
        """Whether it has a content."""
        return self.kind == 'object'


class Version(Row):
    """A kept version of an object."""

    __slots__ = ()
    _shown = ('version', 'size', 'modified', 'modified_by', 'label')

    @property
    def version(self) -> int:
        """Its number."""
        return self.fields['version']

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self.fields['size']

    @property
    def modified(self) -> datetime | None:
        """When it was written."""
        return moment(self.fields.get('modified'))

    @property
    def modified_by(self) -> str | None:
        """Who wrote it."""
        return self.fields.get('modified_by')

    @property
    def label(self) -> str | None:
        """Its label."""
        return self.fields.get('label')


class Change(Row):
    """A change of a resource, in the change feed."""

    __slots__ = ()
    _shown = ('kind', 'id', 'name', 'at', 'by')

    @property
    def position(self) -> str:
        """Its position in the feed: a later :meth:`Store.changes` can continue after it."""
        return self.fields['position']

    @property
    def kind(self) -> str:
        """``created``, ``written``, ``described``, ``granted``, ``moved`` or ``removed``."""
        return self.fields['kind']

    @property
    def id(self) -> int:
        """The id of the resource."""
        return self.fields['id']

    @property
    def parent(self) -> int:
        """The id of its collection."""
        return self.fields['parent']

    @property
    def name(self) -> str:
        """Its name in that collection."""
        return self.fields['name']

    @property
    def at(self) -> datetime | None:
        """When it happened."""
        return moment(self.fields['at'])

    @property
    def by(self) -> str:
        """Who made it."""
        return self.fields['by']


class TrashItem(Row):
    """A removed resource, with everything below it, that is kept for a while."""

    __slots__ = ()
    _shown = ('id', 'path', 'kind', 'removed', 'removed_by', 'until', 'resources', 'bytes')

    @property
    def id(self) -> int:
        """Its id, which it keeps when it is restored."""
        return self.fields['id']

    @property
    def path(self) -> str:
        """Its former path."""
        return self.fields['path']

    @property
    def kind(self) -> str:
        """Its kind, as in :attr:`Resource.kind`."""
        return self.fields['kind']

    @property
    def removed(self) -> datetime | None:
        """When it was removed."""
        return moment(self.fields['removed'])

    @property
    def removed_by(self) -> str:
        """Who removed it."""
        return self.fields['removed_by']

    @property
    def until(self) -> datetime | None:
        """How long it is kept."""
        return moment(self.fields['until'])

    @property
    def resources(self) -> int | None:
        """The number of resources, if they have been counted."""
        return self.fields.get('resources')

    @property
    def bytes(self) -> int | None:
        """The size of their contents, if it has been counted."""
        return self.fields.get('bytes')


class Statement(NamedTuple):
    """A statement of a description."""

    attribute: str
    value: str
    unit: str | None = None


class Usage(NamedTuple):
    """The number and size of the resources below a resource."""

    objects: int
    collections: int
    bytes: int


class Listing(list[Resource]):
    """Resources, which a notebook shows as a table."""

    #: Rows that are shown.
    _LIMIT: ClassVar[int] = 100

    def _repr_html_(self) -> str:
        rest = len(self) - self._LIMIT
        more = f'<p>and {rest} more</p>' if rest > 0 else ''
        return table(Resource._shown, self[: self._LIMIT]) + more  # pyright: ignore[reportPrivateUsage]


def table(columns: tuple[str, ...], rows: list[Any]) -> str:
    """Rows as HTML; every value is escaped."""

    def cells() -> Iterator[str]:
        for row in rows:
            values = (getattr(row, column) for column in columns)
            shown = ('' if value is None else escape(str(value)) for value in values)
            yield '<tr>' + ''.join(f'<td>{value}</td>' for value in shown) + '</tr>'

    head = ''.join(f'<th>{escape(column)}</th>' for column in columns)
    return f'<table><thead><tr>{head}</tr></thead><tbody>{"".join(cells())}</tbody></table>'


def nanoseconds(text: str | None) -> int | None:
    """A time of the server in nanoseconds since 1970."""
    when = moment(text)
    if text is None or when is None:
        return None
    seconds = int(when.replace(microsecond=0).timestamp())
    return seconds * 1_000_000_000 + int(text.removesuffix('Z').partition('.')[2].ljust(9, '0')[:9])


def moment(text: str | None) -> datetime | None:
    """A time of the server, which may have nanoseconds."""
    if text is None:
        return None
    whole, _, fraction = text.removesuffix('Z').partition('.')
    micros = fraction[:6].ljust(6, '0') if fraction else '000000'
    return datetime.fromisoformat(f'{whole}.{micros}+00:00')
