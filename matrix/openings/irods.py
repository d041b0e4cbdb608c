"""What the openings of iRODS have in common: paths below a zone, checksums, and queries."""

import base64

from .opening import Attribute, split

ZONE = "/tempZone"
# SYS_RESC_QUOTA_EXCEEDED
FULL = -110_000


def logical(path: str) -> str:
    return ZONE if path == "/" else ZONE + path


def inside(path: str) -> str:
    return path.removeprefix(ZONE) or "/"


def sha256(checksum: str | None) -> str | None:
    """Converts `sha2:` and base64 to hexadecimal."""
    if not checksum:
        return None
    return base64.b64decode(checksum.removeprefix("sha2:")).hex()


def literal(text: str) -> str:
    """A string literal in a GenQuery."""
    return text.replace("'", "''")


def search(collection: str, attribute: Attribute) -> str:
    """The GenQuery that finds objects directly in `collection`."""
    return (
        "select COLL_NAME, DATA_NAME"
        f" where META_DATA_ATTR_NAME = '{literal(attribute.name)}'"
        f" and META_DATA_ATTR_VALUE = '{literal(attribute.value)}'"
        f" and COLL_NAME = '{literal(logical(collection))}'"
    )


def described(path: str) -> str:
    """The GenQuery for the attributes of an object."""
    collection, name = split(path)
    return (
        "select META_DATA_ATTR_NAME, META_DATA_ATTR_VALUE, META_DATA_ATTR_UNITS"
        f" where COLL_NAME = '{literal(logical(collection))}' and DATA_NAME = '{literal(name)}'"
    )


def operation(word: str, attribute: Attribute) -> dict:
    """One operation of `modify_metadata`."""
    given = {"operation": word, "attribute": attribute.name, "value": attribute.value}
    return {**given, "units": attribute.unit} if attribute.unit else given
