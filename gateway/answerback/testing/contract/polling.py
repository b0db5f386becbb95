"""Events that are fetched: the same again until the cursor is given back, and never again after that."""

import pytest

from answerback.provider import Batch, Inbound, Reply
from answerback.testing.contract.case import Case, alive
from answerback.testing.contract.hooks import Hooks
from answerback.testing.contract.samples import question


class Polling(Hooks):
    """`poll`. `reply` of the far side must leave something to be fetched."""

    @alive
    async def test_a_poll_that_finds_nothing_returns_at_once_if_told_to(self, case: Case) -> None:
        self._polls(case)
        batch = await self._poll(case, "")
        again = await self._poll(case, batch.cursor)
        assert not again.events, "poll() brings events that the cursor says were fetched"

    @alive
    async def test_events_come_again_until_their_cursor_is_given_back(self, case: Case) -> None:
        self._polls(case)
        self.needs_hook("reply")
        before = (await self._poll(case, "")).cursor
        before = (await self._poll(case, before)).cursor
        await self._writes(case, "one", "two")
        first = await self._poll(case, before)
        again = await self._poll(case, before)  # the gateway was killed before it stored the first
        assert _ids(case, first), "poll() brings nothing of what was written"
        assert _ids(case, again) == _ids(case, first), "poll() with the same cursor brings something else"
        assert first.cursor != before, "the cursor does not move with the events"
        after = await self._poll(case, again.cursor)
        assert not set(_ids(case, after)) & set(_ids(case, first)), (
            "poll() brings events again whose cursor was given back"
        )

    @alive
    async def test_a_restart_loses_nothing(self, case: Case) -> None:
        self._polls(case)
        self.needs_hook("reply")
        before = (await self._poll(case, "")).cursor
        await self._writes(case, "one")
        first = _ids(case, await self._poll(case, before))
        restarted = self.make(case.there)
        try:
            await restarted.open()
            other = Case(restarted, case.there, case.to, case.secrets)
            found = _ids(other, await self._poll(other, before))
        finally:
            await restarted.close()
            await restarted.context.http.close()
        assert set(first) <= set(found), "after a restart, poll() does not bring what was not stored"

    def _polls(self, case: Case) -> None:
        self.needs("poll")
        if not case.provider.polls:
            pytest.skip("as configured, this provider does not poll")

    async def _poll(self, case: Case, cursor: str) -> Batch:
        batch = await case.does(case.provider.poll(cursor, 0))
        assert isinstance(batch, Batch), f"poll() must return a Batch: {batch!r}"
        assert isinstance(batch.cursor, str), "the cursor of a Batch must be a str"
        assert all(isinstance(event, Inbound) for event in batch.events), "events must be Inbound"
        return batch

    async def _writes(self, case: Case, *texts: str) -> None:
        sent = await case.send(question(case.to))
        for text in texts:
            await self.reply(case.there, sent, text)


def _ids(case: Case, batch: Batch) -> list[str]:
    found = [one for event in batch.events for one in case.provider.parse(event)]
    return [one.event_id for one in found if isinstance(one, Reply)]
