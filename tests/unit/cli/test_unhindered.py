"""The log of `serve`: whoever reads it may stop reading, and holds up nobody."""

import fcntl
import io
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import IO, Any

import pytest

from answerback.cli import unhindered
from answerback.cli.logs import JsonLines, TextLines
from answerback.cli.unhindered import Unhindered

PATIENCE = 20.0  # seconds until a test gives up; nothing waits that long


@pytest.fixture
def pipe() -> Iterator[tuple[IO[str], IO[str]]]:
    """A small pipe: who reads, and who writes."""
    read, write = os.pipe()
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    with os.fdopen(read, encoding="utf-8") as reader, os.fdopen(write, "w", encoding="utf-8") as writer:
        yield reader, writer


def log(handler: logging.Handler, text: str) -> None:
    handler.handle(logging.LogRecord("answerback.test", logging.INFO, "", 0, text, (), None))


def written_by(stream: Any, formatter: logging.Formatter | None = None) -> Unhindered:
    handler = Unhindered(stream)
    handler.setFormatter(formatter or logging.Formatter("%(message)s"))
    return handler


def in_time(what: threading.Thread) -> bool:
    what.start()
    what.join(PATIENCE)
    return not what.is_alive()


def test_lines_come_in_their_order(pipe: tuple[IO[str], IO[str]]) -> None:
    reader, writer = pipe
    handler = written_by(writer)
    for number in range(100):
        log(handler, f"line {number} ☕")
    assert [reader.readline() for _ in range(100)] == [f"line {number} ☕\n" for number in range(100)]


def test_who_logs_is_not_held_up_by_who_reads_nothing_and_the_rest_is_told_later(
    pipe: tuple[IO[str], IO[str]],
) -> None:
    reader, writer = pipe
    handler = written_by(writer, TextLines())
    line = "x" * 1000

    def busy() -> None:
        for _ in range(5000):
            log(handler, line)

    assert in_time(threading.Thread(target=busy, daemon=True)), "the log held up whoever wrote to it"
    read = 0
    while "are left out here" not in (last := reader.readline()):
        assert last.endswith(f"INFO answerback.test: {line}\n")
        read += 1
    assert f"nobody read this log for a while; {5000 - read} events are left out here" in last
    assert read * 1000 < 2 * unhindered.MOST
    log(handler, "again")
    assert reader.readline().endswith("INFO answerback.test: again\n")


def test_what_is_left_out_is_said_in_the_form_of_the_log(pipe: tuple[IO[str], IO[str]]) -> None:
    reader, writer = pipe
    handler = written_by(writer, JsonLines())
    for _ in range(2000):
        log(handler, "x" * 1000)
    while (said := json.loads(reader.readline()))["event"].startswith("x"):
        pass
    assert (said["level"], said["logger"]) == ("warning", "answerback.log")


def test_the_last_line_is_written_before_the_process_ends() -> None:
    code = (
        "import logging, sys\n"
        "from answerback.cli import logs\n"
        "logs.start(as_json=False, debug=False)\n"
        "logging.getLogger('answerback').error('the last word')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert ended.stderr.endswith("ERROR answerback: the last word\n")


def test_a_process_ends_though_nobody_reads_its_log() -> None:
    code = (
        "import logging, sys\n"
        "from answerback.cli import logs\n"
        "logs.start(as_json=False, debug=False)\n"
        "for _ in range(5000): logging.getLogger('answerback').error('x' * 1000)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    try:
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.communicate()


def test_a_reader_that_is_gone_and_a_stream_that_is_no_file_do_no_harm() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", encoding="utf-8") as gone:
        handler = written_by(gone)
        log(handler, "to nobody")
        handler.flush()
        kept = io.StringIO()
        handler.setStream(kept)
        log(handler, "to somebody")
        handler.flush()
        assert kept.getvalue() == "to somebody\n"
