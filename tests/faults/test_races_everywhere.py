"""Law 2 on all ways at once: Telegram, WhatsApp, mail, form, API, expiry and cancel leave one winner."""

import contextlib
import random
import socket
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from answerback.settings import Route
from answerback.testing import ManualClock, ScriptedAgent
from answerback_sandbox import Sandbox
from tests.faults.racing import DEADLINE, race
from tests.faults.racing_places import PATIENCE, ByMail, Everywhere, OnWhatsApp
from tests.faults.test_races import MANY_ROUNDS, OnTelegram, agents
from tests.flow.test_intake import until
from tests.providers.email.replies import OURS
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway
from tests.support.services import PLACES, contact, services, several_couriers
from tests.support.serving import served

pytestmark = pytest.mark.needs_extra("telegram", "whatsapp", "email")
# WhatsApp and mail look at the real time too. Each race may bring the gateway's forward by its deadline, so
# it begins in the past: a mail then bears the time that it is written at, for the first hundred deadlines.
HOURS_AGO = 20
ROUNDS = 8  # each sends six copies and hears of each: as long as twenty races at one place
ROUTE = Route("default", ("ana", "ben"), PLACES, at_once=True, expires_in=DEADLINE)


@contextlib.asynccontextmanager
async def everywhere(
    database: Database, asking: list[ScriptedAgent]
) -> AsyncIterator[tuple[Gateway, Everywhere]]:
    """A gateway that asks two people, each at three places, and hears them at all of these."""
    clock = ManualClock(time.time_ns() // 1000 - HOURS_AGO * 3_600_000_000)
    lmtp = str(database.data_dir / "lmtp")
    async with contextlib.AsyncExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        box = await stack.enter_async_context(Sandbox.start(clock=clock))
        box.add_person(2002, "Ben")
        box.twilio.webhook(f"{url}/in/whatsapp")
        g = await stack.enter_async_context(
            gateway(
                database, *asking, providers=services(box, url, lmtp=lmtp, authserv_id=OURS), clock=clock,
                public_url=url,
                contacts={person.name.lower(): contact(person) for person in box.everyone},
                routes={"default": ROUTE},
            )
        )  # fmt: skip
        await stack.enter_async_context(served(g.app, listener))
        await stack.enter_async_context(several_couriers(box))
        await until(Path(lmtp).exists)
        numbers = tuple(person.whatsapp for person in box.everyone)
        for number in numbers:  # so that WhatsApp takes more than a template for a day
            box.twilio.type(number, "hello")
            await box.wait_for(partial(box.twilio.received, number), PATIENCE)
        await g.app.idle()
        mails = tuple(person.mail for person in box.everyone)
        yield (
            g,
            Everywhere(
                g,
                {
                    "telegram": OnTelegram(g, box),
                    "whatsapp": OnWhatsApp(g, box, numbers),
                    "email": ByMail(g, box, lmtp, mails),
                },
            ),
        )


async def raced(database: Database, rounds: int, seed: int) -> None:
    asking, chance = agents(), random.Random(seed)  # noqa: S311 - replayable, no secret
    async with everywhere(database, asking) as (g, phones):
        for _ in range(rounds):
            await race(g, phones, chance.choice(asking), chance)


async def test_answers_by_telegram_whatsapp_mail_form_and_api_at_one_moment_have_one_winner(
    database: Database,
) -> None:
    await raced(database, ROUNDS, seed=5)


@pytest.mark.slow
async def test_five_hundred_races_everywhere_have_one_winner_each(database: Database) -> None:
    await raced(database, MANY_ROUNDS, seed=6)
