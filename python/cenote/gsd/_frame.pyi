from collections import OrderedDict
from typing import Any

from numpy.typing import ArrayLike, NDArray

class Part:
    def __getattr__(self, name: str) -> Any: ...
    def __getstate__(self) -> dict[str, Any]: ...
    def __setstate__(self, state: dict[str, Any]) -> None: ...

class ConfigurationData(Part):
    step: Any
    dimensions: Any
    def __init__(self) -> None: ...
    @property
    def box(self) -> Any: ...
    @box.setter
    def box(self, box: ArrayLike | None) -> None: ...
    def cast(self) -> dict[str, NDArray[Any]]: ...
    def validate(self, inplace: bool = False) -> None: ...

class Things(Part):
    N: Any
    def cast(self) -> dict[str, NDArray[Any]]: ...
    def validate(self, inplace: bool = False) -> None: ...

class ParticleData(Things):
    types: Any
    typeid: Any
    mass: Any
    charge: Any
    diameter: Any
    body: Any
    moment_inertia: Any
    position: Any
    orientation: Any
    velocity: Any
    angmom: Any
    image: Any
    type_shapes: Any
    def __init__(self) -> None: ...

class BondData(Things):
    M: int
    types: Any
    typeid: Any
    group: Any
    def __init__(self, M: int) -> None: ...

class ConstraintData(Things):
    M: int
    value: Any
    group: Any
    def __init__(self) -> None: ...

def blank(cls: type[Part], M: int | None = None) -> Any: ...
