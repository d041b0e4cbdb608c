"""Users, groups, tokens, and places for contents."""

import time

import pytest

import cenote
from cenote.store import errors


@pytest.fixture
def config(server):
    return server.directory / 'config.toml'


def test_users_are_added_changed_and_removed(server, store, config):
    store.user_add('carl', 'first secret', role='groupadmin')
    assert {user.name: user.role for user in store.users()}['carl'] == 'groupadmin'
    carl = cenote.connect(server.url, user='carl', password='first secret', config=config)
    assert carl.whoami().role == 'groupadmin' and store.exists('/home/carl')
    store.user_passwd('carl', 'second secret')
    with pytest.raises(errors.UnauthenticatedError):
        carl.whoami()
    store.user_role('carl', 'user')
    with pytest.raises(errors.DeniedError):
        cenote.connect(server.url, user='carl', password='second secret', config=config).user_add('eve')
    with pytest.raises(FileExistsError):
        store.user_add('carl')
    store.user_rm('carl')
    assert 'carl' not in {user.name for user in store.users()}
    assert 'groupadmin' in repr(store.users()) or "role='admin'" in repr(store.users())


def test_groups_have_members(store):
    store.user_add('dora', 'a secret of hers')
    store.group_add('crystals')
    store.group_join('crystals', 'dora', 'ada')
    [group] = [group for group in store.groups() if group.name == 'crystals']
    assert sorted(group.members) == ['ada', 'dora'] and '<td>crystals</td>' in group._repr_html_()
    store.group_leave('crystals', 'ada')
    [group] = [group for group in store.groups() if group.name == 'crystals']
    assert group.members == ['dora']
    store.group_rm('crystals')
    store.user_rm('dora')
    with pytest.raises(FileNotFoundError):
        store.group_join('crystals', 'ada')


def test_a_token_is_limited_until_it_ends(server, store, lab, config):
    store.write(f'{lab}/a', b'1')
    token = store.token_add('a test', level='read', within=lab, scopes=[])
    assert (token.label, token.scopes) == ('a test', []) and token.token not in repr(token)
    program = cenote.connect(server.url, token=token.token, config=config)
    assert program.read(f'{lab}/a') == b'1'
    with pytest.raises(errors.DeniedError) as raised:
        program.write(f'{lab}/a', b'2')
    assert isinstance(raised.value, PermissionError)
    assert token.id in [each.id for each in store.tokens()]
    store.token_rm(token)
    with pytest.raises(errors.UnauthenticatedError):
        program.read(f'{lab}/a')
    short = store.token_add('short', expires_in=1)
    assert short.expires is not None
    time.sleep(1.2)
    with pytest.raises(errors.UnauthenticatedError):
        cenote.connect(server.url, token=short.token, config=config).whoami()


def test_contents_are_copied_to_other_places(own_server):
    # The server accepts directories that its administrator has named.
    vault = own_server.directory / 'vault'
    vault.mkdir()
    settings = own_server.directory / 'store' / 'store.toml'
    own_server.stop()
    settings.write_text(f'vaults = ["{own_server.directory}"]\n' + settings.read_text())
    own_server.start()
    store = own_server.connect()
    assert [place.name for place in store.places()] == ['main']
    assert store.place_add('vault', f'file://{vault}').kind == 'leaf'
    store.write('/large', bytes(200_000))
    store.replicate('/large', 'vault')
    assert [replica.place for replica in store.replicas('/large')] == ['main', 'vault']
    store.trim('/large', place='vault')
    assert [replica.place for replica in store.replicas('/large')] == ['main']
    store.replicate('/', 'vault', recursive=True)
    assert len(store.replicas('/large')) == 2
    assert store.place_set('vault', rename='attic', state='down').name == 'attic'
    store.place_set('attic', state='up')
    store.place_drain('attic')
    store.place_rm('attic')
    assert [replica.place for replica in store.replicas('/large')] == ['main']
    with pytest.raises(FileNotFoundError):
        store.place_rm('attic')
