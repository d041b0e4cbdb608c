"""A link set through one opening is a link in every other, follows its target, and respects the required integrity."""

from ..openings.opening import Dangling
from .case import Case


def links(case: Case) -> None:
    case.acts.needs_links()
    case.looks.needs_links()
    sets = case.able(lambda opening: opening.needs_integrity())
    describing, target, moved = case.path("describing"), case.path("a target"), case.path("gr\u00fc\u00df/moved")
    later = case.path("later")
    for path in (describing, target):
        case.acts.put(path, b"content")
    case.acts.link(describing, target)
    case.same(case.looks.links(describing), {target}, "what was linked")
    sets.mkdir(case.path("gr\u00fc\u00df"))
    sets.move(target, moved)
    case.same(case.looks.links(describing), {moved}, "what was moved")
    sets.integrity(case.collection, "strict")
    case.refused(Dangling, lambda: case.looks.link(describing, later))
    case.same(case.acts.links(describing), {moved}, "what was refused")
    sets.integrity(case.collection, "lenient")
    case.looks.link(describing, later)
    case.acts.put(later, b"content")
    case.same(case.acts.links(describing), {moved, later}, "what was bound")
    sets.move(later, case.path("last"))
    case.same(case.looks.links(describing), {moved, case.path("last")}, "what was bound late, and moved")
