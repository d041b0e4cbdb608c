"""The loggers of the reference, without importing :mod:`logging` if the program does not use it.

That costs more memory than the rest of this package. A program that shows messages below a
warning has imported it.
"""

import sys


def info(name, message, *arguments):
    """Log a message that is shown only on request."""
    logging = sys.modules.get('logging')
    if logging is not None:
        logging.getLogger(name).info(message, *arguments)


def logger_of(module, name):
    """The ``__getattr__`` of a module whose attribute ``logger`` is created on first access."""

    def attribute(attribute):
        if attribute != 'logger':
            message = f'module {module!r} has no attribute {attribute!r}'
            raise AttributeError(message)
        import logging

        return logging.getLogger(name)

    return attribute
