"""Terms as Turtle and SPARQL write them, and N-Triples read.

Invariant: whatever a term contains, it is written as one term, or refused; and a literal keeps its lexical form, which
rdflib's own parsers replace by the usual one (``"01"^^xsd:integer`` by ``"1"``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rdflib import BNode, Literal, URIRef

from cenote.lakesuperior._rdf.names import encoded, is_internal, reference
from cenote.lakesuperior.exceptions import InvalidTripleError

#: Three terms.
Triple = tuple[Any, Any, Any]

_NO_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_LANGUAGE = re.compile(r'[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*')
_ESCAPED = re.compile(r'[\x00-\x1f"\\\x7f]')


def iri(term: URIRef) -> str:
    """An IRI in angle brackets; that of a resource as a reference to the server."""
    return _in_brackets(reference(term) if is_internal(term) else str(term), term)


def iri_as_it_is(term: URIRef) -> str:
    """An IRI in angle brackets; that of a resource encoded as the server has it."""
    return _in_brackets(encoded(term) if is_internal(term) else str(term), term)


def _in_brackets(text: str, term: URIRef) -> str:
    if _NO_IRI.search(text):
        raise InvalidTripleError(term, hint='an IRI has no blanks and none of <>"{}|^`\\: percent-encode them')
    return f'<{_sendable(text, term)}>'


def literal(term: Literal) -> str:
    """A literal, with its language or datatype."""
    text = quoted(str(term), term)
    if term.language:
        if not _LANGUAGE.fullmatch(term.language):
            raise InvalidTripleError(term, hint=f'{term.language!r} is not a language tag')
        return f'{text}@{term.language}'
    return f'{text}^^{iri(term.datatype)}' if term.datatype is not None else text


def quoted(text: str, term: object = None) -> str:
    """A text in quotation marks."""
    escaped = _ESCAPED.sub(lambda found: f'\\u{ord(found[0]):04X}', text)
    return f'"{_sendable(escaped, term or text)}"'


def _sendable(text: str, term: object) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidTripleError(term, hint='it has half a character (a lone surrogate)') from None
    return text


class Writer:
    """Writes the triples of one document: a blank node has the same name in all of them."""

    def __init__(self) -> None:
        self._blank: dict[BNode, str] = {}

    def triple(self, triple: Triple) -> str:
        """A triple with its full stop."""
        try:
            s, p, o = triple
        except (TypeError, ValueError):
            raise InvalidTripleError(triple, hint='a triple is a tuple of three terms of rdflib') from None
        if not isinstance(p, URIRef) or isinstance(s, Literal):
            raise InvalidTripleError(triple, hint='only objects are literals, and predicates are IRIs')
        return ' '.join([*map(self.term, (s, p, o)), '.'])

    def term(self, term: object) -> str:
        """A term."""
        if isinstance(term, BNode):
            return self._blank.setdefault(term, f'_:b{len(self._blank)}')
        if isinstance(term, URIRef):
            return iri(term)
        if isinstance(term, Literal):
            return literal(term)
        raise InvalidTripleError(term, hint='terms are instances of rdflib.URIRef, BNode or Literal')


def turtle(triples: Iterable[Triple]) -> bytes:
    """Triples as Turtle, one a line. Relative IRIs stay so."""
    writer = Writer()
    return '\n'.join(map(writer.triple, triples)).encode()


_NODE = r'<([^>]*)>|_:(\S+)'
_LINE = re.compile(
    rf'(?:{_NODE}) <([^>]*)> (?:{_NODE}|"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?) \.'
)
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))')
_LETTERS = {'t': '\t', 'b': '\b', 'n': '\n', 'r': '\r', 'f': '\f'}


def read(text: str, rename: Callable[[str], str]) -> Iterator[Triple]:
    """The triples of N-Triples as the server writes them, with all IRIs renamed.

    Raises:
        ValueError: A line is no triple.
    """
    for line in text.split('\n'):
        found = _LINE.fullmatch(line)
        if found:
            yield _triple(found.groups(), rename)
        elif line and not line.startswith('#'):
            raise ValueError(f'not a triple: {line:.200}')


def _triple(parts: tuple[str | None, ...], rename: Callable[[str], str]) -> Triple:
    s, blank_s, p, o, blank_o, text, language, datatype = parts

    def node(name: str | None, blank: str | None) -> URIRef | BNode:
        return BNode(blank) if blank is not None else URIRef(rename(_plain(name or '')))

    if text is None:
        return node(s, blank_s), node(p, None), node(o, blank_o)
    kind = URIRef(_plain(datatype)) if datatype is not None else None
    value = Literal(_plain(text), lang=language, datatype=kind, normalize=False)
    return node(s, blank_s), node(p, None), value


def _plain(text: str) -> str:
    """The text without its escapes."""
    return _ESCAPE.sub(_character, text) if '\\' in text else text


def _character(found: re.Match[str]) -> str:
    short, long, letter = found.groups()
    return chr(int(short or long, 16)) if letter is None else _LETTERS.get(letter, letter)
