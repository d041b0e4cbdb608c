"""The trash, the past, quotas and change sets; unchanged files are not sent again."""

import asyncio
import os
from datetime import datetime, timezone

import pytest

import cenote
from cenote.store import Amount, errors


@pytest.fixture
def kept(server, lab):
    """A collection whose trash is kept."""
    server.cenote('trash', 'keep', lab, '1d')
    return lab


def test_what_was_removed_is_restored(store, kept):
    store.write(f'{kept}/a/b', b'1')
    store.write(f'{kept}/c', b'2')
    store.rm(f'{kept}/a', recursive=True)
    store.rm(f'{kept}/c')
    items = {item.path: item for item in store.trash(kept)}
    assert set(items) == {f'{kept}/a', f'{kept}/c'}
    item = items[f'{kept}/a']
    assert (item.kind, item.removed_by) == ('collection', 'ada') and item.removed < item.until
    assert '<td>' in item._repr_html_() and repr(item).startswith('TrashItem(id=')
    assert store.trash_restore(item).path == f'{kept}/a'
    assert store.read(f'{kept}/a/b') == b'1'
    assert store.trash_restore(items[f'{kept}/c'].id, f'{kept}/x/d', parents=True).name == 'd'
    store.rm(f'{kept}/x/d')
    [item] = store.trash(kept)
    assert store.trash_empty(item) == 1 and store.trash(kept) == []
    with pytest.raises(FileNotFoundError):
        store.trash_restore(item)


def test_the_past_is_read_and_restored(server, store, kept):
    server.cenote('versions', 'policy', kept, 'each-change')
    store.mkdir(f'{kept}/in')
    store.write(f'{kept}/in/a', b'first')
    store.meta_set(f'{kept}/in/a', 'state', 'raw')
    position = list(store.changes(kept))[-1].position
    store.write(f'{kept}/in/a', b'second one')
    store.meta_set(f'{kept}/in/a', 'state', 'done')
    store.write(f'{kept}/in/b', b'new')
    store.rm(f'{kept}/in', recursive=True)
    assert store.read(f'{kept}/in/a', as_of=position) == b'first'
    assert store.read(f'{kept}/in/a', 1, 3, as_of=position) == b'ir'
    assert store.stat(f'{kept}/in/a', as_of=position).size == 5
    assert store.meta(f'{kept}/in/a', as_of=position)[0].value == 'raw'
    assert [each.name for each in store.ls(f'{kept}/in', as_of=position)] == ['a']
    assert [each.name for each in store.tree(kept, as_of=position)] == ['in', 'a']
    assert [each.name for each in store.find(kept, ('state', '=', 'raw'), as_of=position)] == ['a']
    assert not list(store.find(kept, ('state', '=', 'done'), as_of=position))
    restored = store.restore(f'{kept}/in', position, f'{kept}/again', recursive=True)
    assert restored.path == f'{kept}/again' and store.read(f'{kept}/again/a') == b'first'
    assert store.stat(f'{kept}/again', as_of=datetime.now(timezone.utc)).path == f'{kept}/again'
    with pytest.raises(FileNotFoundError):
        store.stat(f'{kept}/never', as_of=position)
    with pytest.raises(errors.InvalidError):
        store.stat(f'{kept}/in', as_of='yesterday, or so')


def test_what_is_no_longer_kept_is_lost(store, lab):
    store.write(f'{lab}/a', b'1')
    position = list(store.changes(lab))[-1].position
    store.rm(f'{lab}/a', permanent=True)
    [lost] = store.ls(lab, as_of=position)
    assert (lost.name, lost.path, lost.kind, lost.size) == ('a', f'{lab}/a', 'lost', None)
    assert repr(lost) == f"Resource(path='{lab}/a', kind='lost')"
    with pytest.raises(errors.ChangedError) as raised:
        store.read(f'{lab}/a', as_of=position)
    assert raised.value.kind == 'expired'


def test_quotas_are_enforced(store, lab):
    assert store.quotas(path=lab) == []
    quota = store.quota_set(path=lab, bytes=10, soft_resources=3, grace=60)
    assert (quota.path, quota.hard, quota.soft) == (lab, Amount(10, None), Amount(None, 3))
    store.write(f'{lab}/a', b'12345')
    [quota] = store.quotas(path=lab)
    assert quota.total.bytes == 5 and 'Amount' in repr(quota)
    with pytest.raises(errors.NoSpaceError) as raised:
        store.write(f'{lab}/b', b'1234567')
    assert raised.value.kind == 'quota' and not store.exists(f'{lab}/b')
    store.quota_rm(path=lab)
    store.write(f'{lab}/b', b'1234567')
    for wrong in ({}, {'path': lab, 'user': 'ada'}):
        with pytest.raises(ValueError, match='one of path, user and group'):
            store.quota_rm(**wrong)


def test_changes_of_a_set_take_effect_together(store, lab):
    store.write(f'{lab}/a', b'1')
    with store.changeset() as changes:
        changes.write(f'{lab}/b', b'2')
        changes.mv(f'{lab}/a', f'{lab}/c')
        assert changes.exists(f'{lab}/c') and not store.exists(f'{lab}/c')
        assert [each.name for each in changes.ls(lab)] == ['b', 'c']
    assert [each.name for each in store.ls(lab)] == ['b', 'c']
    with pytest.raises(ZeroDivisionError), store.changeset(idle=60) as changes:
        changes.rm(f'{lab}/b')
        raise ZeroDivisionError
    assert store.exists(f'{lab}/b')
    with pytest.raises(errors.ChangedError), store.changeset() as changes:
        changes.write(f'{lab}/b', b'3')
        store.write(f'{lab}/b', b'4')
    assert store.read(f'{lab}/b') == b'4'


def test_a_set_is_awaited(server, lab):
    async def main():
        store = cenote.connect_async(
            server.url, user='ada', password='a secret of the tests', config=server.directory / 'config.toml'
        )
        async with store.changeset() as changes:
            await changes.write(f'{lab}/a', b'1')
            assert not await store.exists(f'{lab}/a')
        assert await store.exists(f'{lab}/a')
        assert await store.trash(lab) == []

    asyncio.run(main())


def test_files_that_are_unchanged_are_not_sent_again(store, lab, tmp_path):
    source = tmp_path / 'source'
    for name in ('a', 'd/b', 'd/c'):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(name)
    (source / 'empty').mkdir()
    sent = []
    store.put(source, f'{lab}/copy', progress=sent.append)
    position = list(store.changes(lab))[-1].position
    store.put(source, f'{lab}/copy', progress=sent.append)
    assert sum(sent) == 7 and not list(store.changes(lab, position))
    (source / 'd/b').write_text('new')
    os.utime(source / 'd/b', (1, 1))
    (source / 'd/c').chmod(0o600)
    (source / 'more').write_text('4444')
    store.put(source, f'{lab}/copy')
    changed = {change.name for change in store.changes(lab, position)}
    assert changed >= {'b', 'c', 'more'} and not changed & {'a', 'd', 'empty'}
    assert store.read(f'{lab}/copy/d/b') == b'new' and store.stat(f'{lab}/copy/d/c').mode & 0o777 == 0o600
    # Without a time, files cannot be compared.
    store.write(f'{lab}/copy/a', b'?')
    store.put(source, f'{lab}/copy')
    assert store.read(f'{lab}/copy/a') == b'a'
