"""Bytes: they are transferred as they are read, compared, and never half there."""

import hashlib
import io
import os
import random
import subprocess
import sys

import pytest
from program import PASSWORD
from rdflib import Literal, URIRef

from cenote.lakesuperior import LdpNr
from cenote.lakesuperior.dictionaries.namespaces import ns_collection as nsc
from cenote.lakesuperior.exceptions import ChecksumValidationError, IndigestibleError
from cenote.store import errors

TITLE = nsc['dcterms'].title
ALGORITHMS = ['md5', 'sha1', 'sha256', 'sha512', 'blake2b', 'SHA1', 'sha-256']


def digest(content, algorithm):
    return hashlib.new(algorithm.replace('-', '').lower(), content).hexdigest()


def test_bytes_have_a_type_a_size_and_a_name(repository, base):
    event, made = repository.create_or_replace(
        f'{base}/a', stream=io.BytesIO(b'step,energy'), mimetype='text/csv', disposition='/home/ada/Übersicht "1".csv'
    )
    assert event == '_create_' and isinstance(made, LdpNr) and isinstance(repository.get(made.uid), LdpNr)
    assert (made.mimetype, made.content_size, made.filename) == ('text/csv', 11, 'Übersicht "1".csv')
    assert nsc['ldp'].NonRDFSource in made.ldp_types
    assert made.content.read() == b'step,energy'
    parsed = {'attachment': {'parameters': {'filename': 'b.csv'}}}
    event, again = repository.create_or_replace(made.uid, stream=io.BytesIO(b''), disposition=parsed)
    assert event == '_update_' and (again.mimetype, again.content_size, again.filename) == ('application/octet-stream', 0, 'b.csv')
    assert again.content.read() == b''


def test_a_graph_beside_bytes_is_theirs(repository, base):
    graph = [(URIRef(''), TITLE, Literal('A'))]
    json = f'{{"@id": "", "{TITLE}": "A"}}'
    for made in (
        repository.create_or_replace(f'{base}/a', stream=io.BytesIO(b'1'), disposition='a.txt', graph=graph)[1],
        repository.create_or_replace(f'{base}/a', stream=io.BytesIO(b'1'), disposition='a.txt', rdf_data=f'@base <urn:x:> . <info:fcres{base}/a> <{TITLE}> "A" . # x')[1],
        repository.create(base, 'b', stream=io.BytesIO(b'1'), disposition='a.txt', rdf_data=f'<> <{TITLE}> "A" .'),
        repository.create(base, 'c', stream=io.BytesIO(b'1'), disposition='a.txt', rdf_data=json, rdf_fmt='json-ld'),
    ):
        assert made.content.read() == b'1' and made.filename == 'a.txt'
        assert made.imr.value(TITLE) == Literal('A')
    changed = repository.update(f'{base}/a', f'INSERT DATA {{ <> <{TITLE}> "B" }}', is_metadata=True)
    assert isinstance(changed, LdpNr) and not isinstance(repository.update(base, '', is_metadata=True), LdpNr)
    repository.update_delta(f'{base}/a', {(nsc['fcres'][f'{base}/a'], TITLE, Literal('A'))}, ())
    assert repository.get(f'{base}/a').imr.value(TITLE) == Literal('B')


def test_a_graph_as_bytes_stays_bytes(repository, base):
    _, made = repository.create_or_replace(f'{base}/a.ttl', stream=io.BytesIO(b'<> <urn:p> 1 .'), mimetype='text/turtle')
    assert isinstance(repository.get(made.uid), LdpNr) and made.content.read() == b'<> <urn:p> 1 .'
    assert made.mimetype == 'text/turtle'


@pytest.mark.parametrize('algorithm', ALGORITHMS)
def test_digests_are_compared(repository, base, algorithm):
    right, wrong = digest(b'right', algorithm), digest(b'wrong', algorithm)
    repository.create_or_replace(f'{base}/a', stream=io.BytesIO(b'right'), prov_cksum=right, prov_cksum_algo=algorithm)
    for uid, given in ((f'{base}/a', wrong), (f'{base}/b', wrong), (f'{base}/b', '00')):
        with pytest.raises(ChecksumValidationError) as caught:
            repository.create_or_replace(uid, stream=io.BytesIO(b'right'), prov_cksum=given, prov_cksum_algo=algorithm)
        assert (caught.value.uid, caught.value.prov_cksum) == (uid, given)
    assert repository.get(f'{base}/a').content.read() == b'right' and not repository.exists(f'{base}/b')


def test_unknown_digests_are_refused(repository, base):
    for algorithm in ('whirlpool', 'sha3_256', 'a=b'):
        with pytest.raises(IndigestibleError):
            repository.create_or_replace(f'{base}/a', stream=io.BytesIO(b''), prov_cksum='00', prov_cksum_algo=algorithm)
    assert not repository.exists(f'{base}/a')


class Pipe(io.RawIOBase):
    """A stream that has no length, and may fail."""

    def __init__(self, content, fails=False):
        self._content, self._fails = io.BytesIO(content), fails

    def readable(self):
        return True

    def readinto(self, buffer):
        piece = self._content.read(min(len(buffer), 10_000))
        if not piece and self._fails:
            raise OSError(5, 'the disk is broken')
        buffer[: len(piece)] = piece
        return len(piece)


class Shrinking(io.BytesIO):
    """A file that is cut while it is read."""

    def read(self, size=-1):
        return super().read(size) if self.tell() < 100_000 else b''


def test_streams_without_a_length_are_sent(repository, base):
    content = random.Random(1).randbytes(1_000_000)
    _, made = repository.create_or_replace(f'{base}/a', stream=Pipe(content))
    assert made.content.read() == content
    assert repository.create(base, 'b', stream=Pipe(content)).content.read() == content


def test_a_stream_is_sent_from_where_it_is(repository, base):
    stream = io.BytesIO(b'header and content')
    stream.seek(11)
    assert repository.create_or_replace(f'{base}/a', stream=stream)[1].content.read() == b'content'


@pytest.mark.parametrize('size', [0, 1_000_000])
def test_nothing_is_there_of_a_stream_that_fails(repository, base, size):
    content = random.Random(1).randbytes(size)
    repository.create_or_replace(f'{base}/old', stream=io.BytesIO(b'old'))
    with pytest.raises(OSError, match='the disk is broken'):
        repository.create_or_replace(f'{base}/a', stream=Pipe(content, fails=True))
    with pytest.raises(OSError, match='the disk is broken'):
        repository.create_or_replace(f'{base}/old', stream=Pipe(content, fails=True))
    if size:
        with pytest.raises(errors.InvalidError, match='shorter'):
            repository.create_or_replace(f'{base}/a', stream=Shrinking(content))
    assert not repository.exists(f'{base}/a') and repository.get(f'{base}/old').content.read() == b'old'


def test_content_is_a_file(repository, base):
    content = random.Random(2).randbytes(1_000_000)
    repository.create_or_replace(f'{base}/a', stream=io.BytesIO(content))
    with repository.get(f'{base}/a').content as file:
        assert file.read(10) == content[:10] and file.tell() == 10
        assert file.seek(-5, os.SEEK_END) == len(content) - 5 and file.read() == content[-5:] and file.read() == b''
        assert file.seek(500_000) == 500_000 and file.read(3) == content[500_000:500_003]
        assert file.seek(2_000_000) and file.read() == b''
        with pytest.raises(OSError):
            file.seek(-1)
    assert file.closed


def test_one_state_is_read(repository, base):
    """What was replaced while it was read is not mixed."""
    repository.create_or_replace(f'{base}/a', stream=io.BytesIO(bytes(5_000_000)))
    file = repository.get(f'{base}/a').content
    file.read(10)
    repository.create_or_replace(f'{base}/a', stream=io.BytesIO(b'1' * 5_000_000))
    file.seek(4_000_000)
    with pytest.raises(errors.ChangedError):
        file.read(10)


MEMORY = '''
import hashlib, io, pathlib, sys
from cenote.lakesuperior import Repository

def peak():
    """The most memory so far, in KiB. What getrusage reports begins with that of the parent."""
    status = pathlib.Path('/proc/self/status').read_text()
    return int(status.split('VmHWM:')[1].split()[0])

class Made:
    """64 MiB that are never in memory as a whole."""

    left, sent = 64 << 20, hashlib.sha256()

    def read(self, size):
        piece = bytes([self.left >> 20 & 255]) * min(size, self.left)
        self.left -= len(piece)
        self.sent.update(piece)
        return piece

repository = Repository()
repository.create_or_replace(sys.argv[1], stream=io.BytesIO(b'1' * 100_000))
repository.get(sys.argv[1]).content.read()
before = peak()
stream = Made()
repository.create_or_replace(sys.argv[1], stream=stream)
came = hashlib.sha256()
with repository.get(sys.argv[1]).content as file:
    for piece in iter(lambda: file.read(1 << 20), b''):
        came.update(piece)
assert came.digest() == stream.sent.digest()
print(peak() - before)
'''


@pytest.mark.skipif(not os.path.exists('/proc/self/status'), reason='only Linux says how much memory a process had')
def test_64_mib_pass_in_a_few_mib_of_memory(server, repository, base):
    run = [sys.executable, '-c', MEMORY, f'{base}/large']
    environment = {**os.environ, **server.environment(), 'CENOTE_PASSWORD': PASSWORD}
    done = subprocess.run(run, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 8 << 10, f'{done.stdout} KiB more'
    assert repository.get(f'{base}/large').content_size == 64 << 20
    repository.delete(f'{base}/large', soft=False)
