"""What each figure must reach."""

from tests.bench.measure import Target

DATABASES = ("sqlite", "postgresql")
AT_ONCE = {"c1": 1, "c50": 50}
# In this order: an answer uses up what the others look at.
GROWING = ("ask", "claim", "match", "sweep", "inbox", "answer")


def _least(bound: float) -> Target:
    return Target(bound, at_least=True)


TARGETS: dict[str, Target] = {
    "loop_vs_langgraph.sqlite.c1": _least(0.60),
    "loop_vs_langgraph.sqlite.c50": _least(0.75),
    "loop_vs_langgraph.postgresql.c1": _least(0.60),
    "loop_vs_langgraph.postgresql.c50": _least(0.60),
    **{f"loop_cpu_vs_langgraph.{database}.{load}": Target(1.6) for database in DATABASES for load in AT_ONCE},
    "answer_overhead.sqlite.c1.p50": Target(0.7),
    "answer_overhead.sqlite.c1.p95": Target(1.5),
    "answer_overhead.sqlite.c50.p50": Target(0.6),
    "answer_overhead.sqlite.c50.p95": Target(1.0),
    **{f"answer_overhead.postgresql.{load}.p50": Target(1.0) for load in AT_ONCE},
    **{f"answer_overhead.postgresql.{load}.p95": Target(2.0) for load in AT_ONCE},
    "intake_vs_limit": _least(0.30),
    **{f"growth.{what}.p50": Target(1.3) for what in GROWING},
    **{f"growth.{what}.p95": Target(1.5) for what in GROWING},
    "growth.memory": Target(1.2),
    "idle_cpu": Target(0.2),
    "cli_start": Target(1.4),
    "peers.langgraph-external-hitl.rate": _least(2),
    "peers.langgraph-external-hitl.latency.c1": Target(0.6),
    "peers.langgraph-external-hitl.latency.c20": Target(0.15),
    "peers.awaithumans.rate": _least(10),
    "peers.awaithumans.latency": Target(0.05),
}
