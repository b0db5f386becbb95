"""Reviews: the calls that an agent wants to make, and what was decided about each.

The shapes are those of langchain.agents.middleware.human_in_the_loop (HITLRequest and HITLResponse,
ToolApprovalRequest and Decision) and of langgraph.prebuilt.interrupt (HumanInterrupt, HumanResponse).
A decision that is not allowed, or arguments that the call does not have, would raise in the graph after the
answer was locked in: they are refused here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from answerback.demands import branches, bundled, first, resolved
from answerback.errors import DoesNotFit
from answerback.model import Action, Answer, Json, Question, QuestionKind
from answerback_agents.dialects.reading import NO_RESPONSE, NOBODY, Reading, line, silent

DECISIONS = ("approve", "edit", "reject", "respond")
# What the middleware says where its author says nothing: the call itself, which is shown anyway.
PREFIX, REPEATED = "Tool execution requires approval", "\n\nTool: {name}\nArgs: "
INBOX = {
    "allow_accept": "approve",
    "allow_edit": "edit",
    "allow_ignore": "reject",
    "allow_respond": "respond",
}


@dataclass(frozen=True, slots=True)
class Call:
    """A call to be decided about. `claim`: what the agent says of it; `replied`: silence may be a reply.

    `demands`: what its arguments have to fit once they are changed.
    """

    name: str
    args: dict[str, Json]
    claim: str
    allowed: tuple[str, ...]
    replied: bool = False
    demands: Json = None

    @property
    def expirable(self) -> bool:
        """Whether silence has a decision of its own."""
        return "reject" in self.allowed or (self.replied and "respond" in self.allowed)


class HumanInTheLoop:
    """`{"action_requests": […], "review_configs": […]}`: resumed with one decision a request, in order."""

    def matches(self, payload: Json) -> bool:
        return bool(_requested(payload))

    def read(self, payload: Json) -> Reading:
        return _reading(_requested(payload))

    def write(self, payload: Json, answer: Answer) -> Json:
        decided = _decided(_requested(payload), answer)
        return {"decisions": [_decision(call, value) for call, value in decided]}


@dataclass(frozen=True, slots=True)
class ToolApproval:
    """`{"type": "tool_approval", "name", "args", …}`, one call: `schema` says which decisions are allowed."""

    schema: Json = field(default=None, repr=False)

    def matches(self, payload: Json) -> bool:
        return (
            isinstance(payload, dict)
            and payload.get("type") == "tool_approval"
            and bool(self._calls(payload))
        )

    def read(self, payload: Json) -> Reading:
        return _reading(self._calls(payload))

    def write(self, payload: Json, answer: Answer) -> Json:
        ((call, value),) = _decided(self._calls(payload), answer)
        decision = _decision(call, value)
        if found := first(decision, self.schema, parts=2):  # the arguments were checked by themselves
            raise DoesNotFit(f"The decision does not fit what “{call.name}” takes: {found.said}.")
        return decision

    def _calls(self, payload: Json) -> Sequence[Call]:
        forms = {name: form for name, form in branches(self.schema) if name in DECISIONS}
        call = _call(payload, list(forms) or ["approve", "reject"])
        return (replace(call, demands=_of_arguments(forms.get("edit"), self.schema)),) if call else ()


class AgentInbox:
    """`[{"action_request", "config", "description"}]`: resumed with one response a request, in order."""

    def matches(self, payload: Json) -> bool:
        return bool(_inbox(payload))

    def read(self, payload: Json) -> Reading:
        return _reading(_inbox(payload))

    def write(self, payload: Json, answer: Answer) -> Json:
        return [_response(call, value) for call, value in _decided(_inbox(payload), answer)]


def _requested(payload: Json) -> Sequence[Call]:
    """The calls of a HITLRequest; none if it is not one, or if one of them could not be decided about."""
    given = payload if isinstance(payload, dict) else {}
    requests, configs = given.get("action_requests"), given.get("review_configs")
    if not isinstance(requests, list) or not isinstance(configs, list):
        return ()
    calls = [_call(request, _allowed(configs, place, request)) for place, request in enumerate(requests)]
    return [call for call in calls if call] if all(calls) else ()


def _allowed(configs: list[Json], place: int, request: Json) -> Json:
    """The middleware writes one config a request; others write one an action."""
    name = request.get("name") if isinstance(request, dict) else None
    candidates = [*configs[place : place + 1], *configs]
    mine = (each for each in candidates if isinstance(each, dict) and each.get("action_name") == name)
    return next(mine, {}).get("allowed_decisions")


def _call(request: Json, allowed: Json) -> Call | None:
    if not isinstance(request, dict) or not line(request.get("name")):
        return None
    args, known = request.get("args"), allowed if isinstance(allowed, list) else []
    decisions = _editable(tuple(each for each in DECISIONS if each in known), args)
    if not isinstance(args, dict) or not decisions:
        return None
    return Call(request["name"], args, _claim(request["name"], request.get("description")), decisions)


def _of_arguments(form: Json, root: Json) -> Json:
    """What the form of a change says of the arguments; None if that is nothing."""
    changed = resolved(form, root).properties.get("edited_action")
    args = resolved(resolved(changed, root).properties.get("args"), root)
    return bundled(args.schema, root) or None


def _inbox(payload: Json) -> Sequence[Call]:
    """Agent Inbox shows a list of requests, or one request by itself; it always responds with a list."""
    items = payload if isinstance(payload, list) else [payload]
    calls = [_inbox_call(item) for item in items]
    return [call for call in calls if call] if all(calls) else ()


def _inbox_call(item: Json) -> Call | None:
    request, config = (
        item.get(key) if isinstance(item, dict) else None for key in ("action_request", "config")
    )
    if not isinstance(request, dict) or not isinstance(config, dict) or not line(request.get("action")):
        return None
    args = request.get("args") if request.get("args") is not None else {}
    shown = args if isinstance(args, dict) else {"args": args}
    allowed = tuple(decision for key, decision in INBOX.items() if config.get(key) is True)
    decisions = _editable(allowed, args)
    claim = line(item.get("description"))
    return Call(request["action"], shown, claim, decisions, replied=True) if decisions else None


def _editable(allowed: tuple[str, ...], args: Json) -> tuple[str, ...]:
    """Editing needs arguments by name."""
    return allowed if isinstance(args, dict) and args else tuple(each for each in allowed if each != "edit")


def _claim(name: str, description: Json) -> str:
    claim = line(description).partition(REPEATED.format(name=name))[0]
    return "" if claim == PREFIX else claim


def _reading(calls: Sequence[Call]) -> Reading:
    questions = tuple(
        Question(
            f"q{place}",
            call.claim,
            QuestionKind.REVIEW,
            action=Action(call.name, call.args),
            decisions=call.allowed,
            demands=call.demands,
            files=False,
        )
        for place, call in enumerate(calls, start=1)
    )
    return Reading(questions, expirable=all(call.expirable for call in calls))


def _decided(calls: Sequence[Call], answer: Answer) -> list[tuple[Call, Json]]:
    """What was decided about each call, checked against what it allows."""
    if silent(answer):
        return [(call, _unanswered(call, answer)) for call in calls]
    values = [answer.values.get(f"q{place}") for place in range(1, len(calls) + 1)]
    for call, value in zip(calls, values, strict=True):
        _check(call, value)
    return list(zip(calls, values, strict=True))


def _unanswered(call: Call, answer: Answer) -> Json:
    """Silence rejects; it never approves (law 6)."""
    if "reject" in call.allowed:
        return {"decision": "reject", "message": NOBODY}
    if call.expirable or (answer.no_response and "respond" in call.allowed):
        return {"decision": "respond", "message": NO_RESPONSE}
    raise DoesNotFit(f"“{call.name}” has no decision for silence: it cannot be rejected.")


def _check(call: Call, value: Json) -> None:
    decision = value.get("decision") if isinstance(value, dict) else None
    if decision not in call.allowed:
        raise DoesNotFit(f"“{call.name}” needs one of these decisions: {', '.join(call.allowed)}.")
    message, args = value.get("message", ""), value.get("args")
    if not isinstance(message, str) or (decision == "respond" and not message.strip()):
        raise DoesNotFit(f"A reply in place of “{call.name}” needs a text.")
    if decision != "edit":
        return
    if not isinstance(args, dict) or not args:
        raise DoesNotFit(f"A change of “{call.name}” needs its arguments.")
    if unknown := [name for name in args if name not in call.args]:
        raise DoesNotFit(f"“{call.name}” was not called with {', '.join(f'“{name}”' for name in unknown)}.")


def _decision(call: Call, value: Json) -> Json:
    """A Decision of LangChain's."""
    decision = value["decision"]
    if decision == "edit":
        return {"type": "edit", "edited_action": {"name": call.name, "args": value["args"]}}
    said = {"message": value["message"]} if value.get("message") and decision != "approve" else {}
    return {"type": decision, **said}


def _response(call: Call, value: Json) -> Json:
    """A HumanResponse; a reason to ignore, for which it has no place of its own, stands in `args`."""
    match value["decision"]:
        case "approve":
            return {"type": "accept", "args": None}
        case "edit":
            return {"type": "edit", "args": {"action": call.name, "args": value["args"]}}
        case "reject":
            return {"type": "ignore", "args": value.get("message") or None}
        case _:
            return {"type": "response", "args": value["message"]}
