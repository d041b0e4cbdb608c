"""The commands of `dx` that people use every day, against a server."""

import json
import random
import subprocess
import urllib.request


def noise(size, seed=1):
    return random.Random(seed).randbytes(size)


def test_parts_from_standard_input_round_trip(ada):
    data = noise(20_000_000)  # two parts
    file = ada.dx('upload', '--wait', '-', '--path', '/parts/b1', '--parents', '--brief', text=data).decode().strip()
    assert file.startswith('file-') and len(file) == 29
    assert ada.dx('cat', '/parts/b1') == data
    described = ada.json('describe', '/parts/b1')
    assert (described['state'], described['size'], described['folder']) == ('closed', len(data), '/parts')
    ada.dx('download', '/parts/b1', '-o', 'b1', '-f', '--no-progress')
    assert (ada.directory / 'b1').read_bytes() == data


def test_a_file_is_uploaded_and_downloaded(ada):
    data = noise(3_000_000, 2)
    (ada.directory / 'b').write_bytes(data)
    ada.dx('upload', 'b', '--path', '/file/b2', '--parents', '--wait', '--brief', '--no-progress')
    ada.dx('download', '/file/b2', '-o', 'c', '-f', '--no-progress')
    assert (ada.directory / 'c').read_bytes() == data


def test_an_interrupted_download_is_resumed(ada):
    data = noise(17_000_000, 3)
    ada.dx('upload', '-', '--path', '/resumed', '--wait', '--brief', text=data)
    (ada.directory / 'resumed').write_bytes(data[:16_800_000])
    ada.dx('download', '/resumed', '-o', 'resumed', '-f', '--no-progress')
    assert (ada.directory / 'resumed').read_bytes() == data


def test_an_empty_file(ada):
    ada.dx('upload', '--wait', '-', '--path', '/empty', '--brief')
    assert ada.dx('cat', '/empty') == b''


def test_folders_and_objects_move(ada):
    ada.dx('upload', '-', '--path', '/b1', '--wait', '--brief', text=b'one')
    ada.dx('mkdir', '-p', '/d/e')
    ada.dx('mv', '/b1', '/d/e/')
    ada.dx('mv', '/d/e/b1', '/d/e/b9')
    ada.dx('mv', '/d', '/dd')
    tree = ada.dx('tree', '/dd').decode()
    assert [line.split()[-1] for line in tree.splitlines()] == ['/dd', 'e', 'b9']
    assert ada.dx('cat', '/dd/e/b9') == b'one'
    ada.dx('rm', '-r', '/dd')
    assert b'dd/' not in ada.dx('ls')


def test_listing_and_finding(ada):
    ada.dx('mkdir', '-p', '/found/below')
    for name, folder in [('x1.txt', '/found'), ('x2.txt', '/found/below'), ('y.txt', '/found/below')]:
        upload = ['upload', '-', '--path', f'{folder}/{name}', '--wait', '--brief', '--tag', name[0]]
        ada.dx(*upload, '--property', f'kind={name[0]}', text=name.encode())
    long = ada.dx('ls', '-l', '/found').decode()
    assert 'closed' in long and 'x1.txt (file-' in long and 'below/' in long
    assert [line for line in ada.dx('ls', '/found').decode().splitlines()] == ['below/', 'x1.txt']
    names = lambda *conditions: sorted(
        found['describe']['name'] for found in ada.json('find', 'data', '--path', '/found', *conditions)
    )
    assert names('--name', 'x*') == ['x1.txt', 'x2.txt']
    assert names('--tag', 'y') == ['y.txt']
    assert names('--property', 'kind=x') == ['x1.txt', 'x2.txt']
    assert names('--property', 'kind') == ['x1.txt', 'x2.txt', 'y.txt']
    assert names('--created-after=-1h') == ['x1.txt', 'x2.txt', 'y.txt']
    assert names('--created-before=-1h') == []
    assert names('--norecurse') == ['x1.txt']
    assert names('--class', 'record') == []


def test_tags_properties_types_and_details(ada):
    ada.dx('new', 'record', '/described', '--details', '{"a": 1}', '--type', 'sample', '--brief')
    ada.dx('tag', '/described', 't1', 't2')
    ada.dx('untag', '/described', 't2')
    ada.dx('set_properties', '/described', 'k=v', 'l=w')
    ada.dx('unset_properties', '/described', 'l')
    ada.dx('set_details', '/described', '{"b": [2]}')
    ada.dx('add_types', '/described', 'other')
    described = json.loads(ada.dx('describe', '/described', '--json', '--details'))
    assert (described['tags'], described['properties']) == (['t1'], {'k': 'v'})
    assert (described['details'], described['types']) == ({'b': [2]}, ['sample', 'other'])
    assert described['state'] == 'open'
    ada.dx('close', '/described')
    assert ada.json('describe', '/described')['state'] == 'closed'
    refused = ada.run('set_details', '/described', '{}')
    assert refused.returncode != 0 and b'InvalidState' in refused.stderr
    ada.dx('rename', '/described', 'renamed')
    assert ada.json('describe', '/renamed')['name'] == 'renamed'


def test_objects_are_copied_to_other_projects(ada):
    ada.dx('upload', '-', '--path', '/copied/f', '--parents', '--wait', '--brief', '--tag', 't', text=b'shared')
    other = ada.dx('new', 'project', 'P2', '--brief').decode().strip()
    ada.dx('cp', '/copied/f', 'P2:/')
    ada.dx('cp', '/copied', 'P2:/')
    assert ada.dx('ls', 'P2:').split() == [b'copied/', b'f']
    ids = {ada.json('describe', path)['id'] for path in ('/copied/f', f'{other}:/f')}
    assert len(ids) == 1, 'a clone is the same object'
    ada.dx('rm', '/copied/f')
    assert ada.dx('cat', 'P2:/f') == b'shared'


def test_trees_are_uploaded_and_downloaded(ada):
    top = ada.directory / 'tree'
    (top / 'below').mkdir(parents=True)
    (top / 'a').write_bytes(b'a')
    (top / 'below' / 'b').write_bytes(noise(100_000, 5))
    ada.dx('upload', '-r', 'tree', '--path', '/', '--wait', '--brief', '--no-progress')
    (ada.directory / 'back').mkdir()
    ada.dx('download', '-r', '/tree', '-o', 'back', '-f', '--no-progress')
    differ = subprocess.run(['diff', '-r', top, ada.directory / 'back' / 'tree'], capture_output=True)
    assert differ.returncode == 0, differ.stdout


def test_an_address_gives_access_to_its_recipient(ada):
    ada.dx('upload', '-', '--path', '/addressed.txt', '--wait', '--brief', text=b'to be shown')
    url = ada.dx('make_download_url', '/addressed.txt', '--duration', '1h').decode().strip()
    assert url.endswith('/addressed.txt')
    assert urllib.request.urlopen(url).read() == b'to be shown'


def test_users_are_described(ada):
    assert ada.dx('whoami').strip() == b'ada'
    assert b'mammals' in ada.dx('pwd')
    projects = ada.json('find', 'projects', '--name', 'mammals')
    assert [(found['id'], found['level']) for found in projects] == [(ada.project, 'ADMINISTER')]


def test_objects_stored_by_other_openings_are_visible_immediately(store, ada):
    store.cenote('mkdir', '/lab')
    store.cenote('put', '-', '/lab/native.txt', text='by the program')
    assert ada.dx('cat', 'lab:/native.txt') == b'by the program'
    assert ada.json('describe', 'lab:/native.txt')['state'] == 'closed'
    ada.dx('upload', '-', '--path', 'lab:/same.txt', '--wait', '--brief', text=b'first')
    ada.dx('upload', '-', '--path', 'lab:/same.txt', '--wait', '--brief', text=b'second')
    ada.dx('tag', 'lab:/native.txt', 'seen')
    assert store.cenote('ls', '/lab').split() == [b'native.txt', b'same', b'(2).txt', b'same.txt']
    assert store.cenote('cat', '/lab/same (2).txt') == b'second'
    assert b'seen' in store.cenote('meta', 'show', '/lab/native.txt')


def test_levels_are_rights(store, ada):
    bob = store.client('bob')
    bob.project = ada.project
    ada.dx('upload', '-', '--path', '/for bob', '--wait', '--brief', text=b'seen')
    assert bob.run('cat', '/for bob').returncode != 0
    ada.dx('invite', 'user-bob', ada.project, 'VIEW', '--no-email')
    assert bob.dx('cat', '/for bob') == b'seen'
    refused = bob.run('upload', '-', '--path', '/from bob', '--wait', '--brief', text=b'no')
    assert refused.returncode != 0 and b'PermissionDenied' in refused.stderr
    ada.dx('invite', 'user-bob', ada.project, 'UPLOAD', '--no-email')
    bob.dx('upload', '-', '--path', '/from bob', '--wait', '--brief', text=b'yes')
    assert ada.dx('cat', '/from bob') == b'yes'
    assert bob.run('rm', '/for bob').returncode != 0
    ada.dx('uninvite', 'user-bob', ada.project)
    assert bob.run('cat', '/for bob').returncode != 0


def test_commands_that_run_jobs_are_refused_with_a_reason(ada):
    refused = ada.run('api', 'applet', 'new', '{}')
    assert refused.returncode != 0 and b'runs nothing' in refused.stderr
