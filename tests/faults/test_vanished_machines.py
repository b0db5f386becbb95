"""A machine that vanishes takes nothing along that another one needs: its locks are free within a minute."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.vanishing import ALONE

pytestmark = pytest.mark.needs_extra("langgraph", "postgres")


def test_law_3_the_lock_of_a_worker_whose_machine_has_vanished_is_soon_another_ones() -> None:
    if subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("This kernel lets nobody have a network of their own.")
    command = [*ALONE, sys.executable, "-m", "tests.faults.vanishing"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=Path(__file__).parents[2]
    )
    assert done.stdout.split() == ["held", "free"], done.stderr
