"""Requests about resources, and what their answers are read as. What only reads is here as a whole."""

from __future__ import annotations

import errno
import io
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from cenote.lakesuperior._http.content import opened
from cenote.lakesuperior._http.refusals import Request, refused
from cenote.lakesuperior._http.response import Response
from cenote.lakesuperior._http.server import Body, Server
from cenote.lakesuperior._provided import Provided, handled
from cenote.lakesuperior._rdf import terms
from cenote.lakesuperior._rdf.admin import is_admin
from cenote.lakesuperior._rdf.graph import Graph
from cenote.lakesuperior._rdf.names import INTERNAL, MOUNT, Addresses, internal, path_of, uid_of
from cenote.lakesuperior.exceptions import InvalidResourceError
from cenote.store.errors import ProtocolError

_FCREPO = 'http://fedora.info/definitions/fcrepo#'
#: What may be asked of a representation: the preference, and whether it is the default.
OPTIONS = {
    'incl_children': ('Children', True),
    'incl_inbound': ('InboundReferences', False),
    'incl_srv_mgd': ('ServerManaged', True),
    'embed_children': ('EmbedResources', False),
}
VERSIONS = '/fcr:versions'


class Requests:
    """Requests to the server of a repository."""

    def __init__(self, server: Server) -> None:
        self._server = server
        #: Scheme and authority of the server.
        self.origin = server.origin
        #: The internal IRI for an address in an answer; any other IRI as it is.
        self.internal = Addresses(server.authority).internal

    def ask(
        self,
        method: str,
        uid: str,
        part: str = '',
        headers: Mapping[str, str] | None = None,
        body: Body = b'',
        about: Provided | None = None,
    ) -> Response:
        """A response about a resource that is no refusal."""
        request = about.about(uid) if about else Request(uid)
        return self.send(method, MOUNT + path_of(uid).rstrip('/') + part, headers, body, request)

    def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: Body = b'',
        about: Request | None = None,
    ) -> Response:
        """A response that is no refusal."""
        response = self._server.send(method, path, headers, body)
        if response.status >= 400:
            raise refused(response, replace(about or Request('/'), is_anonymous=self._server.is_anonymous))
        return response

    def patch(self, uid: str, part: str, update: str, handling: str) -> bool:
        """Change the graph of a resource, or of a part of it, by a SPARQL Update. Returns whether the resource has bytes."""
        headers = {'Content-Type': 'application/sparql-update', **handled(handling)}
        try:
            body = update.encode()
        except UnicodeEncodeError as error:
            raise InvalidResourceError(uid, f'the update is not text: {error}') from error
        response = self.ask('PATCH', uid, part, headers, body)
        response.all()
        return any('rel=describes' in link for link in response.headers('Link'))

    def exists(self, uid: str) -> bool:
        """Whether a resource exists. Raises TombstoneError if it was removed."""
        response = self._server.send('HEAD', MOUNT + path_of(uid))
        response.close()
        if response.status >= 400 and response.status != 404:
            # An answer to HEAD does not say why.
            self.ask('GET', uid, headers=representation({})).close()
        return response.status != 404

    def graph(self, uid: str, options: Mapping[str, bool] | None = None, part: str = '') -> Graph:
        """The graph of a resource, or of a part of it."""
        return self.read_graph(uid, self.ask('GET', uid, part, representation(options or {})))

    def metadata(self, uid: str) -> Graph:
        """The part of its graph that the server manages."""
        graph = self.graph(uid, {'incl_children': False})
        return Graph(graph.uri, filter(is_admin, graph))

    def read_graph(self, uid: str, response: Response) -> Graph:
        """The graph in an answer."""
        content = response.all()
        try:
            return Graph(internal(uid), terms.read(content.decode(), self.internal))
        except ValueError as error:
            raise ProtocolError(errno.EPROTO, f'not an answer of a cenote server: {error}', kind='protocol') from error

    def content(self, uid: str) -> io.BufferedReader:
        """The bytes of a resource, as a file that is open for reading."""

        def ask(start: int) -> Response:
            headers = {'Accept': '*/*', **({'Range': f'bytes={start}-'} if start else {})}
            return self.ask('GET', uid, '/fcr:content', headers)

        return opened(ask)

    def made(self, response: Response) -> str:
        """The UID of what a request created."""
        response.all()
        path = urlsplit(response.header('Location')).path
        return uid_of(INTERNAL + path.removeprefix(MOUNT))


def representation(options: Mapping[str, bool]) -> dict[str, str]:
    """The headers for a graph with, or without, what the options name."""
    if unknown := set(options) - set(OPTIONS):
        raise ValueError(f'no options of a representation: {", ".join(sorted(unknown))}; there are {", ".join(OPTIONS)}')
    headers = {'Accept': 'application/n-triples'}
    wanted: dict[str, list[str]] = {'include': [], 'omit': []}
    for name, (preference, default) in OPTIONS.items():
        if bool(options.get(name, default)) != default:
            wanted['omit' if default else 'include'].append(_FCREPO + preference)
    parts = [f'{what}="{" ".join(iris)}"' for what, iris in wanted.items() if iris]
    if parts:
        headers['Prefer'] = '; '.join(['return=representation', *parts])
    return headers
