"""The line to Twilio: what its client asks of a transport, over aiohttp.

Three reasons for our own: Twilio's logs URLs and headers at INFO, ignores its timeout, and its errors hold
neither the headers (Retry-After) nor whether a request that failed had already left.
"""

import base64
import json
import logging
import ssl
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import certifi
from twilio.http import AsyncHttpClient
from twilio.http.response import Response

from answerback.provider import Json

CONNECT_SECONDS = 10.0
ANSWER_LIMIT = 4 * 1024 * 1024  # bytes of one answer of the API
REDIRECTS = 3
NOT_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL)
# Where Twilio keeps media: https://www.twilio.com/docs/messaging/api/media-resource
MEDIA_HOSTS = (".twilio.com", ".twiliocdn.com")


class Refusal(Exception):
    """Twilio answered with an error. `retry_after` is seconds, 0 when it was not said."""

    def __init__(self, status: int, code: int, retry_after: float) -> None:
        self.status, self.code, self.retry_after = status, code, retry_after
        super().__init__(f"{status}, Twilio {code}")


class Unreachable(Exception):
    """No connection: the request never left."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)


class NoAnswer(Exception):
    """The request left, and nothing readable came back: it may or may not have been carried out."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)


class NoFile(Exception):
    """There is no such file, it is too large, or it is not at Twilio's. `why` is a sentence."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


class Line(AsyncHttpClient):  # type: ignore[misc]  # twilio ships no types
    """One connection pool. `timeout` is seconds for a whole request."""

    def __init__(self, timeout: float, *, outside: bool) -> None:
        super().__init__(logging.getLogger(__name__), True, timeout)
        self._seconds, self._outside = timeout, outside
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def request(
        self,
        method: str,
        uri: str,
        params: Any = None,
        data: Any = None,
        headers: Any = None,
        auth: Any = None,
        timeout: Any = None,
        allow_redirects: bool = False,
    ) -> Response:
        """What Twilio's client calls. Raises `Refusal`, `Unreachable` or `NoAnswer`, none with the URL."""
        is_json = (headers or {}).get("Content-Type") == "application/json"
        body: dict[str, Any] = {"json" if is_json else "data": data} if data else {}
        status, answered, content = await self._exchange(
            method,
            uri,
            ANSWER_LIMIT,
            params=_plain(params),
            headers={**(headers or {}), **_login(auth)},
            **body,
        )
        text = content.decode("utf-8", "replace")
        if status >= 400:
            raise Refusal(status, _code(text), _seconds(answered.get("Retry-After", "")))
        try:
            json.loads(text or "{}")
        except ValueError:
            raise NoAnswer("an answer that is not JSON") from None
        return Response(status, text, answered)

    async def download(self, url: str, auth: tuple[str, str], home: str, limit: int) -> bytes:
        """A file of at most `limit` bytes: from `home`, with the password, or where that points, without.

        Raises like `request`, and `NoFile`.
        """
        for _ in range(REDIRECTS):
            host = urlsplit(url)
            at_home = f"{host.scheme}://{host.netloc}" == home
            if not at_home and not (host.scheme == "https" and _is_of_twilio(host.hostname or "")):
                raise NoFile("The file is not at Twilio's.")
            status, headers, content = await self._exchange(
                "GET", url, limit, headers=_login(auth) if at_home else {}
            )
            if status not in (301, 302, 303, 307, 308):
                if status in (404, 410):
                    raise NoFile("The file is gone.")
                if status >= 400:
                    raise Refusal(status, 0, 0)
                return content
            url = headers.get("Location", "")
        raise NoFile("The file is somewhere else each time.")

    async def _exchange(self, method: str, url: str, limit: int, **options: Any) -> tuple[int, Any, bytes]:
        timeout = aiohttp.ClientTimeout(total=self._seconds, connect=min(self._seconds, CONNECT_SECONDS))
        failure: Exception
        try:
            async with self._open().request(
                method, url, timeout=timeout, allow_redirects=False, **options
            ) as answer:
                content = await answer.content.read(limit + 1)
                while len(content) <= limit and (more := await answer.content.read(limit)):
                    content += more
                if len(content) > limit:
                    raise NoFile(f"The file is larger than {limit // 1024 // 1024} MB.")
                return answer.status, answer.headers, content
        except NOT_SENT as error:
            failure = Unreachable(type(error).__name__)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            failure = NoAnswer(type(error).__name__)
        raise failure  # out of the except block: the library's error, with the URL, is no context of ours

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            # A machine without certificates of its own still has those of certifi.
            context = ssl.create_default_context() if self._outside else None
            if context is not None:
                context.load_verify_locations(certifi.where())
            connector = aiohttp.TCPConnector(ssl=context) if context else aiohttp.TCPConnector()
            self._session = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=self._outside
            )
        return self._session


def _login(auth: Any) -> dict[str, str]:
    """Basic authentication (RFC 7617)."""
    given = base64.b64encode(":".join(auth).encode()).decode() if auth else ""
    return {"Authorization": f"Basic {given}"} if given else {}


def _plain(params: Any) -> dict[str, str] | None:
    return {name: str(value) for name, value in params.items()} if params else None


def _is_of_twilio(host: str) -> bool:
    return host.lower().endswith(MEDIA_HOSTS)


def _code(text: str) -> int:
    """Twilio's own number of an error; 0 when the answer has none."""
    try:
        found: Json = json.loads(text)
    except ValueError:
        return 0
    code = found.get("code") if isinstance(found, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else 0


def _seconds(value: str) -> float:
    return float(value) if value.isascii() and value.isdecimal() and len(value) < 6 else 0.0
