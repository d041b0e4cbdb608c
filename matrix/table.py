"""The results of a run, as tables."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """One fact for two openings: the number of checks, what is unsupported, and what is wrong."""

    checks: int
    reasons: frozenset[str] = frozenset()
    wrong: str | None = None


class Table:
    """The cells of a fact, by the opening that makes changes and the one that checks them."""

    def __init__(self, fact: str, openings: list[str]):
        self.fact = fact
        self.openings = openings
        self.cells: dict[tuple[str, str], Cell] = {}

    def text(self, notes: list[str]) -> str:
        """The table in Markdown; `notes` collects the reasons, to which the numbers in parentheses refer."""
        rows = [[f"**{self.fact}**", *self.openings], ["---"] * (len(self.openings) + 1)]
        for acts in self.openings:
            rows.append([acts, *(self.show(self.cells[acts, looks], notes) for looks in self.openings)])
        return "\n".join("| " + " | ".join(row) + " |" for row in rows)

    def show(self, cell: Cell, notes: list[str]) -> str:
        if cell.wrong:
            return "WRONG"
        notes.extend(reason for reason in sorted(cell.reasons) if reason not in notes)
        numbers = "".join(f" ({notes.index(reason) + 1})" for reason in sorted(cell.reasons))
        return (str(cell.checks) if cell.checks else "–") + numbers
