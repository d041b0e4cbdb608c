"""The iRODS HTTP API, with the package `irods-http` of PyPI."""

from urllib.parse import quote_plus

from irods_http import collections, data_objects, irods_http, queries

from . import irods
from .opening import Absent, Attribute, Entry, Full, Opening, Unsupported, split

# Codes of iRODS for a missing resource, and for missing permission.
ABSENT = {-171000, -170000, -808000, -818000, -310000, -169000, -130000, -816000, -817000, -814000, -24000}


# The maximum size of a form, minus its other fields.
FORM = (8 << 20) - 512


def checked(answer: dict) -> dict:
    """The body of a successful response."""
    data = answer["data"] or {}
    code = data.get("irods_response", {}).get("status_code", 0)
    if code in ABSENT or answer["status_code"] in (401, 403, 404):
        raise Absent(answer)
    if code == irods.FULL:
        raise Full(answer)
    assert answer["status_code"] == 200 and code >= 0, answer
    return data


class IrodsHttp(Opening):
    name = "irods-http"

    def __init__(self, url: str, user: str, password: str):
        self.session = irods_http.authenticate(f"{url}/irods-http-api/0.7.0", user, password)

    def put(self, path: str, data: bytes) -> None:
        if not data.isascii():
            raise Unsupported("`irods-http` can write only text")
        if len(quote_plus(data)) > FORM:
            raise Unsupported("`irods-http` sends a form, which has at most 8 MiB")
        checked(data_objects.write(self.session, data.decode("ascii"), irods.logical(path)))

    def get(self, path: str) -> bytes:
        answer = data_objects.read(self.session, irods.logical(path))
        if answer["status_code"] != 200:
            raise Absent(answer)
        return answer["data"]

    def entry(self, path: str) -> Entry:
        try:
            found = checked(data_objects.stat(self.session, irods.logical(path)))
        except Absent:
            found = checked(collections.stat(self.session, irods.logical(path)))
            return Entry("collection", modified=found["modified_at"])
        # As in iRODS, the checksum has to be queried from the catalog.
        collection, name = split(path)
        rows = self.query(
            f"select DATA_CHECKSUM where COLL_NAME = '{irods.literal(irods.logical(collection))}'"
            f" and DATA_NAME = '{irods.literal(name)}'"
        )
        return Entry("object", found["size"], irods.sha256(rows[0][0]), found["modified_at"])

    def names(self, collection: str) -> set[str]:
        found = checked(collections.list(self.session, irods.logical(collection)))
        return {split(path)[1] for path in found["entries"] or []}

    def mkdir(self, path: str) -> None:
        checked(collections.create(self.session, irods.logical(path)))

    def move(self, path: str, to: str) -> None:
        module = data_objects if self.entry(path).kind == "object" else collections
        checked(module.rename(self.session, irods.logical(path), irods.logical(to)))

    def copy(self, path: str, to: str) -> None:
        checked(data_objects.copy(self.session, irods.logical(path), irods.logical(to)))

    def remove(self, path: str) -> None:
        if self.entry(path).kind == "object":
            checked(data_objects.remove(self.session, irods.logical(path), no_trash=1))
        else:
            checked(collections.remove(self.session, irods.logical(path), recurse=1, no_trash=1))

    def add(self, path: str, attribute: Attribute) -> None:
        self.change(path, "add", attribute)

    def drop(self, path: str, attribute: Attribute) -> None:
        self.change(path, "remove", attribute)

    def change(self, path: str, word: str, attribute: Attribute) -> None:
        operations = [irods.operation(word, attribute)]
        checked(data_objects.modify_metadata(self.session, irods.logical(path), operations))

    def attributes(self, path: str) -> set[Attribute]:
        return {Attribute(*row) for row in self.query(irods.described(path))}

    def find(self, collection: str, attribute: Attribute) -> set[str]:
        rows = self.query(irods.search(collection, attribute))
        return {f"{irods.inside(parent)}/{name}" for parent, name in rows}

    def query(self, text: str) -> list[list[str]]:
        return checked(queries.execute_genquery(self.session, text))["rows"]

    def grant(self, path: str, user: str, level: str) -> None:
        word = {"read": "read", "none": "null"}[level]
        checked(data_objects.set_permission(self.session, irods.logical(path), user, word))
