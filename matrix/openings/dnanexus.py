"""The DNAnexus opening, with `dx`'s library dxpy of PyPI.

A collection in the root is a project, and the resources below it are in the folders of that project.
"""

from urllib.parse import urlsplit

import dxpy
from dxpy import exceptions

from .curl import Curl
from .opening import Absent, Attribute, Entry, Full, Opening, Unsupported, split

ABSENT = (exceptions.ResourceNotFound, exceptions.PermissionDenied, exceptions.InvalidAuthentication)


class Dnanexus(Opening):
    name = "dx"
    has_units = False
    grants_projects = True

    def __init__(self, url: str, user: str, password: str):
        curl = Curl(url, "-u", f"{user}:{password}", "-H", "Content-Type: application/json")
        token = curl.send("POST", "/v1/tokens", data=b'{"label": "dx"}').json()["token"]
        self.context = {"auth_token_type": "Bearer", "auth_token": token}
        server = urlsplit(url)
        dxpy.set_api_server_info(host=server.hostname, port=server.port, protocol=server.scheme)

    def call(self, function, *arguments, **named):
        """Calls a function of the library, whose user and server are those of the process."""
        dxpy.set_security_context(self.context)
        try:
            return function(*arguments, **named)
        except ABSENT as why:
            raise Absent(why) from why
        except exceptions.SpendingLimitExceeded as why:
            raise Full(why) from why

    def project(self, path: str) -> tuple[str, str]:
        """The id of the project around a path, and the path in it."""
        _, name, *below = path.split("/")
        found = self.call(dxpy.api.system_find_projects, {"name": name})["results"]
        if not found:
            raise Absent(f"there is no project {name}")
        return found[0]["id"], "/" + "/".join(below)

    def objects(self, path: str) -> tuple[str, list[str]]:
        """The project, and the ids of the objects at a path."""
        project, inside = self.project(path)
        folder, name = split(inside)
        named = {"objects": [{"name": name, "folder": folder}], "project": project}
        (found,) = self.call(dxpy.api.system_resolve_data_objects, named)["results"]
        return project, [each["id"] for each in found]

    def object(self, path: str) -> tuple[str, str]:
        """The project and the id of the one object at a path."""
        project, found = self.objects(path)
        if not found:
            raise Absent(path)
        (only,) = found
        return project, only

    def put(self, path: str, data: bytes) -> None:
        """No call replaces a content: an existing object is removed first."""
        project, found = self.objects(path)
        if found:
            self.call(dxpy.api.project_remove_objects, project, {"objects": found})
        folder, name = split(self.project(path)[1])
        file = self.call(dxpy.new_dxfile, mode="ab", project=project, folder=folder, name=name)
        try:
            self.call(file.write, data)
            self.call(file.close, block=True)
        except Full:
            self.call(dxpy.api.project_remove_objects, project, {"objects": [file.get_id()]})
            raise

    def get(self, path: str) -> bytes:
        project, file = self.object(path)
        return self.call(self.read, file, project)

    def read(self, file: str, project: str) -> bytes:
        with dxpy.open_dxfile(file, project=project, mode="rb") as opened:
            return opened.read()

    def entry(self, path: str) -> Entry:
        project, found = self.objects(path)
        if not found:
            self.folder(path)
            return Entry("collection")
        fields = {"project": project, "fields": {"size": True, "modified": True}}
        seen = self.call(dxpy.api.file_describe, found[0], fields)
        return Entry("object", seen["size"], modified=seen["modified"] // 1000)

    def folder(self, path: str) -> tuple[str, str, dict]:
        """The project, the path and the content of a folder."""
        project, inside = self.project(path)
        listed = {"folder": inside, "describe": {"fields": {"name": True}}}
        return project, inside, self.call(dxpy.api.project_list_folder, project, listed)

    def names(self, collection: str) -> set[str]:
        _, _, listed = self.folder(collection)
        folders = {split(folder)[1] for folder in listed["folders"]}
        return folders | {each["describe"]["name"] for each in listed["objects"]}

    def mkdir(self, path: str) -> None:
        project, inside = self.project(path)
        self.call(dxpy.api.project_new_folder, project, {"folder": inside})

    def move(self, path: str, to: str) -> None:
        project, found = self.objects(path)
        (above, _), (folder, name) = split(path), split(self.project(to)[1])
        if not found:
            renamed = {"folder": self.folder(path)[1], "newpath": self.project(to)[1]}
            self.call(dxpy.api.project_rename_folder, project, renamed)
            return
        if split(to)[0] != above:
            self.call(dxpy.api.project_move, project, {"objects": found, "destination": folder})
        self.call(dxpy.api.file_rename, found[0], {"project": project, "name": name})

    def copy(self, path: str, to: str) -> None:
        raise Unsupported("a DNAnexus project contains an object only once: copies are for other projects")

    def remove(self, path: str) -> None:
        project, found = self.objects(path)
        if found:
            self.call(dxpy.api.project_remove_objects, project, {"objects": found})
        else:
            removed = {"folder": self.folder(path)[1], "recurse": True}
            self.call(dxpy.api.project_remove_folder, project, removed)

    def needs_replacing(self) -> None:
        raise Unsupported("DNAnexus' clients cannot replace a content: a put is a removal and an upload")

    def needs_trash(self) -> None:
        raise Unsupported("the DNAnexus API cannot restore removed resources")

    def add(self, path: str, attribute: Attribute) -> None:
        self.describe(path, {attribute.name: attribute.value})

    def drop(self, path: str, attribute: Attribute) -> None:
        self.describe(path, {attribute.name: None})

    def describe(self, path: str, properties: dict) -> None:
        project, file = self.object(path)
        changed = {"project": project, "properties": properties}
        self.call(dxpy.api.file_set_properties, file, changed)

    def attributes(self, path: str) -> set[Attribute]:
        project, file = self.object(path)
        fields = {"project": project, "fields": {"properties": True}}
        found = self.call(dxpy.api.file_describe, file, fields)["properties"]
        return {Attribute(*pair) for pair in found.items()}

    def find(self, collection: str, attribute: Attribute) -> set[str]:
        try:
            project, folder = self.project(collection)
            search = {
                "scope": {"project": project, "folder": folder, "recurse": False},
                "properties": {attribute.name: attribute.value},
                "describe": {"fields": {"name": True}},
            }
            found = self.call(dxpy.api.system_find_data_objects, search)["results"]
        except Absent:
            return set()
        return {f"{collection}/{each['describe']['name']}" for each in found}

    def grant(self, path: str, user: str, level: str) -> None:
        project, _ = self.project(path)
        if level == "read":
            invited = {"invitee": f"user-{user}", "level": "VIEW", "suppressEmailNotification": True}
            self.call(dxpy.api.project_invite, project, invited)
        else:
            self.call(dxpy.api.project_decrease_permissions, project, {f"user-{user}": None})
