"""A name is the same in every opening, whatever its characters."""

from .case import Case, text

SOME = ["with space", "100% +1", "it's \"so\"", "grüße-日本-🧪", "%41", "a&b=c;d?e#f"]
ALL = [
    *SOME, "-n", "--", "~", "x" * 255, "é" * 127, "e\u0301", "back\\slash", "tab\tkey", "[a-z]*.{x,y}", "a:b", "'", "''", "<b>&amp;",
    ".hidden", "...", "trailing. ", " leading", "$HOME `id`", "NULL", "a,b|c", "%_like%",
]  # fmt: skip


def names(case: Case) -> None:
    chosen = ALL if case.whole else SOME
    for name in chosen:
        case.attempt(lambda name=name: one(case, name))
    case.attempt(lambda: case.same(case.looks.names(case.collection), set(chosen), "the listing"))


def one(case: Case, name: str) -> None:
    path, data = case.path(name), text(20, len(name))
    case.acts.put(path, data)
    case.same(case.looks.get(path), data, path)
    case.same(case.looks.entry(path).size, len(data), path)
