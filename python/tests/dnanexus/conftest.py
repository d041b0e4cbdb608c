"""A server, and DNAnexus' own unmodified client (`dx` and dxpy) connected to it."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from program import PASSWORD, program


class Client:
    """A user with a token of the store, who has selected a project."""

    def __init__(self, directory, url, token):
        self.directory, self.url, self.token = directory, url, token
        self.project = None

    def environment(self):
        own = {name: value for name, value in os.environ.items() if not name.startswith(('CENOTE_', 'DX_'))}
        host, port = self.url.removeprefix('http://').rsplit(':', 1)
        context = {'auth_token_type': 'Bearer', 'auth_token': self.token}
        project = {'DX_PROJECT_CONTEXT_ID': self.project, 'DX_CLI_WD': '/'} if self.project else {}
        return {
            **own,
            'HOME': str(self.directory),
            'DX_USER_CONF_DIR': str(self.directory / 'dx'),
            'DX_APISERVER_HOST': host,
            'DX_APISERVER_PORT': port,
            'DX_APISERVER_PROTOCOL': 'http',
            'DX_SECURITY_CONTEXT': json.dumps(context),
            **project,
        }

    def run(self, *arguments, text=b'', where=None):
        """Runs `dx`, whatever the result."""
        dx = [str(pathlib.Path(sys.executable).parent / 'dx'), *map(str, arguments)]
        return subprocess.run(
            dx, env=self.environment(), input=text, capture_output=True, timeout=600, cwd=where or self.directory
        )

    def dx(self, *arguments, text=b'', where=None):
        """The output of `dx`, which has to succeed."""
        done = self.run(*arguments, text=text, where=where)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.dx(*arguments, '--json'))


class Store:
    """A store, and its server."""

    def __init__(self, directory):
        self.directory = directory
        (directory / 'config.toml').write_text('')
        self.cenote('init', directory / 'store', '--admin', 'ada', '--password-stdin', text=PASSWORD)
        serve = [program(), 'serve', directory / 'store', '--listen', '127.0.0.1:0']
        self.server = subprocess.Popen(
            serve, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.url = self.server.stdout.readline().strip().removeprefix('listening on ')

    def environment(self, user='ada'):
        own = {name: value for name, value in os.environ.items() if not name.startswith('CENOTE_')}
        who = {'CENOTE_USER': user, 'CENOTE_PASSWORD': PASSWORD}
        url = {'CENOTE_URL': self.url, **who} if hasattr(self, 'url') else {}
        return {**own, 'CENOTE_CONFIG': str(self.directory / 'config.toml'), **url}

    def cenote(self, *arguments, text='', user='ada'):
        """The output of the program."""
        data = text if isinstance(text, bytes) else text.encode()
        run = [program(), *map(str, arguments)]
        done = subprocess.run(run, env=self.environment(user), input=data, capture_output=True)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    def client(self, user, project=None):
        """A client of a user, who is added if they are missing."""
        if user != 'ada':
            self.cenote('user', 'add', user, '--password-stdin', text=PASSWORD)
        token = self.cenote('token', 'add', 'dx', user=user).decode().split()[1]
        directory = self.directory / user
        directory.mkdir()
        client = Client(directory, self.url, token)
        if project:
            client.project = client.dx('new', 'project', project, '--brief').decode().strip()
        return client

    def close(self):
        self.server.terminate()
        self.server.wait(60)


@pytest.fixture(scope='session')
def store(tmp_path_factory):
    if program() is None:
        pytest.skip('no program to serve a store: `cargo build -p cenote-cli`, or name it in CENOTE_PROGRAM')
    store = Store(tmp_path_factory.mktemp('dnanexus'))
    yield store
    store.close()


@pytest.fixture(scope='session')
def ada(store):
    """A client whose project all tests share: each uses its own folder."""
    return store.client('ada', 'mammals')
