"""Makes this package available under the name ``gsd``, for programs that import it by that name.

>>> import cenote.gsd.alias
>>> cenote.gsd.alias.install()
>>> import gsd.hoomd  # is now cenote.gsd.hoomd
"""

import importlib
import sys


def install():
    """Make ``import gsd``, and imports of its modules, import :mod:`cenote.gsd` in this process."""
    package = importlib.import_module('cenote.gsd')
    sys.modules['gsd'] = package
    for name in ('fl', 'hoomd', 'pygsd', 'version'):
        module = importlib.import_module('cenote.gsd.' + name)
        setattr(package, name, module)
        sys.modules['gsd.' + name] = module
