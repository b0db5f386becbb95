"""removing: takes a contact, or an address of theirs, out again; what asked them there goes on elsewhere."""

from dataclasses import dataclass

from answerback.context import Context
from answerback.errors import Conflict, NotFound
from answerback.leaving import Account, changed_hands
from answerback.outbox import Follows
from answerback.store import Row, Tx, contacts, interactions, removing
from answerback.succession import is_asked_otherwise


@dataclass(frozen=True, slots=True)
class Removed:
    """What was taken from whom, and what became of the questions that were out there.

    `elsewhere`: (agent, interaction) that are asked at another place now, of whomever. `unasked`: those that
    are still open, and nobody is asked them any more.
    """

    id: str
    name: str
    accounts: tuple[Account, ...]
    elsewhere: tuple[tuple[str, str], ...]
    unasked: tuple[tuple[str, str], ...]


class Remover:
    """Of who does not stand in the configuration; what does is changed there, and raises `Conflict`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def contact(self, id: str) -> Removed:
        """Nobody from then on. Raises `NotFound`, `Conflict`."""
        if id in self._context.settings.contacts:
            raise Conflict(
                f"The contact {id!r} stands in the configuration. Take them out of the file, and start the "
                "gateway again: from then on they are asked nothing and may not answer."
            )
        return await self._remove(id, "")

    async def address(self, id: str, provider: str) -> Removed:
        """One address less. Raises `NotFound`: they have none there; `Conflict`."""
        configured = self._context.settings.contacts.get(id)
        if configured is not None and any(address.provider == provider for address in configured.addresses):
            raise Conflict(
                f"The address of {id} on {provider} stands in the configuration. Take it out of the file, "
                "and start the gateway again."
            )
        return await self._remove(id, provider)

    async def _remove(self, id: str, provider: str) -> Removed:
        removed, follows = await self._context.store.write(lambda tx: self._taken(tx, id, provider))
        self._context.follow(follows)
        return removed

    def _taken(self, tx: Tx, id: str, provider: str) -> tuple[Removed, Follows]:
        tx.one(contacts.HELD, id=id)  # whoever is being asked, or links an account, comes before or after
        person = contacts.person(tx, id)
        if person is None or not contacts.is_there(tx, id):
            raise NotFound(f"There is no contact {id!r}.")
        taken = removing.accounts(tx, id, provider) if provider else removing.person(tx, id)
        if provider and not taken:
            raise NotFound(f"{id} has no address on {provider}.")
        accounts = tuple((row["provider"], row["external_id"]) for row in taken)
        follows = changed_hands(tx, self._context.outbox, accounts)
        unasked = [row for row in follows.unreached if not is_asked_otherwise(tx, row)]
        return Removed(id, person.name, accounts, _asked(tx, follows.rows), _asked(tx, unasked)), follows


def _asked(tx: Tx, rows: list[Row]) -> tuple[tuple[str, str], ...]:
    """The questions of these deliveries, each once, with the agents that ask them."""
    ids = dict.fromkeys(row["interaction_id"] for row in rows if row["kind"] == "question")
    found = (interactions.get(tx, id) for id in ids)
    return tuple((record.agent, record.id) for record in found if record is not None)


__all__ = ["Removed", "Remover"]
