"""What programs that speak MCP ask people through: a question may outlast the call that asked it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from answerback.cli.repeats import Call, Calls, keyed
from answerback.errors import DoesNotFit
from answerback.model import Json

if TYPE_CHECKING:
    from answerback.client import Client, Interaction, Told

Status = Literal["answered", "waiting", "nobody answered", "withdrawn"]
NO_ACTION = "confirm_action needs an action: say what you will do on a yes, such as “Delete 3 files”."
NOBODY = "Nobody answered in time. That is no answer, and no “no” either."
STILL = "Nobody has answered yet. Call wait_for_answer with this id to go on waiting; do not ask again."
AGAIN = (
    "This was asked before with the same idempotency_key, and closed before this call: nobody was asked anew."
    " It decides only what it was asked for. To do the same once more, ask with a new key."
)
NEXT: dict[Status, str] = {
    "answered": "",
    "waiting": STILL,
    "nobody answered": NOBODY,
    "withdrawn": "The question was withdrawn. Nobody will answer it.",
}


class Heard(TypedDict):
    """How a question stands. `answer` is what was written or chosen, unmodified; "" while there is none.

    `confirmed` is true or false for a confirmation that somebody answered, and null for all else.
    `answered_by` is who, as the gateway calls them. `files` are the names of what came along.
    """

    id: str
    status: Status
    answer: str
    confirmed: bool | None
    answered_by: str
    files: list[str]
    note: str


@dataclass(frozen=True, slots=True)
class Asks:
    """Whom a call asks, unless the desk says; the id of its request, and the key that its caller gave it."""

    to: Sequence[str] = ()
    request: str = ""
    key: str = ""


@dataclass(slots=True)
class Desk:
    """Asks through one gateway. `to`, `route` and `title` are for every question that names none itself.

    `patience`: seconds that a call waits for an answer. Its methods raise what `Client` does.
    """

    client: "Client"
    to: Sequence[str] = ()
    route: str = ""
    title: str = ""
    patience: float = 50.0
    calls: Calls = field(default_factory=Calls)

    async def ask(self, question: str, context: str, choices: Sequence[str], by: Asks) -> Heard:
        """Ask for a text, or for one of `choices` or words of one's own."""
        asked: dict[str, Any] = {"text": question}
        if choices:
            asked |= {"kind": "choice", "choices": list(choices), "free_text": True}
        return await self._put(asked, context, by)

    async def confirm(self, action: str, details: str, by: Asks) -> Heard:
        """Ask for a yes or a no to an action."""
        if not action.strip():
            raise DoesNotFit(NO_ACTION)
        asked = {"text": f"Shall I go ahead with “{action}”?", "kind": "confirm"}
        return await self._put(asked, details, by)

    async def wait(self, id: str) -> Heard:
        """How a question stands as soon as it is closed, or after `patience`."""
        return self._given(heard(await self.client.wait(id, self.patience)))

    async def withdraw(self, id: str, reason: str) -> Heard:
        """Take a question back; whoever was asked is told."""
        return self._given(heard(await self.client.cancel(id, reason)))

    async def tell(self, text: str, by: Asks) -> str:
        """Tell something that asks nothing; what became of it, in a sentence for each person."""
        ask = list(by.to or self.to)
        call = await self._call(_json(["notify", text, ask]), by)
        with self.calls.waits(call):
            sent = await self.client.notify(
                text, ask=ask, route=self.route, title=self.title, idempotency_key=call.key
            )
            notice = await self.client.follow_notice(sent["id"], self.patience)
        self.calls.forget(call)
        return "\n".join(map(_reached, notice["deliveries"])) or "Nobody could be told."

    async def _put(self, question: dict[str, Any], context: str, by: Asks) -> Heard:
        """Ask, or go on waiting for the same question: a host that gave up on a call makes it again."""
        ask = list(by.to or self.to)
        call = await self._call(_json([question, context, ask]), by)
        with self.calls.waits(call):
            asked = await self.client.ask(
                question,
                ask=ask,
                route=self.route,
                title=self.title,
                context=context,
                idempotency_key=call.key,
            )
            call.id = asked["id"]
            found = await self.wait(call.id)
        if by.key and asked["status"] != "pending":
            found["note"] = f"{found['note']} {AGAIN}".lstrip()
        return found

    async def _call(self, said: str, by: Asks) -> Call:
        if by.key:
            return keyed(by.key)
        known = self.calls.find(said)
        if known is None or not (self.calls.is_soon(known) or await self._is_open(known)):
            return self.calls.begin(said, by.request)
        return known

    async def _is_open(self, call: Call) -> bool:
        return bool(call.id) and (await self.client.interaction(call.id))["status"] == "pending"

    def _given(self, outcome: Heard) -> Heard:
        if outcome["status"] != "waiting":
            self.calls.ended(outcome["id"])
        return outcome


def _reached(told: "Told") -> str:
    why = f" ({told['error']})" if told["error"] else ""
    return f"{told['contact'] or 'Here'}: {told['status']}{why}"


def heard(record: "Interaction") -> Heard:
    """A question's record, as a model is told of it."""
    answer, status = record["answer"], _status(record)
    value = _value(record) if status == "answered" else None
    confirmed = value if isinstance(value, bool) else None
    said = ("yes" if value else "no") if confirmed is not None else value
    return {
        "id": record["id"],
        "status": status,
        "answer": "" if said is None else said if isinstance(said, str) else _json(said),
        "confirmed": confirmed,
        "answered_by": record["answered_by"] if status == "answered" else "",
        "files": [file["name"] for file in answer["attachments"]] if answer is not None else [],
        "note": NEXT[status],
    }


def _value(record: "Interaction") -> Json:
    """What was answered to the only question, a choice by its label; of several, all values by question."""
    answer, asked = record["answer"], record["questions"]
    if answer is None or len(asked) != 1:
        return answer["values"] if answer is not None and asked else None
    labels = {choice["id"]: choice["label"] for choice in asked[0].get("choices") or ()}
    value = answer["value"]
    return labels.get(value, value) if isinstance(value, str) else value


def _status(record: "Interaction") -> Status:
    answer = record["answer"]
    if record["status"] == "completed" and answer is not None and not answer["expired"]:
        return "answered"
    return {"pending": "waiting", "cancelled": "withdrawn"}.get(record["status"], "nobody answered")  # type: ignore[return-value]


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
