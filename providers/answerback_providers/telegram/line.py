"""The line to the Bot API: what python-telegram-bot asks of a transport.

Three reasons for our own: httpx logs every URL, and the token is part of it; python-telegram-bot does
not say whether a request that failed had already left; and `getUpdates` is needed as raw JSON, because
one update that its classes cannot read would hide all others.
"""

import ipaddress
import json
import logging
from typing import Any
from urllib.parse import urlsplit

from telegram.error import TelegramError
from telegram.request import BaseRequest, RequestData

from answerback.provider import Http, Json
from answerback.provider import NoAnswer as NothingBack
from answerback.provider import Unreachable as NotSent

ANSWER_LIMIT = 64 * 1024 * 1024  # bytes of one answer; 100 updates are far less


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

    __slots__ = ("_http", "_timeout")

    def __init__(self, api_base: str, timeout: float) -> None:
        self._timeout = timeout
        self._http = Http(proxies=not is_loopback(urlsplit(api_base).hostname or ""))

    @property
    def read_timeout(self) -> float:
        return self._timeout

    async def initialize(self) -> None:
        """Nothing: the first request connects."""

    async def shutdown(self) -> None:
        await self._http.close()

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
        self, method: str, url: str, fields: dict[str, str], *, wait: float = 0, limit: int = ANSWER_LIMIT
    ) -> bytes:
        failure: TelegramError
        try:
            reply = await self._http.call(
                method, url, seconds=self._timeout + wait, limit=limit, data=fields or None
            )
        except NotSent as error:
            failure = Unreachable(error.what)
        except NothingBack as error:
            failure = NoAnswer(error.what)
        else:
            if 200 <= reply.status <= 299 and not reply.cut:
                return reply.body
            failure = refusal(413 if 200 <= reply.status <= 299 else reply.status, reply.body)
        raise failure


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
