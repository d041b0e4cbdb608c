"""A server of the program with its own store."""

import json
import re
import subprocess
from pathlib import Path

PASSWORDS = {"ada": "a password", "bob": "another password"}


class Server:
    """Runs until `close`; `url` is its URL. The catalog is in the store's directory, or in an empty PostgreSQL database."""

    def __init__(self, program: str, scratch: Path, catalog: str | None = None):
        store = str(scratch / "store")
        run = [program, "init", store, "--admin", "ada", "--password-stdin"]
        run += ["--catalog", catalog] if catalog else []
        subprocess.run(run, input=PASSWORDS["ada"] + "\n", text=True, check=True, stdout=subprocess.DEVNULL)
        self.log = (scratch / "server.log").open("w")
        serve = [program, "serve", store, "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.url = self.address()
        self.add("bob")

    def address(self) -> str:
        while line := self.process.stdout.readline():
            if found := re.search(r"http://[0-9.:]+", line):
                return found[0]
        raise AssertionError("the server does not start")

    def add(self, user: str) -> None:
        body = json.dumps({"name": user, "password": PASSWORDS[user], "role": "user"})
        send = ["curl", "-sSf", "-u", f"ada:{PASSWORDS['ada']}", "-H", "Content-Type: application/json"]
        subprocess.run([*send, "-d", body, f"{self.url}/v1/users"], check=True, stdout=subprocess.DEVNULL)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.log.close()
