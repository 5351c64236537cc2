"""Connections that say nothing are closed: whoever opens many of them and waits does not keep the page from its server.

A connection has a few seconds to say what it wants, and some more to say it whole. Where many are open, the ones that have waited longest without a request
make room for the next.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 5.0  # until the first request has begun
BODY_S = 30.0  # until what was announced has come
ROOM = 40  # connections, before those that wait are closed
MOST = 64  # that are answered at the same time


class PatientProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, without endless patience."""

    _timers: tuple[asyncio.TimerHandle, ...] = ()

    @property
    def waits(self) -> bool:
        """Is nothing asked for on this connection right now?"""
        cycle: Any = self.cycle
        return cycle is None or cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait; others that wait longer make room."""
        super().connection_made(transport)
        self._timers = (
            self.loop.call_later(HEAD_S, self._end, lambda: not self.cycle),
            self.loop.call_later(BODY_S, self._end, lambda: self.conn.their_state is h11.SEND_BODY),
        )
        waiting = [c for c in _ages if c in self.connections and c.waits]
        for old in waiting[: max(0, len(self.connections) - ROOM)]:
            _ages.pop(old, None)
            old.transport.abort()
        _ages[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is left to wait for."""
        self._forget()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """A socket is no request that has to come to an end."""
        self._forget()
        super().handle_websocket_upgrade(event)

    def _forget(self) -> None:
        for timer in self._timers:
            timer.cancel()
        _ages.pop(self, None)

    def _end(self, still: Any) -> None:
        if still():
            self.transport.abort()


_ages: dict[PatientProtocol, None] = {}  # open connections, the oldest first
