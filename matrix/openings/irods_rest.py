"""irods-rest 0.9.3, with `curl`."""

import json

from . import irods
from .curl import Answer, Curl
from .opening import Absent, Attribute, Entry, Full, Opening, Unsupported, split

BYTES = ("-H", "Content-Type: application/octet-stream")
# The largest count in the protocol.
ALL = 2**31 - 1


class IrodsRest(Opening):
    name = "irods-rest"

    def __init__(self, url: str, user: str, password: str):
        base = f"{url}/irods-rest/0.9.3"
        token = Curl(base, "-u", f"{user}:{password}").send("POST", "/auth").body.decode()
        self.curl = Curl(base, "-H", f"Authorization: {token}")

    def ask(self, method: str, route: str, query: dict, *options: str, data: bytes | None = None) -> Answer:
        answer = self.curl.send(method, route, query, *options, data=data)
        if answer.status == 400 and json.loads(answer.body or b"{}").get("error_code") == irods.FULL:
            raise Full(answer.body)
        if answer.status in (400, 401, 403, 404):
            raise Absent(answer.body)
        assert answer.status == 200, answer
        return answer

    def put(self, path: str, data: bytes) -> None:
        query = {"logical-path": irods.logical(path), "truncate": "true"}
        self.ask("PUT", "/stream", query, *BYTES, data=data)

    def get(self, path: str) -> bytes:
        return self.ask("GET", "/stream", {"logical-path": irods.logical(path), "count": ALL}).body

    def listed(self, path: str) -> list[dict]:
        flags = {"stat": 1, "permissions": 0, "metadata": 1, "offset": 0, "limit": 0}
        answer = self.ask("GET", "/list", {"logical-path": irods.logical(path), **flags})
        return answer.json()["_embedded"]

    def itself(self, path: str) -> dict:
        """The entry of an object, whose listing is itself; a collection appears in the listing of its parent."""
        collection, _ = split(path)
        for place in (path, collection):
            for entry in self.listed(place):
                if entry["logical_path"] == irods.logical(path):
                    return entry
        raise Absent(path)

    def entry(self, path: str) -> Entry:
        found = self.itself(path)
        status = found["status_information"]
        kind = "object" if found["type"] == "data_object" else "collection"
        return Entry(kind, status.get("size"), None, int(status["last_write_time"]))

    def names(self, collection: str) -> set[str]:
        return {split(entry["logical_path"])[1] for entry in self.listed(collection)}

    def mkdir(self, path: str) -> None:
        self.ask("POST", "/logicalpath", {"logical-path": irods.logical(path), "collection": 1})

    def move(self, path: str, to: str) -> None:
        self.ask("POST", "/logicalpath/rename", {"src": irods.logical(path), "dst": irods.logical(to)})

    def remove(self, path: str) -> None:
        self.ask("DELETE", "/logicalpath", {"logical-path": irods.logical(path), "no-trash": 1, "recursive": 1})

    def add(self, path: str, attribute: Attribute) -> None:
        self.change(path, "add", attribute)

    def drop(self, path: str, attribute: Attribute) -> None:
        self.change(path, "remove", attribute)

    def change(self, path: str, word: str, attribute: Attribute) -> None:
        entity = {"entity_name": irods.logical(path), "entity_type": "data_object"}
        body = {**entity, "operations": [irods.operation(word, attribute)]}
        self.ask("POST", "/metadata", {}, "-H", "Content-Type: application/json", data=json.dumps(body).encode())

    def attributes(self, path: str) -> set[Attribute]:
        found = self.itself(path)["metadata"]
        return {Attribute(each["attribute"], each["value"], each["units"]) for each in found}

    def find(self, collection: str, attribute: Attribute) -> set[str]:
        query = {"query": irods.search(collection, attribute), "limit": 100, "offset": 0, "type": "general"}
        rows = self.ask("GET", "/query", query).json()["_embedded"]
        return {f"{irods.inside(parent)}/{name}" for parent, name in rows}

    def copy(self, path: str, to: str) -> None:
        raise Unsupported("the protocol has no copying")

    def grant(self, path: str, user: str, level: str) -> None:
        raise Unsupported("the protocol can grant access only by tickets")
