"""LAKEsuperior's Python API, for a store on a server: its names, arguments, values and exceptions.

>>> from rdflib import Literal, URIRef
>>> from cenote.lakesuperior import env, resource
>>> env.setup()
>>> resource.create_or_replace('/lab/atlas', rdf_data='<> <urn:x:title> "Atlas" .', rdf_fmt='turtle')
('_create_', LdpRs('/lab/atlas'))
>>> atlas, title = resource.get('/lab/atlas'), URIRef('urn:x:title')
>>> resource.update_delta(atlas.uid, {(atlas.uri, title, None)}, {(atlas.uri, title, Literal('Maps'))})
>>> resource.get(atlas.uid).imr.value(title)
rdflib.term.Literal('Maps')

The functions of ``resource``, ``query`` and ``admin`` are the methods of a :class:`Repository` that
``env.setup`` chooses; programs that use several have one for each. ``docs/python.md`` says what differs from LAKEsuperior. It needs rdflib:
``pip install 'cenote[linked-data]'``.
"""

from importlib.util import find_spec

if find_spec('rdflib') is None:
    raise ImportError("cenote.lakesuperior needs rdflib: pip install 'cenote[linked-data]'", name='rdflib')

from cenote.lakesuperior import env
from cenote.lakesuperior._model import LdpNr, Ldpr, LdpRs
from cenote.lakesuperior._rdf.graph import Graph
from cenote.lakesuperior._repository import Repository
from cenote.lakesuperior.api import admin, query, resource

__all__ = ['Graph', 'LdpNr', 'LdpRs', 'Ldpr', 'Repository', 'admin', 'env', 'query', 'resource']
