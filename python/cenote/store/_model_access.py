"""Who may do what, and the limits: the results of a store about people and access."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from cenote.store._model import Fields, Row, moment

__all__ = [
    'Access', 'Amount', 'Grant', 'Group', 'Identity', 'Only', 'Quota', 'Ticket', 'Token', 'User',
]


class Only(NamedTuple):
    """A restriction of an entry of an access list: to resources of a class (the IRI of an ``rdf:type``), or to one below.

    An ``id`` has precedence over the path. A resource that the caller does not see has no path.
    """

    class_iri: str | None = None
    path: str | None = None
    id: int | None = None


class Grant(NamedTuple):
    """An entry of an access list.

    ``source`` is the path of the collection that it is inherited from. With ``only`` it is about some of the resources in its scope.
    """

    name: str
    level: str
    scope: str = 'this'
    source: str | None = None
    only: Only | None = None


def grant_of(row: Fields) -> Grant:
    """An entry as the server shows it."""
    only = row.get('only')
    only = Only(only.get('class'), only.get('path'), only.get('id')) if only else None
    return Grant(row['name'], row['level'], row['scope'], row.get('from'), only)


def entry_of(grant: Grant | tuple[str, str, str]) -> tuple[str, str, str, Only | None]:
    """An entry as it is sent."""
    only = grant.only if isinstance(grant, Grant) else None
    return grant[0], grant[1], grant[2], only


class Access(NamedTuple):
    """The permissions on a resource, including inherited entries."""

    grants: list[Grant]
    closed: bool
    inherit: bool


class Identity(NamedTuple):
    """The identity of the caller."""

    name: str
    role: str
    groups: list[str]


class User(Row):
    """Somebody who may log in."""

    __slots__ = ()
    _shown = ('name', 'role', 'created')

    @property
    def name(self) -> str:
        """The name."""
        return self.fields['name']

    @property
    def role(self) -> str:
        """``user``, ``groupadmin`` or ``admin``."""
        return self.fields['role']

    @property
    def created(self) -> datetime | None:
        """When the user was added."""
        return moment(self.fields.get('created'))


class Group(Row):
    """A set of users, which access lists can name."""

    __slots__ = ()
    _shown = ('name', 'members')

    @property
    def name(self) -> str:
        """The name."""
        return self.fields['name']

    @property
    def members(self) -> list[str]:
        """The names of its members."""
        return self.fields['members']

    @property
    def created(self) -> datetime | None:
        """When it was added."""
        return moment(self.fields.get('created'))


class Token(Row):
    """A secret with which a program acts for a user, within limits."""

    __slots__ = ()
    _shown = ('id', 'label', 'level', 'scopes', 'expires')

    @property
    def id(self) -> int:
        """Its id, by which it can be revoked."""
        return self.fields['id']

    @property
    def token(self) -> str | None:
        """The secret, which only :meth:`Store.token_add` returns."""
        return self.fields.get('token')

    @property
    def label(self) -> str:
        """What it is for."""
        return self.fields['label']

    @property
    def level(self) -> str:
        """The highest level that it grants."""
        return self.fields['level']

    @property
    def within(self) -> int | None:
        """The id of the collection that it is limited to."""
        return self.fields.get('within')

    @property
    def scopes(self) -> list[str]:
        """What it allows besides working with resources: ``tokens``, ``account``, ``admin``."""
        return self.fields['scopes']

    @property
    def expires(self) -> datetime | None:
        """When it expires."""
        return moment(self.fields.get('expires'))


class Ticket(Row):
    """A ticket: access to one resource for whoever has it."""

    __slots__ = ()
    _shown = ('id', 'level', 'expires')

    @property
    def id(self) -> str | None:
        """Its id in lists, which gives no access."""
        return self.fields.get('id')

    @property
    def ticket(self) -> str | None:
        """The ticket itself, which only :meth:`Store.ticket_add` returns; keep it secret."""
        return self.fields.get('ticket')

    @property
    def level(self) -> str | None:
        """What it allows."""
        return self.fields.get('level')

    @property
    def expires(self) -> datetime | None:
        """When it expires."""
        return moment(self.fields.get('expires'))


class Quota(Row):
    """Limits for the resources below a collection, or those of a user or a group."""

    __slots__ = ()
    _shown = ('path', 'user', 'group', 'hard', 'soft', 'total', 'until')

    @property
    def path(self) -> str | None:
        """The collection that it is for."""
        return self.fields.get('path')

    @property
    def user(self) -> str | None:
        """The user that it is for."""
        return self.fields.get('user')

    @property
    def group(self) -> str | None:
        """The group that it is for."""
        return self.fields.get('group')

    @property
    def hard(self) -> Amount:
        """The limits that are never exceeded."""
        return Amount.of(self.fields['hard'])

    @property
    def soft(self) -> Amount:
        """The limits that may be exceeded for a time."""
        return Amount.of(self.fields['soft'])

    @property
    def total(self) -> Amount | None:
        """The current usage; ``None`` while it is being counted."""
        total = self.fields.get('total')
        return Amount.of(total) if total else None

    @property
    def until(self) -> datetime | None:
        """When the exceeded soft limit becomes a hard one."""
        return moment(self.fields.get('until'))


class Amount(NamedTuple):
    """Bytes of contents, and a number of resources; ``None`` is no limit."""

    bytes: int | None
    resources: int | None

    @classmethod
    def of(cls, fields: Fields) -> Amount:
        """The amount in a row."""
        return cls(fields.get('bytes'), fields.get('resources'))
