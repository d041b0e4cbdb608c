"""The program `cenote`, one process per request."""

import json
import os
import subprocess
from pathlib import Path

from .opening import Absent, Attribute, Dangling, Entry, Full, Opening, within
from .record import attributes_of, entry_of, link_to, links_of

ABSENT = {"not-found", "denied", "unauthenticated"}
# An exit code.
NO_SPACE = 9


class Program(Opening):
    name = "cenote"

    def __init__(self, program: str, url: str, user: str, password: str, scratch: Path):
        config = scratch / f"{user}.toml"
        config.touch(mode=0o600)
        self.program = program
        self.scratch = scratch
        self.environment = {
            **os.environ,
            "CENOTE_URL": url,
            "CENOTE_USER": user,
            "CENOTE_PASSWORD": password,
            "CENOTE_CONFIG": str(config),
        }

    def run(self, *args: str, data: bytes | None = None) -> bytes:
        done = subprocess.run(
            [self.program, "--json", *args],
            input=data if data is not None else b"",
            capture_output=True,
            env=self.environment,
            check=False,
        )
        if done.returncode == 0:
            return done.stdout
        error = json.loads(done.stderr.splitlines()[-1])["error"]
        if error["message"].startswith("the target of the link does not exist"):
            raise Dangling(error)
        if error.get("kind") in ABSENT:
            raise Absent(error)
        if done.returncode == NO_SPACE and error["message"].startswith("the quota of "):
            raise Full(error)
        raise AssertionError(f"{args}: {error}")

    def lines(self, *args: str) -> list[dict]:
        return [json.loads(line) for line in self.run(*args).splitlines()]

    def put(self, path: str, data: bytes) -> None:
        self.run("put", "--quiet", "--", "-", path, data=data)

    def get(self, path: str) -> bytes:
        return self.run("cat", "--", path)

    def entry(self, path: str) -> Entry:
        (found,) = self.lines("stat", "--", path)
        return entry_of(found)

    def names(self, collection: str) -> set[str]:
        return {found["name"] for found in self.lines("ls", "--", collection)}

    def mkdir(self, path: str) -> None:
        self.run("mkdir", "--", path)

    def move(self, path: str, to: str) -> None:
        self.run("mv", "--", path, to)

    def copy(self, path: str, to: str) -> None:
        self.run("cp", "--", f":{path}", f":{to}")

    def remove(self, path: str) -> None:
        self.run("rm", "--recursive", "--", path)

    def needs_trash(self) -> None:
        """It has a trash."""

    def restore(self, path: str) -> None:
        self.run("trash", "restore", "--", path)

    def add(self, path: str, attribute: Attribute) -> None:
        self.run("meta", "add", "--", path, *words(attribute))

    def drop(self, path: str, attribute: Attribute) -> None:
        self.run("meta", "rm", "--", path, *words(attribute))

    def attributes(self, path: str) -> set[Attribute]:
        return attributes_of(self.lines("meta", "show", "--", path))

    def find(self, collection: str, attribute: Attribute) -> set[str]:
        condition = f"--meta={quoted(attribute.name)}={quoted(attribute.value)}"
        found = {found["path"] for found in self.lines("find", condition)}
        return within(collection, found)

    def grant(self, path: str, user: str, level: str) -> None:
        word = {"read": "read_object", "none": "none"}[level]
        self.run("acl", "set", "--scope", "this", "--", path, f"{user}={word}")

    def limit(self, collection: str, size: int | None) -> None:
        if size is None:
            self.run("quota", "rm", "--", collection)
        else:
            self.run("quota", "set", f"--bytes={size}", "--", collection)

    def needs_versions(self) -> None:
        """It has versions."""

    def keep_versions(self, collection: str) -> None:
        self.run("versions", "policy", collection, "each-change")

    def versions(self, path: str) -> list[int]:
        return sorted(found["version"] for found in self.lines("versions", "ls", "--", path))

    def version(self, path: str, number: int) -> bytes:
        return self.run("cat", f"--version={number}", "--", path)

    def restore_version(self, path: str, number: int) -> None:
        self.run("versions", "restore", path, str(number))

    def needs_past(self) -> None:
        """It shows the past."""

    def position(self) -> str:
        return self.lines("changes")[-1]["next"]

    def names_as_of(self, collection: str, position: str) -> set[str]:
        return {found["name"] for found in self.lines("ls", f"--as-of={position}", "--", collection)}

    def get_as_of(self, path: str, position: str) -> bytes:
        return self.run("cat", f"--as-of={position}", "--", path)

    def attributes_as_of(self, path: str, position: str) -> set[Attribute]:
        return attributes_of(self.lines("meta", "show", f"--as-of={position}", "--", path))

    def find_as_of(self, collection: str, attribute: Attribute, position: str) -> set[str]:
        condition = f"--meta={quoted(attribute.name)}={quoted(attribute.value)}"
        found = self.lines("find", condition, f"--as-of={position}", "--", collection)
        return {each["path"] for each in found}

    def restore_as_of(self, path: str, position: str, to: str) -> None:
        self.run("restore", "--recursive", f"--as-of={position}", "--to", to, "--", path)

    def needs_links(self) -> None:
        """Graphs have links."""

    def graph(self, path: str) -> str:
        return self.run("meta", "graph", "--", path).decode()

    def link(self, path: str, to: str) -> None:
        graph = (self.graph(path) + link_to(to)).encode()
        self.run("meta", "graph", "--replace", "-", "--", path, data=graph)

    def links(self, path: str) -> set[str]:
        return links_of(self.graph(path))

    def needs_integrity(self) -> None:
        """It sets the required link integrity."""

    def integrity(self, collection: str, word: str) -> None:
        self.run("meta", "integrity", collection, word)


def words(attribute: Attribute) -> list[str]:
    given = [attribute.name, attribute.value]
    return [*given, attribute.unit] if attribute.unit else given


def quoted(text: str) -> str:
    """A string literal in a condition of `cenote find`."""
    return '"' + text.replace("\\", r"\\").replace('"', r"\"") + '"'
