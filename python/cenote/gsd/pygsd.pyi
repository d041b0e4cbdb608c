from logging import Logger
from struct import Struct
from types import TracebackType
from typing import Any, NamedTuple, SupportsInt

from numpy import dtype
from numpy.typing import NDArray
from typing_extensions import Never, Self

from . import fl

__all__ = [
    'GSDFile',
    'gsd_header',
    'gsd_header_struct',
    'gsd_index_entry',
    'gsd_index_entry_struct',
    'gsd_type_mapping',
    'version',
]

version: str
logger: Logger

class gsd_header(NamedTuple):
    magic: Any
    index_location: Any
    index_allocated_entries: Any
    namelist_location: Any
    namelist_allocated_entries: Any
    schema_version: Any
    gsd_version: Any
    application: Any
    schema: Any
    reserved: Any

class gsd_index_entry(NamedTuple):
    frame: Any
    N: Any
    location: Any
    M: Any
    id: Any
    type: Any
    flags: Any

gsd_header_struct: Struct
gsd_index_entry_struct: Struct
gsd_type_mapping: dict[int, tuple[str, dtype[Any]]]

class GSDFile:
    def __init__(self, file: fl.SeekableSource) -> None: ...
    def close(self) -> None: ...
    def truncate(self) -> Never: ...
    def end_frame(self) -> Never: ...
    def write_chunk(self, name: str, data: Any) -> Never: ...
    def chunk_exists(self, frame: SupportsInt, name: str) -> bool: ...
    def read_chunk(self, frame: SupportsInt, name: str) -> NDArray[Any] | str: ...
    def find_matching_chunk_names(self, match: str) -> list[str]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def file(self) -> Any: ...
    @property
    def mode(self) -> str: ...
    @property
    def gsd_version(self) -> tuple[int, int]: ...
    @property
    def schema_version(self) -> tuple[int, int]: ...
    @property
    def schema(self) -> str: ...
    @property
    def application(self) -> str: ...
    @property
    def nframes(self) -> int: ...
