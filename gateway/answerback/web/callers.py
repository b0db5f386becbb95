"""Who a request is from: whoever holds a key, or else whom the operator's own function knows.

A key comes first, and then the function is not asked: its powers are those of the key and no others, whatever
else the request carries, and it works however the function fares. What the function does not know is where it
was without one: refused, or asked for a key.
"""

from starlette.requests import Request
from starlette.types import Scope

from answerback.caller import Headers
from answerback.caller import Request as Facts
from answerback.identify import Unidentified
from answerback.web.auth import authenticate
from answerback.web.csrf import from_elsewhere
from answerback.web.problems import Problem, unavailable
from answerback.web.services import Caller, Services

SAFE = ("GET", "HEAD", "OPTIONS")  # they change nothing (law 5)


class Callers:
    """Asked of every request under /v1, and of the inbox where no key has signed in."""

    def __init__(self, services: Services) -> None:
        self._keys, self._public_url = services.settings.api_keys, services.settings.public_url
        self._identifier = services.identifier

    @property
    def form_key(self) -> bytes:
        """What marks the forms of who is known without a key; nobody is, without a function."""
        assert self._identifier is not None
        return self._identifier.form_key

    async def of(self, scope: Scope) -> Caller:
        """For the API. Raises `Problem`, `NotAllowed` or `StoreUnavailable`."""
        authorization = dict(scope["headers"]).get(b"authorization", b"")
        try:
            return authenticate(authorization, self._keys)
        except Problem:
            found = await self.known(scope)
            if found is None:
                raise
        # A browser may add by itself what the function goes by, whichever page has it send this.
        if scope["method"] not in SAFE and from_elsewhere(Request(scope), self._public_url):
            raise Problem(403, "not-allowed", "A page of another site sent this. Send it from a program.")
        return found

    async def known(self, scope: Scope) -> Caller | None:
        """Whom the function knows. Raises as `of`: where it fails, nobody is let in as somebody else."""
        if self._identifier is None:
            return None
        try:
            return await self._identifier.of(facts(scope))
        except Unidentified as error:
            if error.late:
                raise unavailable("Who you are could not be found out in time. Try again.") from None
            detail = (
                "Who you are could not be found out: a mistake here, not in your request. It is in the log."
            )
            raise Problem(500, "internal", detail) from None


def facts(scope: Scope) -> Facts:
    """What the function is told of a request."""
    headers = Headers((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
    host, _ = scope.get("client") or ("", 0)
    return Facts(scope["method"], scope["path"], headers, host)
