"""The interface of an opening, as used by facts: one client and one user.

Paths are those of the store (`/lab/x`); each opening translates them to its own form.
"""

from dataclasses import dataclass


class Unsupported(Exception):
    """The client or its protocol does not support this. The message is the reason shown in the table."""


class Absent(Exception):
    """The resource is missing or hidden from the user: a caller cannot tell the difference."""


class Conflict(Exception):
    """Another client changed a resource on which a change set or a stage depends."""


class Dangling(Exception):
    """A link has no target, and the collection refuses such links."""


class Full(Exception):
    """A quota does not allow it, in the error form of the client or its protocol."""


@dataclass(frozen=True)
class Attribute:
    """An attribute of a description; the unit is empty if there is none."""

    name: str
    value: str
    unit: str = ""


@dataclass(frozen=True)
class Entry:
    """The properties shown for a resource; those that the client does not show are `None`."""

    kind: str  # "collection" or "object"
    size: int | None = None
    sha256: str | None = None  # in hexadecimal
    modified: int | None = None  # of the content or the membership, seconds since 1970


class Opening:
    """One client and one user. Methods that are not overridden are unsupported."""

    name = "opening"
    # Whether attributes are shown with their units.
    has_units = True
    # Whether an attribute can have several values.
    has_many_values = True
    # Whether a path is reached through the collections above it, which the user has to see.
    walks = False
    # Whether access is granted, and seen, for whole projects.
    grants_projects = False

    def put(self, path: str, data: bytes) -> None:
        """Creates the object, or replaces its content."""
        raise Unsupported("cannot write")

    def needs_replacing(self) -> None:
        """Raises `Unsupported` if a put does not replace the content, but the object."""

    def get(self, path: str) -> bytes:
        raise Unsupported("cannot read")

    def entry(self, path: str) -> Entry:
        raise Unsupported("shows no resources")

    def names(self, collection: str) -> set[str]:
        raise Unsupported("cannot list")

    def mkdir(self, path: str) -> None:
        raise Unsupported("makes no collections")

    def move(self, path: str, to: str) -> None:
        raise Unsupported("cannot move")

    def copy(self, path: str, to: str) -> None:
        raise Unsupported("cannot copy")

    def remove(self, path: str) -> None:
        """Removes an object, or a collection with everything in it."""
        raise Unsupported("cannot remove")

    def needs_trash(self) -> None:
        """Raises `Unsupported` if removed resources cannot be restored."""
        raise Unsupported("the clients of the iRODS openings remove for good")

    def restore(self, path: str) -> None:
        """Restores the resource removed from `path`."""
        self.needs_trash()

    def add(self, path: str, attribute: Attribute) -> None:
        raise Unsupported("adds no attributes")

    def drop(self, path: str, attribute: Attribute) -> None:
        raise Unsupported("removes no attributes")

    def attributes(self, path: str) -> set[Attribute]:
        raise Unsupported("shows no attributes")

    def find(self, collection: str, attribute: Attribute) -> set[str]:
        """The paths of the objects in `collection` that have this name and value."""
        raise Unsupported("does not search")

    def grant(self, path: str, user: str, level: str) -> None:
        """`level` is "read" or "none"."""
        raise Unsupported("grants nothing")

    def limit(self, collection: str, size: int | None) -> None:
        """Sets the hard limit of the bytes below the collection; `None` removes it."""
        raise Unsupported("the protocol cannot set quotas of collections")

    def needs_versions(self) -> None:
        """Raises `Unsupported` if versions cannot be kept, read and restored."""
        raise Unsupported("only the native opening can set which versions are kept")

    def keep_versions(self, collection: str) -> None:
        """Makes the collection keep a version at each change."""
        self.needs_versions()

    def versions(self, path: str) -> list[int]:
        """The numbers of the versions, the oldest first."""
        raise Unsupported("only the native opening can set which versions are kept")

    def version(self, path: str, number: int) -> bytes:
        """The content of a version."""
        raise Unsupported("only the native opening can set which versions are kept")

    def restore_version(self, path: str, number: int) -> None:
        self.needs_versions()

    def needs_past(self) -> None:
        """Raises `Unsupported` if the past is not shown."""
        raise Unsupported("only the native opening shows the past")

    def position(self) -> str:
        """The position of the change feed now."""
        raise Unsupported("only the native opening shows the past")

    def names_as_of(self, collection: str, position: str) -> set[str]:
        raise Unsupported("only the native opening shows the past")

    def get_as_of(self, path: str, position: str) -> bytes:
        raise Unsupported("only the native opening shows the past")

    def attributes_as_of(self, path: str, position: str) -> set[Attribute]:
        raise Unsupported("only the native opening shows the past")

    def find_as_of(self, collection: str, attribute: Attribute, position: str) -> set[str]:
        """The paths of the objects that were in `collection` and had this name and value."""
        raise Unsupported("only the native opening shows the past")

    def restore_as_of(self, path: str, position: str, to: str) -> None:
        """Restores an object or a collection under another name, and waits until it exists."""
        self.needs_past()

    def needs_xattrs(self) -> None:
        """Raises `Unsupported` if there are no extended attributes."""
        raise Unsupported("only the native opening has extended attributes")

    def xattr(self, path: str, name: str) -> bytes:
        """The value of an extended attribute."""
        raise Unsupported("only the native opening has extended attributes")

    def set_xattr(self, path: str, name: str, value: bytes) -> None:
        self.needs_xattrs()

    def begin(self) -> str:
        """Creates a change set, for `within`."""
        raise Unsupported("only the native opening holds change sets")

    def within(self, changeset: str) -> "Opening":
        """The same client, whose requests are part of a change set."""
        raise Unsupported("only the native opening holds change sets")

    def commit(self, changeset: str) -> None:
        raise Unsupported("only the native opening holds change sets")

    def abandon(self, changeset: str) -> None:
        """Drops a change set."""
        raise Unsupported("only the native opening holds change sets")

    def needs_links(self) -> None:
        """Raises `Unsupported` if descriptions have no links."""
        raise Unsupported("attributes are text, not links")

    def link(self, path: str, to: str) -> None:
        """Links to a path in a description."""
        self.needs_links()

    def links(self, path: str) -> set[str]:
        """The paths to which a description links."""
        raise Unsupported("attributes are text, not links")

    def needs_integrity(self) -> None:
        """Raises `Unsupported` if it cannot set the required link integrity, or cannot move resources."""
        raise Unsupported("only the native opening can set the integrity of links")

    def integrity(self, collection: str, word: str) -> None:
        """Requires "none", "lenient" or "strict" of links."""
        self.needs_integrity()

    def needs_stages(self) -> None:
        """Raises `Unsupported` if there are no stages."""
        raise Unsupported("only the native opening has stages that begin from an object")

    def stage(self, path: str) -> str:
        """Creates a stage with the content of an object."""
        raise Unsupported("only the native opening has stages that begin from an object")

    def write_stage(self, stage: str, offset: int, data: bytes) -> None:
        self.needs_stages()

    def read_stage(self, stage: str) -> bytes:
        raise Unsupported("only the native opening has stages that begin from an object")

    def publish(self, stage: str) -> None:
        self.needs_stages()

    def close(self) -> None:
        """Terminates the processes of the client."""


def within(collection: str, paths: set[str]) -> set[str]:
    """The paths directly in the collection. The user may be unable to list it, so the whole store is searched."""
    return {path for path in paths if split(path)[0] == collection}


def split(path: str) -> tuple[str, str]:
    """The collection and the name."""
    collection, _, name = path.rpartition("/")
    return collection or "/", name
