"""Queries: the functions of LAKEsuperior's ``lakesuperior.api.query``. Those of :class:`~cenote.lakesuperior.Repository` describe the arguments."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from typing import Any

from rdflib import URIRef
from rdflib.term import Node

from cenote.lakesuperior._queries import Term, operands
from cenote.lakesuperior.env import repository

__all__ = ['fulltext_lookup', 'operands', 'sparql_query', 'term_query', 'triple_match']


def triple_match(
    s: Node | None = None, p: Node | None = None, o: Node | None = None, return_full: bool = False
) -> set[Any]:
    """The subjects of triples with these terms, or the triples. ``None`` stands for any term."""
    return repository().triple_match(s, p, o, return_full)


def term_query(terms: Iterable[Term], or_logic: bool = False) -> set[URIRef]:
    """Resources with certain statements."""
    return repository().term_query(terms, or_logic)


def fulltext_lookup(pattern: str) -> set[URIRef]:
    """Resources whose statements or text files have the words."""
    return repository().fulltext_lookup(pattern)


def sparql_query(qry_str: str, fmt: str = 'json') -> BytesIO:
    """The answer to a SPARQL query, in a format."""
    return repository().sparql_query(qry_str, fmt)
