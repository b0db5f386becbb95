"""Law 11: no log line has a token, an answer or a phone number."""

import logging

import pytest

from answerback.web import RedactTokens, redact_path
from tests.unit.web.fakes import TOKEN


@pytest.mark.parametrize(
    ("path", "logged"),
    [
        (f"/f/{TOKEN}", "/f/…"),
        (f"/f/{TOKEN}?code=sent", "/f/…"),
        (f"/f/{TOKEN}/status", "/f/…/status"),
        (f"//f//{TOKEN}", "//f//…"),
        (f"/F/{TOKEN}", "/F/…"),
        (f"/%66/{TOKEN}", "/f/…"),
        (f"/f%2F{TOKEN}", "/f/…"),
        (f"/prefix/f/{TOKEN}", "/prefix/f/…"),
        ("/v1/runs?after=secret", "/v1/runs"),
        ("/v1/interactions/0193-a1/respond", "/v1/interactions/0193-a1/respond"),
        ("/in/telegram", "/in/telegram"),
        ("/a%0aGET /forged", "/aGET /forged"),
        ("/elf/abc", "/elf/abc"),
        ("", ""),
    ],
)
def test_tokens_and_queries_are_cut_from_paths(path, logged):
    assert redact_path(path) == logged


def test_the_access_log_of_the_server_says_no_token():
    record = logging.LogRecord(
        "uvicorn.access",
        logging.INFO,
        __file__,
        1,
        '%s - "%s %s HTTP/%s" %d',
        ("127.0.0.1:5", "GET", f"/f/{TOKEN}?code=sent", "1.1", 200),
        None,
    )
    assert RedactTokens().filter(record)
    assert record.getMessage() == '127.0.0.1:5 - "GET /f/… HTTP/1.1" 200'


def test_other_records_pass_as_they_are():
    record = logging.LogRecord("uvicorn.access", logging.INFO, __file__, 1, "started", None, None)
    assert RedactTokens().filter(record) and record.getMessage() == "started"
