"""The line to Twilio: what its client asks of a transport.

Three reasons for our own: Twilio's logs URLs and headers at INFO, ignores its timeout, and its errors hold
neither the headers (Retry-After) nor whether a request that failed had already left.
"""

import base64
import json
import logging
from typing import Any
from urllib.parse import urlsplit

from twilio.http import AsyncHttpClient
from twilio.http.response import Response

from answerback.provider import Http, HttpReply, Json, NoAnswer

ANSWER_LIMIT = 4 * 1024 * 1024  # bytes of one answer of the API
REDIRECTS = 3
# Where Twilio keeps media: https://www.twilio.com/docs/messaging/api/media-resource
MEDIA_HOSTS = (".twilio.com", ".twiliocdn.com")


class Refusal(Exception):
    """Twilio answered with an error. `retry_after` is seconds, 0 when it was not said."""

    def __init__(self, status: int, code: int, retry_after: float) -> None:
        self.status, self.code, self.retry_after = status, code, retry_after
        super().__init__(f"{status}, Twilio {code}")


class NoFile(Exception):
    """There is no such file, it is too large, or it is not at Twilio's. `why` is a sentence."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


class Line(AsyncHttpClient):  # type: ignore[misc]  # twilio ships no types
    """One connection pool. `timeout` is seconds for a whole request."""

    def __init__(self, timeout: float, *, outside: bool) -> None:
        super().__init__(logging.getLogger(__name__), True, timeout)
        self._seconds = timeout
        self._http = Http(proxies=outside)

    async def close(self) -> None:
        await self._http.close()

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
        reply = await self._http.call(
            method,
            uri,
            seconds=self._seconds,
            limit=ANSWER_LIMIT,
            params=_plain(params),
            headers={**(headers or {}), **_login(auth)},
            **body,
        )
        text = reply.body.decode("utf-8", "replace")
        if reply.status >= 400:
            raise Refusal(reply.status, _code(text), reply.retry_after)
        try:
            json.loads(text or "{}")
        except ValueError:
            raise NoAnswer("an answer that is not JSON") from None
        return Response(reply.status, text, reply.headers)

    async def download(self, url: str, auth: tuple[str, str], home: str, limit: int) -> bytes:
        """A file of at most `limit` bytes: from `home`, with the password, or where that points, without.

        Raises like `request`, and `NoFile`.
        """
        for _ in range(REDIRECTS):
            host = urlsplit(url)
            at_home = f"{host.scheme}://{host.netloc}" == home
            if not at_home and not (host.scheme == "https" and _is_of_twilio(host.hostname or "")):
                raise NoFile("The file is not at Twilio's.")
            reply = await self._http.call(
                "GET", url, seconds=self._seconds, limit=limit, headers=_login(auth) if at_home else {}
            )
            if reply.status not in (301, 302, 303, 307, 308):
                return _file(reply, limit)
            url = reply.headers.get("location", "")
        raise NoFile("The file is somewhere else each time.")


def _file(reply: HttpReply, limit: int) -> bytes:
    if reply.status in (404, 410):
        raise NoFile("The file is gone.")
    if reply.status >= 400:
        raise Refusal(reply.status, 0, 0)
    if reply.cut:
        raise NoFile(f"The file is larger than {limit // 1024 // 1024} MB.")
    return reply.body


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
