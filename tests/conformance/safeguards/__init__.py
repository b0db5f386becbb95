"""The safeguards, as data: where each stands, what is left without it, and the test that then fails."""

from tests.conformance.safeguards.at_once import OF_TWO_AT_ONCE
from tests.conformance.safeguards.binding import OF_BINDING
from tests.conformance.safeguards.door import OF_DOOR
from tests.conformance.safeguards.intake import OF_INTAKE
from tests.conformance.safeguards.stand_ins import OF_STAND_INS

MUTANTS = (*OF_BINDING, *OF_INTAKE, *OF_DOOR, *OF_STAND_INS, *OF_TWO_AT_ONCE)
