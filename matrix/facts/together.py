"""If two openings write one object concurrently, the result is one complete content, and all attributes."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ..openings.opening import Attribute, Opening
from .case import Case, text

ROUNDS = 5


def together(case: Case) -> None:
    if case.acts is case.looks:
        return
    for writer in (case.acts, case.looks):
        writer.needs_replacing()
    path = case.path("shared")
    case.acts.put(path, b"at first")
    writers = (case.acts, case.looks)
    contents = {writer: [text(100_000, seed) for seed in range(at, at + ROUNDS)] for at, writer in enumerate(writers, 10)}
    at_once(lambda writer: [writer.put(path, data) for data in contents[writer]], writers)
    seen = [writer.get(path) for writer in writers]
    case.same(seen[0] == seen[1], True, "both see the same")
    case.same(seen[0] in [data[-1] for data in contents.values()], True, "it is the last of one of them")
    own = {writer: Attribute(shared_name(writer, writers), writer.name) for writer in writers}
    at_once(lambda writer: writer.add(path, own[writer]), writers)
    for writer in writers:
        case.same(writer.attributes(path), set(own.values()), "the attributes of both")


def shared_name(writer: Opening, writers: tuple[Opening, Opening]) -> str:
    """One name for both, if both can give it a second value."""
    return "by" if all(each.has_many_values for each in writers) else f"by {writer.name}"


def at_once(work: Callable[[Opening], object], writers: tuple[Opening, Opening]) -> None:
    with ThreadPoolExecutor(len(writers)) as pool:
        list(pool.map(work, writers))
