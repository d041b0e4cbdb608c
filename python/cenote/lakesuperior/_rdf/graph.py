"""The graphs that callers get: those of rdflib, with what scripts for LAKEsuperior use of its own."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import rdflib
from rdflib import URIRef
from rdflib.plugins.stores.memory import SimpleMemory

from cenote.lakesuperior._rdf.terms import Triple

__all__ = ['Graph']


class _Store(SimpleMemory):
    """Memory: there is no transaction that a graph would have to be read in."""

    def txn_ctx(self, write: bool = False) -> AbstractContextManager[None]:
        """Nothing; as LAKEsuperior's stores have it."""
        return nullcontext()


class Graph(rdflib.Graph):
    """A graph of rdflib in memory, about the resource :attr:`uri`.

    Changing it changes nothing in the repository.
    """

    def __init__(self, uri: URIRef | None = None, triples: Iterable[Triple] = ()) -> None:
        super().__init__(_Store(), identifier=uri)
        #: The internal IRI of the resource.
        self.uri = uri
        for triple in triples:
            self.add(triple)

    def value(self, *args: Any, **kwargs: Any) -> Any:
        """An object of the resource for a predicate, or ``None``; with more arguments, as rdflib has it."""
        if len(args) == 1 and not kwargs:
            return super().value(self.uri, args[0])
        return super().value(*args, **kwargs)

    def as_rdflib(self) -> rdflib.Graph:
        """A copy as a plain graph of rdflib."""
        graph = rdflib.Graph(identifier=self.identifier)
        for triple in self:
            graph.add(triple)
        return graph
