"""Who can be asked, through what, and who asks, over HTTP: contacts, providers, agents."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from fastapi import Depends, FastAPI, Request
from pydantic import BaseModel, ConfigDict, Field

from answerback.context import Context
from answerback.errors import AnswerbackError, Conflict, DoesNotFit, NotFound
from answerback.leaving import changed_hands
from answerback.model import Address, Contact
from answerback.outbox import Follows, Outbox
from answerback.owners import NoAddress, canonical
from answerback.provider import Provider
from answerback.settings.schema import ContactShape, Name
from answerback.store import Tx
from answerback.store import contacts as table
from answerback.web.auth import MayAsk, MayRead, of_all_agents, require_sight, sees
from answerback.web.parameters import ContactId, accepts
from answerback.web.parts import part
from answerback.web.records import timestamp
from answerback.web.requests import read
from answerback.web.services import Caller

if TYPE_CHECKING:
    from answerback.linking import Link

ASK_SECONDS = 3.0  # for the bot's name, which is a convenience
_BOT = re.compile(r"@([A-Za-z0-9_]{4,32})\b")  # as the Telegram provider says who it is


class Reader(Protocol):
    async def contacts(self) -> Sequence[Contact]: ...


class Linker(Protocol):
    async def create(self, contact: str, provider: str, /) -> "Link": ...


States = Callable[[], Mapping[str, str]]
WELL = "works"
ABOUT = frozenset({"name", "language", "timezone", "quiet_hours"})  # of a contact, beside its addresses


@dataclass(frozen=True, slots=True)
class People:
    """What these endpoints need. Two functions give name → state, in a sentence, as it is now; WELL is one.

    `hint` is told the agent that may have something new to ask. It raises `NotFound`.
    """

    context: Context
    reader: Reader
    linker: Linker
    providers: Mapping[str, Provider]
    provider_states: States
    agent_states: States
    hint: Callable[[str], None]

    def working(self) -> frozenset[str]:
        """The names of the providers that work now."""
        return frozenset(name for name, state in self.provider_states().items() if state == WELL)

    async def add(self, contact: Contact, said: Set[str] = ABOUT) -> Contact:
        """Insert a contact, or change what was `said` of it, by its fields' names.

        Raises `Conflict`: it is configured, or an address is taken. Raises `DoesNotFit` for what can be no
        address.
        """
        if contact.id in self.context.settings.contacts:
            raise Conflict(f"The contact {contact.id!r} stands in the configuration: change it there.")
        try:
            contact = canonical(contact, self.providers)
        except NoAddress as error:
            raise DoesNotFit(f"{error}.") from None
        put, follows = await self.context.store.write(lambda tx: _put(tx, self.context.outbox, contact, said))
        self.context.follow(follows)
        return put

    async def invitation(self, contact: str, provider: str) -> "LinkOut":
        """A new code, and what to do with it. Raises `NotFound`."""
        link = await self.linker.create(contact, provider)
        known = {person.id: person.name for person in await self.reader.contacts()}
        bot = await self._bot(provider)
        return LinkOut(
            contact=contact,
            name=known.get(contact, contact),
            provider=provider,
            text=f"/start {link.code}",
            url=f"https://t.me/{bot}?start={link.code}" if bot else "",
            expires_at=timestamp(link.expires_at) or "",
        )

    async def _bot(self, provider: str) -> str:
        """The bot's name, "" if the service is away or has no bots."""
        plugin = self.providers.get(provider)
        if plugin is None or self.context.settings.providers[provider].use != "telegram":
            return ""
        try:
            async with asyncio.timeout(ASK_SECONDS):
                found = _BOT.match(await plugin.probe())
        except (AnswerbackError, TimeoutError):
            return ""
        return found[1] if found else ""


class AddressOut(BaseModel):
    provider: str
    id: str
    place: str
    reachable: bool  # false: a message there failed for good, and nobody has written from there since


class ContactOut(BaseModel):
    id: str
    name: str
    language: str
    timezone: str
    quiet_hours: str
    addresses: list[AddressOut]


class ContactsOut(BaseModel):
    items: list[ContactOut]


class LinkOut(BaseModel):
    """`text` is what the person sends to the bot; `url` opens the bot with it, "" where that is unknown."""

    contact: str
    name: str
    provider: str
    text: str
    url: str
    expires_at: str


class LookOut(BaseModel):
    agent: str


class PluginOut(BaseModel):
    name: str
    use: str
    state: str


class PluginsOut(BaseModel):
    items: list[PluginOut]


class ContactIn(ContactShape):
    """A contact; `addresses` maps providers to ids, or to `{"id": …, "place": …}`."""

    id: Name


class LinkIn(BaseModel):
    """Through which provider an account is to be linked."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True, frozen=True)
    provider: Annotated[str, Field(min_length=1, max_length=64)]


# Whoever gives somebody an account can answer from it, whichever agent asks.
_MayIntroduce = Annotated[Caller, Depends(of_all_agents("A contact answers all agents"))]
MODELS: tuple[type[BaseModel], ...] = (ContactIn, LinkIn)


_People = Annotated[People, part("people")]


def add(api: FastAPI) -> None:
    """Adds the endpoints /v1/contacts, /v1/providers and /v1/agents."""

    @api.get("/v1/contacts")
    async def contacts(key: MayRead, people: _People) -> ContactsOut:
        """Everybody who can be asked."""
        return ContactsOut(items=[contact_out(contact) for contact in await people.reader.contacts()])

    @api.post("/v1/contacts", status_code=201, openapi_extra=accepts(ContactIn))
    async def put(request: Request, key: _MayIntroduce, people: _People) -> ContactOut:
        """Add a contact, or change one that was added here. 409 if it stands in the configuration.

        What is left out stays as it is. An address replaces what the contact had on the same provider.
        """
        body = await read(request, ContactIn)
        unknown = [name for name in body.addresses if name not in people.context.settings.providers]
        if unknown:
            raise NotFound(f"There is no provider {unknown[0]!r} in the configuration.")
        return contact_out(await people.add(contact_in(body), body.model_fields_set))

    @api.post("/v1/contacts/{id}/link", status_code=201, openapi_extra=accepts(LinkIn))
    async def link(request: Request, id: ContactId, key: _MayIntroduce, people: _People) -> LinkOut:
        """A code, for once and for ten minutes, with which this contact's own account is linked."""
        body = await read(request, LinkIn)
        return await people.invitation(id, body.provider)

    @api.get("/v1/providers")
    async def providers(key: MayRead, people: _People) -> PluginsOut:
        """The ways to reach people, and whether they work."""
        uses = {name: plugin.use for name, plugin in people.context.settings.providers.items()}
        return plugins_out(people.provider_states(), uses)

    @api.get("/v1/agents")
    async def agents(key: MayRead, people: _People) -> PluginsOut:
        """The agents that this key may have to do with, and whether they can be used."""
        found = {name: state for name, state in people.agent_states().items() if sees(key, name)}
        return plugins_out(
            found, {name: plugin.use for name, plugin in people.context.settings.agents.items()}
        )

    @api.post("/v1/agents/{name}/look", status_code=202)
    async def look(name: str, key: MayAsk, people: _People) -> LookOut:
        """Look now at what others did to this agent's threads: for the webhook of a LangGraph server.

        A hint. What the request says is not read: the server itself is asked.
        """
        require_sight(key, name, "agent")
        people.hint(name)
        return LookOut(agent=name)


def contact_in(body: ContactIn) -> Contact:
    """The contact that a request body stands for."""
    addresses = tuple(
        Address(provider, address.id, address.place or address.id, contact=body.id)
        for provider, address in body.addresses.items()
        if address.id
    )
    return Contact(body.id, body.name or body.id, body.language, body.timezone, body.quiet_hours, addresses)


def contact_out(contact: Contact) -> ContactOut:
    return ContactOut(
        id=contact.id,
        name=contact.name,
        language=contact.language,
        timezone=contact.timezone,
        quiet_hours=contact.quiet_hours,
        addresses=[
            AddressOut(
                provider=address.provider,
                id=address.external_id,
                place=address.place,
                reachable=address.reachable,
            )
            for address in contact.addresses
        ],
    )


def plugins_out(states: Mapping[str, str], uses: Mapping[str, Any]) -> PluginsOut:
    """A list by name; what runs without being configured (the printed link) is its own kind."""
    items = [
        PluginOut(name=name, use=uses.get(name, "built in"), state=state) for name, state in states.items()
    ]
    return PluginsOut(items=items)


def _put(tx: Tx, outbox: Outbox, contact: Contact, said: Set[str]) -> tuple[Contact, Follows]:
    """What it names replaces what the contact had on the same provider."""
    before = table.person(tx, contact.id) if table.is_there(tx, contact.id) else None
    kept = {} if before is None else {name: getattr(before, name) for name in ABOUT - said}
    table.put(tx, replace(contact, addresses=(), **kept), source="api")
    follows = Follows()
    for address in contact.addresses:  # one statement decides: somebody else may be given it at this moment
        if not table.put_address(tx, address, contact.id, "api", unless_taken=True):
            owner = table.address_of(tx, address.provider, address.external_id)
            whose = repr(owner.contact) if owner is not None else "somebody else"
            raise Conflict(f"This address on {address.provider} belongs to {whose} already.")
        there = {"provider": address.provider, "external_id": address.external_id}
        others = tx.all(table.REMOVE_OTHERS, contact_id=contact.id, **there)
        lost = [(address.provider, row["external_id"]) for row in others]
        more = changed_hands(tx, outbox, lost)
        follows.rows += more.rows
        follows.unreached += more.unreached
    return table.contact(tx, contact.id) or contact, follows
