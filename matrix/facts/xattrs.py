"""An extended attribute is an attribute in every other opening, and vice versa."""

import base64

from ..openings.opening import Attribute
from .case import Case

TEXT = Attribute("note", "a + b = 100 %; Größe")
# Not text, and therefore shown in base64.
BYTES = bytes([0, 255, 128, 10])


def xattrs(case: Case) -> None:
    system = case.able(lambda opening: opening.needs_xattrs())
    path = case.path("data")
    case.acts.put(path, b"content")
    case.acts.add(path, TEXT)
    case.same(system.xattr(path, TEXT.name), TEXT.value.encode(), "an attribute")
    system.set_xattr(path, "bytes", BYTES)
    system.set_xattr(path, TEXT.name, b"changed")
    changed = Attribute(TEXT.name, "changed")
    shown = {changed, Attribute("bytes", base64.b64encode(BYTES).decode())}
    for seen in (case.acts, case.looks):
        case.same(seen.attributes(path), shown, "extended attributes")
    case.attempt(lambda: case.same(case.looks.find(case.collection, changed), {path}, "found by one"))
    case.acts.drop(path, changed)
    case.absent(lambda: system.xattr(path, TEXT.name))
    case.same(system.xattr(path, "bytes"), BYTES, "the other one")
