"""The mutants are not stale: what each removes still stands in the source, once, and so does its test."""

import ast

import pytest

from tests.conformance.mutants import ROOT
from tests.conformance.safeguards import MUTANTS
from tests.conformance.safeguards.mutant import Mutant

PROMISED = (
    "strict resume",
    "digest check",
    "lease",
    "compare and set",
    "dedupe",
    "authorisation",
    "read-back",
    "commit before the acknowledgement",
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.safeguard)
def test_a_mutant_removes_something_that_is_there(mutant: Mutant) -> None:
    source = (ROOT / mutant.file).read_text()
    assert source.count(mutant.old) == 1
    ast.parse(source.replace(mutant.old, mutant.new))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.safeguard)
def test_a_mutant_names_a_test_that_is_there(mutant: Mutant) -> None:
    file, _, name = mutant.test.partition("::")
    function = name.rpartition("::")[2].partition("[")[0]
    assert f"def {function}(" in (ROOT / file).read_text()


@pytest.mark.parametrize("word", PROMISED)
def test_every_safeguard_that_is_promised_has_a_mutant(word: str) -> None:
    assert [mutant.safeguard for mutant in MUTANTS if word in mutant.safeguard]


def test_every_safeguard_has_a_name_of_its_own() -> None:
    assert len({mutant.safeguard for mutant in MUTANTS}) == len(MUTANTS)
