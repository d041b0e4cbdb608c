"""Scripts for LAKEsuperior go on with another import and set-up; the functions are those of a repository."""

import inspect
import io
import os
import subprocess
import sys

import pytest
from program import PASSWORD
from rdflib import Literal, URIRef

from cenote.lakesuperior import LdpRs, Repository, admin, env, query, resource
from cenote.lakesuperior.dictionaries.namespaces import ns_collection as nsc
from cenote.lakesuperior.exceptions import TombstoneError
from cenote.store.errors import InvalidError, UnauthenticatedError

VERBS = {
    resource: 'create create_or_replace create_version delete exists get get_metadata get_version get_version_info resurrect '
              'revert_to_version update update_delta',
    query: 'fulltext_lookup sparql_query term_query triple_match',
    admin: 'fixity_check integrity_check migrate stats',
}


@pytest.mark.parametrize('module, name', [(module, name) for module, names in VERBS.items() for name in names.split()])
def test_a_function_has_the_arguments_of_the_method(module, name):
    function, method = inspect.signature(getattr(module, name)), inspect.signature(getattr(Repository, name))
    own = [each for each in method.parameters.values() if each.name != 'self']
    given = list(function.parameters.values())
    if given and given[-1].kind is inspect.Parameter.VAR_KEYWORD:
        # As in LAKEsuperior, these are passed on.
        own, given = [each for each in own if each.kind is not inspect.Parameter.KEYWORD_ONLY], given[:-1]
    assert own == given and function.return_annotation == method.return_annotation
    assert inspect.getdoc(getattr(module, name)) and inspect.getdoc(getattr(Repository, name))


def test_a_script_of_lakesuperior_runs(set_up, base):
    """What its documentation shows, with `cenote.lakesuperior` for `lakesuperior`."""
    script = '''
from io import BytesIO

from lakesuperior import env
env.setup()
from lakesuperior.api import resource as rsrc_api
from lakesuperior.api import admin as admin_api
import lakesuperior.api.query as query_api
from lakesuperior.dictionaries.namespaces import ns_collection as nsc
from lakesuperior.exceptions import ResourceNotExistsError, TombstoneError
from rdflib import Literal, URIRef

uid = UID + '/script'
uri = nsc['fcres'][uid]
try:
    rsrc_api.get(uid)
except ResourceNotExistsError:
    event, rsrc = rsrc_api.create_or_replace(uid, rdf_data=b'<> <http://purl.org/dc/terms/title> "A" .', rdf_fmt='turtle')
ver_uid = rsrc_api.create_version(uid, 'v1').split('fcr:versions/')[-1]
remove_trp = {(uri, nsc['dcterms'].title, None)}
add_trp = {(uri, nsc['dcterms'].title, Literal('B')), (uri, nsc['rdf'].type, nsc['foaf'].Document)}
rsrc_api.update_delta(uid, remove_trp, add_trp)
rsrc = rsrc_api.get(uid, repr_options={'incl_children': False})
with rsrc.imr.store.txn_ctx():
    assert rsrc.imr[rsrc.uri : nsc['dcterms'].title : Literal('B')]
rsrc_api.revert_to_version(uid, ver_uid)
child = rsrc_api.create(uid, 'child', stream=BytesIO(b'Hello'), mimetype='text/plain', handling='strict')
assert rsrc_api.get(child.uid).content.read() == b'Hello'
admin_api.fixity_check(child.uid)
assert query_api.triple_match(uri, nsc['dcterms'].title) == {uri}
rsrc_api.delete(uid)
try:
    rsrc_api.get(child.uid)
except TombstoneError as e:
    rsrc_api.resurrect(e.uid)
rsrc_api.delete(uid, soft=False)
'''
    exec(compile(script.replace('from lakesuperior', 'from cenote.lakesuperior').replace('import lakesuperior', 'import cenote.lakesuperior'), 'script', 'exec'), {'UID': base})


def test_the_repository_is_that_of_the_settings(set_up, server, base):
    assert resource.exists(base)
    assert env.repository().url == server.url


def test_another_one_can_be_chosen(set_up, server, own_server, base):
    env.setup()
    first = env.repository()
    env.setup()
    assert env.repository() is first
    env.setup(config={'url': own_server.url, 'user': 'ada', 'password': PASSWORD})
    assert env.repository().url == own_server.url and not resource.exists(base)
    env.setup(url=server.url, user='ada', password='wrong')
    with pytest.raises(UnauthenticatedError):
        resource.exists(base)


def test_a_configuration_file_is_read(set_up, server, base, tmp_path, monkeypatch):
    token = server.connect().token_add('test').token
    (tmp_path / 'config.toml').write_text(f'url = "{server.url}"\ntoken = "{token}"\n')
    for name in ('CENOTE_URL', 'CENOTE_USER', 'CENOTE_PASSWORD', 'CENOTE_CONFIG'):
        monkeypatch.delenv(name, raising=False)
    for given in (tmp_path, str(tmp_path / 'config.toml')):
        monkeypatch.setattr(env, '_current', None)
        env.setup(given)
        assert resource.exists(base)


def test_the_set_up_of_a_lakesuperior_is_refused(set_up, tmp_path):
    (tmp_path / 'application.yml').write_text('app_mode: prod')
    with pytest.raises(ValueError, match='config.toml'):
        env.setup(str(tmp_path))
    with pytest.raises(ValueError, match='application'):
        env.setup(config={'application': {'data_dir': '/data'}})
    with pytest.raises(InvalidError, match='not the address'):
        env.setup(url=str(tmp_path), token='x')
    with pytest.raises(ValueError):
        env.setup(config={'url': 'http://localhost', 'application': {}})


def test_a_ticket_opens_one_resource(server, repository, base):
    repository.create_or_replace(f'{base}/a', stream=io.BytesIO(b'shared'))
    ticket = server.connect().ticket_add(f'{base}/a').ticket
    guest = Repository(server.url, ticket=ticket, config=server.directory / 'config.toml')
    assert guest.get(f'{base}/a').content.read() == b'shared' and not guest.exists(base)


def test_a_change_set_is_refused(set_up, server, base, monkeypatch):
    monkeypatch.setenv('CENOTE_CHANGESET', '7')
    with pytest.raises(InvalidError, match='change set'):
        Repository().create_or_replace(f'{base}/a')


def test_without_rdflib_it_says_what_to_install():
    code = 'import sys; sys.modules["rdflib"] = None; sys.path_hooks.clear; import importlib.util as u; f = u.find_spec\n'
    code += 'u.find_spec = lambda name, *rest: None if name == "rdflib" else f(name, *rest)\nimport cenote.lakesuperior'
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert done.returncode and "pip install 'cenote[linked-data]'" in done.stderr


def test_the_package_does_not_import_it_by_itself():
    code = 'import sys, cenote; cenote.connect; print("rdflib" in sys.modules, "cenote.lakesuperior" in sys.modules)'
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ['False', 'False']


EXAMPLE = '''
from rdflib import Literal, URIRef

from cenote.lakesuperior import LdpNr, Ldpr, Repository, admin, env, query, resource
from cenote.lakesuperior.exceptions import ResourceNotExistsError, TombstoneError


def title(repository: Repository, uid: str) -> str:
    try:
        found: Ldpr = repository.get(uid)
    except (ResourceNotExistsError, TombstoneError) as error:
        return error.uid
    return found.content.read().decode() if isinstance(found, LdpNr) else str(found.imr.value(URIRef('urn:t')))


env.setup(url='http://localhost')
event, made = resource.create_or_replace('/a', rdf_data='<> <urn:t> 1 .')
resource.update_delta(made.uid, {(made.uri, None, None)}, {(made.uri, URIRef('urn:t'), Literal('1'))})
print(event.upper(), query.triple_match(made.uri), admin.stats()['rsrc_stats'], title(Repository(), '/a'))
'''


@pytest.mark.parametrize('checker', [['mypy', '--strict'], ['pyright', '--pythonpath', sys.executable]])
def test_programs_and_the_package_are_checked_strictly(checker, tmp_path):
    (tmp_path / 'pyrightconfig.json').write_text('{"typeCheckingMode": "strict"}')
    (tmp_path / 'program.py').write_text(EXAMPLE)
    package = os.path.dirname(inspect.getfile(Repository))
    run = [sys.executable, '-m', *checker, 'program.py', package]
    done = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / 'program.py').write_text(EXAMPLE + 'resource.get(3)\n')
    done = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode != 0 and f'program.py:{EXAMPLE.count(chr(10)) + 1}' in done.stdout


def test_everything_public_has_a_docstring():
    import cenote.lakesuperior as package

    for name in package.__all__:
        assert inspect.getdoc(getattr(package, name)), name
        for member, value in inspect.getmembers(getattr(package, name), inspect.isfunction):
            is_own = (value.__module__ or '').startswith('cenote.') and not member.startswith('_')
            assert not is_own or inspect.getdoc(value), f'{name}.{member}'


def test_values_stay_what_they_were(set_up, base):
    made = resource.create(base, 'a', graph=[(URIRef(''), nsc['dcterms'].title, Literal('A'))])
    assert isinstance(made, LdpRs)
    resource.delete(made.uid)
    with pytest.raises(TombstoneError):
        made.imr
