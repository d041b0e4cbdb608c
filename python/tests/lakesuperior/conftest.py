"""A repository on the shared server, and a container for each test."""

import pytest

pytest.importorskip('rdflib')

from program import PASSWORD
from serving import environment, own_server, server

from cenote.lakesuperior import Repository, env

__all__ = ['environment', 'own_server', 'server']


@pytest.fixture
def repository(server):
    return Repository(server.url, user='ada', password=PASSWORD, config=server.directory / 'config.toml')


@pytest.fixture
def base(repository, request):
    """The UID of a container of this test."""
    uid = '/t-' + ''.join(letter if letter.isalnum() else '-' for letter in request.node.nodeid[-60:])
    repository.create_or_replace(uid)
    return uid


@pytest.fixture
def set_up(environment, monkeypatch):
    """The settings of ada in the environment, and no repository chosen yet."""
    monkeypatch.setattr(env, '_current', None)
