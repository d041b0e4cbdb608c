"""The store of the server, and a collection for each test."""

import pytest
from serving import environment, own_server, server

__all__ = ['environment', 'own_server', 'server']


@pytest.fixture
def store(server):
    return server.connect()


@pytest.fixture
def lab(store, request):
    """A collection of this test."""
    path = '/' + ''.join(letter if letter.isalnum() else '-' for letter in request.node.nodeid[-80:])
    store.mkdir(path, exist_ok=True)
    return path
