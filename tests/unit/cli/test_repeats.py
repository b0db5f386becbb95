"""Which calls of a tool are one and the same."""

from answerback.cli.desk import Asks, Desk
from answerback.cli.repeats import SOON, Calls
from answerback.client import GatewayUnavailable
from answerback.testing import ManualClock


class Gateway:
    """Keeps the questions that it was asked by their keys, and answers nothing."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.loses = False
        self.status = "pending"

    async def ask(self, question, *, idempotency_key, **more):
        if idempotency_key not in self.asked:
            self.asked.append(idempotency_key)
        if self.loses:
            raise GatewayUnavailable("The connection was lost.")
        return {"id": str(self.asked.index(idempotency_key)), "status": "pending"}

    async def interaction(self, id):
        return {"id": id, "status": self.status, "answer": None, "questions": [], "answered_by": ""}

    async def wait(self, id, timeout):
        return await self.interaction(id)


def desk(gateway: Gateway, clock: ManualClock) -> Desk:
    return Desk(gateway, ("alice",), calls=Calls(lambda: clock() / 1_000_000))


async def again(of: Desk, **by: str) -> str:
    try:
        return (await of.ask("Which?", "", [], Asks(**by)))["id"]
    except GatewayUnavailable:
        return "lost"


async def test_law_4_a_question_whose_id_was_lost_is_not_asked_twice():
    gateway, clock = Gateway(), ManualClock()
    here = desk(gateway, clock)
    gateway.loses = True
    assert await again(here, request="1") == "lost"
    gateway.loses = False
    clock.advance(SOON)
    assert await again(here, request="2") == "0"


async def test_what_is_called_again_much_later_is_new_unless_its_question_is_open():
    gateway, clock = Gateway(), ManualClock()
    here = desk(gateway, clock)
    assert await again(here, request="1") == "0"
    clock.advance(SOON + 1)
    assert await again(here, request="2") == "0"
    clock.advance(SOON + 1)
    gateway.status = "cancelled"
    assert await again(here, request="3") == "1"


async def test_a_request_that_is_sent_again_gets_the_first_outcome_again_and_another_one_asks_anew():
    gateway = Gateway()
    here = desk(gateway, ManualClock())
    gateway.status = "cancelled"
    assert [await again(here, request=id) for id in ("1", "1", "2")] == ["0", "0", "1"]


async def test_the_requests_of_two_sessions_are_told_apart_and_a_key_of_ones_own_is_the_same_in_both():
    gateway, clock = Gateway(), ManualClock()
    first, second = desk(gateway, clock), desk(gateway, clock)
    assert [await again(each, request="1") for each in (first, second)] == ["0", "1"]
    assert [await again(each, key="k") for each in (first, second)] == ["2", "2"]
