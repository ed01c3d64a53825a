"""HTTP for callers who say what they want in time. A connection that sends nothing, or a request without end, holds one
of the few places of a server: some dozens of them would shut everybody out, the health checks of the machine too.

Knows nothing of what is served.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS: Final = 20.0
"""How long a request may take to arrive whole. Those we serve are small, and come from near by."""


class PromptProtocol(H11Protocol):
    """Closes a connection whose first or next request, once begun, is not whole within REQUEST_SECONDS."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._patience: asyncio.TimerHandle | None = None
        self._arrived = self.cycle
        """The last request that came whole."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the library has it
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest, or no more when nothing is missing."""
        self._wait()
        super().data_received(data)
        if self.cycle is not self._arrived and not self.cycle.more_body:
            self._arrived = self.cycle
            self._wait_no_more()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more will come."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

    def _wait_no_more(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
