"""A quota set through one opening is enforced in every other, which reports it in its own error form."""

from ..openings.opening import Full
from .case import Case, text

LIMIT = 1_000


def quotas(case: Case) -> None:
    fits, more = case.path("fits"), case.path("more")
    case.acts.limit(case.collection, LIMIT)
    case.looks.put(fits, text(LIMIT - 1))
    case.refused(Full, lambda: case.looks.put(more, text(2)))
    case.absent(lambda: case.acts.get(more))
    case.refused(Full, lambda: case.acts.put(fits, text(LIMIT + 1, seed=1)))
    case.same(case.looks.get(fits), text(LIMIT - 1), "unchanged")
    case.looks.put(more, text(1))
    case.acts.limit(case.collection, None)
    case.looks.put(case.path("free"), text(LIMIT))
    case.same(case.looks.names(case.collection), {"fits", "more", "free"}, "without a quota")
