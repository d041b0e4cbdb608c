from collections.abc import Iterable, Sequence
from logging import Logger
from os import PathLike
from types import TracebackType
from typing import Any, Literal, SupportsIndex, overload

from numpy.typing import NDArray
from typing_extensions import Self

from . import fl, pygsd
from ._frame import BondData as BondData
from ._frame import ConfigurationData as ConfigurationData
from ._frame import ConstraintData as ConstraintData
from ._frame import Part as Part
from ._frame import ParticleData as ParticleData
from ._frame import blank as blank

logger: Logger
fl_imported: bool

class Frame(Part):
    configuration: ConfigurationData
    particles: ParticleData
    bonds: BondData
    angles: BondData
    dihedrals: BondData
    impropers: BondData
    constraints: ConstraintData
    pairs: BondData
    log: dict[str, Any]
    def __init__(self) -> None: ...
    def validate(self, inplace: bool = False) -> None: ...

class _HOOMDTrajectoryIterable:
    def __init__(self, trajectory: HOOMDTrajectory, indices: Sequence[int]) -> None: ...
    def __next__(self) -> Frame: ...
    next = __next__
    def __iter__(self) -> Self: ...
    def __len__(self) -> int: ...

class _HOOMDTrajectoryView:
    def __init__(self, trajectory: HOOMDTrajectory, indices: Sequence[int]) -> None: ...
    def __iter__(self) -> _HOOMDTrajectoryIterable: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    @overload
    def __getitem__(self, key: SupportsIndex) -> Frame: ...
    def read_many(
        self, name: str, rows: slice | None = None, threads: int | None = None
    ) -> NDArray[Any]: ...

class HOOMDTrajectory:
    def __init__(
        self,
        file: fl.GSDFile | pygsd.GSDFile,
        precision: Literal['single', 'double'] = 'single',
    ) -> None: ...
    @property
    def file(self) -> Any: ...
    @property
    def precision(self) -> str: ...
    def __len__(self) -> int: ...
    def append(self, frame: Frame) -> None: ...
    def extend(self, iterable: Iterable[Frame]) -> None: ...
    def truncate(self) -> None: ...
    def refresh(self) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...
    def read_many(
        self,
        name: str,
        frames: slice | Iterable[SupportsIndex] | None = None,
        rows: slice | None = None,
        threads: int | None = None,
    ) -> NDArray[Any]: ...
    def to_xarray(self, names: Iterable[str] | None = None) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> _HOOMDTrajectoryView: ...
    @overload
    def __getitem__(self, key: SupportsIndex) -> Frame: ...
    def __iter__(self) -> _HOOMDTrajectoryIterable: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

def open(
    name: str | PathLike[str] | fl.RangeSource | fl.SeekableSource,
    mode: str = 'r',
    precision: Literal['single', 'double'] = 'single',
) -> HOOMDTrajectory: ...
@overload
def read_log(
    name: str | PathLike[str] | fl.RangeSource | fl.SeekableSource,
    scalar_only: bool = False,
    glob_pattern: str = '*',
    *,
    as_frame: Literal[False] = False,
) -> dict[str, NDArray[Any]]: ...
@overload
def read_log(
    name: str | PathLike[str] | fl.RangeSource | fl.SeekableSource,
    scalar_only: bool = False,
    glob_pattern: str = '*',
    *,
    as_frame: Literal[True],
) -> Any: ...
