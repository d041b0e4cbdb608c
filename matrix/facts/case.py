"""What a fact is given: who acts, who looks, and where."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from ..openings.opening import Absent, Opening, Unsupported


@dataclass
class Case:
    """One cell of the table: `acts` changes something, `looks` must see it."""

    acts: Opening
    looks: Opening
    # The opening that looks, as another user, who may see nothing at first.
    other: Opening
    # An empty collection of its own.
    collection: str
    # Whether to take every name and size, not a choice.
    whole: bool
    checks: int = 0
    # What the two clients have no word for.
    reasons: set[str] = field(default_factory=set)

    def path(self, name: str) -> str:
        return f"{self.collection}/{name}"

    def same(self, seen, expected, what: str = "") -> None:
        """One check."""
        assert seen == expected, f"{what}: {brief(seen)}, not {brief(expected)}"
        self.checks += 1

    def absent(self, request: Callable[[], object]) -> None:
        """One check: to the caller nothing is there."""
        try:
            seen = request()
        except Absent:
            self.checks += 1
        else:
            raise AssertionError(f"refused or missing was expected, not {brief(seen)}")

    def attempt(self, part: Callable[[], None]) -> None:
        """A part of the fact, without which the rest has a meaning."""
        try:
            part()
        except Unsupported as reason:
            self.reasons.add(str(reason))


def brief(value) -> str:
    text = repr(value)
    return text if len(text) < 300 else f"{text[:200]} … ({len(value)})"


def noise(size: int, seed: int = 0) -> bytes:
    """Bytes of every value."""
    return random.Random(f"{size} {seed}").randbytes(size)


def text(size: int, seed: int = 0) -> bytes:
    """Printable ASCII."""
    return noise(size, seed).translate(bytes(32 + byte % 95 for byte in range(256)))
