"""What is read is what was written: bytes, size, digest and time."""

import hashlib
import time

from .case import Case, noise, text

KIB = 1024
# Around the limits at which contents are stored differently.
SOME = [0, 1, 64 * KIB, 64 * KIB + 1, 512 * KIB + 1]
ALL = [*SOME, 64 * KIB - 1, 512 * KIB, 8 * KIB * KIB, 8 * KIB * KIB + 1]


def contents(case: Case) -> None:
    for size in ALL if case.whole else SOME:
        for kind in (text, noise):
            case.attempt(lambda size=size, kind=kind: one(case, f"{kind.__name__}-{size}", kind(size)))


def one(case: Case, name: str, data: bytes) -> None:
    path = case.path(name)
    before = int(time.time())
    case.acts.put(path, data)
    case.same(case.looks.get(path), data, path)
    seen = case.looks.entry(path)
    case.same((seen.kind, seen.size), ("object", len(data)), path)
    if seen.sha256 is not None:
        case.same(seen.sha256, hashlib.sha256(data).hexdigest(), path)
    case.same(before <= seen.modified <= time.time() + 1, True, f"{path} was written at {seen.modified}")
