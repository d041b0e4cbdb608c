"""Changes in a change set are invisible to others until it is committed, then all visible at once; earlier changes by others are
kept."""

from ..openings.opening import Attribute, Conflict
from .case import Case, text

MARK = Attribute("held", "in a change set")


def changesets(case: Case) -> None:
    first, second = text(100, 1), text(70_000, 2)
    inner, path = case.path("inner"), case.path("inner/data")
    held = case.acts.begin()
    within = case.acts.within(held)
    within.mkdir(inner)
    within.put(path, second)
    within.add(path, MARK)
    case.same(within.get(path), second, "seen within")
    case.same(case.looks.names(case.collection), set(), "before the commit")
    case.absent(lambda: case.looks.get(path))
    case.same(case.looks.find(inner, MARK), set(), "found before the commit")
    case.acts.commit(held)
    case.same(case.looks.get(path), second, "committed")
    case.same(case.looks.attributes(path), {MARK}, "committed")
    case.same(case.looks.find(inner, MARK), {path}, "found once it is committed")
    dropped = case.acts.begin()
    case.acts.within(dropped).put(case.path("dropped"), first)
    case.acts.abandon(dropped)
    case.same(case.looks.names(case.collection), {"inner"}, "what was dropped")
    late = case.acts.begin()
    case.acts.within(late).put(path, b"late")
    case.looks.put(path, first)
    case.refused(Conflict, lambda: case.acts.commit(late))
    case.same(case.looks.get(path), first, "the first to commit wins")
