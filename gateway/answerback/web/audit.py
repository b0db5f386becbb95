"""The audit over HTTP: its entries, and whether they are whole; for keys that see every agent."""

from typing import Annotated

from fastapi import Depends, FastAPI

from answerback.web.auth import MayAdminister
from answerback.web.listing import Wanted
from answerback.web.problems import Problem
from answerback.web.records import CheckedOut, EntryOut, PageOut, checked_out, entries_out
from answerback.web.services import ApiKey, Auditor


def _of_all(key: MayAdminister) -> ApiKey:
    """The caller's key, if it is not limited to some agents. Raises `Problem` 403."""
    if key.agents:
        raise Problem(403, "not-allowed", "The audit is of all agents: use a key that names none.")
    return key


_MayAudit = Annotated[ApiKey, Depends(_of_all)]


def add(api: FastAPI, auditor: Auditor) -> None:
    """Adds the endpoints under /v1/audit."""

    @api.get("/v1/audit")
    async def entries(_: _MayAudit, wanted: Wanted) -> PageOut[EntryOut]:
        """The entries, a page at a time, question by question. Contents are in them as salted hashes."""
        return entries_out(await auditor.entries(wanted.limit, wanted.after))

    @api.get("/v1/audit/check")
    async def check(_: _MayAudit, wanted: Wanted) -> CheckedOut:
        """Check the chains of `limit` questions: whether they are whole and say the same as the records."""
        return checked_out(await auditor.check(wanted.limit, wanted.after))
