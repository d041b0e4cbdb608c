"""How calls are finished: by waiting, or by awaiting."""

from __future__ import annotations

from typing import Any


def done(pending: Any) -> Any:
    """The result of a call, which is waited for without the interpreter lock."""
    return pending.wait()
