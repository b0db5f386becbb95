"""What the number of pending interactions costs: each use case at a million over a thousand, on SQLite."""

import json
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from sqlalchemy import text

from answerback.ask import AskRequest
from answerback.clock import next_due
from answerback.provider import Inbound
from answerback.store import Tx, deliveries
from answerback.store.query import Query
from tests.bench.filling import QUESTION, Filled, fill
from tests.bench.gateway import PROVIDER, Gateway, gateway
from tests.bench.measure import Figure, figures_of_latency, interleave
from tests.bench.options import Options
from tests.bench.processes import far_side, one_core
from tests.bench.provider import SIGNATURE, sign
from tests.bench.targets import GROWING

SMALL, LARGE, LARGE_QUICK = 1_000, 1_000_000, 100_000
TIMES, DUE = 40, 10  # calls of a use case in one alternation; deliveries that are due at one claim
_MAKE_DUE = Query(text("UPDATE delivery SET status = 'queued', next_attempt_at = :at WHERE id = :id"))
_MAKE_SENT = Query(text("UPDATE delivery SET status = 'sent', next_attempt_at = NULL WHERE id = :id"))


class Measured:
    """One gateway over one number of pending interactions: how long each use case takes, in seconds.

    Answers use up the questions of a caller, everything else looks at those of an agent's threads.
    """

    def __init__(self, gateway: Gateway, filled: Filled, secret: str) -> None:
        self._app, self._filled, self._secret = gateway.app, filled, secret
        self._random = random.Random(7)  # noqa: S311
        self._waiting, answerable = range(1, filled.count, 2), range(0, filled.count, 2)
        self._unanswered = self._random.sample(answerable, min(len(answerable), 5000))
        self._events = 0

    def calls(self, rounds: int) -> int:
        """Calls in each round, and in one before them, that there are questions to answer for."""
        return min(TIMES, len(self._unanswered) // (rounds + 1))

    async def once(self, what: str) -> float:
        """One call; what it leaves to do is done as well, outside the time."""
        call: Callable[[], Awaitable[float]] = getattr(self, what)
        took = await call()
        await self._app.idle()
        return took

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
    """Both sizes at once, each in a gateway of its own.

    On one core: on two, it is luck for a whole run which of them wakes its threads across cores.
    """
    async with AsyncExitStack() as stack:
        stack.enter_context(one_core())
        far = stack.enter_context(far_side())

        async def measured(count: int) -> Measured:
            filled = await fill(options.fresh(f"pending-{count}"), far, count, options.kept)
            served = await stack.enter_async_context(gateway(filled.folder, "sqlite", far, 50, alone=True))
            return Measured(served, filled, far.secret)

        small, large = await measured(SMALL), await measured(LARGE_QUICK if options.quick else LARGE)
        calls = options.fewer(small.calls(options.rounds))
        for what in GROWING:
            ours, theirs = partial(large.once, what), partial(small.once, what)
            pairs = await interleave(options.rounds, calls, ours, theirs)
            for found in figures_of_latency(f"growth.{what}", pairs):
                yield found
