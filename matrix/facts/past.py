"""The former state of a resource changed through one opening is shown by every opening that shows the past; a restored one is
visible in all."""

from ..openings.opening import Attribute
from .case import Case, text

MARK = Attribute("then", "it was so")


def past(case: Case) -> None:
    case.acts.needs_replacing()
    historian = case.able(lambda opening: opening.needs_past())
    first, second = text(100, 1), text(70_000, 2)
    tree, path, again = case.path("tree"), case.path("tree/data"), case.path("again")
    historian.keep_versions(case.collection)
    case.acts.mkdir(tree)
    case.acts.put(path, first)
    case.acts.add(path, MARK)
    then = historian.position()
    case.acts.put(path, second)
    case.acts.drop(path, MARK)
    case.acts.move(path, case.path("tree/moved"))
    case.same(historian.names_as_of(tree, then), {"data"}, "the names then")
    case.same(historian.get_as_of(path, then), first, "the content then")
    case.same(historian.attributes_as_of(path, then), {MARK}, "the description then")
    case.same(historian.find_as_of(tree, MARK, then), {path}, "found then")
    historian.restore_as_of(tree, then, again)
    for seen in (case.acts, case.looks):
        case.same(seen.names(again), {"data"}, "the restored names")
        case.same(seen.get(f"{again}/data"), first, "the restored content")
        case.same(seen.attributes(f"{again}/data"), {MARK}, "the restored description")
    case.same(case.looks.find(again, MARK), {f"{again}/data"}, "found where it was restored")
    case.same(case.looks.get(case.path("tree/moved")), second, "what is there now")
