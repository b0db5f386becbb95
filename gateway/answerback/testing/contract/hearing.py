"""Events in: nothing unproved is believed, rubbish does nothing, and a reply says whose it is and to what."""

import copy
import time
from collections.abc import Sequence

import pytest

from answerback.provider import Button, Event, HttpAnswer, Inbound, Outcome, Reply, Sent, Unverified
from answerback.testing.contract import rubbish
from answerback.testing.contract.case import Case, alive
from answerback.testing.contract.hooks import Hooks
from answerback.testing.contract.samples import TOKEN, options, question
from answerback.testing.contract.watching import reaching_out

WORDS = "Grüße 👋 — “yes, but” שלום 100 %"
LONGEST_ID = 500
PARSING_SECONDS = 2.0  # of processor time, for any one event
ATTEMPTS = 5  # polls until a reply has to be there


class Hearing(Hooks):
    """`screen`, `verify`, `parse`, `challenge`, `acknowledge`, and what comes out of them."""

    @alive
    async def test_what_is_not_proved_is_refused(self, case: Case) -> None:
        for inbound in rubbish.requests():
            await refused(case, inbound, "that nobody signed: whoever finds the URL could answer")

    @alive
    async def test_a_request_is_believed_with_its_proof_only(self, case: Case) -> None:
        good = await self._request(case)
        await case.provider.screen(Inbound(b"", good.method, good.url, good.headers, good.query))
        await case.provider.verify(good)
        for bad in rubbish.unsigned(good):
            await refused(case, bad, "whose proof was taken away or replaced")

    @alive
    async def test_a_request_that_was_changed_is_refused(self, case: Case) -> None:
        good = await self._request(case)
        for bad in rubbish.tampered(good):
            await refused(case, bad, "whose body was changed: is the body signed?")

    @alive
    async def test_a_handshake_answers_or_does_not(self, case: Case) -> None:
        self.needs("challenge")
        for inbound in rubbish.requests():
            get = Inbound(b"", "GET", inbound.url, inbound.headers, inbound.query)
            try:
                answer = case.provider.challenge(get)
            except Unverified:
                continue
            assert answer is None or isinstance(answer, HttpAnswer), "challenge() returns no HttpAnswer"

    @alive
    async def test_rubbish_means_nothing(self, case: Case) -> None:
        for inbound in rubbish.requests():
            begun = time.process_time()
            try:
                found = case.provider.parse(inbound)
            except Exception as error:
                case.is_discreet(error)
                found = []
            assert list(found) == [], f"parse() makes a reply of {inbound.body[:40]!r}"
            spent = time.process_time() - begun
            assert spent < PARSING_SECONDS, f"parse() works for {spent:.1f} s on {inbound.body[:40]!r}"

    @alive
    async def test_a_damaged_event_is_a_reply_a_receipt_nothing_or_an_error(self, case: Case) -> None:
        good, _ = await self._answered(case)
        for inbound in rubbish.damaged(good):
            try:
                found = case.provider.parse(inbound)
            except Exception as error:
                case.is_discreet(error)
                continue
            for one in found:
                check_kinds(one)

    @alive
    async def test_parsing_is_repeatable_and_reaches_for_nothing(self, case: Case) -> None:
        good, _ = await self._answered(case)
        kept = copy.deepcopy(good)
        first = list(case.provider.parse(good))
        with reaching_out() as seen:
            again = list(case.provider.parse(good))
        assert again == first, "parse() of the same event returns something else the second time"
        assert good == kept, "parse() changes what it was given"
        assert not seen, f"parse() reaches for a file or a connection: {seen[0]}"

    @alive
    async def test_a_text_comes_back_word_for_word_from_whoever_wrote_it(self, case: Case) -> None:
        good, sent = await self._answered(case)
        reply = only_reply(case.provider.parse(good))
        whole = WORDS in reply.text if reply.quoted else reply.text == WORDS
        assert whole, f"the text is not what was written: {reply.text!r} instead of {WORDS!r}"
        assert reply.sender == case.to.external_id, "the sender is not the id that stands in the address"
        assert reply.place, "a reply needs a place: where it was written"
        for id in (reply.event_id, reply.sender, reply.place, *reply.references):
            assert len(id) <= LONGEST_ID, f"an id is longer than {LONGEST_ID} characters: {id!r}"
        assert reply.event_id, "a reply needs an event_id, unique for good"
        assert reply.sent_at is None or reply.sent_at > 10**14, "sent_at is in microseconds since the epoch"
        if reply.sent_at is not None and sent.sent_at is not None:
            assert reply.sent_at > sent.sent_at - 1_000_000, (  # one of them may be in whole seconds
                "an answer is older than its question: are these two clocks?"
            )

    @alive
    async def test_an_event_that_is_replayed_has_its_body_only(self, case: Case) -> None:
        good, _ = await self._answered(case)
        first = only_reply(case.provider.parse(good))
        again, once_more = [only_reply(case.provider.parse(Inbound(good.body))) for _ in range(2)]
        same = (again.text, again.sender) == (first.text, first.sender)
        assert (
            same or not again.trusted
        ), (  # what proved the sender may have been in the headers, as for mail
            "parse() needs more than the body: only that is kept, for an event that is tried again"
        )
        assert again.event_id and again.event_id == once_more.event_id, "event_id changes without headers"

    @alive
    async def test_a_reply_says_which_message_it_answers(self, case: Case) -> None:
        good, sent = await self._answered(case)
        reply = only_reply(case.provider.parse(good))
        assert reply.token == TOKEN or set(reply.references) & set(sent.message_ids), (
            "a reply carries neither the token of the message nor one of its ids: put one of them where the "
            "service brings it back"
        )

    @alive
    async def test_an_event_that_is_delivered_twice_is_known(self, case: Case) -> None:
        good, sent = await self._answered(case)
        again = only_reply(case.provider.parse(good))
        other = only_reply(case.provider.parse(await self._event(case, sent, "another one")))
        assert only_reply(case.provider.parse(good)).event_id == again.event_id, "event_id changes"
        assert other.event_id != again.event_id, "two replies have the same event_id: the second is lost"

    @alive
    async def test_a_tap_brings_the_button_s_data_back(self, case: Case) -> None:
        self.needs_hook("tap")
        buttons = options(max(2, min(self.provider_class.max_choices, 3)))
        sent = await case.send(question(case.to, buttons=buttons))
        for button in (buttons[0], buttons[-1]):
            reply = await self._tapped(case, sent, button)
            assert reply.data == button.data, f"{reply.data!r} came back for a button with {button.data!r}"
            assert reply.sender == case.to.external_id, "the sender of a tap is not the id in the address"

    @alive
    async def test_acknowledging_fails_softly(self, case: Case) -> None:
        self.needs("acknowledge")
        good, _ = await self._answered(case)
        reply = only_reply(case.provider.parse(good))
        for outcome in Outcome:
            await case.does(case.provider.acknowledge(reply, outcome, "“coding” 👍 " * 60))
        await case.does(case.provider.acknowledge(reply, Outcome.ACCEPTED, ""))

    async def _answered(self, case: Case) -> tuple[Inbound, Sent]:
        self.needs("parse")
        self.needs_hook("reply")
        sent = await case.send(question(case.to))
        return await self._event(case, sent, WORDS), sent

    async def _event(self, case: Case, sent: Sent, text: str) -> Inbound:
        """The event of a reply: the service's request, or what polling finds."""
        case.secrets.add(text)
        inbound = await self.reply(case.there, sent, text)
        return inbound if inbound is not None else await polled(case)

    async def _request(self, case: Case) -> Inbound:
        self.needs("verify")
        self.needs_hook("reply")
        inbound = await self.reply(case.there, await case.send(question(case.to)), WORDS)
        if inbound is None:
            pytest.skip("reply() returns no request, so this is left out: as configured, the provider polls")
        return inbound

    async def _tapped(self, case: Case, sent: Sent, button: Button) -> Reply:
        inbound = await self.tap(case.there, sent, button)
        if inbound is None:
            return only_reply(case.provider.parse(await polled(case)))
        await case.provider.verify(inbound)
        return only_reply(case.provider.parse(inbound))


def check_kinds(found: object) -> None:
    """Fail for what is no event, or has something else where text must be."""
    assert isinstance(found, Event), f"parse() returns a {type(found).__name__}"
    names = ("event_id", "message_id", "sender", "place", "text", "data", "token", "name", "reason")
    held = {name: getattr(found, name) for name in names if hasattr(found, name)}
    held |= {f"references[{n}]": id for n, id in enumerate(getattr(found, "references", ()))}
    for name, value in held.items():
        assert isinstance(value, str), f"{name} must be a str, and of a damaged event it is {value!r}"
    assert found.event_id, "the event_id of a damaged event is empty: raise an error instead"
    if isinstance(found, Reply) and found.void is None:
        assert found.sender, "the sender of a damaged event is empty: raise an error"


async def refused(case: Case, inbound: Inbound, what: str) -> None:
    """Fail unless `verify` raises `Unverified`."""
    try:
        await case.provider.verify(inbound)
    except Unverified as error:
        case.is_discreet(error)
        return
    except Exception as error:
        pytest.fail(
            f"verify() raises {type(error).__name__}, and must raise Unverified, for a request {what}"
        )
    pytest.fail(f"verify() believes a request {what}")


async def polled(case: Case) -> Inbound:
    """The newest event that polling finds and that it did not find before."""
    for attempt in range(ATTEMPTS):
        batch = await case.does(case.provider.poll("", min(attempt, 1)))
        fresh = [event for event in getattr(batch, "events", ()) if event.body not in case.polled]
        if fresh:
            case.polled.update(event.body for event in fresh)
            newest: Inbound = fresh[-1]
            return newest
    pytest.fail("poll() does not bring a reply that was written")


def only_reply(found: Sequence[Event]) -> Reply:
    """The one reply of an event."""
    replies = [one for one in found if isinstance(one, Reply)]
    assert len(replies) == 1, f"parse() makes {len(replies)} replies of an event that is one"
    return replies[0]
