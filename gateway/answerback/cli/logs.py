"""The log of `serve`: a line an event on stderr, with time, level and event; as text or as JSON."""

import datetime
import json
import logging
import sys

from answerback.cli.unhindered import Unhindered
from answerback.tracebacks import Discreet

# What these say at INFO is of no use to whoever runs a gateway, or holds addresses with secrets in them.
QUIET = ("aiosqlite", "alembic", "apscheduler", "asyncio", "httpcore", "httpx", "telegram", "uvicorn.error")
_KNOWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


def start(*, as_json: bool, debug: bool) -> None:
    """Set up logging for this process. `debug` shows more of answerback, never of the libraries."""
    handler = Unhindered(sys.stderr)
    handler.setFormatter(JsonLines() if as_json else TextLines())
    handler.addFilter(one_line)
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.captureWarnings(True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    if debug:
        for name in ("answerback", "answerback_providers", "answerback_agents"):
            logging.getLogger(name).setLevel(logging.DEBUG)


def one_line(record: logging.LogRecord) -> bool:
    """A text from outside must not look like another event."""
    text = record.getMessage()
    if not text.isprintable():
        record.msg, record.args = "".join(mark if mark.isprintable() else " " for mark in text), ()
    return True


class TextLines(Discreet):
    """`2026-11-21T14:02:00.123Z INFO answerback.deliver: sent interaction=…`."""

    def format(self, record: logging.LogRecord) -> str:
        more = "".join(f" {name}={value}" for name, value in _extra(record).items())
        line = f"{_time(record)} {record.levelname} {record.name}: {record.getMessage()}{more}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonLines(Discreet):
    """The same as an object: time, level, logger, event, and what came with it."""

    def format(self, record: logging.LogRecord) -> str:
        found = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **_extra(record),
        }
        if record.exc_info:
            found["traceback"] = self.formatException(record.exc_info)
        return json.dumps(found, default=str)


def _extra(record: logging.LogRecord) -> dict[str, object]:
    return {name: value for name, value in vars(record).items() if name not in _KNOWN}


def _time(record: logging.LogRecord) -> str:
    when = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
