"""The calls about resources. Each that changes something is one request, which is one commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

from rdflib import URIRef

from cenote.lakesuperior._model import RES_CREATED, RES_DELETED, RES_UPDATED, LdpNr, LdpRs, Ldpr
from cenote.lakesuperior._provided import Given, Provided, handled
from cenote.lakesuperior._rdf import delta
from cenote.lakesuperior._rdf.graph import Graph
from cenote.lakesuperior._rdf.names import MOUNT, internal, path_of
from cenote.lakesuperior._rdf.terms import Triple
from cenote.lakesuperior._rdf.text import addressed
from cenote.lakesuperior._requests import VERSIONS, Requests, representation
from cenote.lakesuperior.exceptions import InvalidResourceError, ResourceNotExistsError, TombstoneError

if TYPE_CHECKING:
    from rdflib import Graph as AnyGraph

METADATA = '/fcr:metadata'
TOMBSTONE = '/fcr:tombstone'


class Resources:
    """The calls about resources of a repository."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    # Looking

    def exists(self, uid: str) -> bool:
        """Whether a resource exists, and the caller may see it.

        Raises:
            TombstoneError: It was removed.
        """
        return self._requests.exists(uid)

    def get(self, uid: str, repr_options: Mapping[str, bool] | None = None) -> Ldpr:
        """A resource with its graph: an :class:`LdpNr`, which has bytes, or an :class:`LdpRs`.

        Args:
            uid: The resource.
            repr_options: What its graph has: ``incl_children`` (by default), ``incl_inbound``, the
                links of others to it, and ``incl_srv_mgd`` (by default), what the server manages.

        Raises:
            ResourceNotExistsError: Nothing is there, or the caller may not see it.
            TombstoneError: It was removed.
        """
        options = repr_options or {}
        response = self._requests.ask('GET', uid, headers=representation(options))
        is_binary = any('ldp#NonRDFSource>' in link for link in response.headers('Link'))
        graph = self._requests.read_graph(uid, response)
        return (LdpNr if is_binary else LdpRs)(self._requests, uid, options, graph)

    def get_metadata(self, uid: str) -> Graph:
        """What the server manages of a resource: types, times, size, digest."""
        return self._requests.metadata(uid)

    # Making

    def create(
        self,
        parent: str,
        slug: str | None = None,
        *,
        graph: AnyGraph | Iterable[Triple] | None = None,
        rdf_data: str | bytes | None = None,
        rdf_fmt: str | None = None,
        stream: IO[bytes] | None = None,
        mimetype: str | None = None,
        handling: str = 'lenient',
        disposition: Mapping[str, Any] | str | None = None,
        prov_cksum: str | None = None,
        prov_cksum_algo: str | None = None,
    ) -> Ldpr:
        """Create a resource in a container, under the name ``slug`` if it is free, or another one.

        The other arguments are those of :meth:`create_or_replace`.

        Raises:
            ResourceNotExistsError: The container does not exist.
            InvalidResourceError: It is no container.
        """
        if slug and slug.startswith('/'):
            raise ValueError('Slug cannot start with a slash.')
        given = Given(graph, rdf_data, rdf_fmt, stream, mimetype, disposition, prov_cksum, prov_cksum_algo)
        body = self._body(given, parent)
        headers = {**body.headers, **handled(handling), **_slug(slug)}
        uid = self._requests.made(self._requests.ask('POST', parent, headers=headers, body=body.body, about=body))
        return self._completed(uid, given, handling)

    def create_or_replace(
        self,
        uid: str,
        *,
        graph: AnyGraph | Iterable[Triple] | None = None,
        rdf_data: str | bytes | None = None,
        rdf_fmt: str | None = None,
        stream: IO[bytes] | None = None,
        mimetype: str | None = None,
        handling: str = 'lenient',
        disposition: Mapping[str, Any] | str | None = None,
        prov_cksum: str | None = None,
        prov_cksum_algo: str | None = None,
    ) -> tuple[str, Ldpr]:
        """Create a resource, with containers above it, or replace its graph or its bytes.

        Args:
            uid: The resource.
            graph: Its graph, or the triples of it. ``URIRef('')`` is the resource.
            rdf_data: Its graph as text, instead.
            rdf_fmt: The format of the text, by rdflib's name; Turtle by default.
            stream: A binary file, for a resource with bytes. It is sent as it is read. A graph beside
                it is set by a second request.
            mimetype: The media type of the bytes.
            handling: ``'lenient'`` leaves out triples that the server manages, ``'strict'`` refuses
                them.
            disposition: The name of the file, or the parsed ``Content-Disposition``.
            prov_cksum: The digest of the bytes in hexadecimal, which is compared.
            prov_cksum_algo: Its algorithm, as ``'sha256'``; SHA-1 by default.

        Returns:
            ``'_create_'`` or ``'_update_'``, and the resource.

        Raises:
            IncompatibleLdpTypeError: A graph would replace bytes, or bytes a graph.
            ChecksumValidationError: The bytes have another digest; nothing is stored.
            ServerManagedTermError: A triple is managed by the server.
            RdfParsingError: The text is not of this format.
            TombstoneError: The resource, or one above it, was removed.
        """
        given = Given(graph, rdf_data, rdf_fmt, stream, mimetype, disposition, prov_cksum, prov_cksum_algo)
        body = self._body(given, uid)
        headers = {**body.headers, **handled(handling)}
        response = self._requests.ask('PUT', uid, headers=headers, body=body.body, about=body)
        event = RES_CREATED if response.status == 201 else RES_UPDATED
        response.all()
        return event, self._completed(uid, given, handling)

    # Changing

    def update(
        self, uid: str, update_str: str, is_metadata: bool = False, handling: str = 'strict'
    ) -> Ldpr:
        """Change the graph of a resource by a SPARQL Update.

        Args:
            uid: The resource.
            update_str: The update. ``<>`` is the resource.
            is_metadata: Whether it is the graph of a resource with bytes.
            handling: ``'strict'`` refuses changes of triples that the server manages, ``'lenient'``
                leaves them out.

        Raises:
            InvalidResourceError: It has bytes, and ``is_metadata`` is not set; or the update is
                invalid.
            ServerManagedTermError: A triple is managed by the server.
        """
        update, part = addressed(update_str, self._requests.origin), METADATA if is_metadata else ''
        has_bytes = self._requests.patch(uid, part, update, handling)
        return (LdpNr if has_bytes else LdpRs)(self._requests, uid)

    def update_delta(
        self, uid: str, remove_trp: Iterable[Triple], add_trp: Iterable[Triple]
    ) -> None:
        """Remove triples from the graph of a resource, and add others, in one commit.

        Args:
            uid: The resource, with or without bytes.
            remove_trp: Triples to remove; ``None`` stands for any term.
            add_trp: Triples to add. Blank nodes are new ones.

        Raises:
            InvalidTripleError: A term is no term of rdflib, or a blank node is to be removed.
        """
        update = delta.update(remove_trp, add_trp)
        if update:
            self._requests.patch(uid, METADATA, update, 'lenient')
        elif not self.exists(uid):
            raise ResourceNotExistsError(uid)

    # Removing

    def delete(self, uid: str, soft: bool = True, inbound: bool = True) -> str:
        """Remove a resource with everything below it.

        Args:
            uid: The resource.
            soft: Whether it leaves a tombstone, and can be resurrected.
            inbound: Without effect: links to it stay, and lead to it again when it is resurrected.
        """
        headers = {} if soft else {'Prefer': 'no-tombstone'}
        try:
            self._requests.ask('DELETE', uid, headers=headers).all()
        except TombstoneError:
            if soft:
                raise
            self._requests.ask('DELETE', uid, TOMBSTONE).all()
        return RES_DELETED

    def resurrect(self, uid: str) -> URIRef:
        """Bring a removed resource back, with everything that was removed with it.

        Raises:
            TombstoneError: It was removed with one above it, which has the tombstone.
            InvalidResourceError: It was not removed.
        """
        try:
            self._requests.ask('POST', uid, TOMBSTONE).all()
        except ResourceNotExistsError:
            if self.exists(uid):
                raise InvalidResourceError(uid, f'Resource {uid} is not dead.') from None
            raise
        return internal(uid)

    # Versions

    def get_version_info(self, uid: str) -> Graph:
        """The versions of a resource, with their times and labels."""
        return self._requests.graph(uid, part=VERSIONS)

    def get_version(self, uid: str, ver_uid: str) -> Graph:
        """The graph of a version, in which the resource has its own IRI."""
        return self._requests.graph(uid, part=_version(ver_uid))

    def create_version(self, uid: str, ver_uid: str | None = None) -> str:
        """Keep the state of a resource as a version, named ``ver_uid`` if that is free.

        Returns:
            The UID of the version, ``UID/fcr:versions/NAME``.
        """
        return self._requests.made(self._requests.ask('POST', uid, VERSIONS, _slug(ver_uid)))

    def revert_to_version(self, uid: str, ver_uid: str) -> str:
        """Restore a version; the state before is kept as one, too."""
        self._requests.ask('PATCH', uid, _version(ver_uid)).all()
        return RES_UPDATED

    def _body(self, given: Given, uid: str) -> Provided:
        return given.provided(self._requests.origin, self._requests.origin + MOUNT + path_of(uid))

    def _completed(self, uid: str, given: Given, handling: str) -> Ldpr:
        """The resource, with the graph that was given beside bytes."""
        if given.stream is None:
            return LdpRs(self._requests, uid)
        if given.has_graph:
            body = given.beside_bytes(self._requests.origin, self._requests.origin + MOUNT + path_of(uid))
            headers = {**body.headers, **handled(handling)}
            self._requests.ask('PUT', uid, METADATA, headers, body.body, body).all()
        return LdpNr(self._requests, uid)


def _slug(name: str | None) -> dict[str, str]:
    return {'Slug': quote(name, safe='')} if name else {}


def _version(ver_uid: str) -> str:
    """The part of a version, given by its name or its UID."""
    name = ver_uid.rpartition('fcr:versions/')[2]
    return f'{VERSIONS}/{quote(name, safe="")}'
