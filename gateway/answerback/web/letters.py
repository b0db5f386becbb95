"""Dead letters over HTTP: what was given up, with its reason; replayed or discarded."""

from collections.abc import Awaitable, Callable

from fastapi import FastAPI

from answerback.letters import Kind, Letter
from answerback.web.auth import MayAdminister, require_sight
from answerback.web.listing import Wanted, page_out
from answerback.web.parameters import LetterId
from answerback.web.records import DoneOut, LetterOut, PageOut, letter_out
from answerback.web.services import Caller, Letters


def add(api: FastAPI, letters: Letters) -> None:
    """Adds the endpoints under /v1/dead-letters."""

    async def own(key: Caller, id: str) -> Letter:
        letter = await letters.get(id)
        require_sight(key, letter.agent, "dead letter")
        return letter

    async def settle(key: Caller, id: str, act: Callable[[str, str], Awaitable[str]]) -> DoneOut:
        await own(key, id)
        return DoneOut(message=await act(id, key.name))

    @api.get("/v1/dead-letters")
    async def page(key: MayAdminister, wanted: Wanted, kind: Kind | None = None) -> PageOut[LetterOut]:
        """What was given up, a page at a time; `next` is what `after` takes for the following page."""
        return page_out(key, await letters.list(kind, wanted.limit, wanted.after), letter_out)

    @api.get("/v1/dead-letters/{id}")
    async def show(id: LetterId, key: MayAdminister) -> LetterOut:
        """One dead letter: what was given up, why, and what can be done."""
        return letter_out(await own(key, id))

    @api.post("/v1/dead-letters/{id}/replay")
    async def replay(id: LetterId, key: MayAdminister) -> DoneOut:
        """Try it again. 409, with a sentence, if that makes no sense any more."""
        return await settle(key, id, letters.replay)

    @api.post("/v1/dead-letters/{id}/discard")
    async def discard(id: LetterId, key: MayAdminister) -> DoneOut:
        """Take it off the list for good. A run that cannot go on without it is cancelled."""
        return await settle(key, id, letters.discard)
