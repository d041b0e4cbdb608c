"""The repository that the functions of ``resource``, ``query`` and ``admin`` use.

>>> from cenote.lakesuperior import env, resource
>>> env.setup()
>>> resource.exists('/')
True
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from cenote.lakesuperior._repository import Repository

__all__ = ['repository', 'setup']

_SETTINGS = ('url', 'user', 'password', 'token', 'ticket')
_current: Repository | None = None


def setup(
    config_dir: str | os.PathLike[str] | None = None,
    config: Mapping[str, Any] | None = None,
    *,
    url: str | None = None,
    user: str | None = None,
    password: str | None = None,
    token: str | None = None,
    ticket: str | None = None,
) -> None:
    """Choose the repository. Without arguments, it is found as :func:`cenote.connect` finds a store.

    A second call without arguments changes nothing; one with arguments changes the repository.

    Args:
        config_dir: The configuration file of the program, or the directory with its ``config.toml``.
        config: The other arguments, by their names.
        url: The address of the server.
        user: The user, with a password.
        password: The password of the user.
        token: A token, instead of user and password.
        ticket: A ticket to use.

    Raises:
        ValueError: The configuration is that of a LAKEsuperior, which has no address.
    """
    global _current
    arguments = {'url': url, 'user': user, 'password': password, 'token': token, 'ticket': ticket}
    given = {**_checked(config or {}), **{name: value for name, value in arguments.items() if value is not None}}
    if given or config_dir is not None or _current is None:
        _current = Repository(config=_file(config_dir), **given)


def repository() -> Repository:
    """The repository; :func:`setup` is called if it was not yet."""
    if _current is None:
        setup()
    assert _current is not None
    return _current


def _checked(config: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := set(config) - set(_SETTINGS):
        raise ValueError(f'no settings of a repository: {", ".join(sorted(unknown))}; there are {", ".join(_SETTINGS)}')
    return dict(config)


def _file(config_dir: str | os.PathLike[str] | None) -> str | None:
    if config_dir is None:
        return None
    path = os.fspath(config_dir)
    file = os.path.join(path, 'config.toml') if os.path.isdir(path) else path
    if not os.path.exists(file):
        raise ValueError(f'{file} does not exist: it is the configuration file of cenote, with the url of a store')
    return file
