"""The R package `cenote`, with one R process per user."""

import json
import os
import subprocess
from pathlib import Path

from . import irods
from .opening import Absent, Attribute, Entry, Full, Opening, Unsupported

SERVE = Path(__file__).with_suffix(".R")
ABSENT = {"cenote_not_found", "cenote_forbidden", "cenote_denied", "cenote_unauthenticated"}


class RPackage(Opening):
    name = "R"

    def __init__(self, url: str, user: str, password: str, scratch: Path):
        self.file = scratch / f"r-{user}"
        home = scratch / f"r-home-{user}"
        home.mkdir()
        environment = {**os.environ, "MATRIX_PASSWORD": password, "HOME": str(home), "XDG_CONFIG_HOME": str(home)}
        self.process = subprocess.Popen(
            ["Rscript", "--vanilla", str(SERVE), f"{url}/irods-http-api/0.7.0", user],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(scratch / f"r-{user}.log").open("w"),
            env=environment,
            text=True,
        )
        while line := self.process.stdout.readline():
            if line == "ready\n":
                return
        raise AssertionError("R does not start: " + (scratch / f"r-{user}.log").read_text())

    def ask(self, verb: str, **args):
        self.process.stdin.write(json.dumps({"verb": verb, "args": args}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" not in answer:
            return answer["value"]
        if answer["class"] in ABSENT:
            raise Absent(answer["error"])
        if answer["class"] == "cenote_quota":
            raise Full(answer["error"])
        raise AssertionError(f"{verb} {args}: {answer}")

    def put(self, path: str, data: bytes) -> None:
        self.file.write_bytes(data)
        self.ask("put", path=path, file=str(self.file))

    def get(self, path: str) -> bytes:
        self.ask("get", path=path, file=str(self.file))
        return self.file.read_bytes()

    def entry(self, path: str) -> Entry:
        found = self.ask("entry", path=path)
        if found["type"] == "collection":
            raise Unsupported("`ils` shows what is in a collection, not the collection")
        return Entry("object", found["size"], irods.sha256(found["checksum"]), found["modified_at"])

    def names(self, collection: str) -> set[str]:
        found = self.ask("names", path=collection)
        return {found} if isinstance(found, str) else set(found)

    def mkdir(self, path: str) -> None:
        self.ask("mkdir", path=path)

    def move(self, path: str, to: str) -> None:
        self.ask("move", path=path, to=to)

    def copy(self, path: str, to: str) -> None:
        self.ask("copy", path=path, to=to)

    def remove(self, path: str) -> None:
        self.ask("remove", path=path)

    def add(self, path: str, attribute: Attribute) -> None:
        self.ask("meta", path=path, operation=irods.operation("add", attribute))

    def drop(self, path: str, attribute: Attribute) -> None:
        self.ask("meta", path=path, operation=irods.operation("remove", attribute))

    def attributes(self, path: str) -> set[Attribute]:
        return {Attribute(*row) for row in self.ask("query", text=irods.described(path))}

    def find(self, collection: str, attribute: Attribute) -> set[str]:
        rows = self.ask("query", text=irods.search(collection, attribute))
        return {f"{irods.inside(parent)}/{name}" for parent, name in rows}

    def grant(self, path: str, user: str, level: str) -> None:
        self.ask("grant", path=path, user=user, level={"read": "read", "none": "null"}[level])

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
