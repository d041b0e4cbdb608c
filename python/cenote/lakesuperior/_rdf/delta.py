"""What is removed from and added to a graph, as one SPARQL Update, which is one commit."""

from __future__ import annotations

from collections.abc import Iterable

from rdflib import BNode

from cenote.lakesuperior._rdf.terms import Triple, Writer
from cenote.lakesuperior.exceptions import InvalidTripleError


def update(remove: Iterable[Triple], add: Iterable[Triple]) -> str:
    """The update; the empty text, if nothing is removed or added.

    In ``remove``, ``None`` stands for any term. A blank node in ``add`` is a new one.
    """
    exact: list[Triple] = []
    patterns: list[Triple] = []
    for triple in remove:
        (patterns if None in _terms(triple) else exact).append(_removable(triple))
    writer = Writer()
    return ' ;\n'.join(
        [
            *_block('DELETE DATA', map(writer.triple, exact)),
            *(f'DELETE WHERE {{ {_pattern(triple)} }}' for triple in patterns),
            *_block('INSERT DATA', map(writer.triple, add)),
        ]
    )


def _block(what: str, lines: Iterable[str]) -> list[str]:
    text = '\n'.join(lines)
    return [f'{what} {{\n{text}\n}}'] if text else []


def _terms(triple: Triple) -> tuple[object, ...]:
    try:
        s, p, o = triple
    except (TypeError, ValueError):
        raise InvalidTripleError(triple, hint='a triple is a tuple of three terms of rdflib') from None
    return s, p, o


def _removable(triple: Triple) -> Triple:
    if any(isinstance(term, BNode) for term in _terms(triple)):
        hint = 'a blank node has no name by which it could be removed: use None, or a pattern with update()'
        raise InvalidTripleError(triple, hint=hint)
    return triple


def _pattern(triple: Triple) -> str:
    writer = Writer()
    names = ('?s', '?p', '?o')
    terms = [name if term is None else writer.term(term) for name, term in zip(names, triple, strict=True)]
    return ' '.join([*terms, '.'])
