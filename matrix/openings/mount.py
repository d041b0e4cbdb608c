"""A mount of the whole store by the program, used through the kernel.

Changes by others are reported to a mount, so each request first waits until all changes so far have been.
"""

import base64
import errno
import json
import os
import shutil
import subprocess
from pathlib import Path

from .curl import Curl
from .opening import Absent, Attribute, Entry, Full, Opening, Unsupported

ABSENT = {errno.ENOENT, errno.EACCES, errno.EPERM, errno.ENODATA}
PREFIX = "user."


class Mount(Opening):
    name = "mount"
    has_units = False
    has_many_values = False
    walks = True

    def __init__(self, program: str, url: str, user: str, password: str, scratch: Path):
        self.feed = Curl(url, "-u", f"{user}:{password}")
        self.at = scratch / f"mount-{user}"
        self.at.mkdir()
        config = scratch / f"mount-{user}.toml"
        config.touch(mode=0o600)
        self.program = program
        self.environment = {
            **os.environ,
            "CENOTE_URL": url,
            "CENOTE_USER": user,
            "CENOTE_PASSWORD": password,
            "CENOTE_CONFIG": str(config),
        }
        self.run("mount", "--write", "--log", str(scratch / f"mount-{user}.log"), str(self.at))

    def run(self, *args: str) -> None:
        command = [self.program, "--quiet", *args]
        subprocess.run(command, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def close(self) -> None:
        self.run("umount", "--lazy", str(self.at))

    def settle(self) -> None:
        """Waits until the changes so far have been reported, if they are."""
        answer = self.feed.send("GET", "/v1/changes", {"since": "now"})
        while answer.status == 200:
            status = json.loads(os.getxattr(self.at, "cenote.status"))
            if not status["follows"] or status["position"] >= answer.json()["next"]:
                return

    def request(self, function, path: str, *arguments):
        """Calls a function of the system for a path."""
        self.settle()
        try:
            return function(self.at / path.lstrip("/"), *arguments)
        except OSError as why:
            if why.errno in ABSENT:
                raise Absent(why) from why
            if why.errno == errno.EDQUOT:
                raise Full(why) from why
            raise

    def put(self, path: str, data: bytes) -> None:
        self.request(write, path, data)

    def get(self, path: str) -> bytes:
        return self.request(Path.read_bytes, path)

    def entry(self, path: str) -> Entry:
        found = self.request(Path.stat, path)
        is_file = (self.at / path.lstrip("/")).is_file()
        return Entry("object" if is_file else "collection", found.st_size if is_file else None, modified=int(found.st_mtime))

    def names(self, collection: str) -> set[str]:
        return set(self.request(os.listdir, collection))

    def mkdir(self, path: str) -> None:
        self.request(Path.mkdir, path)

    def move(self, path: str, to: str) -> None:
        self.request(Path.rename, path, self.at / to.lstrip("/"))

    def copy(self, path: str, to: str) -> None:
        self.request(shutil.copyfile, path, self.at / to.lstrip("/"))

    def remove(self, path: str) -> None:
        self.request(remove, path)

    def needs_trash(self) -> None:
        raise Unsupported("a mount cannot restore removed resources")

    def add(self, path: str, attribute: Attribute) -> None:
        self.set_xattr(path, attribute.name, attribute.value.encode())

    def drop(self, path: str, attribute: Attribute) -> None:
        self.request(os.removexattr, path, PREFIX + attribute.name)

    def attributes(self, path: str) -> set[Attribute]:
        names = [name.removeprefix(PREFIX) for name in self.request(os.listxattr, path)]
        return {Attribute(name, text(self.xattr(path, name))) for name in names}

    def find(self, collection: str, attribute: Attribute) -> set[str]:
        raise Unsupported("a mount cannot search")

    def grant(self, path: str, user: str, level: str) -> None:
        raise Unsupported("a mount cannot grant access")

    def needs_xattrs(self) -> None:
        """It has extended attributes."""

    def xattr(self, path: str, name: str) -> bytes:
        return self.request(os.getxattr, path, PREFIX + name)

    def set_xattr(self, path: str, name: str, value: bytes) -> None:
        self.request(os.setxattr, path, PREFIX + name, value)


def write(path: Path, data: bytes) -> None:
    """Writes a file; `close` says whether that was accepted."""
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(opened, left) :]
    finally:
        os.close(opened)


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def text(value: bytes) -> str:
    """A value in the form of attributes: bytes that are not text in base64."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.b64encode(value).decode()
