"""Finding a store as the program does."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

from cenote._cenote import store as _native
from cenote.store._sync import Store

if TYPE_CHECKING:
    from cenote.store._aio import AsyncStore

__all__ = ['connect', 'connect_async']


def connect(
    url: str | None = None,
    *,
    user: str | None = None,
    password: str | None = None,
    token: str | None = None,
    ticket: str | None = None,
    changeset: str | None = None,
    config: str | os.PathLike[str] | None = None,
) -> Store:
    """Connect to a store.

    >>> cenote.connect().whoami().name
    'ada'

    Everything that is not given is looked up as the program ``cenote`` does: in the environment
    (``CENOTE_URL``, ``CENOTE_USER``, ``CENOTE_TOKEN`` …), in the configuration file, and in the
    logins of ``cenote login``. Nothing is sent before the first call.

    Args:
        url: The address of the server, such as ``https://store.example.org``.
        user: The user, with a password.
        password: The password of the user.
        token: A token, instead of user and password.
        ticket: A ticket to use.
        changeset: The id of a change set that all calls are part of.
        config: The configuration file.

    Raises:
        InvalidError: No store is given, it is not an address, or a setting is invalid.
        UnauthenticatedError: A user is given without a password.
    """
    given = settings(url, user, password, token, ticket, changeset)
    return Store(native(given, config))


def connect_async(
    url: str | None = None,
    *,
    user: str | None = None,
    password: str | None = None,
    token: str | None = None,
    ticket: str | None = None,
    changeset: str | None = None,
    config: str | os.PathLike[str] | None = None,
) -> AsyncStore:
    """Connect to a store for use with ``asyncio``; see :func:`connect`."""
    from cenote.store._aio import AsyncStore

    given = settings(url, user, password, token, ticket, changeset)
    return AsyncStore(native(given, config))


def settings(
    url: str | None,
    user: str | None,
    password: str | None,
    token: str | None,
    ticket: str | None,
    changeset: str | None,
) -> dict[str, str]:
    """The settings that are given, by name."""
    every = {
        'url': url,
        'user': user,
        'password': password,
        'token': token,
        'ticket': ticket,
        'changeset': changeset,
    }
    return {name: value for name, value in every.items() if value is not None}


def native(
    given: dict[str, str], config: str | os.PathLike[str] | None = None, *, only_own: bool = False
) -> _native.Connection:
    """A connection; if ``only_own``, credentials are sent only to the store that they are for."""
    connection = _native.Connection(list(given.items()), dict(os.environ), config, only_own)
    if connection.in_clear:
        text = f'the password, token or ticket is sent to {connection.url} in clear text'
        warnings.warn(text, stacklevel=3)
    return connection
