"""Resources: the functions of LAKEsuperior's ``lakesuperior.api.resource``. Those of :class:`~cenote.lakesuperior.Repository` describe the arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rdflib import URIRef

from cenote.lakesuperior._model import RES_CREATED, RES_DELETED, RES_UPDATED, Ldpr
from cenote.lakesuperior._rdf.graph import Graph
from cenote.lakesuperior._rdf.terms import Triple
from cenote.lakesuperior.env import repository

__all__ = [
    'RES_CREATED', 'RES_DELETED', 'RES_UPDATED', 'create', 'create_or_replace', 'create_version', 'delete', 'exists', 'get',
    'get_metadata', 'get_version', 'get_version_info', 'resurrect', 'revert_to_version', 'update', 'update_delta',
]


def exists(uid: str) -> bool:
    """Whether a resource exists, and the caller may see it."""
    return repository().exists(uid)


def get_metadata(uid: str) -> Graph:
    """What the server manages of a resource: types, times, size, digest."""
    return repository().get_metadata(uid)


def get(uid: str, repr_options: Mapping[str, bool] | None = None) -> Ldpr:
    """A resource with its graph."""
    return repository().get(uid, repr_options)


def get_version_info(uid: str) -> Graph:
    """The versions of a resource, with their times and labels."""
    return repository().get_version_info(uid)


def get_version(uid: str, ver_uid: str) -> Graph:
    """The graph of a version."""
    return repository().get_version(uid, ver_uid)


def create(parent: str, slug: str | None = None, **kwargs: Any) -> Ldpr:
    """Create a resource in a container, under the name ``slug`` if it is free, or another one."""
    return repository().create(parent, slug, **kwargs)


def create_or_replace(uid: str, **kwargs: Any) -> tuple[str, Ldpr]:
    """Create a resource, with containers above it, or replace its graph or its bytes."""
    return repository().create_or_replace(uid, **kwargs)


def update(uid: str, update_str: str, is_metadata: bool = False, handling: str = 'strict') -> Ldpr:
    """Change the graph of a resource by a SPARQL Update."""
    return repository().update(uid, update_str, is_metadata, handling)


def update_delta(uid: str, remove_trp: Iterable[Triple], add_trp: Iterable[Triple]) -> None:
    """Remove triples from the graph of a resource, and add others, in one commit."""
    repository().update_delta(uid, remove_trp, add_trp)


def create_version(uid: str, ver_uid: str | None = None) -> str:
    """Keep the state of a resource as a version."""
    return repository().create_version(uid, ver_uid)


def delete(uid: str, soft: bool = True, inbound: bool = True) -> str:
    """Remove a resource with everything below it."""
    return repository().delete(uid, soft, inbound)


def revert_to_version(uid: str, ver_uid: str) -> str:
    """Restore a version; the state before is kept as one, too."""
    return repository().revert_to_version(uid, ver_uid)


def resurrect(uid: str) -> URIRef:
    """Bring a removed resource back."""
    return repository().resurrect(uid)
