"""A description is set, shown, found, changed and removed through any opening."""

from ..openings.opening import Attribute
from .case import Case

SOME = [
    Attribute("temp", "300", "K"),
    Attribute("note", "a + b = 100 %"),
    Attribute("Größe", "groß; 日本"),
    Attribute("who", "O'Brien said \"no\"", "it's"),
]
ALL = [*SOME, Attribute("n", "1e5"), Attribute("blank ", " x "), Attribute("long", "v" * 2_000), Attribute("like", "%_\\")]


def descriptions(case: Case) -> None:
    path = case.path("described")
    case.acts.put(path, b"content")
    chosen = shown(case, ALL if case.whole else SOME)
    for attribute in chosen:
        case.acts.add(path, attribute)
    case.same(case.looks.attributes(path), set(chosen), "what was added")
    for attribute in chosen:
        case.attempt(lambda attribute=attribute: found(case, path, attribute))
    changed = Attribute(chosen[0].name, "301", chosen[0].unit)
    case.acts.drop(path, chosen[0])
    case.acts.add(path, changed)
    case.same(case.looks.attributes(path), {changed, *chosen[1:]}, "what was changed")
    case.attempt(lambda: case.same(case.looks.find(case.collection, chosen[0]), set(), "the old value"))
    for attribute in (changed, *chosen[1:]):
        case.acts.drop(path, attribute)
    case.same(case.looks.attributes(path), set(), "what was removed")
    case.same(case.looks.get(path), b"content", "the content")


def shown(case: Case, attributes: list[Attribute]) -> list[Attribute]:
    """The attributes that both clients can show."""
    if case.acts.has_units and case.looks.has_units:
        return attributes
    case.reasons.add("triples and properties have no units")
    return [attribute for attribute in attributes if not attribute.unit]


def found(case: Case, path: str, attribute: Attribute) -> None:
    case.same(case.looks.find(case.collection, attribute), {path}, f"found by {attribute}")
