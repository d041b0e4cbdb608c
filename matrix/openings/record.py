"""Records of the native API, which the program also prints."""

from datetime import datetime

from .opening import Attribute, Entry


def entry_of(found: dict) -> Entry:
    """The entry for a resource."""
    is_object = found["kind"] == "object"
    moment = found["content_modified"] if is_object else found["members_modified"]
    seconds = int(datetime.fromisoformat(moment).timestamp())
    return Entry(found["kind"], found["size"] if is_object else None, found["sha256"], seconds)


def attributes_of(found: list[dict]) -> set[Attribute]:
    return {Attribute(each["attribute"], each["value"], each["unit"] or "") for each in found}
