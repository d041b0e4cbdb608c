"""A server with its own store, shared by the tests of a folder, whose `conftest.py` imports the fixtures: each uses its own collection."""

import os
import subprocess

import pytest
from program import PASSWORD, program

import cenote


class Server:
    """A server that can be stopped and restarted at the same address."""

    def __init__(self, directory):
        self.directory, self.url, self.process = directory, None, None
        (directory / 'config.toml').write_text('')
        self.cenote('init', directory / 'store', '--admin', 'ada', '--password-stdin', text=PASSWORD)

    def start(self):
        listen = self.url.removeprefix('http://') if self.url else '127.0.0.1:0'
        serve = [program(), 'serve', self.directory / 'store', '--listen', listen]
        self.process = subprocess.Popen(
            serve, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.url = self.process.stdout.readline().strip().removeprefix('listening on ')
        return self

    def stop(self):
        self.process.kill()
        self.process.wait(60)
        self.process.stdout.close()

    def environment(self, user='ada'):
        own = {name: value for name, value in os.environ.items() if not name.startswith('CENOTE_')}
        who = {'CENOTE_USER': user, 'CENOTE_PASSWORD': PASSWORD}
        url = {'CENOTE_URL': self.url, **who} if self.url else {}
        config = {'CENOTE_CONFIG': str(self.directory / 'config.toml')}
        return {**own, **config, 'HOME': str(self.directory), 'XDG_CONFIG_HOME': str(self.directory), **url}

    def cenote(self, *arguments, text='', user='ada'):
        """The output of the program."""
        data = text if isinstance(text, bytes) else text.encode()
        run = [program(), *map(str, arguments)]
        done = subprocess.run(run, env=self.environment(user), input=data, capture_output=True)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    def connect(self, user='ada', **options):
        config = self.directory / 'config.toml'
        return cenote.connect(self.url, user=user, password=PASSWORD, config=config, **options)


@pytest.fixture(scope='session')
def server(tmp_path_factory):
    if program() is None:
        pytest.skip('no program to serve a store: `cargo build -p cenote-cli`, or name it in CENOTE_PROGRAM')
    server = Server(tmp_path_factory.mktemp('server')).start()
    yield server
    server.stop()


@pytest.fixture
def own_server(tmp_path):
    """A server of one test, which may stop it."""
    server = Server(tmp_path).start()
    yield server
    server.stop()


@pytest.fixture
def environment(server, monkeypatch):
    """The settings of ada in the environment, and no others."""
    for name in [*os.environ]:
        if name.startswith('CENOTE_'):
            monkeypatch.delenv(name)
    for name, value in server.environment().items():
        if name.startswith(('CENOTE_', 'HOME', 'XDG_CONFIG')):
            monkeypatch.setenv(name, value)
