"""The audit over HTTP: its entries, and whether they are whole; for keys that see every agent."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, FastAPI
from pydantic import BaseModel

from answerback.web.auth import of_all_agents
from answerback.web.listing import Wanted
from answerback.web.parts import part
from answerback.web.records import PageOut
from answerback.web.services import Auditor, Caller

if TYPE_CHECKING:
    from answerback.auditing import Checked, Entries


class EntryOut(BaseModel):
    """An entry of the audit. `hash` is over the rest and `previous`, the hash of the entry before it."""

    interaction_id: str
    seq: int
    id: str
    at: int
    event: str
    actor: str
    content_hash: str
    previous: str
    hash: str


class FlawOut(BaseModel):
    """What is wrong, in a sentence. `entry` is the number of the entry; 0 when it is no single one."""

    interaction_id: str
    entry: int
    what: str


class CheckedOut(BaseModel):
    """How much of the audit was checked, and what is wrong with it; `next` as in lists."""

    chains: int
    entries: int
    flaws: list[FlawOut]
    next: str | None


_Auditor = Annotated[Auditor, part("auditor")]
_MayAudit = Annotated[Caller, Depends(of_all_agents("The audit is of all agents"))]


def add(api: FastAPI) -> None:
    """Adds the endpoints under /v1/audit."""

    @api.get("/v1/audit")
    async def entries(_: _MayAudit, wanted: Wanted, auditor: _Auditor) -> PageOut[EntryOut]:
        """The entries, a page at a time, question by question. Contents are in them as salted hashes."""
        return _entries(await auditor.entries(wanted.limit, wanted.after))

    @api.get("/v1/audit/check")
    async def check(_: _MayAudit, wanted: Wanted, auditor: _Auditor) -> CheckedOut:
        """Check the chains of `limit` questions: whether they are whole and say the same as the records."""
        return _checked(await auditor.check(wanted.limit, wanted.after))


def _entries(found: "Entries") -> PageOut[EntryOut]:
    return PageOut(items=[EntryOut(**asdict(entry)) for entry in found.items], next=found.next)


def _checked(checked: "Checked") -> CheckedOut:
    flaws = [FlawOut(interaction_id=id, entry=flaw.entry, what=flaw.what) for id, flaw in checked.flaws]
    return CheckedOut(chains=checked.chains, entries=checked.entries, flaws=flaws, next=checked.next)
