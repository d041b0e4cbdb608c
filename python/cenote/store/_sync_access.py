"""A store. Made from ``_aio_access.py`` by ``python/scripts/unasync.py``: change that one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from cenote.store import _local
from cenote.store._wait import done
from cenote.store._model_access import (
    Access,
    Grant,
    Group,
    Identity,
    Quota,
    Ticket,
    Token,
    User,
    entry_of,
    grant_of,
)

if TYPE_CHECKING:
    from cenote._cenote import store as _native

__all__ = ['Permissions']

Role = Literal['user', 'groupadmin', 'admin']
Scope = Literal['tokens', 'account', 'admin']


class Permissions:
    """The methods of :class:`Store` that are about people and what they may do."""

    _native: _native.Connection

    def whoami(self) -> Identity:
        """The identity of the caller."""
        who = done(self._native.whoami())
        return Identity(who['name'], who['role'], who['groups'])

    def acl(self, path: str) -> Access:
        """The permissions on a resource."""
        found = done(self._native.access(path))
        rows = found['grants']
        grants = [grant_of(row) for row in rows]
        return Access(grants, found['closed'], found['inherit'])

    def acl_set(
        self,
        path: str,
        *grants: Grant | tuple[str, str, str],
        closed: bool | None = None,
        inherit: bool | None = None,
    ) -> None:
        """Change an access list.

        >>> store.acl_set('/lab', ('public', 'read', 'subtree'))

        Args:
            path: The resource.
            grants: A user or group, a level such as ``read`` (``none`` takes the entry away), and a
                scope: ``this``, ``default`` or ``subtree``. A ``Grant`` with ``only`` is an entry of its own beside
                the one for all of the scope.
            closed: Whether defaults of the collections above are not applied.
            inherit: Whether new children get a copy of the entries.
        """
        entries = [entry_of(grant) for grant in grants]
        done(self._native.change_access(path, entries, closed, inherit))

    def tickets(self, path: str | None = None) -> list[Ticket]:
        """The tickets on a resource, or all that the caller created."""
        return [Ticket(row) for row in done(self._native.tickets(path))]

    def ticket_add(
        self,
        path: str,
        level: Literal['read', 'write'] = 'read',
        *,
        uses: int | None = None,
        expires_in: int | None = None,
    ) -> Ticket:
        """Create a ticket, whose bearer may read or write the resource.

        >>> ticket = store.ticket_add('/lab/run7.csv', uses=1)
        >>> cenote.connect(store.url, ticket=ticket.ticket).read('/lab/run7.csv', 0, 4)
        b'step'

        Args:
            path: The resource.
            level: What it allows.
            uses: How often it may be used.
            expires_in: Seconds until it expires.
        """
        return Ticket(done(self._native.add_ticket(path, level, uses, expires_in)))

    def ticket_rm(self, ticket: str | Ticket) -> None:
        """Remove a ticket."""
        text = (ticket.id or ticket.ticket) if isinstance(ticket, Ticket) else ticket
        done(self._native.remove_ticket(text or ''))

    # Quotas

    def quotas(
        self, *, path: str | None = None, user: str | None = None, group: str | None = None
    ) -> list[Quota]:
        """The quotas that the caller may see, or those that apply to a path, a user or a group."""
        of = _local.target(path, user, group) if path or user or group else None
        return [Quota(row) for row in done(self._native.quotas(of))]

    def quota_set(
        self,
        *,
        path: str | None = None,
        user: str | None = None,
        group: str | None = None,
        bytes: int | None = None,
        resources: int | None = None,
        soft_bytes: int | None = None,
        soft_resources: int | None = None,
        grace: int | None = None,
    ) -> Quota:
        """Limit what is below a collection, or what a user or the members of a group own.

        Args:
            path: The collection; or ``user``, or ``group``.
            bytes: The most bytes of contents; ``None`` is no limit.
            resources: The most resources.
            soft_bytes: A limit on bytes that may be exceeded for a time.
            soft_resources: The same for resources.
            grace: That time in seconds; seven days by default.
        """
        limits = (bytes, resources), (soft_bytes, soft_resources)
        of = _local.target(path, user, group)
        return Quota(done(self._native.set_quota(of, *limits, grace)))

    def quota_rm(
        self, *, path: str | None = None, user: str | None = None, group: str | None = None
    ) -> None:
        """Remove a quota."""
        done(self._native.remove_quota(_local.target(path, user, group)))

    # Tokens

    def tokens(self) -> list[Token]:
        """The tokens of the caller, without their secrets."""
        return [Token(row) for row in done(self._native.tokens())]

    def token_add(
        self,
        label: str,
        *,
        level: str | None = None,
        within: str | None = None,
        expires_in: int | None = None,
        scopes: Iterable[Scope] = (),
    ) -> Token:
        """Create a token, with which a program acts for the caller.

        >>> token = store.token_add('the cluster', level='read', within='/lab', expires_in=86_400)
        >>> cenote.connect(store.url, token=token.token).exists('/lab/run7.csv')
        True

        It needs a password, or a token of the scope ``tokens``.

        Args:
            label: What it is for.
            level: The highest level that it grants, such as ``read``; by default all that the caller may do.
            within: The collection that it is limited to.
            expires_in: Seconds until it expires.
            scopes: What it allows besides working with resources.
        """
        add = self._native.add_token(label, list(scopes), level, within, expires_in)
        return Token(done(add))

    def token_rm(self, token: int | Token) -> None:
        """Revoke a token, and those that were created with it."""
        number = token.id if isinstance(token, Token) else token
        done(self._native.remove_token(str(number)))

    # Users and groups

    def users(self) -> list[User]:
        """The users that the caller may see."""
        return [User(row) for row in done(self._native.users())]

    def user_add(self, name: str, password: str | None = None, *, role: Role = 'user') -> None:
        """Add a user, with the home collection ``/home/NAME``.

        Args:
            name: The name, unique among users and groups.
            password: Without one, the user cannot log in.
            role: What the user may do besides what access lists grant.
        """
        done(self._native.add_user(name, role, password))

    def user_passwd(self, name: str, password: str) -> None:
        """Set the password of a user; the tokens of the user stay valid."""
        done(self._native.change_user(name, password))

    def user_role(self, name: str, role: Role) -> None:
        """Change the role of a user."""
        done(self._native.change_user(name, None, role))

    def user_rm(self, name: str) -> None:
        """Remove a user."""
        done(self._native.remove_user(name))

    def groups(self) -> list[Group]:
        """The groups that the caller may see."""
        return [Group(row) for row in done(self._native.groups())]

    def group_add(self, name: str) -> None:
        """Add a group."""
        done(self._native.add_group(name))

    def group_join(self, name: str, *users: str) -> None:
        """Add users to a group."""
        done(self._native.change_group(name, users, ()))

    def group_leave(self, name: str, *users: str) -> None:
        """Remove users from a group."""
        done(self._native.change_group(name, (), users))

    def group_rm(self, name: str) -> None:
        """Remove a group."""
        done(self._native.remove_group(name))
