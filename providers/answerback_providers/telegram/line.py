"""The line to the Bot API: what python-telegram-bot asks of a transport, over aiohttp.

Three reasons for our own: httpx logs every URL, and the token is part of it; python-telegram-bot does
not say whether a request that failed had already left; and `getUpdates` is needed as raw JSON, because
one update that its classes cannot read would hide all others.
"""

import ipaddress
import json
import logging
import ssl
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import certifi
from telegram.error import TelegramError
from telegram.request import BaseRequest, RequestData

from answerback.provider import Json

CONNECT_SECONDS = 10.0
NOT_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL)


class Refusal(TelegramError):
    """The Bot API answered with an error (https://core.telegram.org/bots/api#making-requests)."""

    def __init__(self, status: int, description: str, parameters: dict[str, Json]) -> None:
        self.status, self.description, self.parameters = status, description, parameters
        super().__init__(f"{status}: {description}")


class Unreachable(TelegramError):
    """No connection: the request never left."""


class NoAnswer(TelegramError):
    """The request left, and nothing readable came back: it may or may not have been carried out."""


class Line(BaseRequest):
    """One connection pool to `api_base`. `timeout` is seconds for a whole request."""

    __slots__ = ("_outside", "_secure", "_session", "_timeout")

    def __init__(self, api_base: str, timeout: float) -> None:
        address = urlsplit(api_base)
        self._timeout = timeout
        self._secure = address.scheme == "https"
        self._outside = not is_loopback(address.hostname or "")
        self._session: aiohttp.ClientSession | None = None

    @property
    def read_timeout(self) -> float:
        return self._timeout

    async def initialize(self) -> None:
        """Nothing: the session is made by the first request, inside the loop that uses it."""

    async def shutdown(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = None,
        write_timeout: Any = None,
        connect_timeout: Any = None,
        pool_timeout: Any = None,
    ) -> tuple[int, bytes]:
        """What python-telegram-bot calls; our one timeout stands for its four. Raises like `call`."""
        payload = await self._exchange(method, url, request_data.json_parameters if request_data else {})
        result_of(payload)  # python-telegram-bot would log the payload of an answer it cannot read
        return 200, payload

    async def call(self, url: str, fields: dict[str, str], *, wait: float = 0) -> Json:
        """The raw `result` of a method that may take `wait` seconds more than others.

        Raises `Refusal`, `Unreachable` or `NoAnswer`, none of which carries the URL.
        """
        return result_of(await self._exchange("POST", url, fields, wait=wait))

    async def download(self, url: str, limit: int) -> bytes:
        """A file of at most `limit` bytes. Raises like `call`; status 413: it is larger, 410: it is gone."""
        try:
            return await self._exchange("GET", url, {}, limit=limit)
        except Refusal as error:
            if error.status != 404:  # of a method it would mean that the token is wrong
                raise
        raise Refusal(410, "the file is gone", {})

    async def _exchange(
        self, method: str, url: str, fields: dict[str, str], *, wait: float = 0, limit: int = 0
    ) -> bytes:
        seconds = self._timeout + wait
        timeout = aiohttp.ClientTimeout(total=seconds, connect=min(seconds, CONNECT_SECONDS))
        failure: TelegramError
        try:
            async with self._open().request(
                method, url, data=fields or None, timeout=timeout, allow_redirects=False
            ) as answer:
                payload = await (answer.content.read(limit + 1) if limit else answer.read())
                while limit and len(payload) <= limit and (more := await answer.content.read(limit)):
                    payload += more
                status = answer.status
        except NOT_SENT as error:
            failure = Unreachable(type(error).__name__)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            failure = NoAnswer(type(error).__name__)
        else:
            if 200 <= status <= 299 and not (limit and len(payload) > limit):
                return payload
            failure = refusal(413 if 200 <= status <= 299 else status, payload)
        raise failure  # out of the except block: the library's error, with the URL, is no context of ours

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            # A machine without certificates of its own still has those that httpx ships with.
            context = ssl.create_default_context() if self._secure else None
            if context is not None:
                context.load_verify_locations(certifi.where())
            connector = aiohttp.TCPConnector(ssl=context) if context else aiohttp.TCPConnector()
            self._session = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=self._outside
            )
        return self._session


def is_loopback(host: str) -> bool:
    """Whether a host name or IP address means this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def decoded(payload: bytes) -> dict[str, Json]:
    """The JSON object that every answer is; `{}` for anything else."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def result_of(payload: bytes) -> Json:
    """What the call returned; `NoAnswer` if the payload is not an answer of the Bot API."""
    value = decoded(payload)
    if value.get("ok") is not True or "result" not in value:
        raise NoAnswer("an answer that is not one of the Bot API")
    return value["result"]


def refusal(status: int, payload: bytes) -> Refusal:
    """The error in an answer, whatever stands in it."""
    value = decoded(payload)
    description, parameters = value.get("description"), value.get("parameters")
    return Refusal(
        status,
        description if isinstance(description, str) else "",
        parameters if isinstance(parameters, dict) else {},
    )


class _Quiet(logging.Filter):
    """python-telegram-bot logs the token and every text at DEBUG: only its warnings pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING


logging.getLogger("telegram.Bot").addFilter(_Quiet())
