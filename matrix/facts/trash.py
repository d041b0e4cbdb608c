"""A resource removed through one opening and restored through another is unchanged: bytes, description and names."""

from ..openings.opening import Attribute
from .case import Case, noise

MARK = Attribute("kept", "in the trash")


def trash(case: Case) -> None:
    case.acts.needs_trash()
    case.looks.needs_trash()
    data = noise(70_000)
    tree, path = case.path("tree"), case.path("tree/data")
    case.acts.mkdir(tree)
    case.acts.put(path, data)
    case.acts.add(path, MARK)
    case.acts.remove(tree)
    case.same(case.looks.names(case.collection), set(), "a removed tree")
    case.same(case.looks.find(tree, MARK), set(), "what is in it")
    case.absent(lambda: case.looks.get(path))
    case.looks.restore(tree)
    case.same(case.acts.get(path), data, "restored")
    case.same(case.acts.attributes(path), {MARK}, "restored")
    case.same(case.acts.find(tree, MARK), {path}, "restored")
