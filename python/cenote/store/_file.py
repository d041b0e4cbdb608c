"""Open files of the file system: ranges for reading, a stage for writing."""

from __future__ import annotations

import os
from typing import Any

from fsspec.asyn import sync
from fsspec.spec import AbstractBufferedFile

from cenote.store import _spec
from cenote.store.errors import ChangedError, Error, ExistsError, InvalidError

__all__ = ['CenoteFile']


class CenoteFile(AbstractBufferedFile):
    """A file of a store.

    All reads return one content: if the object is replaced meanwhile, reading fails. Written data is published when the file is
    closed or, in a transaction, at its end.
    """

    DEFAULT_BLOCK_SIZE = 8 << 20

    def __init__(
        self, fs: Any, path: str, mode: str, block_size: Any, autocommit: bool, **kwargs: Any
    ) -> None:
        if mode == 'xb' and fs.exists(path):
            raise ExistsError(17, f'the name is taken: {path}', kind='exists')
        options = {name: value for name, value in kwargs.items() if value is not None}
        super().__init__(fs, path, mode, block_size or 'default', autocommit, **options)
        self._native = fs._native
        #: The connection by which it is published: that of a change set in a transaction.
        self.publisher = fs._native
        #: The process that writes it: only that one publishes it.
        self._process = os.getpid()
        self._stage: str | None = None
        self._content: bytes | None = None
        if mode == 'rb' and self.details['type'] == 'directory':
            raise IsADirectoryError(21, 'a collection', path)
        if mode == 'ab' and fs.exists(path):
            self._begin(from_object=True)
            self.loc = self.offset

    def _wait(self, pending: Any) -> Any:
        async def finish() -> Any:
            return await pending

        return sync(self.fs.loop, finish)

    def _fetch_range(self, start: int, end: int) -> bytes:
        tag = self.details['etag']
        try:
            return self._wait(self._native.read(self.path, start, end, tag, None))
        except ChangedError as error:
            text = f'it was replaced while being read: {self.path}'
            raise ChangedError(error.errno or 0, text, kind=error.kind, hint='open it again') from None

    def _begin(self, from_object: bool = False) -> None:
        if not from_object:
            self.fs.makedirs(self.fs._parent(self.path), exist_ok=True)
        begin = self._native.begin_stage(self.path, from_object, self.mode == 'xb', None)
        self._stage, self.offset = self._wait(begin)

    def _initiate_upload(self) -> None:
        """A content of one block needs no stage: see :meth:`_upload_chunk`."""

    def _upload_chunk(self, final: bool = False) -> bool:
        self._require_own()
        content = self.buffer.getvalue()
        if final and self._stage is None:
            self._content = content
        elif content:
            if self._stage is None:
                self._begin()
            self._wait(self._native.write_stage(self._stage, self.offset, content))
        if final and self.autocommit:
            self.commit()
        return True

    def commit(self) -> None:
        """Publish the written data."""
        self._require_own()
        try:
            if self._stage is not None:
                # Appending requires the initial content, all other modes replace any content.
                self._wait(self.publisher.publish_stage(self._stage, self.mode == 'wb'))
            else:
                options = _spec.putting(create_only=self.mode == 'xb')
                self._wait(self.publisher.write(self.path, self._content or b'', options))
        except Error as error:
            raise _spec.taken(error, self.path, 'create' if self.mode == 'xb' else '') from None
        self._stage = self._content = None

    def discard(self) -> None:
        """Drop the written data."""
        self._require_own()
        stage, self._stage, self._content = self._stage, None, None
        if stage is not None:
            self._wait(self._native.abandon_upload(stage))

    def _is_inherited(self) -> bool:
        return self.writable() and self._process != os.getpid()

    def _require_own(self) -> None:
        if self._is_inherited():
            text = f'another process is writing it: {self.path}'
            raise InvalidError(22, text, kind='invalid', hint='open it in this process')

    def close(self) -> None:
        """Publish what was written; in a forked process, only forget it."""
        if self._is_inherited():
            self.closed = True
            return
        super().close()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if kind is not None and self.writable() and not self.closed:
            # An incomplete content is not published.
            self.closed = True
            self.discard()
            return
        super().__exit__(kind, error, traceback)
