"""What happens, as it happens, for whoever follows along: read from what is committed."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from answerback.context import Context
from answerback.signals import ANY, heard
from answerback.store import Row, Tx, feed
from answerback.store.feed import Place

LOOK_AGAIN = 1.0  # seconds: another process may have written, and told nobody
TOGETHER = 0.1  # seconds between two looks at least: everybody who follows looks for themselves
AT_ONCE = 200  # entries of each kind that one look reads


@dataclass(frozen=True, slots=True)
class Happened:
    """Something that happened: `interaction.answered`, `run.completed`; nothing of what was said.

    `status` is that of the record by now, `by` a contact, a provider, an agent or an API key,
    as the event says; "" for a run.
    """

    event: str
    id: str
    agent: str
    run_id: str
    thread_id: str
    status: str
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class Begin:
    """Where to begin. `elsewhere`: the place that was named is none of this database, so it is now."""

    place: Place
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """What was committed together, and how far the feed has been read with it."""

    events: tuple[Happened, ...]
    place: Place


class Feed:
    """Reads only."""

    def __init__(
        self,
        context: Context,
        look_again: float = LOOK_AGAIN,
        at_once: int = AT_ONCE,
        together: float = TOGETHER,
    ) -> None:
        self._context, self._look_again = context, look_again
        self._at_once, self._together = at_once, together

    async def begin(self, *after: int) -> Begin:
        """At the place with these two positions; without them, behind all that has happened by now."""
        end = await self._context.store.read(feed.end)
        if not after:
            return Begin(end)
        place = Place(*after)
        beyond = place.audit > end.audit or place.runs > end.runs
        return Begin(end, elsewhere=True) if beyond else Begin(place)

    async def follow(self, place: Place) -> AsyncGenerator[Step | None, None]:
        """What happens behind `place`, without an end; None whenever there is nothing new.

        What is committed together comes in one step, so that its place never cuts it in two. Ends when the
        gateway stops. Raises `StoreUnavailable`.
        """
        signals = self._context.signals
        with signals.hearing(ANY) as changed:
            while not signals.ended:
                changed.clear()
                steps = await self._context.store.read(lambda tx, at=place: _steps(tx, at, self._at_once))  # type: ignore[misc]
                for step in steps:
                    place = step.place
                    yield step
                if not steps:
                    yield None
                    await heard(changed, self._look_again)
                    await asyncio.sleep(self._together)


def _steps(tx: Tx, after: Place, most: int) -> list[Step]:
    """Questions first: that a run goes on or has ended follows from what became of them."""
    steps: list[Step] = []
    for place, rows in _together(feed.entries(tx, after.audit, most)):
        after = replace(after, audit=place)
        steps.append(Step(tuple(_of_question(row) for row in rows if row["id"] is not None), after))
    for place, rows in _together(feed.runs(tx, after.runs, most)):
        after = replace(after, runs=place)
        steps.append(Step(tuple(map(_of_run, rows)), after))
    return steps


def _together(rows: list[Row]) -> list[tuple[int, list[Row]]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row["position"], []).append(row)
    return list(found.items())


def _of_question(row: Row) -> Happened:
    name = "interaction." + row["event"].replace(" ", "-")
    return Happened(
        name, row["id"], row["agent"], row["run_id"], row["thread_id"], row["status"], row["actor"], row["at"]
    )


def _of_run(row: Row) -> Happened:
    at, status = row["updated_at"], row["status"]
    return Happened(f"run.{status}", row["id"], row["agent"], row["id"], row["thread_id"], status, "", at)
