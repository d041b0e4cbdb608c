"""The stores being measured: on this machine alone, and over PostgreSQL with one server or with several."""

import base64
import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from backends import Balancer, wait_for

sys.path.append(str(Path(__file__).parent.parent / 'ldp'))
from server import PASSWORD, Peer  # noqa: E402


class Side(Peer):
    """One store: its servers, and the address at which clients reach them."""

    def __init__(self, name, program, directory, count=1, flags=(), variables=None, settings=''):
        self.program, self.directory, self.flags, self.settings = program, directory, flags, settings
        self.environment = {**os.environ, **(variables or {})}
        self.servers, self.balancer = [], None
        self.directory.mkdir()
        hosts = [self.start(number) for number in range(count)]
        if count > 1:
            self.balancer = Balancer(directory, hosts)
        super().__init__(name, f'http://{self.balancer.host if self.balancer else hosts[0]}')
        login = base64.b64encode(f'ada:{PASSWORD}'.encode()).decode()
        self.headers['Authorization'] = f'Basic {login}'

    def start(self, number):
        """The address of one more server."""
        store, log = self.directory / f'store{number}', self.directory / f'log{number}'
        how = ['--admin', 'ada', '--password-stdin'] if number == 0 else ['--join']
        init = [self.program, '--quiet', 'init', store, *how, *self.flags]
        subprocess.run(init, input=PASSWORD.encode(), env=self.environment, check=True, stdout=subprocess.DEVNULL)
        of_store = store / 'store.toml'
        of_store.write_text(self.settings + of_store.read_text())
        serve = [self.program, 'serve', store, '--listen', '127.0.0.1:0']
        process = subprocess.Popen(serve, env=self.environment, stdout=log.open('wb'), stderr=subprocess.STDOUT)
        self.servers.append(process)
        return wait_for(process, log, r'http://([0-9.:]+)')

    def tokens(self, count):
        """So many logins: a balancer sends each of them to one server."""
        return [f'Bearer {self.token(number)}' for number in range(count)]

    def token(self, number):
        body = json.dumps({'label': f'client {number}'}).encode()
        headers = {**self.headers, 'Content-Type': 'application/json'}
        request = urllib.request.Request(f'http://{self.host}/v1/tokens', body, headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)['token']

    def stop(self):
        if self.balancer:
            self.balancer.stop()
        for process in self.servers:
            process.send_signal(signal.SIGTERM)
        for process in self.servers:
            process.wait(60)
