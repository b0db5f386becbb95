"""One HTTP exchange at a time: what came back, or whether the request had left. No error holds the URL.

aiohttp is imported by the first exchange: commands that only read the configuration start without it.
"""

import functools
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import aiohttp

CONNECT_SECONDS = 10.0


def fits_header(key: str) -> bool:
    """Whether a key can be sent as the credentials of an HTTP header: printable ASCII without blanks."""
    return key.isascii() and key.isprintable() and " " not in key


class Unreachable(Exception):
    """No connection: the request never left. `what` names the error, `reason` is what caused it."""

    def __init__(self, what: str, reason: BaseException | None = None) -> None:
        self.what, self.reason = what, reason
        super().__init__(what)


class BadUrl(Unreachable):
    """Nobody could be called by this URL."""


class NoAnswer(Exception):
    """The request left, and nothing readable came back: it may or may not have been carried out."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What came back; `headers` by lower-case name, `cut`: the body is longer than was asked for."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    cut: bool = False

    @property
    def retry_after(self) -> float:
        """Seconds that the other side asks to wait (RFC 9110, section 10.2.3); 0 if it does not say."""
        given = self.headers.get("retry-after", "")
        return float(given) if given.isascii() and given.isdecimal() and len(given) < 6 else 0.0


class Http:
    """One connection pool, made by the first request, inside the loop that uses it. Redirects are answers.

    `proxies`: use those of the environment. `resolver`: an aiohttp.abc.AbstractResolver, asked each time.
    """

    def __init__(self, *, proxies: bool = False, resolver: Any = None) -> None:
        self._proxies, self._resolver = proxies, resolver
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def call(self, method: str, url: str, *, seconds: float, limit: int, **options: Any) -> HttpReply:
        """One request of at most `seconds`, whatever its status, and at most `limit` bytes of the answer.

        `options` are aiohttp's (headers, data, json, params). Raises `Unreachable` or `NoAnswer`.
        """
        import aiohttp

        not_sent = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
        timeout = aiohttp.ClientTimeout(total=seconds, connect=min(seconds, CONNECT_SECONDS))
        failure: Exception
        try:
            async with self._open().request(
                method, url, timeout=timeout, allow_redirects=False, **options
            ) as answer:
                body = await answer.content.read(limit + 1)
                while len(body) <= limit and (more := await answer.content.read(limit)):
                    body += more
                headers = {name.lower(): value for name, value in answer.headers.items()}
                return HttpReply(answer.status, headers, body[:limit], len(body) > limit)
        except aiohttp.InvalidURL as error:
            failure = BadUrl(type(error).__name__)
        except not_sent as error:
            failure = Unreachable(type(error).__name__, error.__cause__ or error)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            failure = NoAnswer(type(error).__name__)
        raise failure  # out of the except block: the library's error, with the URL, is no context of ours

    def _open(self) -> "aiohttp.ClientSession":
        import aiohttp

        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit=0,  # who calls has limits of their own: one that hangs takes no connection of another's
                ssl=_trusted(),
                resolver=self._resolver,
                use_dns_cache=self._resolver is None,
            )
            self._session = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=self._proxies
            )
        return self._session


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Whose certificates are believed, for all pools of a process: to read them takes 50 ms."""
    import certifi

    trusted = ssl.create_default_context()  # and on a machine without certificates of its own:
    trusted.load_verify_locations(certifi.where())
    return trusted
