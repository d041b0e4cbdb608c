"""Grants and revocations through one opening apply to reading, listing and finding in every other."""

from ..openings.opening import Attribute, Unsupported
from .case import Case

MARK = Attribute("mark", "seen")
OTHER = "bob"


def access(case: Case) -> None:
    if case.looks.grants_projects and not case.acts.grants_projects:
        raise Unsupported("DNAnexus' levels are those of projects: an object that is shared by itself is found only by its id")
    if case.other.walks:
        raise Unsupported("a mount reaches a file through the collections above it: a file that is shared by itself cannot be reached")
    path = case.path("granted")
    case.looks.put(path, b"for bob")
    case.looks.add(path, MARK)
    closed(case, path)
    case.acts.grant(path, OTHER, "read")
    case.same(case.other.get(path), b"for bob", "granted")
    case.same(case.other.entry(path).size, 7, "granted")
    case.same(case.other.find(case.collection, MARK), {path}, "granted")
    case.absent(lambda: case.other.put(path, b"written by bob"))
    case.acts.grant(path, OTHER, "none")
    closed(case, path)
    case.same(case.looks.get(path), b"for bob", "unchanged")


def closed(case: Case, path: str) -> None:
    """The other user sees nothing of it."""
    case.absent(lambda: case.other.get(path))
    case.absent(lambda: case.other.entry(path))
    case.absent(lambda: case.other.put(path, b"written by bob"))
    case.same(case.other.find(case.collection, MARK), set(), "hidden")
