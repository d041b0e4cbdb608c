"""Graphs, terms and texts, without any request.

* ``names``: UIDs, the internal IRIs of resources, and their addresses.
* ``terms``: terms and triples as Turtle and SPARQL write them, and N-Triples read.
* ``text``: internal IRIs in texts that are sent as they are.
* ``delta``: what is removed and added, as one SPARQL Update.
* ``graph``: the graphs that callers get.
"""
