"""Graphs that are made at random, as they stand on a server."""

import os

from tests.flow.langgraph.made import held
from tests.flow.langgraph.programs import Program, of_size, on_a_server

FEW, MANY = (4, 5, 6, 187, 286), range(1000, 1060)


def made(seed: int) -> Program:
    return on_a_server(of_size(seed, 40))


# Those that the server has: it loads this file once for each of them.
globals().update({f"made_{seed}": held(made(int(seed))) for seed in os.environ.get("MADE", "").split()})
