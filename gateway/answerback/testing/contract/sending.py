"""Messages out: every kind is taken, what was sent has a name, and errors are those of the contract."""

import asyncio
import dataclasses

import pytest

from answerback.provider import Address, Message, MessageKind, Sent, Undeliverable
from answerback.testing.contract.case import SECONDS, Case, alive
from answerback.testing.contract.hooks import Hooks
from answerback.testing.contract.samples import SAMPLES, TOKEN, YES_NO, outcome, question
from answerback.testing.contract.watching import Log, secrets_of, shown_in

LONGEST_ID = 500  # characters that the gateway keeps of an id
AT_ONCE = 8


class Sending(Hooks):
    """`send` and `update`."""

    @alive
    async def test_every_kind_of_message_is_taken(self, case: Case) -> None:
        wrong = []
        for kind, make in SAMPLES.items():
            message = make(case.to, self.provider_class)
            if message.kind is MessageKind.NOTICE:  # a service may have no way to tell what asks nothing
                sent = await case.does(case.provider.send(message))
                if isinstance(sent, Undeliverable):
                    continue
            try:
                check_ids(await case.send(message))
            except (AssertionError, pytest.fail.Exception) as error:
                wrong.append(f"{kind}: {error}")
        assert not wrong, "these cannot be sent:\n" + "\n".join(wrong)

    @alive
    async def test_the_person_sees_the_question(self, case: Case) -> None:
        self.needs_hook("sees")
        await case.send(question(case.to, "Shall it be Tuesday?"))
        shown = await self.sees(case.there)
        assert shown and "Shall it be Tuesday?" in shown[-1], f"the title is not to be seen in {shown!r}"

    @alive
    async def test_each_message_has_an_id_of_its_own(self, case: Case) -> None:
        first, second = [await case.send(message) for message in several(case, 2)]
        if not (first.message_ids or second.message_ids):
            pytest.skip("send() returns no ids: no reply can be matched to a message, and none be edited")
        assert set(first.message_ids).isdisjoint(second.message_ids), "two messages have an id in common"

    @alive
    async def test_many_can_be_sent_at_once(self, case: Case) -> None:
        sent = await asyncio.gather(*(case.send(message) for message in several(case, AT_ONCE)))
        ids = [one.message_ids[0] for one in sent if one.message_ids]
        assert len(set(ids)) == len(ids), "two messages that were sent at the same time have the same id"

    @alive
    async def test_the_same_delivery_can_be_sent_again(self, case: Case) -> None:
        await case.send(question(case.to))  # the gateway was killed before it could store the result
        await case.send(question(case.to))

    @alive
    async def test_a_message_follows_an_earlier_one(self, case: Case) -> None:
        first = await case.send(question(case.to))
        reminder = dataclasses.replace(
            question(case.to, delivery_id="0192-d2"), kind=MessageKind.REMINDER, reply_to=first.message_ids
        )
        await case.send(reminder)

    def test_a_service_that_is_gone_is_an_error_of_the_contract(self) -> None:
        async def left_alone() -> set[str]:
            async with asyncio.timeout(SECONDS):
                async with self.far_side() as there:
                    provider, to = self.make(there), self.address_for(there)
                    secrets = secrets_of(provider.settings) | {TOKEN, to.external_id, to.place}
                    case = Case(provider, there, to, secrets)
                    await provider.open()
                try:
                    await case.does(provider.send(question(to)))
                    if self.provider_class.can("update"):
                        await case.does(provider.update(to, "1", outcome(to)))
                finally:
                    await provider.close()
                    await provider.context.http.close()
                return secrets

        with Log(self.far_side_logs) as log:
            secrets = asyncio.run(left_alone())
        assert not shown_in(log.lines, secrets), "a secret stands in a log line when the service is gone"

    @alive
    async def test_a_place_that_cannot_be_is_an_error_of_the_contract(self, case: Case) -> None:
        for place in ("", "no\nsuch place\x00", "x" * 2000, "'; DROP TABLE", "../../x?y=z#a"):
            nowhere = Address(case.to.provider, place, place)
            await case.does(case.provider.send(question(nowhere)))

    @alive
    async def test_a_sent_message_is_replaced_by_its_outcome(self, case: Case) -> None:
        self.needs("update")
        sent = await case.send(question(case.to, buttons=YES_NO))
        for _ in range(2):  # the second time, nobody knew whether the first one got through
            edited = await case.does(case.provider.update(case.to, _first(sent), outcome(case.to)))
            assert edited is None, f"update() of a message that was just sent fails: {edited}"
        if self.given("sees"):
            shown = await self.sees(case.there)
            assert any("Going on" in text for text in shown), f"the outcome is not to be seen in {shown!r}"

    @alive
    async def test_an_outcome_of_any_length_replaces_a_message(self, case: Case) -> None:
        self.needs("update")
        sent = await case.send(question(case.to))
        long = outcome(case.to, "✅ You wrote “" + "a long answer, " * 1000 + "”.")
        edited = await case.does(case.provider.update(case.to, _first(sent), long))
        assert edited is None, f"update() with a long text fails: {edited}"

    @alive
    async def test_a_message_that_is_not_there_cannot_be_replaced(self, case: Case) -> None:
        self.needs("update")
        for id in ("", "no such message", "0", "9" * 40, "a:b:c", "é\x00"):
            await case.does(case.provider.update(case.to, id, outcome(case.to)))

    @alive
    async def test_what_cannot_be_edited_says_so(self, case: Case) -> None:
        if self.provider_class.can("update"):
            pytest.skip("this provider edits")
        found = await case.does(case.provider.update(case.to, "1", outcome(case.to)))
        assert isinstance(found, Undeliverable), "update() must raise Undeliverable where it cannot edit"


def several(case: Case, count: int) -> list[Message]:
    """So many questions, each a delivery with a token of its own."""
    tokens = [f"{TOKEN[:-1]}{n}" for n in range(count)]
    case.secrets.update(tokens)
    return [
        question(case.to, f"Question {n}?", delivery_id=f"0192-d{n}", buttons=YES_NO, token=token)
        for n, token in enumerate(tokens)
    ]


def check_ids(sent: Sent) -> None:
    """Fail for ids that the gateway could not store and look up."""
    for id in sent.message_ids:
        assert isinstance(id, str), f"a message id must be a str, and {id!r} is not"
        assert 0 < len(id) <= LONGEST_ID, f"a message id must have 1 to {LONGEST_ID} characters"
        assert id.isprintable(), f"a message id must be printable, and {id!r} is not"
    assert sent.sent_at is None or sent.sent_at > 10**14, "sent_at is in microseconds since the epoch"


def _first(sent: Sent) -> str:
    assert sent.message_ids, "a provider with update() must return the id of what it sent"
    return sent.message_ids[0]
