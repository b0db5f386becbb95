"""Dead letters over HTTP: what was given up, with its reason; replayed or discarded."""

from typing import Annotated

from fastapi import FastAPI

from answerback.letters import Kind, Letter
from answerback.web.auth import MayAdminister, require_sight
from answerback.web.listing import Wanted, page_out
from answerback.web.parameters import LetterId
from answerback.web.parts import part
from answerback.web.records import DoneOut, LetterOut, PageOut, letter_out
from answerback.web.services import Caller, Letters

_Letters = Annotated[Letters, part("letters")]


def add(api: FastAPI) -> None:
    """Adds the endpoints under /v1/dead-letters."""

    @api.get("/v1/dead-letters")
    async def page(
        key: MayAdminister, wanted: Wanted, letters: _Letters, kind: Kind | None = None
    ) -> PageOut[LetterOut]:
        """What was given up, a page at a time; `next` is what `after` takes for the following page."""
        return page_out(key, await letters.list(kind, wanted.limit, wanted.after), letter_out)

    @api.get("/v1/dead-letters/{id}")
    async def show(id: LetterId, key: MayAdminister, letters: _Letters) -> LetterOut:
        """One dead letter: what was given up, why, and what can be done."""
        return letter_out(await _own(letters, key, id))

    @api.post("/v1/dead-letters/{id}/replay")
    async def replay(id: LetterId, key: MayAdminister, letters: _Letters) -> DoneOut:
        """Try it again. 409, with a sentence, if that makes no sense any more."""
        await _own(letters, key, id)
        return DoneOut(message=await letters.replay(id, key.name))

    @api.post("/v1/dead-letters/{id}/discard")
    async def discard(id: LetterId, key: MayAdminister, letters: _Letters) -> DoneOut:
        """Take it off the list for good. A run that cannot go on without it is cancelled."""
        await _own(letters, key, id)
        return DoneOut(message=await letters.discard(id, key.name))


async def _own(letters: Letters, key: Caller, id: str) -> Letter:
    letter = await letters.get(id)
    require_sight(key, letter.agent, "dead letter")
    return letter
