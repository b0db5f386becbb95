"""The metrics listener: what it shows, to whom, and what is never in it."""

import asyncio
import socket
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from answerback.cli.serving import exposed
from answerback.errors import StoreUnavailable
from answerback.metrics import ABOUT, GAUGES, TIMES, Gauge, Metric, Metrics, Time
from answerback.web.exposing import Look, expose
from tests.support.databases import Database
from tests.support.gateway import gateway
from tests.unit.web.fakes import World


async def nothing() -> dict[Gauge, int]:
    return {}


def client(metrics: Metrics, look: Look = nothing) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(expose(metrics, look))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


def read(text: str) -> dict[tuple[str, ...], float]:
    """Every sample, by its name and its labels' values, in the order of the labels' names."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_prometheus_can_read_what_was_counted() -> None:
    metrics = Metrics()
    metrics.count(Metric.EVENTS, "telegram", "accepted")
    metrics.count(Metric.EVENTS, "telegram", "accepted", by=2)
    metrics.count(Metric.UNREACHED, 'odd "name"\n')
    async with client(metrics) as reader:
        answer = await reader.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert read(answer.text) == {
        ("answerback_events_total", "accepted", "telegram"): 3,
        ("answerback_unreached_total", 'odd "name"\n'): 1,
    }


async def test_every_metric_says_what_it_counts() -> None:
    async with client(Metrics()) as reader:
        text = (await reader.get("/metrics")).text
    for metric, (about, _) in ABOUT.items():
        assert f"# HELP {metric}_total {about}" in text
    for time, (about, _) in TIMES.items():
        assert f"# HELP {time} {about}" in text
    assert (set(ABOUT), set(TIMES), set(GAUGES)) == (set(Metric), set(Time), set(Gauge))


async def test_the_documentation_lists_every_metric_with_its_labels() -> None:
    page = (Path(__file__).parents[3] / "docs" / "operating.md").read_text()
    for name, (_, labels) in [*((f"{each}_total", ABOUT[each]) for each in ABOUT), *TIMES.items()]:
        assert f"| `{name}` | {', '.join(f'`{label}`' for label in labels)} |" in page
    assert all(f"| `{gauge}` | |" in page for gauge in GAUGES)


async def test_times_are_a_histogram() -> None:
    metrics = Metrics(["research"])
    for seconds in (4.9, 5.0, 5.1, 8 * 86_400):
        metrics.time(Time.ANSWER, seconds, "research", "person")
    async with client(metrics) as reader:
        found = read((await reader.get("/metrics")).text)
    labels = ("research", "person")
    counted = [
        found["answerback_answer_seconds_bucket", *labels, le] for le in ("5.0", "15.0", "604800.0", "+Inf")
    ]
    assert counted == [2, 3, 3, 4]
    assert found["answerback_answer_seconds_sum", *labels] == 4.9 + 5.0 + 5.1 + 8 * 86_400
    assert found["answerback_answer_seconds_count", *labels] == 4


async def test_an_agent_that_is_not_configured_is_counted_without_its_name() -> None:
    metrics = Metrics(["research"])
    for agent in ("research", "", "Alice's own", "x" * 200):
        metrics.count(Metric.ASKED, agent)
        metrics.time(Time.ANSWER, 1.0, agent, "api")
    async with client(metrics) as reader:
        text = (await reader.get("/metrics")).text
    assert 'asked_total{agent="research"} 1.0' in text and 'asked_total{agent=""} 3.0' in text
    assert "Alice" not in text and "xxx" not in text


async def test_the_counters_are_shown_while_the_database_is_away() -> None:
    async def away() -> dict[Gauge, int]:
        raise StoreUnavailable("The database is closed: the gateway is not running.")

    metrics = Metrics()
    metrics.count(Metric.UNREACHED, "telegram")
    async with client(metrics, away) as reader:
        answer = await reader.get("/metrics")
    assert answer.status_code == 200 and "answerback_unreached_total" in answer.text
    assert Gauge.PENDING not in answer.text


@pytest.mark.parametrize(("method", "path", "status"), [
    ("GET", "/", 404), ("GET", "/v1/interactions", 404), ("POST", "/metrics", 405), ("HEAD", "/metrics", 200),
])  # fmt: skip
async def test_there_is_nothing_else_behind_that_address(method: str, path: str, status: int) -> None:
    async with client(Metrics()) as reader:
        assert (await reader.request(method, path)).status_code == status


async def test_the_gateways_own_address_shows_no_metrics() -> None:
    async with World().client() as reader:
        assert (await reader.get("/metrics")).status_code == 404


async def test_they_are_read_on_a_socket_of_their_own(database: Database) -> None:
    async with gateway(database) as g:
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        g.app.context.metrics.count(Metric.DELIVERIES, "memory", "question", "sent")
        async with exposed(g.app, listener), httpx.AsyncClient(trust_env=False) as reader:
            async with asyncio.timeout(30):
                answer = await reader.get(f"http://127.0.0.1:{port}/metrics")
        assert read(answer.text)["answerback_deliveries_total", "question", "memory", "sent"] == 1
        assert read(answer.text)["answerback_interactions_pending",] == 0


async def test_without_an_address_for_them_nothing_listens(database: Database) -> None:
    async with gateway(database) as g, exposed(g.app, None):
        assert g.app.settings.metrics == ""
