"""LAKEsuperior's Python API, for a store on a server: its names, arguments, values and exceptions.

>>> from cenote.lakesuperior import env, resource
>>> env.setup()
>>> resource.create_or_replace('/atlas', rdf_data='<> <urn:x:title> "Atlas" .', rdf_fmt='turtle')
('_create_', LdpRs('/atlas'))
>>> [str(title) for title in resource.get('/atlas').imr.objects(predicate=URIRef('urn:x:title'))]
['Atlas']

The functions are those of a :class:`Repository` that :func:`env.setup` chooses; programs that use
several have one for each. ``docs/python.md`` says what differs from LAKEsuperior. It needs rdflib:
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
