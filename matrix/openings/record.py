"""Records of the native API, which the program also prints."""

import re
from datetime import datetime
from urllib.parse import quote, unquote

from .opening import Attribute, Entry


def entry_of(found: dict) -> Entry:
    """The entry for a resource."""
    is_object = found["kind"] == "object"
    moment = found["content_modified"] if is_object else found["members_modified"]
    seconds = int(datetime.fromisoformat(moment).timestamp())
    return Entry(found["kind"], found["size"] if is_object else None, found["sha256"], seconds)


def attributes_of(found: list[dict]) -> set[Attribute]:
    return {Attribute(each["attribute"], each["value"], each["unit"] or "") for each in found}


# The predicate of links.
CITES = "http://example.org/cites"


def link_to(path: str) -> str:
    """The triple by which the resource links to a path."""
    return f"<> <{CITES}> <cenote:{quote(path)}> .\n"


def links_of(triples: str) -> set[str]:
    """The paths that a graph links to."""
    return {unquote(path) for path in re.findall(rf"<{re.escape(CITES)}> <cenote:([^>]*)>", triples)}
