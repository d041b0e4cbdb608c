"""What a caller provides for a resource, as the body and the headers of a request."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import IO, Any
from urllib.parse import quote

import rdflib

from cenote.lakesuperior._http.refusals import Request
from cenote.lakesuperior._rdf.names import INTERNAL
from cenote.lakesuperior._rdf.terms import Triple, turtle
from cenote.lakesuperior._rdf.text import addressed
from cenote.lakesuperior.dictionaries.namespaces import ns_collection as nsc
from cenote.lakesuperior.exceptions import RdfParsingError

#: The media type of each format of rdflib that the server reads as it is.
_FORMATS = {
    'turtle': 'text/turtle', 'ttl': 'text/turtle', 'longturtle': 'text/turtle', 'text/turtle': 'text/turtle',
    'nt': 'text/turtle', 'ntriples': 'text/turtle', 'nt11': 'text/turtle', 'application/n-triples': 'text/turtle',
    'n3': 'text/n3', 'text/n3': 'text/n3',
    'xml': 'application/rdf+xml', 'rdf/xml': 'application/rdf+xml', 'pretty-xml': 'application/rdf+xml',
    'application/rdf+xml': 'application/rdf+xml',
    'json-ld': 'application/ld+json', 'application/ld+json': 'application/ld+json',
}
#: Those in which an internal IRI can be told from other text.
_TOKENS = ('text/turtle', 'text/n3')
_BINARY = '<http://www.w3.org/ns/ldp#NonRDFSource>; rel="type"'
_HANDLING = ('lenient', 'strict')


@dataclass
class Provided:
    """A body, its headers, and what an exception says about them."""

    body: bytes | IO[bytes] = b''
    headers: dict[str, str] = field(default_factory=dict[str, str])
    mimetype: str = 'text/turtle'
    rdf_fmt: str | None = None
    digest: str | None = None

    def about(self, uid: str) -> Request:
        """What an exception says about a request with it."""
        return Request(uid, self.mimetype, self.rdf_fmt, self.digest)


def handled(handling: str) -> dict[str, str]:
    """The header that says what happens to triples that the server manages."""
    if handling not in _HANDLING:
        raise ValueError(f"handling is 'strict' or 'lenient', not {handling!r}")
    return {'Prefer': f'handling={handling}'}


@dataclass(frozen=True)
class Given:
    """What the arguments of a call say a resource consists of."""

    graph: Any = None
    rdf_data: str | bytes | None = None
    rdf_fmt: str | None = None
    stream: IO[bytes] | None = None
    mimetype: str | None = None
    disposition: Mapping[str, Any] | str | None = None
    prov_cksum: str | None = None
    prov_cksum_algo: str | None = None

    @property
    def has_graph(self) -> bool:
        """Whether there is a graph, beside bytes or without."""
        return self.graph is not None or bool(self.rdf_data)

    def provided(self, origin: str, base: str) -> Provided:
        """The bytes if there are any, else the graph. ``base`` is what relative IRIs are resolved against, if that is done here."""
        if self.stream is not None:
            return _bytes(self, self.stream)
        if self.mimetype:
            raise ValueError('mimetype is that of a stream: pass one, too')
        if self.rdf_data:
            return _text(self.rdf_data, self.rdf_fmt or 'turtle', origin, base)
        triples: Any = () if self.graph is None else self.graph
        return _typed(Provided(turtle(triples)))

    def beside_bytes(self, origin: str, base: str) -> Provided:
        """The graph that is given beside bytes, with the name of their file: it would replace that, too."""
        provided = replace(self, stream=None, mimetype=None).provided(origin, base)
        name = _file_name(self.disposition)
        if name is None:
            return provided
        raw = provided.body if isinstance(provided.body, bytes) else b''
        if provided.mimetype not in _TOKENS:
            raw = turtle(_parsed(raw, provided.mimetype, base))
        named = turtle([(rdflib.URIRef(base), nsc['ebucore'].filename, rdflib.Literal(name))])
        return _typed(Provided(raw + b'\n' + named, rdf_fmt=provided.rdf_fmt))


def _typed(provided: Provided) -> Provided:
    provided.headers['Content-Type'] = provided.mimetype
    return provided


def _text(data: str | bytes, fmt: str, origin: str, base: str) -> Provided:
    mimetype = _FORMATS.get(fmt.lower())
    raw = _encoded(data, fmt) if isinstance(data, str) else bytes(data)
    if mimetype in _TOKENS and INTERNAL.encode() in raw:
        raw = addressed(_decoded(raw, fmt), origin).encode()
    elif mimetype is None or INTERNAL.encode() in raw:
        return _typed(Provided(turtle(_parsed(raw, fmt, base)), rdf_fmt=fmt))
    return _typed(Provided(raw, mimetype=mimetype, rdf_fmt=fmt))


def _encoded(text: str, fmt: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise RdfParsingError(fmt, str(error)) from error


def _decoded(raw: bytes, fmt: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise RdfParsingError(fmt, str(error)) from error


def _parsed(raw: bytes, fmt: str, base: str) -> list[Triple]:
    try:
        return list(rdflib.Graph().parse(data=raw, format=fmt, publicID=base))
    except Exception as error:
        # Each parser of rdflib has exceptions of its own.
        raise RdfParsingError(fmt, str(error)) from error


def _bytes(given: Given, stream: IO[bytes]) -> Provided:
    """Bytes, with their media type, file name and digest."""
    if not hasattr(stream, 'read'):
        raise TypeError('the stream must be a file that is open for reading in binary mode, such as io.BytesIO')
    mimetype = given.mimetype or 'application/octet-stream'
    headers = {'Content-Type': mimetype, 'Link': _BINARY}
    if name := _file_name(given.disposition):
        headers['Content-Disposition'] = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    if given.prov_cksum:
        headers['Digest'] = f'{given.prov_cksum_algo or "sha1"}={given.prov_cksum}'
    _require_plain(headers)
    return Provided(stream, headers, mimetype, digest=given.prov_cksum)


def _require_plain(headers: Mapping[str, str]) -> None:
    """Refuse what would be further headers.

    Raises:
        ValueError: A value has other characters than the visible ones of ASCII.
    """
    for name, value in headers.items():
        if not re.fullmatch(r'[\x20-\x7e]*', value):
            raise ValueError(f'not a value of {name}: {value!r:.100}')


def _file_name(disposition: Mapping[str, Any] | str | None) -> str | None:
    """The file name in a disposition: a name or a path, or the dictionary of LAKEsuperior's parsed header."""
    if disposition is None or isinstance(disposition, str):
        return os.path.basename(disposition) if disposition else None
    try:
        name = disposition['attachment']['parameters']['filename']
    except (KeyError, TypeError):
        return None
    return str(name)
