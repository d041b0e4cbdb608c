"""The counterpart of ``_wait`` for ``AsyncStore``."""

from __future__ import annotations

from typing import Any


async def done(pending: Any) -> Any:
    """The result of a call, which is awaited. Cancelling the task abandons the call."""
    return await pending
