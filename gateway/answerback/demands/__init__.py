"""Demands: what an answer has to fit beyond the kind of its question, as JSON Schema, and whether it does.

Read are: types, enumerations, limits of numbers, texts, lists and objects, steps, patterns, formats, items,
properties that are named, needed or further ones, unions, and references into the schema itself (JSON Schema
2020-12). What is not read forbids nothing. No answer makes a check run long, whatever a schema says: patterns
are matched in linear time, and what takes too many steps is refused.
"""

from answerback.demands.bundling import bundled
from answerback.demands.checking import first
from answerback.demands.flaws import Faults, faults
from answerback.demands.lines import one_a_line
from answerback.demands.need import Need, needs
from answerback.demands.shapes import Shape, branches, inline, resolved, sample

__all__ = [
    "Faults",
    "Need",
    "Shape",
    "branches",
    "bundled",
    "faults",
    "first",
    "inline",
    "needs",
    "one_a_line",
    "resolved",
    "sample",
]
