"""The linked-data opening in the Fedora API's dialect, with `curl`; queries with `rdflib`."""

import re
from datetime import datetime
from urllib.parse import quote, unquote

from rdflib import Graph
from rdflib.plugins.stores.sparqlstore import SPARQLStore

from .curl import Answer, Curl
from .opening import Absent, Attribute, Dangling, Entry, Full, Opening, Unsupported, split
from .record import CITES

LDP = "http://www.w3.org/ns/ldp#"
FEDORA = "http://fedora.info/definitions/v4/repository#"
PREMIS = "http://www.loc.gov/premis/rdf/v1#"
# The predicates of attributes whose names are not IRIs.
ATTRIBUTE = "cenote:attribute/"
TRIPLE = re.compile(r'<([^>]*)> <([^>]*)> (?:<([^>]*)>|"((?:[^"\\]|\\.)*)"\S*) \.')
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


class LinkedData(Opening):
    name = "LDP"
    has_units = False

    def __init__(self, url: str, user: str, password: str):
        self.root = f"{url}/rest"
        self.curl = Curl(self.root, "-u", f"{user}:{password}")
        self.graph = Graph(SPARQLStore(f"{url}/sparql", auth=(user, password)))

    def ask(self, method: str, path: str, *options: str, data: bytes | None = None) -> Answer:
        answer = self.curl.send(method, path, None, *options, data=data)
        if answer.status in (401, 403, 404, 410):
            raise Absent(answer.body)
        if answer.status == 507:
            raise Full(answer.body)
        assert answer.status < 300, answer
        return answer

    def put(self, path: str, data: bytes) -> None:
        link = f'Link: <{LDP}NonRDFSource>;rel="type"'
        self.ask("PUT", path, "-H", "Content-Type: application/octet-stream", "-H", link, data=data)

    def get(self, path: str) -> bytes:
        return self.ask("GET", path).body

    def triples(self, path: str) -> list[tuple[str, str, str]]:
        """Subject, predicate and object; IRIs and literals alike as text."""
        text = self.ask("GET", f"{path}/fcr:metadata", "-H", "Accept: application/n-triples").body.decode()
        return [(s, p, iri or unescaped(value)) for s, p, iri, value in TRIPLE.findall(text)]

    def entry(self, path: str) -> Entry:
        triples = self.triples(path)
        found = {predicate: value for _, predicate, value in triples}
        modified = int(datetime.fromisoformat(found[f"{FEDORA}lastModified"]).timestamp())
        if any(value == f"{LDP}Container" for _, _, value in triples):
            return Entry("collection", modified=modified)
        digest = found.get(f"{PREMIS}hasMessageDigest", "").removeprefix("urn:sha-256:")
        return Entry("object", int(found[f"{PREMIS}hasSize"]), digest or None, modified)

    def names(self, collection: str) -> set[str]:
        contained = (value for _, predicate, value in self.triples(collection) if predicate == f"{LDP}contains")
        return {unquote(split(address)[1]) for address in contained}

    def mkdir(self, path: str) -> None:
        self.ask("PUT", path, "-H", "Content-Type: text/turtle", data=b"")

    def remove(self, path: str) -> None:
        self.ask("DELETE", path)

    def needs_trash(self) -> None:
        """A tombstone is a view of the trash, and this dialect does not restore."""
        raise Unsupported("the Fedora API cannot restore removed resources")

    def add(self, path: str, attribute: Attribute) -> None:
        self.change(path, "INSERT", attribute)

    def drop(self, path: str, attribute: Attribute) -> None:
        self.change(path, "DELETE", attribute)

    def change(self, path: str, word: str, attribute: Attribute) -> None:
        predicate = ATTRIBUTE + quote(attribute.name, safe="")
        update = f"{word} DATA {{ <> <{predicate}> {literal(attribute.value)} }}"
        options = ("-H", "Content-Type: application/sparql-update")
        self.ask("PATCH", f"{path}/fcr:metadata", *options, data=update.encode())

    def needs_links(self) -> None:
        """Graphs have links."""

    def link(self, path: str, to: str) -> None:
        update = f"INSERT DATA {{ <> <{CITES}> <{self.root}{quote(to)}> }}"
        options = ("-H", "Content-Type: application/sparql-update")
        answer = self.curl.send("PATCH", f"{path}/fcr:metadata", None, *options, data=update.encode())
        if answer.status == 409:
            raise Dangling(answer.body)
        assert answer.status < 300, answer

    def links(self, path: str) -> set[str]:
        cited = (value for _, predicate, value in self.triples(path) if predicate == CITES)
        return {unquote(address.removeprefix(self.root)) for address in cited}

    def attributes(self, path: str) -> set[Attribute]:
        own = [(p, value) for s, p, value in self.triples(path) if p.startswith(ATTRIBUTE)]
        return {Attribute(unquote(predicate.removeprefix(ATTRIBUTE)), value) for predicate, value in own}

    def move(self, path: str, to: str) -> None:
        raise Unsupported("LDP has no moving and copying")

    def copy(self, path: str, to: str) -> None:
        raise Unsupported("LDP has no moving and copying")

    def find(self, collection: str, attribute: Attribute) -> set[str]:
        predicate = ATTRIBUTE + quote(attribute.name, safe="")
        stated = f"?x <{predicate}> {literal(attribute.value)}"
        # A caller who cannot see the collection may see resources in it, but not that it contains
        # them.
        below = literal(f"{self.root}{quote(collection)}/")
        rows = self.graph.query(f"SELECT ?x {{ {stated} FILTER(STRSTARTS(STR(?x), {below})) }}")
        return {unquote(str(row.x).removeprefix(self.root)) for row in rows}

    def grant(self, path: str, user: str, level: str) -> None:
        raise Unsupported("access lists through linked data are not part of the matrix yet")


def literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def unescaped(text: str) -> str:
    """The value of a literal of N-Triples."""
    code = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
    return code.sub(lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else ESCAPES.get(m[3], m[3]), text)
