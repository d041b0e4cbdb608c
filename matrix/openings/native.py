"""The native opening, with `curl`."""

import json
import time
from copy import copy

from .curl import Answer, Curl
from .opening import Absent, Attribute, Conflict, Dangling, Entry, Full, Opening, within
from .record import attributes_of, entry_of, link_to, links_of

JSON = ("-H", "Content-Type: application/json")
BYTES = ("-H", "Content-Type: application/octet-stream")


class Native(Opening):
    name = "curl"

    def __init__(self, url: str, user: str, password: str):
        self.curl = Curl(f"{url}/v1", "-u", f"{user}:{password}")

    def ask(self, method: str, route: str, query: dict, *options: str, data: bytes | None = None) -> Answer:
        answer = self.curl.send(method, route, query, *options, data=data)
        if answer.status in (401, 403, 404):
            raise Absent(answer.body)
        if answer.status == 507 and answer.json()["type"] == "urn:cenote:problem:quota":
            raise Full(answer.body)
        assert answer.status < 300, answer
        return answer

    def post(self, route: str, body: dict) -> Answer:
        return self.ask("POST", route, {}, *JSON, data=json.dumps(body).encode())

    def put(self, path: str, data: bytes) -> None:
        self.ask("PUT", f"/fs{path}", {}, *BYTES, data=data)

    def get(self, path: str) -> bytes:
        return self.ask("GET", f"/fs{path}", {}).body

    def entry(self, path: str) -> Entry:
        found = self.ask("GET", "/stat", {"path": path}).json()
        return entry_of(found)

    def names(self, collection: str) -> set[str]:
        listed = self.ask("GET", "/list", {"path": collection}).json()
        return {entry["name"] for entry in listed["entries"]}

    def mkdir(self, path: str) -> None:
        self.post("/create", {"path": path, "kind": "collection"})

    def move(self, path: str, to: str) -> None:
        self.post("/move", {"from": {"path": path}, "to": to})

    def copy(self, path: str, to: str) -> None:
        self.post("/copy", {"from": {"path": path}, "to": to})

    def remove(self, path: str) -> None:
        self.ask("DELETE", f"/fs{path}", {"recursive": "true"})

    def needs_trash(self) -> None:
        """It has a trash."""

    def restore(self, path: str) -> None:
        items = self.ask("GET", "/trash", {}).json()["items"]
        (removed,) = (item["id"] for item in items if item["path"] == path)
        self.post("/trash/restore", {"id": removed})

    def change(self, path: str, op: str, attribute: Attribute) -> None:
        words = {"attribute": attribute.name, "value": attribute.value, "unit": attribute.unit or None}
        self.post("/meta", {"path": path, "operations": [{"op": op, **words}]})

    def add(self, path: str, attribute: Attribute) -> None:
        self.change(path, "add", attribute)

    def drop(self, path: str, attribute: Attribute) -> None:
        self.change(path, "remove", attribute)

    def attributes(self, path: str) -> set[Attribute]:
        return attributes_of(self.ask("GET", "/meta", {"path": path}).json()["items"])

    def find(self, collection: str, attribute: Attribute) -> set[str]:
        condition = {"attribute": attribute.name, "op": "=", "value": attribute.value}
        found = self.post("/search", {"where": [condition]}).json()
        return within(collection, {each["path"] for each in found["items"]})

    def grant(self, path: str, user: str, level: str) -> None:
        word = {"read": "read_object", "none": "none"}[level]
        self.post("/access", {"path": path, "operations": [{"name": user, "level": word, "scope": "this"}]})

    def limit(self, collection: str, size: int | None) -> None:
        if size is None:
            self.ask("DELETE", "/quotas", {"path": collection})
        else:
            body = {"path": collection, "hard": {"bytes": size}}
            self.ask("PUT", "/quotas", {}, *JSON, data=json.dumps(body).encode())

    def needs_versions(self) -> None:
        """It has versions."""

    def keep_versions(self, collection: str) -> None:
        body = {"path": collection, "versioning": "each-change"}
        self.ask("PATCH", "/attributes", {}, *JSON, data=json.dumps(body).encode())

    def versions(self, path: str) -> list[int]:
        found = self.ask("GET", "/versions", {"path": path}).json()["items"]
        return sorted(each["version"] for each in found)

    def version(self, path: str, number: int) -> bytes:
        return self.ask("GET", f"/fs{path}", {"version": number}).body

    def restore_version(self, path: str, number: int) -> None:
        self.post("/versions", {"path": path, "op": "restore", "version": number})

    def needs_past(self) -> None:
        """It shows the past."""

    def past(self, what: str, path: str, position: str) -> Answer:
        return self.ask("GET", f"/past/{what}", {"path": path, "as_of": position})

    def position(self) -> str:
        return self.ask("GET", "/changes", {"since": "now"}).json()["next"]

    def names_as_of(self, collection: str, position: str) -> set[str]:
        return {entry["name"] for entry in self.past("list", collection, position).json()["entries"]}

    def get_as_of(self, path: str, position: str) -> bytes:
        return self.past("content", path, position).body

    def attributes_as_of(self, path: str, position: str) -> set[Attribute]:
        return attributes_of(self.past("meta", path, position).json()["items"])

    def find_as_of(self, collection: str, attribute: Attribute, position: str) -> set[str]:
        condition = {"attribute": attribute.name, "op": "=", "value": attribute.value}
        found = self.post("/past/search", {"under": collection, "as_of": position, "where": [condition]})
        return {json.loads(line)["path"] for line in found.body.splitlines()}

    def restore_as_of(self, path: str, position: str, to: str) -> None:
        body = {"path": path, "as_of": position, "to": to, "recursive": True}
        job = self.post("/past/restore", body).json()
        while "job" in job and not job["finished"]:
            time.sleep(0.02)
            job = self.ask("GET", f"/jobs/{job['job']}", {}).json()
        assert not job.get("failed"), job

    def needs_xattrs(self) -> None:
        """It has extended attributes."""

    def xattr(self, path: str, name: str) -> bytes:
        return self.ask("GET", "/xattr", {"path": path, "name": name}).body

    def set_xattr(self, path: str, name: str, value: bytes) -> None:
        self.ask("PUT", "/xattr", {"path": path, "name": name}, *BYTES, data=value)

    def needs_links(self) -> None:
        """Graphs have links."""

    def graph(self, path: str) -> str:
        return self.ask("GET", "/graph", {"path": path}).body.decode()

    def link(self, path: str, to: str) -> None:
        triples = ("-H", "Content-Type: application/n-triples")
        graph = (self.graph(path) + link_to(to)).encode()
        answer = self.curl.send("PUT", "/graph", {"path": path}, *triples, data=graph)
        if answer.status == 409 and answer.json()["type"] == "urn:cenote:problem:dangling":
            raise Dangling(answer.body)
        assert answer.status < 300, answer

    def links(self, path: str) -> set[str]:
        return links_of(self.graph(path))

    def needs_integrity(self) -> None:
        """It sets the required link integrity."""

    def integrity(self, collection: str, word: str) -> None:
        body = {"path": collection, "link_integrity": word}
        self.ask("PATCH", "/attributes", {}, *JSON, data=json.dumps(body).encode())

    def needs_stages(self) -> None:
        """It has stages."""

    def stage(self, path: str) -> str:
        return self.post("/uploads", {"path": path, "from": "object"}).json()["id"]

    def write_stage(self, stage: str, offset: int, data: bytes) -> None:
        self.ask("PATCH", f"/uploads/{stage}/content", {"offset": offset}, *BYTES, data=data)

    def read_stage(self, stage: str) -> bytes:
        return self.ask("GET", f"/uploads/{stage}/content", {}).body

    def publish(self, stage: str) -> None:
        answer = self.curl.send("POST", f"/uploads/{stage}/complete", {}, *JSON, data=b"{}")
        if answer.status == 412:
            raise Conflict(answer.body)
        assert answer.status < 300, answer

    def begin(self) -> str:
        return self.post("/changesets", {}).json()["id"]

    def within(self, changeset: str) -> "Native":
        part = copy(self)
        part.curl = self.curl.also("-H", f"Cenote-Changeset: {changeset}")
        return part

    def commit(self, changeset: str) -> None:
        answer = self.curl.send("POST", f"/changesets/{changeset}/commit", {}, *JSON, data=b"{}")
        if answer.status == 409:
            raise Conflict(answer.body)
        assert answer.json()["state"] == "committed", answer

    def abandon(self, changeset: str) -> None:
        self.ask("DELETE", f"/changesets/{changeset}", {})
