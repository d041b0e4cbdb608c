"""dxpy's handlers, against a server."""

import random
import urllib.request

import pytest


@pytest.fixture(scope='module')
def dxpy(ada):
    """The library, whose calls go to the server."""
    dxpy = pytest.importorskip('dxpy')
    host, port = ada.url.removeprefix('http://').rsplit(':', 1)
    dxpy.set_api_server_info(host=host, port=port, protocol='http')
    dxpy.set_security_context({'auth_token_type': 'Bearer', 'auth_token': ada.token})
    dxpy.set_workspace_id(dxpy.api.project_new({'name': 'by dxpy'})['id'])
    return dxpy


def test_a_file_is_written_and_read_in_any_steps(dxpy):
    data = random.Random(1).randbytes(100_000)
    with dxpy.new_dxfile(name='steps', mode='w') as file:
        file.write(data[:1])
        file.write(data[1:])
    file.wait_on_close()
    assert file.describe()['size'] == len(data)
    with dxpy.open_dxfile(file.get_id(), mode='rb') as back:
        assert back.read(10) == data[:10]
        back.seek(50_000)
        assert back.read() == data[50_000:]
    url, headers = file.get_download_url()
    request = urllib.request.Request(url, headers={**headers, 'Range': 'bytes=5-9'})
    assert urllib.request.urlopen(request).read() == data[5:10]


def test_records_have_details_links_and_types(dxpy):
    first = dxpy.new_dxrecord(name='first', details={'n': 1}, types=['t'])
    first.close()
    second = dxpy.new_dxrecord(name='second', details={'of': dxpy.dxlink(first)}, tags=['x'], properties={'k': 'v'})
    assert second.describe()['links'] == [first.get_id()]
    assert dxpy.DXRecord(first.get_id()).get_details() == {'n': 1}
    assert second.get_properties() == {'k': 'v'}
    with pytest.raises(dxpy.exceptions.DXAPIError) as refused:
        first.set_details({})
    assert refused.value.name == 'InvalidState'
    copy = dxpy.new_dxrecord(init_from=second)
    assert copy.describe(incl_details=True)['details'] == second.get_details()


def test_searches_return_all_pages(dxpy):
    project = dxpy.DXProject(dxpy.WORKSPACE_ID)
    project.new_folder('/many', parents=True)
    made = {dxpy.new_dxrecord(name=f'm{n}', folder='/many', properties={'even': str(n % 2 == 0)}).get_id() for n in range(12)}
    found = [one['id'] for one in dxpy.find_data_objects(project=project.get_id(), folder='/many', first_page_size=5)]
    assert len(found) == 12 and set(found) == made
    even = dxpy.find_data_objects(project=project.get_id(), properties={'even': 'True'}, first_page_size=2)
    assert len(list(even)) == 6
    one = dxpy.find_one_data_object(project=project.get_id(), name='m3', folder='/many')
    assert one['id'] in made
    assert [found['id'] for found in dxpy.find_projects(name='by dxpy')] == [project.get_id()]
    named = dxpy.resolve_data_objects([{'name': 'm1'}, {'name': 'none'}], project.get_id(), '/many')
    assert [len(objects) for objects in named] == [1, 0]


def test_projects_can_contain_clones_of_closed_objects(dxpy):
    here, there = dxpy.DXProject(dxpy.WORKSPACE_ID), dxpy.DXProject()
    there.new(name='another')
    record = dxpy.new_dxrecord(name='cloned')
    with pytest.raises(dxpy.exceptions.DXAPIError):
        here.clone(there.get_id(), destination='/', objects=[record.get_id()])
    record.close()
    here.clone(there.get_id(), destination='/', objects=[record.get_id()])
    assert set(record.list_projects()) == {here.get_id(), there.get_id()}
    there.destroy()
    assert set(record.list_projects()) == {here.get_id()}


def test_a_repeated_call_creates_one_object(dxpy):
    made = {dxpy.api.file_new({'project': dxpy.WORKSPACE_ID, 'nonce': 'once'})['id'] for _ in range(3)}
    assert len(made) == 1
