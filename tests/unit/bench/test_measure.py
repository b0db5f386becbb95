"""Ratios, medians, percentiles: what the benchmark's figures are made of. Nothing here measures time."""

import json
from pathlib import Path

import pytest

from tests.bench.measure import (
    Figure,
    Target,
    alternate,
    figure,
    figures_of_latency,
    interleave,
    percentile,
)
from tests.bench.report import table, write
from tests.bench.targets import TARGETS


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, 1), (0.25, 1), (0.50, 2), (0.75, 3), (0.95, 4), (1.0, 4)]
)
def test_a_percentile_is_a_value_that_was_measured(share: float, expected: int) -> None:
    assert percentile([4, 1, 3, 2], share) == expected


def test_there_is_no_percentile_of_nothing() -> None:
    with pytest.raises(ValueError, match="nothing"):
        percentile([], 0.5)


def test_a_figure_is_the_median_of_the_ratios_not_the_ratio_of_the_medians() -> None:
    found = figure("f", [(1, 2), (9, 3), (4, 4)])
    assert found.value == 1 and found.spread == (0.5, 3)
    assert found.absolute == (4, 3)


def test_one_disturbed_alternation_does_not_move_a_figure() -> None:
    steady = [(2.0, 4.0)] * 9
    assert figure("f", [*steady, (2000.0, 1.0)]).value == 0.5


def test_without_anything_to_compare_with_there_is_no_ratio() -> None:
    with pytest.raises(ValueError, match="compare"):
        figure("f", [(1, 0)])


def test_latencies_are_compared_percentile_by_percentile() -> None:
    ours, theirs = [float(n) for n in range(1, 101)], [2.0] * 100
    p50, p95 = figures_of_latency("growth.ask", [(ours, theirs)])
    assert (p50.key, p50.value) == ("growth.ask.p50", 25)
    assert (p95.key, p95.value) == ("growth.ask.p95", 47.5)


async def test_who_goes_first_changes_and_the_first_alternation_is_not_counted() -> None:
    calls: list[str] = []

    async def ours() -> int:
        calls.append("ours")
        return len(calls)

    async def theirs() -> int:
        calls.append("theirs")
        return len(calls)

    pairs = await alternate(2, ours, theirs)
    assert calls == ["theirs", "ours", "ours", "theirs", "theirs", "ours"]
    assert pairs == [(3, 4), (6, 5)]


async def test_what_is_interleaved_changes_sides_at_every_call_and_the_first_round_is_not_counted() -> None:
    calls: list[str] = []

    async def call(side: str) -> int:
        calls.append(side)
        return len(calls)

    found = await interleave(2, 2, lambda: call("a"), lambda: call("b"))
    assert "".join(calls) == "baabbaabbaabba"
    assert found == [([7, 10], [8, 9]), ([11, 14], [12, 13])]


@pytest.mark.parametrize(
    ("target", "value", "met"),
    [
        (Target(0.6, at_least=True), 0.6, True),
        (Target(0.6, at_least=True), 0.59, False),
        (Target(1.3), 1.3, True),
        (Target(1.3), 1.31, False),
    ],
)
def test_a_target_is_met_on_its_bound(target: Target, value: float, met: bool) -> None:
    assert target.met(value) is met


def test_the_table_says_of_each_figure_whether_its_target_is_met() -> None:
    shown = table(
        [Figure("cli_start", (1.3,)), Figure("intake_vs_limit", (0.1, 0.2, 0.3)), Figure("own", (1.0,))]
    )
    header, start, intake, own = (line.split() for line in shown.splitlines())
    assert header[0] == "figure"
    assert start[-3:] == ["≤", "1.4", "met"] and start[1] == "1.3"
    assert intake[1:4] == ["0.2", "0.1", "0.3"] and intake[-3:] == ["≥", "0.3", "MISSED"]
    assert own == ["own", "1", "1", "1"]


def test_the_file_has_each_figure_under_its_key_and_what_it_was_measured_on(tmp_path: Path) -> None:
    file = tmp_path / "var" / "bench.json"
    write(file, [figure("intake_vs_limit", [(1.0, 10.0), (2.0, 10.0)])], {"machine": {"cores": 2}})
    content = json.loads(file.read_text())
    assert content["figures"] == {"intake_vs_limit": 0.15}
    assert content["spread"] == {"intake_vs_limit": [0.1, 0.2]}
    assert content["absolute"] == {"intake_vs_limit": [1.5, 10.0]}
    assert content["missed"] == ["intake_vs_limit"] and content["machine"] == {"cores": 2}


def test_every_figure_has_a_target() -> None:
    growing = {f"growth.{what}" for what in ("ask", "claim", "match", "answer", "sweep", "inbox")}
    loads = {f"{database}.{load}" for database in ("sqlite", "postgresql") for load in ("c1", "c50")}
    assert set(TARGETS) == {
        *(f"loop_vs_langgraph.{load}" for load in loads),
        *(f"loop_cpu_vs_langgraph.{load}" for load in loads),
        *(f"answer_overhead.{load}.{name}" for load in loads for name in ("p50", "p95")),
        *(f"{what}.{name}" for what in growing for name in ("p50", "p95")),
        *("intake_vs_limit", "growth.memory", "idle_cpu", "cli_start"),
        *(f"peers.langgraph-external-hitl.{what}" for what in ("rate", "latency.c1", "latency.c20")),
        *(f"peers.awaithumans.{what}" for what in ("rate", "latency")),
    }


def test_the_table_says_which_figures_are_missing() -> None:
    shown = table([Figure("cli_start", (1.3,))], ["cli_start", "idle_cpu"])
    *_, missing = (line.split() for line in shown.splitlines())
    assert missing == ["idle_cpu", "≤", "0.2", "NOT", "MEASURED"] and shown.count("cli_start") == 1
