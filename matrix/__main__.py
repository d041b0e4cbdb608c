"""`python -m matrix PROGRAM`: changes made through one opening are visible through every other."""

import argparse
import itertools
import sys
import tempfile
from pathlib import Path

from .facts.access import access
from .facts.case import Case
from .facts.changesets import changesets
from .facts.contents import contents
from .facts.descriptions import descriptions
from .facts.links import links
from .facts.names import names
from .facts.past import past
from .facts.quotas import quotas
from .facts.stages import stages
from .facts.structure import structure
from .facts.together import together
from .facts.trash import trash
from .facts.versions import versions
from .facts.xattrs import xattrs
from .openings.dnanexus import Dnanexus
from .openings.irods_http import IrodsHttp
from .openings.irods_rest import IrodsRest
from .openings.linked_data import LinkedData
from .openings.mount import Mount
from .openings.native import Native
from .openings.opening import Opening, Unsupported
from .openings.program import Program
from .openings.python_package import PythonPackage
from .openings.r_package import RPackage
from .server import PASSWORDS, Server
from .table import Cell, Table

FACTS = {
    fact.__name__: fact
    for fact in (
        contents,
        names,
        descriptions,
        xattrs,
        links,
        access,
        structure,
        trash,
        versions,
        past,
        changesets,
        stages,
        together,
        quotas,
    )
}
# Lists the cells that are not supported.
LISTED = Path(__file__).parent.parent / "docs" / "SEMANTICS.md"


# Constructors of the openings in table order, from a program, a server's URL, a user, a password and a directory.
OPENINGS = {
    Program.name: lambda program, who, scratch: Program(program, *who, scratch),
    Native.name: lambda program, who, scratch: Native(*who),
    LinkedData.name: lambda program, who, scratch: LinkedData(*who),
    IrodsHttp.name: lambda program, who, scratch: IrodsHttp(*who),
    IrodsRest.name: lambda program, who, scratch: IrodsRest(*who),
    PythonPackage.name: lambda program, who, scratch: PythonPackage(*who),
    RPackage.name: lambda program, who, scratch: RPackage(*who, scratch),
    Dnanexus.name: lambda program, who, scratch: Dnanexus(*who),
    Mount.name: lambda program, who, scratch: Mount(program, *who, scratch),
}


def cell(fact, case: Case) -> Cell:
    try:
        fact(case)
    except Unsupported as reason:
        return Cell(0, frozenset(case.reasons | {str(reason)}))
    except Exception as wrong:  # Any failure of a client only makes this cell wrong; the others are still checked.
        where = f"{case.acts.name} acts, {case.looks.name} looks"
        print(f"{fact.__name__}, {where}: {type(wrong).__name__}: {wrong}", file=sys.stderr)
        return Cell(case.checks, wrong=str(wrong))
    return Cell(case.checks, frozenset(case.reasons))


def fill(name: str, sides: tuple[list[Opening], list[Opening]], whole: bool) -> Table:
    """Checks a fact for each pair of openings, each in its own collection."""
    ours, others = sides
    table = Table(name, [opening.name for opening in ours])
    (native,) = (opening for opening in ours if isinstance(opening, Native))
    for (at, acts), (to, looks) in itertools.product(enumerate(ours), repeat=2):
        collection = f"/{name}-{at}-{to}"
        native.mkdir(collection)
        case = Case(acts, looks, others[to], collection, whole)
        table.cells[acts.name, looks.name] = cell(FACTS[name], case)
    return table


def run(given: argparse.Namespace, scratch: Path) -> list[Table]:
    program = str(Path(given.program).resolve())
    server = Server(program, scratch, given.catalog)
    make = [make for name, make in OPENINGS.items() if name not in given.without]
    users = [(server.url, user, password) for user, password in PASSWORDS.items()]
    sides = tuple([opening(program, who, scratch) for opening in make] for who in users)
    try:
        return [fill(name, sides, given.whole) for name in given.fact or FACTS]
    finally:
        for opening in itertools.chain(*sides):
            opening.close()
        server.close()


def unlisted(notes: list[str]) -> list[str]:
    """The reasons that are missing from the documentation."""
    listed = LISTED.read_text()
    return [note for note in notes if note not in listed]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m matrix", description=__doc__)
    parser.add_argument("program", help="the program cenote")
    parser.add_argument("--whole", action="store_true", help="take every name and size")
    parser.add_argument("--fact", action="append", choices=FACTS, help="only this fact (repeatable)")
    parser.add_argument("--without", action="append", choices=OPENINGS, default=[], help="leave an opening out (repeatable)")
    parser.add_argument("--catalog", metavar="URL", help="an empty PostgreSQL database for the catalog of the store")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cenote-matrix-") as scratch:
        tables = run(given, Path(scratch))
    notes: list[str] = []
    print(*(table.text(notes) for table in tables), sep="\n\n")
    print("", *(f"({number}) {note}" for number, note in enumerate(notes, 1)), sep="\n")
    for note in unlisted(notes):
        print(f"{LISTED.name} does not list: {note}", file=sys.stderr)
    cells = [cell for table in tables for cell in table.cells.values()]
    wrong = sum(cell.wrong is not None for cell in cells)
    print(f"\n{len(cells)} cells, {sum(cell.checks for cell in cells)} checks, {wrong} cells wrong")
    return 1 if wrong or unlisted(notes) else 0


if __name__ == "__main__":
    sys.exit(main())
