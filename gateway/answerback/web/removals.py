"""Contacts and their addresses that are taken out again, over HTTP."""

from typing import Annotated

from fastapi import FastAPI, Path
from pydantic import BaseModel

from answerback.errors import NotFound
from answerback.removing import Removed, Remover
from answerback.web.auth import MayAdminister, sees
from answerback.web.parameters import ContactId, is_id
from answerback.web.services import Caller

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


def add(api: FastAPI, remover: Remover) -> None:
    """Adds the endpoints that delete."""

    @api.delete("/v1/contacts/{id}")
    async def contact(id: ContactId, key: MayAdminister) -> RemovedOut:
        """Remove a contact with all addresses. 409 if it stands in the configuration.

        What they were asked goes on with others, and their links lead nowhere. What they answered stays, and
        so does their name there. The id can be given again.
        """
        return removed_out(await remover.contact(id), key)

    @api.delete("/v1/contacts/{id}/addresses/{provider}")
    async def address(id: ContactId, provider: _Provider, key: MayAdminister) -> RemovedOut:
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
