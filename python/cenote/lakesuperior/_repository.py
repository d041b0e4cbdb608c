"""A repository: a store in the words of LAKEsuperior's Python API."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cenote.lakesuperior._administration import Administration
from cenote.lakesuperior._http.server import Server
from cenote.lakesuperior._queries import Queries
from cenote.lakesuperior._requests import Requests
from cenote.lakesuperior._resources import Resources
from cenote.store._connect import native, settings

if TYPE_CHECKING:
    from cenote._cenote import store as _native


class Repository(Resources, Queries, Administration):
    """A store with the calls of LAKEsuperior's ``resource``, ``query`` and ``admin`` as methods.

    >>> from cenote.lakesuperior import Repository
    >>> repository = Repository()
    >>> repository.create_or_replace('/lab/map', rdf_data='<> <urn:x:scale> "1:1000" .')[0]
    '_create_'
    >>> repository.get('/lab/map').uri
    rdflib.term.URIRef('info:fcres/lab/map')

    The store and the login are found as :func:`cenote.connect` finds them; nothing is sent before
    the first call. It may be used by several threads, and after a fork.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        user: str | None = None,
        password: str | None = None,
        token: str | None = None,
        ticket: str | None = None,
        config: str | os.PathLike[str] | None = None,
    ) -> None:
        """Take a store; the arguments are those of :func:`cenote.connect`."""
        given = settings(url, user, password, token, ticket, None)
        self._connection: _native.Connection = native(given, config)
        super().__init__(Requests(Server(self._connection)))

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._connection.url

    def __repr__(self) -> str:
        return f'Repository({self.url!r})'

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled is the address: another process logs in by its own settings."""
        if self._connection.is_bound:
            raise TypeError('a repository with a ticket stays in its process')
        return Repository, (self.url,)
