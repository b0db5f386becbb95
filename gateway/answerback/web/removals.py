"""Contacts and their addresses that are taken out again, and what is kept of who was, over HTTP."""

from typing import Annotated

from fastapi import Depends, FastAPI, Path, Response
from pydantic import BaseModel

from answerback.erasure import Erased, Erasure
from answerback.errors import NotFound
from answerback.removing import Removed, Remover
from answerback.web.auth import MayAdminister, of_all_agents, sees
from answerback.web.parameters import ContactId, is_id
from answerback.web.parts import part
from answerback.web.records import timestamp
from answerback.web.services import Caller

WAIT = 5.0  # seconds for which a request waits until all is erased; the work goes on behind it
_Provider = Annotated[str, Path(description="The name of the provider.")]


class TakenOut(BaseModel):
    provider: str
    id: str


class RemovedOut(BaseModel):
    """`asked_elsewhere` and `unasked` are the ids of questions that this key may see.

    Those of `unasked` are still open, and nobody is asked them any more.
    """

    id: str
    name: str
    addresses: list[TakenOut]
    asked_elsewhere: list[str]
    unasked: list[str]


class ErasedOut(BaseModel):
    """How far an erasure is. `step` is what is gone through now, "" once it is `done`, at `erased_at`.

    `erased` is how much there was: rows of each kind. `waits` are agents that are away and have to forget
    their part; all else is erased then.
    """

    id: str
    done: bool
    erased_at: str | None
    step: str
    erased: dict[str, int]
    waits: list[str] = []


_MayErase = Annotated[Caller, Depends(of_all_agents("A person is asked by all agents"))]


_Remover = Annotated[Remover, part("remover")]
_Erasure = Annotated[Erasure, part("erasure")]


def add_erasure(api: FastAPI) -> None:
    """Adds the endpoint that erases what is kept of a person."""

    @api.delete("/v1/contacts/{id}/data", responses={202: {"model": ErasedOut}})
    async def data(id: ContactId, key: _MayErase, erasure: _Erasure, response: Response) -> ErasedOut:
        """Erase what is kept of somebody who is no contact any more. 409 while they are, or play a part.

        202 while that goes on: the same request again says how far it is. It goes on by itself, also after a
        restart, and where agents are away that have to forget something (`waits`). What was decided, when and
        through what stays, under the contact's id.
        """
        found = await erasure.contact(id, key.name, wait=WAIT)
        response.status_code = 200 if found.done else 202
        return erased_out(found)


def erased_out(erased: Erased) -> ErasedOut:
    return ErasedOut(
        id=erased.id,
        done=erased.done,
        erased_at=timestamp(erased.at),
        step=erased.step,
        erased={kind: number for kind, number in erased.erased.items() if number},
        waits=list(erased.waits),
    )


def add(api: FastAPI) -> None:
    """Adds the endpoints that delete."""

    @api.delete("/v1/contacts/{id}")
    async def contact(id: ContactId, key: MayAdminister, remover: _Remover) -> RemovedOut:
        """Remove a contact with all addresses. 409 if it stands in the configuration.

        What they were asked goes on with others, and their links lead nowhere. What they answered stays, and
        so does their name there. The id can be given again.
        """
        return removed_out(await remover.contact(id), key)

    @api.delete("/v1/contacts/{id}/addresses/{provider}")
    async def address(
        id: ContactId, provider: _Provider, key: MayAdminister, remover: _Remover
    ) -> RemovedOut:
        """Remove a contact's address on one provider. 409 if it stands in the configuration.

        What they were asked there goes to their next address, or on with others. A code for a link there is
        worth nothing any more.
        """
        if not is_id(provider):
            raise NotFound("There is no such provider.")
        return removed_out(await remover.address(id, provider), key)


def removed_out(removed: Removed, key: Caller) -> RemovedOut:
    """As a key may see it: what other agents ask does not exist for one that names agents."""
    return RemovedOut(
        id=removed.id,
        name=removed.name,
        addresses=[TakenOut(provider=provider, id=id) for provider, id in removed.accounts],
        asked_elsewhere=[id for agent, id in removed.elsewhere if sees(key, agent)],
        unasked=[id for agent, id in removed.unasked if sees(key, agent)],
    )
