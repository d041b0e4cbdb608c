"""Migrations, which the program ``cenote`` does: ``cenote migrate-fedora``."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from cenote.lakesuperior._rdf.names import INTERNAL, path_of, uid_of
from cenote.store.errors import Error, InvalidError, TransferError, of_kind

if TYPE_CHECKING:
    from cenote._cenote import store as _native


def starts(src: str, start_pts: str | Sequence[str] | None, list_file: str | None) -> list[str]:
    """The UIDs at the source where to start."""
    if start_pts:
        named = [start_pts] if isinstance(start_pts, str) else list(start_pts)
    elif list_file:
        with open(list_file, encoding='utf-8') as lines:
            addresses = [line.strip().removeprefix(src.rstrip('/')) for line in lines if line.strip()]
        named = [unquote(address) for address in addresses]
    else:
        named = ['/']
    for start in named:
        if not start.startswith('/'):
            raise ValueError(f'Starting point {start} does not begin with a slash.')
    return named


def run(
    connection: _native.Connection,
    src: str,
    dest: str,
    begin: Sequence[str],
    auth: tuple[str | None, str | None],
) -> int:
    """Copy from each UID on, and return how many resources were verified."""
    verified = 0
    with _password(auth[1]) as file:
        who = ['--source-user', auth[0]] if auth[0] else []
        who += ['--source-password-file', file] if file else []
        for start in begin:
            path = path_of(start)
            into = uid_of(INTERNAL + dest.rstrip('/') + path)
            verified += _one(connection, [src + path, f':{into}', *who])
    return verified


def _one(connection: _native.Connection, arguments: list[str]) -> int:
    command = [_program(), '--json', '--no-progress', 'migrate-fedora', *arguments]
    done = subprocess.run(command, env=_environment(connection), capture_output=True, text=True)
    if done.returncode:
        raise _failure(list(_lines(done.stderr)), done.stderr)
    return next((int(line['verified']) for line in _lines(done.stdout) if 'verified' in line), 0)


def _lines(text: str) -> Iterator[dict[str, Any]]:
    """What the program says, a line for each."""
    return (json.loads(line) for line in text.splitlines() if line.startswith('{'))


def _failure(said: list[dict[str, Any]], text: str) -> Exception:
    """What failed: everything, or some resources, about each of which there is a warning."""
    error = next((line['error'] for line in said if 'error' in line), {'kind': 'unknown', 'message': text.strip()[-1000:]})
    warnings = [line['warning'] for line in said if 'warning' in line]
    if error['kind'] != 'partial' or not warnings:
        return _error(error['kind'], error['message'], error)
    failed = [warning['message'].partition(': ') for warning in warnings]
    return TransferError([(path, _error('unknown', why, error)) for path, _, why in failed])


def _error(kind: str, message: str, error: dict[str, Any]) -> Error:
    return of_kind(kind, message, '; '.join(error.get('hints') or []) or None, None, errno.EIO)


def _program() -> str:
    found = os.environ.get('CENOTE_PROGRAM') or shutil.which('cenote')
    if not found:
        hint = 'install the program, or name it in CENOTE_PROGRAM'
        raise InvalidError(errno.ENOENT, 'the program cenote was not found', kind='invalid', hint=hint)
    return found


def _environment(connection: _native.Connection) -> dict[str, str]:
    """The environment of the program, which acts as the same caller."""
    secrets = ('CENOTE_USER', 'CENOTE_PASSWORD', 'CENOTE_TOKEN', 'CENOTE_TICKET', 'CENOTE_CHANGESET', 'CENOTE_CA_FILE')
    own = {name: value for name, value in os.environ.items() if name not in secrets}
    own['CENOTE_URL'] = connection.url
    user, secret = connection.credential or (None, None)
    named = {
        'CENOTE_USER': user,
        'CENOTE_PASSWORD': secret if user else None,
        'CENOTE_TOKEN': None if user else secret,
        'CENOTE_TICKET': connection.ticket,
        'CENOTE_CA_FILE': str(connection.ca_file) if connection.ca_file else None,
    }
    return {**own, **{name: value for name, value in named.items() if value is not None}}


@contextmanager
def _password(password: str | None) -> Generator[str | None, None, None]:
    """A file with the password, which only this user can read."""
    if password is None:
        yield None
        return
    with tempfile.NamedTemporaryFile('w', prefix='cenote-', encoding='utf-8') as file:
        file.write(password)
        file.flush()
        yield file.name
