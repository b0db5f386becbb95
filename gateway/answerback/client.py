"""A client for the HTTP API: asks, waits, answers, starts runs, and deals with what was given up."""

import uuid
from collections.abc import AsyncIterator, Sequence
from typing import TypedDict, Unpack, cast

from answerback.model import Json
from answerback.outcomes import Answered, Cancelled, Expired, Outcome, outcome_of
from answerback.told import (
    Answer,
    Asked,
    Attachment,
    Checked,
    DeadLetter,
    DeadLetters,
    Entries,
    Entry,
    Event,
    Flaw,
    History,
    Interaction,
    Interactions,
    Notice,
    Plan,
    Planned,
    Run,
    Runs,
    Sent,
    Told,
    Way,
)
from answerback.transport import GatewayUnavailable, Transport, once, path_id, query_of

__all__ = [
    "Answer",
    "Answered",
    "Asked",
    "Asking",
    "Attachment",
    "Cancelled",
    "Checked",
    "Client",
    "DeadLetter",
    "DeadLetters",
    "Entries",
    "Entry",
    "Event",
    "Expired",
    "Flaw",
    "GatewayUnavailable",
    "History",
    "Interaction",
    "Interactions",
    "Notice",
    "Outcome",
    "Plan",
    "Planned",
    "Run",
    "Runs",
    "Sent",
    "Told",
    "Way",
    "outcome_of",
]


class Asking(TypedDict, total=False):
    """What may be said with a question.

    `ask` are contact ids; `expires_in` is in seconds, or a text such as "10m". How it ends is posted to
    `callback_url`, signed. `state` is kept for you, see `Client.state`. `user` is for whom you ask: an id of
    your own, which lists can be narrowed to. The same `idempotency_key` again does not ask again.
    """

    ask: Sequence[str]
    route: str
    title: str
    context: str
    expires_in: float | str | None
    on_expire: str
    default: Json
    sensitive: bool
    human_only: bool
    state: Json
    callback_url: str
    agent: str
    user: str
    idempotency_key: str


ANYTHING = frozenset({"default", "state", "expires_in"})  # here also 0, "" and False mean something


class Client(Transport):
    """One gateway. Use it as `async with Client(url, key) as client:`.

    Without them, `$ANSWERBACK_URL` and `$ANSWERBACK_KEY` say where it is and with which key.
    All methods raise what the gateway refuses (`NotFound`, `NotAllowed`, `Conflict`, `AlreadyAnswered`,
    `Closed`, `DoesNotFit`, or `Refused` itself) with its sentence, and `GatewayUnavailable`.
    Those that wait bear with a gateway that is away for `patience` seconds (a restart); what they then
    wait for is told to `on_away`, once each time.
    """

    async def ask(self, question: Json, **more: Unpack[Asking]) -> Asked:
        """Ask. `question` is a text, an object such as `{"text": …, "kind": "confirm"}`, or a list."""
        body, headers = _asking(question, more)
        return cast(Asked, await self.call("POST", "/v1/interactions", body=body, headers=headers))

    async def ask_and_wait(self, question: Json, **more: Unpack[Asking]) -> Outcome:
        """Ask, wait until the question has ended, however long that takes, and say how.

        It asks once, also where the request has to be repeated. With an `idempotency_key` of your own the
        same call finds the same question again, even from another process, and goes on waiting for it.
        Whoever ends this (`asyncio.timeout`) leaves the question open. Raises `Gone` for an answer that was
        erased since.
        """
        if not more.get("idempotency_key"):
            more["idempotency_key"] = uuid.uuid4().hex
        body, headers = _asking(question, more)
        asked = await self.patiently("/v1/interactions", method="POST", body=body, headers=headers)
        return outcome_of(await self.wait(asked["id"]))

    async def interaction(self, id: str) -> Interaction:
        """The record."""
        return cast(Interaction, await self.call("GET", f"/v1/interactions/{path_id(id, 'interaction')}"))

    async def interactions(
        self, status: str = "", limit: int = 50, after: str = "", user: str = ""
    ) -> Interactions:
        """A page of records, oldest first; `user`: only what was asked for them."""
        query = query_of(status=status, limit=limit, after=after, user=user)
        return cast(Interactions, await self.call("GET", "/v1/interactions", query=query))

    async def wait(self, id: str, timeout: float | None = None) -> Interaction:
        """The record as soon as it is not pending any more, or as it is after `timeout` seconds."""
        path = f"/v1/interactions/{path_id(id, 'interaction')}/wait"
        return cast(
            Interaction, await self.watch(path, timeout, lambda record: record["status"] != "pending")
        )

    async def erase(self, id: str) -> Interaction:
        """Erase what was asked and answered, with its run and all that this asked; it must have ended."""
        path = f"/v1/interactions/{path_id(id, 'interaction')}/erase"
        return cast(Interaction, await self.call("POST", path))

    async def state(self, id: str) -> Json:
        """What was asked with as `state`; None once its `callback_url` has it, or it is deleted."""
        path = f"/v1/interactions/{path_id(id, 'interaction')}/state"
        return cast(dict[str, Json], await self.call("GET", path))["state"]

    async def history(self, id: str) -> History:
        """What happened to it: messages, replies, reminders; nothing of what was said."""
        path = f"/v1/interactions/{path_id(id, 'interaction')}/history"
        return cast(History, await self.call("GET", path))

    async def attachment(self, id: str, number: int) -> bytes:
        """The bytes of a file that came with the answer, counted from 0; `Refused`: it is gone."""
        return await self.fetch(f"/v1/interactions/{path_id(id, 'interaction')}/attachments/{number:d}")

    async def respond(self, id: str, response: Json) -> None:
        """Answer. A text is read as a person's would be ("yes", "2", "tomorrow")."""
        path = f"/v1/interactions/{path_id(id, 'interaction')}/respond"
        await self.call("POST", path, body={"response": response})

    async def cancel(self, id: str, reason: str = "") -> Interaction:
        """Withdraw a question; whoever was asked is told."""
        path = f"/v1/interactions/{path_id(id, 'interaction')}/cancel"
        return cast(Interaction, await self.call("POST", path, body={"reason": reason}))

    async def notify(
        self,
        text: str,
        *,
        ask: Sequence[str] = (),
        route: str = "",
        title: str = "",
        sensitive: bool = False,
        agent: str = "",
        idempotency_key: str = "",
    ) -> Sent:
        """Tell something that asks nothing. `ask` are contact ids."""
        body: dict[str, Json] = {"text": text, "ask": list(ask), "sensitive": sensitive}
        body |= query_of(route=route, title=title, agent=agent)
        sent = await self.call("POST", "/v1/notices", body=body, headers=once(idempotency_key))
        return cast(Sent, sent)

    async def notice(self, id: str) -> Notice:
        """A notice, and what became of it at each address."""
        return cast(Notice, await self.call("GET", f"/v1/notices/{path_id(id, 'notice')}"))

    async def follow_notice(self, id: str, timeout: float | None = None) -> Notice:
        """The notice as soon as nothing of it is queued any more, or as it is after `timeout` seconds."""
        path = f"/v1/notices/{path_id(id, 'notice')}/wait"
        return cast(Notice, await self.watch(path, timeout, lambda record: record["status"] != "queued"))

    async def start(
        self,
        agent: str,
        input: Json = None,
        *,
        thread_id: str = "",
        route: str = "",
        ask: Sequence[str] = (),
        expires_in: float | str | None = None,
        replace: bool = False,
        user: str = "",
    ) -> Run:
        """Start a run; `replace` ends what waits on its thread, and `user` is for whom it asks.

        `expires_in`, in seconds or a text such as "10m", is the deadline of each of its questions.
        """
        body: dict[str, Json] = {"agent": agent, "input": input, "replace": replace, "ask": list(ask)}
        body |= query_of(thread_id=thread_id, route=route, user=user)
        body |= {} if expires_in is None else {"expires_in": expires_in}
        return cast(Run, await self.call("POST", "/v1/runs", body=body))

    async def run(self, id: str) -> Run:
        """The record of a run."""
        return cast(Run, await self.call("GET", f"/v1/runs/{path_id(id, 'run')}"))

    async def follow_run(self, id: str, timeout: float | None = None) -> Run:
        """The run as soon as it has ended, or as it is after `timeout` seconds; `status` says how."""
        return [record async for record in self.run_changes(id, timeout)][-1]

    def run_changes(self, id: str, timeout: float | None = None) -> AsyncIterator[Run]:
        """The run as it is, and again when its status changes, it asks more, or a question of it has ended.

        Ends with the run, or after `timeout` seconds.
        """
        return self.follow(f"/v1/runs/{path_id(id, 'run')}", timeout, _questions)

    async def runs(self, status: str = "", limit: int = 50, after: str = "") -> Runs:
        """A page of runs, oldest first."""
        return cast(
            Runs, await self.call("GET", "/v1/runs", query=query_of(status=status, limit=limit, after=after))
        )

    async def steer(self, id: str, how: str) -> Run:
        """`cancel` a run, or give a failed one another try: `retry` with the same answer, or `reask`."""
        return cast(Run, await self.call("POST", f"/v1/runs/{path_id(id, 'run')}/{how}"))

    async def dead_letters(self, kind: str = "", limit: int = 50, after: str = "") -> DeadLetters:
        """A page of what was given up, oldest first."""
        query = query_of(kind=kind, limit=limit, after=after)
        return cast(DeadLetters, await self.call("GET", "/v1/dead-letters", query=query))

    async def dead_letter(self, id: str) -> DeadLetter:
        """One of them."""
        return cast(DeadLetter, await self.call("GET", f"/v1/dead-letters/{path_id(id, 'dead letter')}"))

    async def settle(self, id: str, how: str) -> str:
        """`replay` a dead letter, or `discard` it; what happens now, in a sentence."""
        done = await self.call("POST", f"/v1/dead-letters/{path_id(id, 'dead letter')}/{how}")
        return str(done["message"])

    async def audit(self, limit: int = 200, after: str = "") -> Entries:
        """A page of the audit's entries, question by question."""
        return cast(Entries, await self.call("GET", "/v1/audit", query=query_of(limit=limit, after=after)))

    async def check_audit(self, limit: int = 200, after: str = "") -> Checked:
        """Check the audit of so many questions: whether it is whole and says the same as their records."""
        query = query_of(limit=limit, after=after)
        return cast(Checked, await self.call("GET", "/v1/audit/check", query=query))

    async def plans(self) -> list[Plan]:
        """What a question that is asked now would go through, on every route."""
        return cast(list[Plan], (await self.call("GET", "/v1/routes"))["items"])

    async def plan(self, route: str = "", ask: Sequence[str] = ()) -> Plan:
        """The same on one route, or the default one; `ask`: for these contacts instead of the route's."""
        path = f"/v1/routes/{path_id(route or 'default', 'route')}"
        return cast(Plan, await self.call("GET", path, query=query_of(ask=",".join(ask))))

    async def drop_state(self, id: str) -> None:
        """Have the gateway delete what was asked with as `state`; the question must have ended."""
        await self.call("DELETE", f"/v1/interactions/{path_id(id, 'interaction')}/state")


def _asking(question: Json, more: Asking) -> tuple[dict[str, Json], dict[str, str]]:
    """The body and the headers of an ask: what was given, and nothing else."""
    given: dict[str, Json] = {
        name: value for name, value in more.items() if value or (name in ANYTHING and value is not None)
    }
    key = given.pop("idempotency_key", "")
    if "ask" in given:
        given["ask"] = list(given["ask"])
    given["questions" if isinstance(question, list) else "question"] = question
    return given, once(key)


def _questions(run: Run) -> list[str] | None:
    """Where one waits for the end of each that it asked; None when the run has ended itself."""
    if run["status"] not in ("running", "waiting"):
        return None
    return [f"/v1/interactions/{path_id(each, 'interaction')}/wait" for each in run["interactions"]]
