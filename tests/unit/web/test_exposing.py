"""The metrics listener: what it shows, to whom, and what is never in it."""

import asyncio
import socket

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from answerback.cli.serving import exposed
from answerback.metrics import ABOUT, Metric, Metrics
from answerback.web.exposing import expose
from tests.support.databases import Database
from tests.support.gateway import gateway
from tests.unit.web.fakes import World


def client(metrics: Metrics) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(expose(metrics)), base_url="http://127.0.0.1")


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
    assert set(ABOUT) == set(Metric)


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


async def test_without_an_address_for_them_nothing_listens(database: Database) -> None:
    async with gateway(database) as g, exposed(g.app, None):
        assert g.app.settings.metrics == ""
