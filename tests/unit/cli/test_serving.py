"""What `serve` says about its keys, and its server when there is nothing to do."""

import asyncio
import logging
import socket
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr
from starlette.responses import Response

from answerback.cli.serving import Server, server_config, with_key
from answerback.errors import ConfigurationError
from answerback.settings import ApiKey, Settings


def test_a_key_that_can_be_guessed_is_named(caplog: pytest.LogCaptureFixture) -> None:
    short, long = ApiKey("ci", SecretStr("a" * 15)), ApiKey("phone", SecretStr("b" * 16))
    hashed = ApiKey("hashed", key_sha256="0" * 64)
    settings = Settings(api_keys=(short, long, hashed))
    with caplog.at_level(logging.WARNING):
        assert with_key(settings) is settings
    said = [record.getMessage() for record in caplog.records]
    assert said == ["the API key ci is short enough to be guessed; make one with: openssl rand -hex 24"]


def test_without_a_key_one_is_made_once(tmp_path: Path) -> None:
    settings = Settings(data_dir=str(tmp_path))
    (made,), (again,) = with_key(settings).api_keys, with_key(settings).api_keys
    assert made == again and made.key is not None and len(made.key.get_secret_value()) >= 32


def test_a_file_that_holds_no_key_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "api-key").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="holds no key"):
        with_key(Settings(data_dir=str(tmp_path)))


async def test_a_server_ends_when_it_is_told_to() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    started = asyncio.Event()
    server = Server(server_config(Response("here")), started.set)
    serving = asyncio.create_task(server.serve([listener]))
    await started.wait()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}") as http:
        assert (await http.get("/")).text == "here"
    server.stop()
    async with asyncio.timeout(30):
        await serving
