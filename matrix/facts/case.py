"""The input of a fact: who makes changes, who checks them, and where."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from ..openings.opening import Absent, Opening, Unsupported


@dataclass
class Case:
    """One cell of the table: `acts` makes changes, which `looks` must see."""

    acts: Opening
    looks: Opening
    # The opening that checks, as another user, who initially has no access.
    other: Opening
    # An empty collection of its own.
    collection: str
    # Whether to use all names and sizes, or only a selection.
    whole: bool
    checks: int = 0
    # The operations that the two clients do not support.
    reasons: set[str] = field(default_factory=set)

    def path(self, name: str) -> str:
        return f"{self.collection}/{name}"

    def same(self, seen, expected, what: str = "") -> None:
        """One check."""
        assert seen == expected, f"{what}: {brief(seen)}, not {brief(expected)}"
        self.checks += 1

    def absent(self, request: Callable[[], object]) -> None:
        """One check: the resource is missing or hidden."""
        self.refused(Absent, request)

    def refused(self, why: type[Exception], request: Callable[[], object]) -> None:
        """One check: the request is refused for this reason."""
        try:
            seen = request()
        except why:
            self.checks += 1
        else:
            raise AssertionError(f"{why.__name__} was expected, not {brief(seen)}")

    def able(self, needs: Callable[[Opening], None]) -> Opening:
        """The client that checks if it supports this, otherwise the one that makes changes."""
        try:
            needs(self.looks)
        except Unsupported:
            needs(self.acts)
            return self.acts
        return self.looks

    def attempt(self, part: Callable[[], None]) -> None:
        """An optional part of the fact, which may be unsupported."""
        try:
            part()
        except Unsupported as reason:
            self.reasons.add(str(reason))


def brief(value) -> str:
    text = repr(value)
    return text if len(text) < 300 else f"{text[:200]} … ({len(value)})"


def noise(size: int, seed: int = 0) -> bytes:
    """Random bytes of any value."""
    return random.Random(f"{size} {seed}").randbytes(size)


def text(size: int, seed: int = 0) -> bytes:
    """Random printable ASCII."""
    return noise(size, seed).translate(bytes(32 + byte % 95 for byte in range(256)))
