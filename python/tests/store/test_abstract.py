"""fsspec's own suite for file systems. No case is skipped."""

import posixpath

import fsspec
import pytest
from fsspec.tests.abstract import (
    AbstractCopyTests,
    AbstractFixtures,
    AbstractGetTests,
    AbstractOpenTests,
    AbstractPipeTests,
    AbstractPutTests,
)


class Fixtures(AbstractFixtures):
    @pytest.fixture
    def fs(self, environment):
        return fsspec.filesystem('cenote', skip_instance_cache=True)

    @pytest.fixture
    def fs_path(self, lab):
        return lab

    @pytest.fixture
    def fs_join(self):
        return posixpath.join


class TestCopy(Fixtures, AbstractCopyTests):
    pass


class TestGet(Fixtures, AbstractGetTests):
    pass


class TestOpen(Fixtures, AbstractOpenTests):
    pass


class TestPipe(Fixtures, AbstractPipeTests):
    pass


class TestPut(Fixtures, AbstractPutTests):
    pass
