"""Gives up a connection whose server says nothing any more.

A server that hangs closes nothing, and whoever waits for it would wait for ever, and everybody behind them.
"""

import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

log = logging.getLogger("answerback.store")
SECONDS = 20.0  # for one statement; what waits for a lock is told after ten
OFTEN = 5.0  # seconds between two looks


class Silence:
    """Knows since when each connection waits for its server, and hangs up on those that wait too long.

    `clock` counts seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, often: float = OFTEN) -> None:
        self._clock, self._often = clock, often
        self._since: dict[Any, float] = {}
        self._over = threading.Event()

    def asked(self, connection: Any) -> None:
        """From now on it waits."""
        self._since[connection] = self._clock()

    def heard(self, connection: Any) -> None:
        """The server has answered, or the connection has ended."""
        self._since.pop(connection, None)

    def start(self) -> None:
        """Look from time to time, in a thread of its own: those that wait are blocked."""
        self._over.clear()
        threading.Thread(target=self._watch, name="store-silence", daemon=True).start()

    def stop(self) -> None:
        """No more looks."""
        self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(self._often):
            self.look()

    def look(self) -> None:
        """Whoever waits on a connection that is hung up on gets an error at once."""
        now = self._clock()
        for connection, since in list(self._since.items()):
            if now - since > SECONDS and self._since.pop(connection, None) is not None:
                log.warning("the database has not answered for %d s: its connection is given up", now - since)
                _hang_up(connection)


def _hang_up(connection: Any) -> None:
    """End a psycopg connection that another thread waits on; that thread closes it."""
    with contextlib.suppress(Exception), socket.socket(fileno=os.dup(connection.fileno())) as ours:
        ours.shutdown(socket.SHUT_RDWR)  # unless it has just ended by itself
