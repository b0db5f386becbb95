"""Bad input at every door: refused or survived, counted, said in a line without a word of what came."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from answerback.metrics import Metric
from answerback.model import InteractionStatus
from tests.intake.doors import SECRETS, Door, World, world_in
from tests.intake.malformed import BODIES
from tests.intake.table import DOORS, NAMES, standard

pytestmark = pytest.mark.needs_extra("telegram", "whatsapp")
each_door = pytest.mark.parametrize("door", DOORS, ids=NAMES)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with world_in(tmp_path) as found:
        yield found


def said(caplog: pytest.LogCaptureFixture, start: int) -> list[str]:
    """What was logged since, whole records, by us."""
    found = [record for record in caplog.records[start:] if record.name.startswith("answerback")]
    return [f"{record.getMessage()} {record.exc_text} {vars(record)}" for record in found]


def is_clean(world: World, caplog: pytest.LogCaptureFixture) -> bool:
    """Law 11: nothing that must stay secret stands in any line of the gateway's log."""
    ours = [record for record in caplog.records if not record.name.startswith("httpx")]  # the test's client
    logged = "\n".join(f"{record.getMessage()} {record.exc_text} {vars(record)}" for record in ours)
    token = world.form.rpartition("/")[2]
    return [secret for secret in (*SECRETS, token) if secret in logged] == []


@each_door
async def test_a_good_request_is_taken(world: World, door: Door) -> None:
    assert 200 <= await world.good(door, 1) < 400
    assert await door.took(world)


@each_door
async def test_without_proof_nothing_is_taken_and_the_refusal_is_counted_and_logged(
    world: World, door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    body = await door.good(world, 1)
    for name, headers in door.unproved.items():
        before, start = world.app.context.metrics.of(Metric.REFUSED, door.intake), len(caplog.records)
        assert await world.post(door, body, headers(world, body)) in (401, 403), name
        assert world.app.context.metrics.of(Metric.REFUSED, door.intake) == before + 1, name
        assert any("a request was refused" in line for line in said(caplog, start)), name
    assert await world.status() is InteractionStatus.PENDING
    assert world.app.context.metrics.of(Metric.EVENTS) == 0
    assert is_clean(world, caplog)
    assert 200 <= await world.good(door, 1) < 400
    assert await door.took(world)


@each_door
async def test_a_malformed_body_harms_nothing_whoever_it_comes_from(
    world: World, door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    for name, body in BODIES.items():
        before, start = world.counted(), len(caplog.records)
        assert await world.send(door, await door.wrap(world, body)) < 500, name
        assert world.counted() == before + 1, name
        assert said(caplog, start), name
        assert await world.status() is InteractionStatus.PENDING, name
    assert is_clean(world, caplog)
    assert 200 <= await world.good(door, 1) < 400
    assert await door.took(world)


@each_door
async def test_the_same_request_again_changes_nothing(world: World, door: Door) -> None:
    body = await door.good(world, 1)
    assert 200 <= await world.send(door, body) < 400
    events = world.app.context.metrics.of(Metric.EVENTS)
    before = world.counted()
    assert await world.send(door, body) == door.again
    assert await door.took(world)
    assert world.counted() == before + 1
    if door.again == 200:
        assert world.app.context.metrics.of(Metric.EVENTS, door.intake, "duplicate") == 1
        assert world.app.context.metrics.of(Metric.EVENTS) == events + 1


@each_door
async def test_events_that_come_in_another_order_are_all_taken_and_the_first_to_come_counts(
    world: World, door: Door
) -> None:
    for number in (3, 1, 2):
        status = await world.good(door, number)
        assert status < 400 or (number != 3 and status == door.again)
    assert await door.took(world)
    assert world.app.context.metrics.of(Metric.EVENTS, door.intake, "accepted") <= 1


@each_door
async def test_the_same_request_ten_times_at_once_counts_once(world: World, door: Door) -> None:
    body = await door.good(world, 1)
    statuses = await asyncio.gather(*(world.send(door, body) for _ in range(10)))
    assert await door.took(world)
    assert all(status < 400 or status == door.again for status in statuses)
    if door.again == 200:
        metrics = world.app.context.metrics
        assert metrics.of(Metric.EVENTS, door.intake, "duplicate") == 9


@each_door
async def test_repeated_parameters_of_the_query_decide_nothing(world: World, door: Door) -> None:
    body = await door.good(world, 1)
    assert await world.send(door, body, "?delivery=a&delivery=b&delivery=%00&=&&x=%FF&token=") < 500
    assert is_what_it_was_or_taken(await world.status())
    assert await world.good(door, 2) < 500


def is_what_it_was_or_taken(status: InteractionStatus) -> bool:
    return status in (InteractionStatus.PENDING, InteractionStatus.COMPLETED)


@pytest.mark.parametrize("right_first", [True, False])
@pytest.mark.parametrize("place", [0, 1, 3], ids=["telegram", "whatsapp", "webhook"])
async def test_a_second_proof_beside_the_first_is_no_proof(
    world: World, place: int, right_first: bool
) -> None:
    door = DOORS[place]
    body = await door.good(world, 1)
    right = await door.prove(world, body, "")
    name = list(right)[-1]
    pairs = [*right.items(), (name, "forged")] if right_first else [(name, "forged"), *right.items()]
    headers = [("content-type", door.content_type), *pairs]
    answer = await world.client.post(door.path(world), content=body, headers=headers)
    standard_webhooks_takes_any_of_several = door.intake == "webhook"
    assert answer.status_code == 403 or standard_webhooks_takes_any_of_several


async def test_a_signature_is_not_good_for_another_event(world: World) -> None:
    door = DOORS[3]
    first, second = await door.good(world, 1), await door.good(world, 2)
    headers = standard(first, id="msg_1") | {"webhook-id": "msg_2"}
    assert await world.post(door, first, headers) == 403
    assert await world.post(door, second, standard(first, id="msg_1")) == 403


async def test_what_strangers_call_a_provider_becomes_no_label(world: World) -> None:
    for name in ("nobody-has-this", "..%2f..", "a" * 64):
        await world.client.post(f"/in/{name}", content=b"{}")
        await world.client.request("DELETE", f"/in/{name}")
        await world.client.request("BREW", f"/in/{name}")
    labels = {key[1][0] for key in world.app.context.metrics._counts if key[0] is Metric.REFUSED}
    assert labels <= {"unknown", "other"}
