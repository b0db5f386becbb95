"""What names a person by their account is found by exactly that account, whatever signs are in it."""

import pytest

from answerback.store import Store, Tx, effacing, pace

DAY = 86_400_000_000  # microseconds
OF = "whose:memory"


@pytest.mark.parametrize("hers", ["a_b", "a%b", "a!b", r"a\b", "!%_"])
@pytest.mark.parametrize("other", ["a-b", "a--b", "a!!b", r"a\\b", "ab", "!!!%!_"])
async def test_when_she_was_told_something_goes_and_what_others_were_told_stays(
    store: Store, hers: str, other: str
) -> None:
    def tx(tx: Tx) -> list[bool]:
        for account in (hers, other):
            pace.once(tx, OF, f"place:{account}", DAY)
        effacing.paces(tx, "memory", hers, hers)
        return [pace.once(tx, OF, f"place:{account}", DAY) for account in (hers, other)]

    assert await store.write(tx) == [True, False]
