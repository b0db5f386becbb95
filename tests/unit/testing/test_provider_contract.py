"""The contract suite: an honest provider passes it, and each fault is found by the test that is for it."""

import contextlib
import dataclasses
import hashlib
import hmac
import json
import logging
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from answerback import provider as contract
from answerback.model import Json
from answerback.provider import (
    Address,
    Batch,
    Button,
    Inbound,
    Message,
    Outcome,
    Provider,
    ProviderContext,
    Receipt,
    Reply,
    SecretStr,
    Sent,
    TryLater,
    Undeliverable,
    Unverified,
)
from answerback.testing import ProviderContract

TOKEN = "a token that is secret"
log = logging.getLogger("honest")


@dataclass(slots=True)
class Service:
    """A far side in memory: what people see, and what they did."""

    up: bool = True
    shown: dict[str, str] = field(default_factory=dict)
    events: list[dict[str, str]] = field(default_factory=list)

    def event(self, **fields: str) -> Inbound:
        self.events.append({"id": f"e{len(self.events) + 1}", "who": "ana", "name": "Ana", **fields})
        body, at = json.dumps(self.events[-1]).encode(), str(time.time())
        return Inbound(body, headers={"at": at, "proof": proof(at, body)})


def proof(at: str, body: bytes) -> str:
    return hmac.new(TOKEN.encode(), at.encode() + body, hashlib.sha256).hexdigest()


class Honest(Provider):
    """Does everything that a provider can do, and does it right."""

    class Settings(contract.Settings):
        token: SecretStr

    @property
    def service(self) -> Service:
        there: Service = self.context.extra["service"]
        if not there.up:
            raise TryLater(5, "The service is down.")
        return there

    async def send(self, message: Message) -> Sent:
        if message.to.place != "ana":
            raise Undeliverable("Nobody is there.")
        id = f"m{len(self.service.shown) + 1}"
        self.service.shown[id] = message.text
        return Sent((id,))

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        if message_id not in self.service.shown:
            raise Undeliverable("There is no such message.")
        self.service.shown[message_id] = message.text

    async def verify(self, inbound: Inbound) -> None:
        at, given = inbound.headers.get("at", ""), inbound.headers.get("proof", "")
        if not hmac.compare_digest(proof(at, inbound.body).encode(), given.encode()):
            raise Unverified("The proof does not fit.")

    def parse(self, inbound: Inbound) -> list[Reply | Receipt]:
        event = json.loads(inbound.body)
        if not isinstance(event, dict) or "who" not in event:
            return []
        return [self.reply(event)]

    def reply(self, event: dict[str, str]) -> Reply:
        return Reply(
            event["id"], event["who"], event["who"], event.get("text", ""), event.get("data", ""),
            references=(event["of"],), name=event["name"],
        )  # fmt: skip

    async def acknowledge(self, reply: Reply, outcome: Outcome, text: str) -> None:
        if outcome is Outcome.FAILED:
            raise TryLater(1)

    async def poll(self, cursor: str, wait: float | None = None) -> Batch:
        start, events = int(cursor or 0), self.service.events
        fresh = [Inbound(json.dumps(event).encode()) for event in events[start:]]
        return Batch(tuple(fresh), str(len(events)))


class TestHonest(ProviderContract):
    provider_class: ClassVar[type[Provider]] = Honest
    options: ClassVar[Mapping[str, Json]] = {"token": TOKEN}
    place = "ana"

    @contextlib.asynccontextmanager
    async def far_side(self) -> AsyncIterator[Service]:
        there = Service()
        yield there
        there.up = False

    def context_for(self, there: Service) -> ProviderContext:
        return ProviderContext(extra={"service": there})

    async def reply(self, there: Service, sent: Sent, text: str) -> Inbound:
        return there.event(text=text, of=sent.message_ids[0])

    async def tap(self, there: Service, sent: Sent, button: Button) -> Inbound:
        return there.event(data=button.data, of=sent.message_ids[0])

    async def sees(self, there: Service) -> list[str]:
        return list(there.shown.values())


FAULTS: list[tuple[type[Provider], str]] = []


def fault(test: str) -> Callable[[type[Provider]], type[Provider]]:
    """The class under it has a fault that this test of the suite must find."""

    def kept(found: type[Provider]) -> type[Provider]:
        FAULTS.append((found, test))
        return found

    return kept


@fault("test_every_kind_of_message_is_taken")
class LogsTheToken(Honest):
    async def send(self, message: Message) -> Sent:
        log.debug("sending %s with %s", message.title, self.settings.token.get_secret_value())
        return await super().send(message)


@fault("test_each_message_has_an_id_of_its_own")
class LogsTheFormLink(Honest):
    async def send(self, message: Message) -> Sent:
        log.warning("sending %s", message.form_url)
        return await super().send(message)


@fault("test_it_has_the_name_of_the_configuration_and_its_repr_no_secret")
class ShowsTheToken(Honest):
    def __repr__(self) -> str:
        return f"ShowsTheToken({self.settings.token.get_secret_value()})"


@fault("test_it_has_the_name_of_the_configuration_and_its_repr_no_secret")
class Nameless(Honest):
    def __init__(self, name: str, settings: Any, context: ProviderContext) -> None:
        super().__init__("nameless", settings, context)


@fault("test_every_kind_of_message_is_taken")
class CountsItsMessages(Honest):
    async def send(self, message: Message) -> Sent:
        await super().send(message)
        return Sent((len(self.service.shown),))


@fault("test_each_message_has_an_id_of_its_own")
class OneIdForAll(Honest):
    async def send(self, message: Message) -> Sent:
        await super().send(message)
        return Sent(("m1",))


@fault("test_every_kind_of_message_is_taken")
class AsciiOnly(Honest):
    async def send(self, message: Message) -> Sent:
        message.text.encode("ascii")
        return await super().send(message)


@fault("test_every_kind_of_message_is_taken")
class FewButtonsOnly(Honest):
    async def send(self, message: Message) -> Sent:
        if len(message.buttons) > self.max_choices:
            raise Undeliverable("Too many buttons.")
        return await super().send(message)


@fault("test_the_person_sees_the_question")
class SaysNothing(Honest):
    async def send(self, message: Message) -> Sent:
        sent = await super().send(message)
        self.service.shown[sent.message_ids[0]] = "You have a message."
        return sent


@fault("test_a_service_that_is_gone_is_an_error_of_the_contract")
class LetsErrorsOut(Honest):
    async def send(self, message: Message) -> Sent:
        if not self.context.extra["service"].up:
            raise ConnectionRefusedError("111")
        return await super().send(message)


@fault("test_a_place_that_cannot_be_is_an_error_of_the_contract")
class QuotesTheTokenInAnError(Honest):
    async def send(self, message: Message) -> Sent:
        raise Undeliverable(f"401 for {self.settings.token.get_secret_value()}")


@fault("test_a_place_that_cannot_be_is_an_error_of_the_contract")
class HasASecretBelowItsError(Honest):
    async def send(self, message: Message) -> Sent:
        try:
            raise ValueError(f"https://x.example/bot{self.settings.token.get_secret_value()}/send")
        except ValueError as error:
            raise Undeliverable("It cannot be sent.") from error


@fault("test_a_message_that_is_not_there_cannot_be_replaced")
class StumblesOverOldIds(Honest):
    async def update(self, to: Address, message_id: str, message: Message) -> None:
        self.service.shown[f"m{int(message_id[1:])}"] = message.text


@fault("test_a_sent_message_is_replaced_by_its_outcome")
class EditsNothing(Honest):
    async def update(self, to: Address, message_id: str, message: Message) -> None:
        """As if."""


@fault("test_what_is_not_proved_is_refused")
class BelievesEverything(Honest):
    async def verify(self, inbound: Inbound) -> None:
        """As if."""


@fault("test_what_is_not_proved_is_refused")
class StumblesOverMissingHeaders(Honest):
    async def verify(self, inbound: Inbound) -> None:
        if inbound.headers["proof"] != proof(inbound.headers["at"], inbound.body):
            raise Unverified("The proof does not fit.")


@fault("test_a_request_is_believed_with_its_proof_only")
class BelievesAnySignature(Honest):
    async def verify(self, inbound: Inbound) -> None:
        if len(inbound.headers.get("proof", "")) < 64:
            raise Unverified("There is no proof.")


@fault("test_a_request_that_was_changed_is_refused")
class SignsNoBody(Honest):
    async def verify(self, inbound: Inbound) -> None:
        newest = json.dumps(self.service.events[-1]).encode()
        await super().verify(dataclasses.replace(inbound, body=newest))


@fault("test_rubbish_means_nothing")
class MakesThingsUp(Honest):
    def parse(self, inbound: Inbound) -> list[Reply | Receipt]:
        return [Reply("1", "ana", "ana", inbound.body.decode(errors="replace"))]


@fault("test_a_damaged_event_is_a_reply_a_receipt_nothing_or_an_error")
class TrustsTheKinds(Honest):
    def parse(self, inbound: Inbound) -> list[Reply | Receipt]:
        event = json.loads(inbound.body.replace(b'"e1"', b"1"))
        return [self.reply(event)] if isinstance(event, dict) and "who" in event else []


@fault("test_a_damaged_event_is_a_reply_a_receipt_nothing_or_an_error")
class DoesWithoutIds(Honest):
    def reply(self, event: dict[str, str]) -> Reply:
        return super().reply({"name": "", "of": "", **event, "id": event.get("id", "")})


@fault("test_a_damaged_event_is_a_reply_a_receipt_nothing_or_an_error")
class PassesAnythingOn(Honest):
    def parse(self, inbound: Inbound) -> list[Any]:
        try:
            return list(super().parse(inbound))
        except ValueError as error:
            return [error]


@fault("test_parsing_is_repeatable_and_reaches_for_nothing")
class ReadsAFile(Honest):
    def reply(self, event: dict[str, str]) -> Reply:
        Path(__file__).read_bytes()
        return super().reply(event)


@fault("test_parsing_is_repeatable_and_reaches_for_nothing")
class InventsIds(Honest):
    def reply(self, event: dict[str, str]) -> Reply:
        return super().reply({**event, "id": uuid.uuid4().hex})


@fault("test_a_text_comes_back_word_for_word_from_whoever_wrote_it")
class Tidies(Honest):
    def reply(self, event: dict[str, str]) -> Reply:
        return super().reply({**event, "text": event["text"].replace("“", '"')})


@fault("test_a_text_comes_back_word_for_word_from_whoever_wrote_it")
class GoesByTheName(Honest):
    def reply(self, event: dict[str, str]) -> Reply:
        return super().reply({**event, "who": event["name"]})


@fault("test_an_event_that_is_replayed_has_its_body_only")
class HasTheWriterInAHeader(Honest):
    def parse(self, inbound: Inbound) -> list[Reply | Receipt]:
        if "at" not in inbound.headers:
            return []
        return super().parse(inbound)


@fault("test_a_reply_says_which_message_it_answers")
class ForgetsTheMessage(Honest):
    def reply(self, event: dict[str, str]) -> Reply:
        return super().reply({**event, "of": "something else"})


@fault("test_an_event_that_is_delivered_twice_is_known")
class TakesTheMessageForTheEvent(Honest):
    def reply(self, event: dict[str, str]) -> Reply:
        return super().reply({**event, "id": event["of"]})


@fault("test_a_tap_brings_the_button_s_data_back")
class CutsTheData(Honest):
    def reply(self, event: dict[str, str]) -> Reply:
        return super().reply({**event, "data": event["data"][:63]})


@fault("test_acknowledging_fails_softly")
class StumblesOverToasts(Honest):
    async def acknowledge(self, reply: Reply, outcome: Outcome, text: str) -> None:
        text.encode("ascii")


@fault("test_events_come_again_until_their_cursor_is_given_back")
class HasNoMemory(Honest):
    async def poll(self, cursor: str, wait: float | None = None) -> Batch:
        return await super().poll("", wait)


@fault("test_events_come_again_until_their_cursor_is_given_back")
class LosesWhatItGave(Honest):
    given = 0

    async def poll(self, cursor: str, wait: float | None = None) -> Batch:
        batch = await super().poll(str(max(int(cursor or 0), self.given)), wait)
        self.given = int(batch.cursor)
        return batch


@fault("test_a_restart_loses_nothing")
class TakesFromTheService(Honest):
    async def poll(self, cursor: str, wait: float | None = None) -> Batch:
        batch = await super().poll("", wait)
        self.service.events.clear()
        return batch


@fault("test_its_secrets_are_declared_as_secrets")
class ShowsItsSettings(Honest):
    class Settings(contract.Settings):
        api_key: str


@fault("test_its_settings_refuse_what_they_do_not_know")
class TakesAnySetting(Honest):
    class Settings(Honest.Settings, extra="ignore"):
        pass


@fault("test_it_can_be_closed_twice_and_unopened")
class ClosesOnce(Honest):
    async def open(self) -> None:
        self.line: list[int] = [1]

    async def close(self) -> None:
        self.line.pop()


@fault("test_the_class_is_a_complete_provider_of_this_version")
class OfAnotherVersion(Honest):
    contract_version: ClassVar[int] = contract.CONTRACT_VERSION + 1


@fault("test_its_limits_are_numbers_that_mean_something")
class AsManyAsYouLike(Honest):
    max_choices: ClassVar[int] = -1


@pytest.mark.parametrize(("faulty", "test"), FAULTS, ids=lambda each: getattr(each, "__name__", ""))
def test_a_fault_is_found_and_said(faulty: type[Provider], test: str) -> None:
    suite = type("Suite", (TestHonest,), {"provider_class": faulty})()
    with pytest.raises((AssertionError, pytest.fail.Exception)) as caught:
        getattr(suite, test)()
    assert TOKEN not in str(caught.value)


def test_what_is_left_out_says_why() -> None:
    class Mute(Provider):
        async def send(self, message: Message) -> Sent:
            return Sent()

    suite = type("Suite", (ProviderContract,), {"provider_class": Mute})()
    with pytest.raises(pytest.skip.Exception, match="Mute does not override update"):
        suite.test_a_sent_message_is_replaced_by_its_outcome()
    with pytest.raises(pytest.skip.Exception, match="does not override sees"):
        suite.test_the_person_sees_the_question()


def test_a_test_that_is_not_there_cannot_be_left_out() -> None:
    suite = type("Suite", (TestHonest,), {"leaves_out": {"test_nothing": "because"}})()
    with pytest.raises(AssertionError, match="names a test that is not there: test_nothing"):
        suite.check_leaves_out()


def test_the_fakes_do_without_pytest() -> None:
    code = "import sys, answerback.testing; print('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_test_of_the_suite_can_fail_but_for_these() -> None:
    """What no fault above is for; each is a consequence of others, or of a method that Honest lacks."""
    tests = {name for name in dir(ProviderContract) if name.startswith("test_")}
    assert tests - {test for _, test in FAULTS} == {
        "test_a_file_that_is_not_there_is_an_error_of_the_contract",
        "test_a_handshake_answers_or_does_not",
        "test_a_message_follows_an_earlier_one",
        "test_a_poll_that_finds_nothing_returns_at_once_if_told_to",
        "test_an_outcome_of_any_length_replaces_a_message",
        "test_it_can_be_opened_again",
        "test_its_probe_is_a_sentence_without_secrets",
        "test_many_can_be_sent_at_once",
        "test_the_same_delivery_can_be_sent_again",
        "test_what_cannot_be_edited_says_so",
    }
