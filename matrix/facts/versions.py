"""A state replaced through one opening is a version in every opening that shows versions; a restored one is visible in all."""

from ..openings.opening import Attribute
from .case import Case, text

MARK = Attribute("kept", "with the version")


def versions(case: Case) -> None:
    case.acts.needs_replacing()
    keeper = case.able(lambda opening: opening.needs_versions())
    first, second = text(100, 1), text(70_000, 2)
    path = case.path("data")
    keeper.keep_versions(case.collection)
    case.acts.put(path, first)
    case.acts.add(path, MARK)
    case.acts.put(path, second)
    case.acts.drop(path, MARK)
    kept = keeper.versions(path)
    case.same([keeper.version(path, number) for number in kept], [first, first, second], "what was replaced")
    case.same(case.looks.get(path), second, "the newest")
    keeper.restore_version(path, kept[1])
    for seen in (case.acts, case.looks):
        case.same(seen.get(path), first, "the restored content")
        case.same(seen.attributes(path), {MARK}, "the restored description")
    case.same(case.looks.find(case.collection, MARK), {path}, "found again")
