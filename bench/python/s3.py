"""The peer: an S3 server of a package registry (moto), and `s3fs` as its client."""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUCKET = 'bench'


class S3:
    """A server that keeps everything in memory, so nothing is durable."""

    def __init__(self, directory):
        self.log = Path(directory) / 's3.log'
        program = Path(sys.executable).parent / 'moto_server'
        command = [program, '-H', '127.0.0.1', '-p', '0']
        self.process = subprocess.Popen(command, stdout=self.log.open('wb'), stderr=subprocess.STDOUT)
        self.url = self.address()

    def address(self):
        while self.process.poll() is None:
            found = re.search(r'Running on (http://[0-9.:]+)', self.log.read_text())
            if found:
                return found[1]
            time.sleep(0.01)
        raise SystemExit(f'the S3 server did not start: {self.log.read_text()}')

    def file_system(self, asynchronous=False):
        """A new file system of fsspec on it, without the caches of another one."""
        import s3fs

        fs = s3fs.S3FileSystem(
            key='bench', secret='bench', endpoint_url=self.url, skip_instance_cache=True,
            client_kwargs={'region_name': 'eu-west-1'}, use_listings_cache=False, asynchronous=asynchronous,
        )
        if not asynchronous and not fs.exists(BUCKET):
            fs.mkdir(BUCKET)
        return fs

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as directory:
        server = S3(directory)
        print(server.url)
        server.process.wait()
