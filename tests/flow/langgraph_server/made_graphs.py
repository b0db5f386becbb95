"""Graphs that are made at random, as they stand on a server."""

from tests.flow.langgraph.made import held
from tests.flow.langgraph.programs import Program, of_size, on_a_server

FEW, MANY = (4, 5, 6, 187, 286), range(1000, 1060)


def made(seed: int) -> Program:
    return on_a_server(of_size(seed, 40))


globals().update({f"made_{seed}": held(made(seed)) for seed in (*FEW, *MANY)})
