"""Data written to a stage is invisible in all openings until it is published, then complete; an earlier change by another client is
kept."""

from ..openings.opening import Conflict
from .case import Case, text


def stages(case: Case) -> None:
    path, before = case.path("staged"), text(70_000, 1)
    case.acts.needs_stages()
    case.looks.needs_replacing()
    case.acts.put(path, before)
    stage = case.acts.stage(path)
    case.acts.write_stage(stage, 10, b"within")
    case.acts.write_stage(stage, len(before) + 3, b"behind the end")
    after = before[:10] + b"within" + before[16:] + bytes(3) + b"behind the end"
    case.same(case.acts.read_stage(stage), after, "staged")
    case.same(case.looks.get(path), before, "before it is published")
    case.acts.publish(stage)
    case.same(case.looks.get(path), after, "published")
    late = case.acts.stage(path)
    case.acts.write_stage(late, 0, b"late")
    case.looks.put(path, b"first")
    case.refused(Conflict, lambda: case.acts.publish(late))
    case.same(case.looks.get(path), b"first", "the first to publish wins")
