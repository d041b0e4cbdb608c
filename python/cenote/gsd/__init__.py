"""GSD, the trajectory format of HOOMD-blue, with the interface of the package ``gsd``.

Replace ``import gsd.hoomd`` with ``import cenote.gsd.hoomd``. The modules:

- :mod:`cenote.gsd.hoomd`: trajectories and frames;
- :mod:`cenote.gsd.fl`: the file layer, frames and chunks;
- :mod:`cenote.gsd.pygsd`: reading from any binary file object;
- :mod:`cenote.gsd.alias`: makes this package available under the name ``gsd``.
"""

from . import version

__all__ = ['version']
