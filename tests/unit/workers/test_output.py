"""What is shown of a worker's output: a few lines, whole or cut, and how much was not shown."""

import asyncio

import pytest

from answerback.workers.output import BURST, LONGEST_LINE, Printed


class Output:
    """An output whose clock is set by hand."""

    def __init__(self) -> None:
        self.now, self.shown = 0.0, list[str]()
        self.printed = Printed(self.shown.append, lambda: self.now)

    def prints(self, *parts: bytes) -> list[str]:
        """What is shown of these, just now."""
        before = len(self.shown)
        for part in parts:
            self.printed.data_received(part)
        return self.shown[before:]

    def ends(self) -> list[str]:
        before = len(self.shown)
        self.printed.connection_lost(None)
        return self.shown[before:]


@pytest.fixture
async def output() -> Output:
    return Output()


async def test_lines_are_shown_as_soon_as_they_are_whole(output: Output) -> None:
    assert output.prints(b"one\ntw", b"o\r\n", b"\n\xff\n") == ["one", "two", "�"]
    assert output.prints(b"three") == []
    assert output.ends() == ["three"]


async def test_a_long_line_is_cut_and_the_next_one_is_whole(output: Output) -> None:
    long = b"x" * LONGEST_LINE
    assert output.prints(long, b"yy", b"y" * 1000 + b"\nnext\n") == [long.decode() + " …", "next"]


async def test_after_a_burst_lines_are_counted_until_some_time_has_passed(output: Output) -> None:
    many = b"".join(b"%d\n" % number for number in range(100))
    assert output.prints(many) == [str(number) for number in range(BURST)]
    assert output.prints(b"a\nb") == []
    output.now = 1.0
    assert output.prints(b"b\nc\n") == ["c"]  # never half a line
    assert output.ends() == ["… 82 more lines are not shown (244 bytes)"]


async def test_a_line_that_had_begun_when_the_burst_was_over_is_not_shown_in_halves(output: Output) -> None:
    output.prints(b"x\n" * BURST)
    output.now = 0.2
    assert output.prints(b"begins", b" and ends\nmore\n") == ["begins and ends"]
    assert output.prints(b"begins") == []
    output.now = 10.0
    assert output.prints(b" later\nwhole\n") == ["whole"]


async def test_lines_without_anything_in_them_cost_no_turn(output: Output) -> None:
    assert output.prints(b"\n" * 1000 + b"a\n") == ["a"]


async def test_the_last_words_are_known_even_when_they_were_not_shown(output: Output) -> None:
    output.prints(b"x\n" * 1000, b"the ", b"end\n\n")
    assert output.printed.last_words == "the end"
    assert Printed(print).last_words == ""


async def test_the_end_is_told(output: Output) -> None:
    assert not output.printed.over.done()
    output.ends()
    await asyncio.wait_for(output.printed.over, 1)
