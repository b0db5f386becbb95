"""What the number of pending interactions costs: each use case at a million over a thousand, on SQLite."""

import json
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

from sqlalchemy import text

from answerback.ask import AskRequest
from answerback.clock import next_due
from answerback.provider import Inbound
from answerback.store import Tx, deliveries
from answerback.store.query import Query
from tests.bench.filling import QUESTION, Filled, fill
from tests.bench.gateway import PROVIDER, Gateway, gateway
from tests.bench.measure import Figure, alternate, figures_of_latency
from tests.bench.options import Options
from tests.bench.processes import far_side
from tests.bench.provider import SIGNATURE, sign
from tests.bench.targets import GROWING

SMALL, LARGE, LARGE_QUICK = 1_000, 1_000_000, 100_000
TIMES, DUE = 20, 10  # calls of a use case in one alternation; deliveries that are due at one claim
_MAKE_DUE = Query(text("UPDATE delivery SET status = 'queued', next_attempt_at = :at WHERE id = :id"))
_MAKE_SENT = Query(text("UPDATE delivery SET status = 'sent', next_attempt_at = NULL WHERE id = :id"))


class Measured:
    """One gateway over one number of pending interactions: how long each use case takes, in seconds.

    Answers take questions of the second half, everything else leaves those of the first half pending.
    """

    def __init__(self, gateway: Gateway, filled: Filled, secret: str) -> None:
        self._app, self._filled, self._secret = gateway.app, filled, secret
        half = filled.count // 2
        self._random = random.Random(7)  # noqa: S311
        self._waiting = range(half)
        self._unanswered = self._random.sample(range(half + half % 2, filled.count, 2), min(half // 2, 5000))
        self._events = 0

    async def times(self, what: str) -> list[float]:
        """`TIMES` calls, one after the other; what each leaves to do is done between them."""
        once: Callable[[], Awaitable[float]] = getattr(self, what)
        found = []
        for _ in range(TIMES):
            found.append(await once())
            await self._app.idle()
        return found

    async def ask(self) -> float:
        return await _timed(self._app.asker.ask(AskRequest((QUESTION,), ask=("p1",))))

    async def claim(self) -> float:
        store, owner = self._app.context.store, self._app.context.owner
        chosen = [self._filled.delivery(self._any()) for _ in range(DUE)]
        await store.write(lambda tx: [tx.run(_MAKE_DUE, id=id, at=tx.now - 1) for id in chosen])
        claimed: list[Any] = []

        def tx_(tx: Tx) -> None:
            claimed[:] = deliveries.claim(tx, owner, 2 * DUE)

        took = await _timed(store.write(tx_))
        await store.write(lambda tx: [tx.run(_MAKE_SENT, id=row["id"]) for row in claimed])
        return took

    async def match(self) -> float:
        """A text that could be meant for any of several open questions."""
        return await self._receive(self._any(), text="whatever you think")

    async def answer(self) -> float:
        number = self._unanswered.pop()
        return await self._receive(number, data=self._filled.data(number), references=[f"c{number}"])

    async def sweep(self) -> float:
        """A look at the clock, and at what it would find due: nothing."""

        async def look() -> None:
            await self._app.context.store.read(next_due)
            await self._app.elapser.pump()

        return await _timed(look())

    async def inbox(self) -> float:
        """A page of what is pending, from anywhere in the list."""
        after = self._filled.interaction(self._any())
        return await _timed(self._app.reader.interactions("pending", 50, after))

    def _any(self) -> int:
        return self._random.choice(self._waiting)

    async def _receive(self, number: int, **reply: Any) -> float:
        self._events += 1
        who = self._filled.sender(number)
        event = {"event_id": f"g{self._events}", "sender": who, "place": who, "at": 0, **reply}
        body = json.dumps(event).encode()
        inbound = Inbound(body, headers={SIGNATURE: sign(self._secret, body)})
        return await _timed(self._app.receiver.webhook(PROVIDER, inbound))


async def _timed(work: Awaitable[Any]) -> float:
    begun = time.perf_counter()
    await work
    return time.perf_counter() - begun


async def run(options: Options) -> AsyncIterator[Figure]:
    """Both sizes at once, each in a gateway of its own."""
    async with AsyncExitStack() as stack:
        far = stack.enter_context(far_side())

        async def measured(count: int) -> Measured:
            filled = await fill(options.fresh(f"pending-{count}"), far, count)
            served = await stack.enter_async_context(gateway(filled.folder, "sqlite", far, 50, alone=True))
            return Measured(served, filled, far.secret)

        small, large = await measured(SMALL), await measured(LARGE_QUICK if options.quick else LARGE)
        for what in GROWING:
            pairs = await alternate(options.rounds, lambda: large.times(what), lambda: small.times(what))  # noqa: B023
            for found in figures_of_latency(f"growth.{what}", pairs):
                yield found
