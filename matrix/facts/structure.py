"""Resources created, moved, copied, replaced and removed through one opening appear so in every other."""

from ..openings.opening import Attribute
from .case import Case, text

MARK = Attribute("kept", "with the object")


def structure(case: Case) -> None:
    first, second = text(100, 1), text(70_000, 2)
    inner, path = case.path("inner"), case.path("inner/data")
    case.acts.mkdir(inner)
    case.same(case.looks.names(case.collection), {"inner"}, "a collection")
    case.attempt(lambda: case.same(case.looks.entry(inner).kind, "collection", "a collection"))
    case.acts.put(path, first)
    case.same(case.looks.names(inner), {"data"}, "an object")
    case.acts.put(path, second)
    case.same(case.looks.get(path), second, "replaced")
    case.acts.add(path, MARK)
    case.acts.move(path, case.path("moved"))
    case.same(case.looks.get(case.path("moved")), second, "moved")
    case.same(case.looks.attributes(case.path("moved")), {MARK}, "described as before")
    case.absent(lambda: case.looks.get(path))
    case.attempt(lambda: copied(case, second))
    case.acts.move(inner, case.path("renamed"))
    case.same(case.looks.names(case.path("renamed")), set(), "a moved collection")
    case.acts.remove(case.path("moved"))
    case.absent(lambda: case.looks.get(case.path("moved")))
    case.acts.remove(case.path("renamed"))
    case.same("renamed" in case.looks.names(case.collection), False, "a removed collection")


def copied(case: Case, data: bytes) -> None:
    case.acts.copy(case.path("moved"), case.path("copy"))
    case.same(case.looks.get(case.path("copy")), data, "copied")
