"""Administration: the functions of LAKEsuperior's ``lakesuperior.api.admin``. Those of :class:`~cenote.lakesuperior.Repository` describe the arguments."""

from __future__ import annotations

from typing import Any

from cenote.lakesuperior._rdf.terms import Triple
from cenote.lakesuperior.env import repository

__all__ = ['fixity_check', 'integrity_check', 'migrate', 'stats']


def stats() -> dict[str, dict[str, Any]]:
    """Counts of the whole store."""
    return repository().stats()


def migrate(
    src: str,
    dest: str = '/',
    start_pts: str | list[str] | tuple[str, ...] | None = None,
    list_file: str | None = None,
    *,
    src_auth: tuple[str | None, str | None] = (None, None),
) -> int:
    """Copy a repository of LAKEsuperior, Fedora or any other LDP server into this one."""
    return repository().migrate(src, dest, start_pts, list_file, src_auth=src_auth)


def integrity_check() -> set[tuple[Triple, str]]:
    """Links to missing resources."""
    return repository().integrity_check()


def fixity_check(uid: str) -> None:
    """Compare the bytes of a resource with their checksum."""
    repository().fixity_check(uid)
