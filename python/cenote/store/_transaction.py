"""Transactions of fsspec: the files that are written in one are published in one commit."""

from __future__ import annotations

from typing import Any

from fsspec.asyn import sync
from fsspec.transaction import Transaction

from cenote.store.errors import Error, InvalidError

__all__ = ['CenoteTransaction']


class CenoteTransaction(Transaction):
    """Publishes its files as a change set: all of them appear at once, or none does.

    Callers that cannot begin a change set (with a ticket, or in another set) publish them one after
    the other.
    """

    def complete(self, commit: bool = True) -> None:
        """Publish the files, or drop them."""
        fs = self.fs
        if not (commit and self.files):
            super().complete(commit)
            return
        try:
            changes = _wait(fs, fs._native.begin_changeset(None))['id']
        except Error as error:
            is_refused = isinstance(error, (InvalidError, PermissionError))
            super().complete(is_refused)
            if not is_refused:
                raise
            return
        within = fs._native.in_changeset(changes)
        for file in self.files:
            file.publisher = within
        try:
            super().complete(commit)
        except BaseException:
            _wait(fs, fs._native.drop_changeset(changes))
            raise
        _wait(fs, fs._native.commit_changeset(changes))


def _wait(fs: Any, pending: Any) -> Any:
    async def finish() -> Any:
        return await pending

    return sync(fs.loop, finish)
