"""What the servers of a store share, started for one run: PostgreSQL, an S3 server (moto or versitygw), and nginx."""

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

SETTINGS = Path(__file__).parent.parent.parent / 'packaging/cluster/nginx.conf'


def wait_for(process, log, pattern):
    """The first group of `pattern` in the log of a process that is starting."""
    while process.poll() is None:
        found = re.search(pattern, log.read_text())
        if found:
            return found[1]
        time.sleep(0.01)
    raise SystemExit(f'{process.args[0]} did not start: {log.read_text()}')


def wait_for_health(process, url):
    """Waits until a process answers."""
    while process.poll() is None:
        try:
            urllib.request.urlopen(url).close()
            return
        except OSError:
            time.sleep(0.01)
    raise SystemExit(f'{process.args[0]} did not start')


class Postgres:
    """A cluster of its own, as Debian's packages have it by default: each commit is synced."""

    def __init__(self, directory):
        self.bin = max(Path('/usr/lib/postgresql').glob('*/bin'), key=lambda path: int(path.parent.name))
        self.directory, self.sockets = directory / 'postgres', directory / 'sockets'
        for path in (self.directory, self.sockets):
            path.mkdir()
        self.user = []
        if os.geteuid() == 0:
            # It refuses to run as root.
            self.user = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups']
            for path in (self.directory, self.sockets):
                shutil.chown(path, 'postgres', 'postgres')
            directory.chmod(0o755)
        self.run('initdb', '-D', self.directory, '-U', 'cenote', '-A', 'trust')
        options = f'-k {self.sockets} -c listen_addresses= -c max_connections=200'
        self.run('pg_ctl', '-w', '-D', self.directory, '-l', self.directory / 'log', '-o', options, 'start')

    def run(self, program, *arguments):
        command = [*self.user, self.bin / program, *arguments]
        subprocess.run(command, check=True, cwd='/', stdout=subprocess.DEVNULL)

    def schema(self, name):
        """The address of an empty catalog."""
        address = f'host={self.sockets} user=cenote dbname=postgres'
        self.run('psql', '--quiet', '-c', f'CREATE SCHEMA {name}', address)
        return f"{address} options='-c search_path={name}'"

    def query(self, query):
        """The rows of an answer as lines, with | between their columns."""
        address = f'host={self.sockets} user=cenote dbname=postgres'
        command = [*self.user, self.bin / 'psql', '--quiet', '-At', '-c', query, address]
        return subprocess.run(command, check=True, cwd='/', stdout=subprocess.PIPE, text=True).stdout

    def stop(self):
        self.run('pg_ctl', '-D', self.directory, '-m', 'fast', 'stop')


class Bucket:
    """An S3 server that keeps everything in memory, in Python: what it costs is no lower bound."""

    def __init__(self, directory, program):
        log = directory / 'bucket.log'
        command = [program, '-H', '127.0.0.1', '-p', '0']
        self.process = subprocess.Popen(command, stdout=log.open('wb'), stderr=subprocess.STDOUT)
        url = wait_for(self.process, log, r'Running on (http://[0-9.:]+)')
        urllib.request.urlopen(urllib.request.Request(f'{url}/bench', method='PUT')).close()
        self.variables = {
            'AWS_ENDPOINT': url, 'AWS_ALLOW_HTTP': 'true', 'AWS_REGION': 'us-east-1',
            'AWS_ACCESS_KEY_ID': 'bench', 'AWS_SECRET_ACCESS_KEY': 'bench',
        }

    def contents(self, name):
        return f's3://bench/{name}'

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


class Gateway(Bucket):
    """An S3 server (versitygw) that keeps files, and checks signatures."""

    def __init__(self, directory, program):
        files = directory / 'bucket'
        (files / 'bench').mkdir(parents=True)
        host = f'127.0.0.1:{free_port()}'
        command = [program, '--port', host, '--health', '/healthz', '--keep-alive', '--quiet', 'posix', files]
        environment = {'ROOT_ACCESS_KEY': 'bench', 'ROOT_SECRET_KEY': 'bench'}
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        self.variables = {
            'AWS_ENDPOINT': f'http://{host}', 'AWS_ALLOW_HTTP': 'true', 'AWS_REGION': 'us-east-1',
            'AWS_ACCESS_KEY_ID': 'bench', 'AWS_SECRET_ACCESS_KEY': 'bench',
        }
        wait_for_health(self.process, f'http://{host}/healthz')


class Disk:
    """A directory for contents, which all servers reach at the same path."""

    variables = {}

    def __init__(self, directory):
        self.directory = directory

    def contents(self, name):
        path = self.directory / f'contents-{name}'
        path.mkdir(exist_ok=True)
        return f'file://{path}'

    def stop(self):
        pass


class Balancer:
    """nginx with the settings of `packaging/cluster`, on a free port."""

    def __init__(self, directory, hosts):
        self.directory = directory / 'nginx'
        self.directory.mkdir()
        port = free_port()
        temporary = ' '.join(f'{of}_temp_path {of};' for of in ('client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'))
        settings = SETTINGS.read_text().replace('listen 8470;', f'listen 127.0.0.1:{port};')
        settings = settings.replace('http {', f'http {{ {temporary}')
        (self.directory / 'nginx.conf').write_text(settings)
        (self.directory / 'servers.conf').write_text(''.join(f'server {host};\n' for host in hosts))
        program = shutil.which('nginx') or '/usr/sbin/nginx'
        own = 'daemon off; pid nginx.pid; error_log error.log;'
        command = [program, '-e', 'stderr', '-p', self.directory, '-c', 'nginx.conf', '-g', own]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self.host = f'127.0.0.1:{port}'
        wait_for_health(self.process, f'http://{self.host}/healthz')

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def free_port():
    import socket

    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        return listener.getsockname()[1]


def moto():
    """The program of the S3 server, of the environment of this interpreter."""
    beside = Path(sys.executable).parent / 'moto_server'
    found = beside if beside.exists() else shutil.which('moto_server')
    if not found:
        raise SystemExit('moto_server is not installed: run `scripts/setup bucket`')
    return found


def versitygw():
    """The program of the other one."""
    found = Path(__file__).parent.parent.parent / 'target/tools/bin/versitygw'
    if not found.exists():
        raise SystemExit('versitygw is not installed: run `scripts/setup bucket`')
    return found
