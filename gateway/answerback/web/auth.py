"""Who calls the API: bearer keys, compared by digest, and what each caller may do.

Scopes: `ask` starts runs and asks questions, and steers what was asked; `read` sees runs, questions and
answers; `answer` answers in a person's place; `admin` may do what `ask` and `read` may, for every agent
that the key names, and looks after contacts and dead letters. A key without scopes may do everything.
"""

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Annotated, cast

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from answerback.errors import NotFound
from answerback.web.problems import Problem
from answerback.web.services import ApiKey, Caller

_ANNOUNCED = HTTPBearer(auto_error=False, scheme_name="key", description="An API key of this installation.")


def authenticate(header: bytes, keys: Sequence[ApiKey]) -> ApiKey:
    """The key that an Authorization header carries, as raw bytes. Raises `Problem` 401."""
    scheme, _, secret = header.strip().partition(b" ")
    if scheme.lower() != b"bearer" or not secret.strip():
        raise _unauthorized("Send an API key: Authorization: Bearer KEY.", "")
    found = key_of(secret, keys)
    if found is None:
        raise _unauthorized("This API key is not known here.", ', error="invalid_token"')
    return found


def key_of(secret: bytes, keys: Sequence[ApiKey]) -> ApiKey | None:
    """The key with this secret. Every configured digest is compared, in constant time, so that the time

    taken tells nothing.
    """
    digest = hashlib.sha256(secret.strip()).hexdigest().encode()
    found = None
    for key in keys:
        if hmac.compare_digest(digest, key.sha256.strip().lower().encode()):
            found = key
    return found


def _unauthorized(detail: str, error: str) -> Problem:
    return Problem(401, "unauthorized", detail, {"WWW-Authenticate": f'Bearer realm="answerback"{error}'})


def may(*scopes: str) -> Callable[..., Awaitable[Caller]]:
    """A dependency: the caller, if they have one of `scopes`. Raises `Problem` 403."""

    async def check(
        request: Request,
        announced: Annotated[HTTPAuthorizationCredentials | None, Security(_ANNOUNCED)],
    ) -> Caller:
        key = cast("Caller", request.scope["answerback.caller"])
        if not _has(key, scopes):
            wanted = " or ".join(scopes)
            challenge = f'Bearer realm="answerback", error="insufficient_scope", scope="{" ".join(scopes)}"'
            detail = f"This needs a key with the scope {wanted}."
            raise Problem(403, "not-allowed", detail, {"WWW-Authenticate": challenge})
        return key

    return check


def _has(key: Caller, scopes: Collection[str]) -> bool:
    return not key.scopes or not key.scopes.isdisjoint(scopes)


_FOLLOW = "ask", "read", "admin"  # an asker may wait for its answer
MayAsk = Annotated[Caller, Depends(may("ask", "admin"))]
MayRead = Annotated[Caller, Depends(may("read", "admin"))]
MayFollow = Annotated[Caller, Depends(may(*_FOLLOW))]
MayAnswer = Annotated[Caller, Depends(may("answer"))]
MayAdminister = Annotated[Caller, Depends(may("admin"))]


def of_all_agents(why: str) -> Callable[[Caller], Awaitable[Caller]]:
    """A dependency: the caller's key, if it may administer and is not limited to some agents.

    Raises `Problem` 403, with `why` that is not enough.
    """

    async def key_of(key: MayAdminister) -> Caller:
        if key.agents:
            raise Problem(403, "not-allowed", f"{why}: use a key that names none.")
        return key

    return key_of


def may_follow(key: Caller) -> bool:
    """Whether the key may read the record of a question of an agent that it sees."""
    return _has(key, _FOLLOW)


def sees(key: Caller, agent: str) -> bool:
    """Whether the key may have to do with this agent."""
    return not key.agents or agent in key.agents


def require_sight(key: Caller, agent: str, what: str) -> None:
    """Raises `NotFound`: what belongs to another agent does not exist for this key."""
    if not sees(key, agent):
        raise NotFound(f"There is no such {what}.")


def agent_for(key: Caller, named: str) -> str:
    """The agent that a new question is asked for: the named one, or the only one the key may speak for."""
    if not named and len(key.agents) == 1:
        return next(iter(key.agents))
    if not sees(key, named):
        raise Problem(403, "not-allowed", "This key may not speak for that agent. Name one that it may.")
    return named
