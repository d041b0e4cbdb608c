"""Resources as values: what :meth:`Repository.get` and the calls that change something return."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import cached_property

from rdflib import RDF, URIRef

from cenote.lakesuperior._rdf.admin import ADMIN_TYPES, STRUCTURE, is_admin
from cenote.lakesuperior._rdf.graph import Graph
from cenote.lakesuperior._rdf.names import internal, uid_of
from cenote.lakesuperior._requests import VERSIONS, Requests
from cenote.lakesuperior.dictionaries.namespaces import ns_collection as nsc

#: A resource was created.
RES_CREATED = '_create_'
#: A resource was deleted.
RES_DELETED = '_delete_'
#: A resource was changed.
RES_UPDATED = '_update_'


class Ldpr:
    """A resource. Its graphs are requested when they are needed, and then kept.

    Attributes:
        uid: The UID.
        uri: The internal IRI, by which graphs call it.
    """

    def __init__(
        self,
        requests: Requests,
        uid: str,
        repr_options: Mapping[str, bool] | None = None,
        imr: Graph | None = None,
    ) -> None:
        self._requests, self._options = requests, repr_options or {}
        self.uid: str = uid_of(uid)
        self.uri: URIRef = internal(self.uid)
        if imr is not None:
            self.imr = imr

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self.uid!r})'

    @cached_property
    def imr(self) -> Graph:
        """The whole graph: what was given, metadata, and children."""
        return self._requests.graph(self.uid, self._options)

    @cached_property
    def metadata(self) -> Graph:
        """The part of the graph that the server manages."""
        if 'imr' in vars(self):
            return Graph(self.uri, filter(is_admin, self.imr))
        return self._requests.metadata(self.uid)

    @cached_property
    def user_data(self) -> Graph:
        """The part of the graph that was given: neither metadata nor children."""
        given = (triple for triple in self.imr if not is_admin(triple) and triple[1] not in STRUCTURE)
        return Graph(self.uri, given)

    @cached_property
    def version_info(self) -> Graph:
        """The versions, with their times and labels."""
        return self._requests.graph(self.uid, part=VERSIONS)

    @property
    def version_uids(self) -> set[str]:
        """The names of the versions."""
        versions = self.version_info.objects(self.uri, nsc['fcrepo'].hasVersion)
        return {uid_of(str(version)).rpartition('fcr:versions/')[2] for version in versions}

    @property
    def is_stored(self) -> bool:
        """Whether it exists now."""
        return self._requests.exists(self.uid)

    @property
    def types(self) -> set[URIRef]:
        """All types."""
        return {kind for kind in self.imr.objects(self.uri, RDF.type) if isinstance(kind, URIRef)}

    @property
    def ldp_types(self) -> set[URIRef]:
        """The types of LDP."""
        return {kind for kind in self.types if kind in nsc['ldp']}

    @property
    def user_types(self) -> set[URIRef]:
        """The types that were given."""
        return self.types - ADMIN_TYPES


class LdpRs(Ldpr):
    """An RDF source: a graph. All of them are containers."""


class LdpNr(Ldpr):
    """A non-RDF source: bytes with a graph."""

    @property
    def content(self) -> io.BufferedReader:
        """The bytes, as a file that is open for reading. They are transferred as they are read."""
        return self._requests.content(self.uid)

    @property
    def content_size(self) -> int:
        """The number of bytes."""
        return int(self.metadata.value(nsc['premis'].hasSize))

    @property
    def mimetype(self) -> str:
        """The media type."""
        return str(self.metadata.value(nsc['ebucore'].hasMimeType))

    @property
    def filename(self) -> str | None:
        """The name of the file that the bytes were uploaded from."""
        name = self.imr.value(nsc['ebucore'].filename)
        return None if name is None else str(name)
