"""`curl`, for the openings that are plain HTTP."""

import json
import subprocess
from dataclasses import dataclass
from urllib.parse import quote, urlencode


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes

    def json(self) -> dict:
        return json.loads(self.body)


class Curl:
    """Sends requests below `base`, each in a separate process."""

    def __init__(self, base: str, *options: str):
        self.base = base
        self.options = options

    def also(self, *options: str) -> "Curl":
        """The same with more options."""
        return Curl(self.base, *self.options, *options)

    def send(self, method: str, path: str, query: dict | None = None, *options: str, data: bytes | None = None) -> Answer:
        url = self.base + quote(path, safe="/") + (f"?{urlencode(query)}" if query else "")
        command = ["curl", "-sS", "-X", method, "-w", "\n%{http_code}", *self.options, *options]
        if data is not None:
            command += ["--data-binary", "@-", "-H", "Expect:"]
        done = subprocess.run([*command, url], input=data, capture_output=True, check=True)
        body, _, status = done.stdout.rpartition(b"\n")
        return Answer(int(status), body)
