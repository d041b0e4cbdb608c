"""The Python package `cenote`, in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import devnull

import cenote
from cenote.store import ChangeSet, Store
from cenote.store.errors import ChangedError, DeniedError, NoSpaceError, NotFoundError, UnauthenticatedError

from .opening import Absent, Attribute, Conflict, Entry, Full, Opening, within
from .record import entry_of


@contextmanager
def translated() -> Iterator[None]:
    """Raises the exceptions of facts instead of those of the package."""
    try:
        yield
    except (NotFoundError, DeniedError, UnauthenticatedError) as error:
        raise Absent(error) from error
    except ChangedError as error:
        raise Conflict(error) from error
    except NoSpaceError as error:
        if error.kind != "quota":
            raise
        raise Full(error) from error


class PythonPackage(Opening):
    name = "Python"

    def __init__(self, url: str, user: str, password: str):
        self.store = cenote.connect(url, user=user, password=password, config=devnull)
        self.changesets: dict[str, tuple[ChangeSet, Store]] = {}

    def put(self, path: str, data: bytes) -> None:
        with translated():
            self.store.write(path, data, parents=False)

    def get(self, path: str) -> bytes:
        with translated():
            return self.store.read(path)

    def entry(self, path: str) -> Entry:
        with translated():
            return entry_of({"size": None, "sha256": None, **self.store.stat(path).fields})

    def names(self, collection: str) -> set[str]:
        with translated():
            return {found.name for found in self.store.ls(collection)}

    def mkdir(self, path: str) -> None:
        with translated():
            self.store.mkdir(path)

    def move(self, path: str, to: str) -> None:
        with translated():
            self.store.mv(path, to)

    def copy(self, path: str, to: str) -> None:
        with translated():
            self.store.cp(path, to)

    def remove(self, path: str) -> None:
        with translated():
            self.store.rm(path, recursive=True)

    def needs_trash(self) -> None:
        """It has a trash."""

    def restore(self, path: str) -> None:
        with translated():
            (item,) = (item for item in self.store.trash() if item.path == path)
            self.store.trash_restore(item)

    def add(self, path: str, attribute: Attribute) -> None:
        with translated():
            self.store.meta_add(path, attribute.name, attribute.value, attribute.unit or None)

    def drop(self, path: str, attribute: Attribute) -> None:
        with translated():
            self.store.meta_rm(path, attribute.name, attribute.value, attribute.unit or None)

    def attributes(self, path: str) -> set[Attribute]:
        with translated():
            return attributes_of(self.store.meta(path))

    def find(self, collection: str, attribute: Attribute) -> set[str]:
        with translated():
            found = self.store.find("/", (attribute.name, "=", attribute.value))
            return within(collection, {each.path for each in found})

    def grant(self, path: str, user: str, level: str) -> None:
        word = {"read": "read_object", "none": "none"}[level]
        with translated():
            self.store.acl_set(path, (user, word, "this"))

    def limit(self, collection: str, size: int | None) -> None:
        with translated():
            if size is None:
                self.store.quota_rm(path=collection)
            else:
                self.store.quota_set(path=collection, bytes=size)

    def needs_versions(self) -> None:
        """It has versions."""

    def keep_versions(self, collection: str) -> None:
        with translated():
            self.store.versions_policy(collection, "each-change")

    def versions(self, path: str) -> list[int]:
        with translated():
            return sorted(found.version for found in self.store.versions(path))

    def version(self, path: str, number: int) -> bytes:
        with translated():
            return self.store.read(path, version=number)

    def restore_version(self, path: str, number: int) -> None:
        with translated():
            self.store.versions_restore(path, number)

    def needs_past(self) -> None:
        """It shows the past."""

    def position(self) -> str:
        with translated():
            *_, newest = self.store.changes()
            return newest.position

    def names_as_of(self, collection: str, position: str) -> set[str]:
        with translated():
            return {found.name for found in self.store.ls(collection, as_of=position)}

    def get_as_of(self, path: str, position: str) -> bytes:
        with translated():
            return self.store.read(path, as_of=position)

    def attributes_as_of(self, path: str, position: str) -> set[Attribute]:
        with translated():
            return attributes_of(self.store.meta(path, as_of=position))

    def find_as_of(self, collection: str, attribute: Attribute, position: str) -> set[str]:
        condition = (attribute.name, "=", attribute.value)
        with translated():
            return {found.path for found in self.store.find(collection, condition, as_of=position)}

    def restore_as_of(self, path: str, position: str, to: str) -> None:
        with translated():
            self.store.restore(path, position, to, recursive=True)

    def begin(self) -> str:
        changeset = self.store.changeset()
        store = changeset.__enter__()
        self.changesets[changeset.id] = changeset, store
        return changeset.id

    def within(self, changeset: str) -> "PythonPackage":
        part = object.__new__(PythonPackage)
        part.store, part.changesets = self.changesets[changeset][1], {}
        return part

    def commit(self, changeset: str) -> None:
        with translated():
            self.changesets.pop(changeset)[0].__exit__(None, None, None)

    def abandon(self, changeset: str) -> None:
        with translated():
            self.changesets.pop(changeset)[0].__exit__(Exception, Exception(), None)


def attributes_of(statements: list) -> set[Attribute]:
    return {Attribute(each.attribute, each.value, each.unit or "") for each in statements}
