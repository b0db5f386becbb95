"""Agents in processes of their own: one that blocks, leaks or crashes takes nothing else with it (law 10).

`frames` and `codec` are what both sides speak, `process` and `agent` the gateway's side, `inside` the
worker's. A worker is told what to run, secrets included, over a private socket.
"""

from answerback.workers.agent import WorkerAgent
from answerback.workers.configured import in_workers
from answerback.workers.process import Patience

__all__ = ["Patience", "WorkerAgent", "in_workers"]
