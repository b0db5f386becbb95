"""The values of the agent contract as JSON and back, so that both sides of a worker see the same.

It has no part in what the store keeps: those rows outlive a release, these frames only a process.
"""

from collections.abc import Callable
from dataclasses import asdict
from itertools import chain
from typing import Any

from answerback import errors
from answerback.agent import AgentContext, Change, Failed, Finished, Look, Paused, Pending, State, Target
from answerback.errors import AgentError, AnswerbackError
from answerback.model import Action, Answer, Attachment, Choice, Json, Question, QuestionKind, Written
from answerback.settings import Plugin

_ANSWER = ("values", "text", "by", "via", "at", "expired", "no_response", "default_used")
_PENDING = (
    "interrupt_id",
    "digest",
    "context",
    "title",
    "expirable",
    "checkpoint",
    "human_only",
    "expires_in",
    "on_expire",
    "default",
    "impossible",
)
_QUESTION = ("id", "text", "free_text", "required", "minimum", "maximum", "whole", "demands", "files")
_PLUGIN = ("name", "use", "options", "file", "line", "lines", "base_dir")
_CONTEXT = ("data_dir", "database", "base_dir", "extra")
_TARGET = ("interrupt_id", "digest", "checkpoint")


def _picked(value: object, names: tuple[str, ...]) -> dict[str, Json]:
    return {name: getattr(value, name) for name in names}


def question_out(question: Question) -> Json:
    action = question.action and [question.action.name, question.action.args]
    return {
        **_picked(question, _QUESTION),
        "kind": str(question.kind),
        "choices": [[choice.id, choice.label] for choice in question.choices],
        "action": action,
        "decisions": list(question.decisions),
        "written": str(question.written),
    }


def question_in(row: Json) -> Question:
    more = {
        "kind": QuestionKind(row["kind"]),
        "choices": tuple(Choice(*choice) for choice in row["choices"]),
        "action": Action(*row["action"]) if row["action"] else None,
        "decisions": tuple(row["decisions"]),
        "written": Written(row["written"]),
    }
    return Question(**{**row, **more})


def pending_out(pending: tuple[Pending, ...]) -> Json:
    return [
        {
            **_picked(each, _PENDING),
            "questions": [question_out(one) for one in each.questions],
            "unusable": list(each.unusable),
        }
        for each in pending
    ]


def pending_in(rows: Json) -> tuple[Pending, ...]:
    return tuple(
        Pending(
            **{
                **row,
                "questions": tuple(question_in(one) for one in row["questions"]),
                "unusable": tuple(row["unusable"]),
            }
        )
        for row in rows
    )


def state_out(state: State) -> Json:
    if isinstance(state, Paused):
        return {"paused": pending_out(state.pending)}
    if isinstance(state, Failed):
        return {"failed": [state.error, state.retryable]}
    return {"finished": state.result}


def state_in(row: Json) -> State:
    if "paused" in row:
        return Paused(pending_in(row["paused"]))
    if "failed" in row:
        return Failed(*row["failed"])
    return Finished(row["finished"])


def look_out(look: Look) -> Json:
    """The changes one after another in one list, each with the number of what waits: there can be many."""
    flat: list[Json] = []
    for change in look.changes:
        flat += [change.thread, change.started, len(change.waiting), *chain.from_iterable(change.waiting)]
    return {"changes": flat, "cursor": look.cursor, "again_in": look.again_in}


def look_in(row: Json) -> Look:
    rest = iter(row["changes"])
    changes = (
        Change(thread, tuple((next(rest), next(rest)) for _ in range(number)), started)
        for thread, started, number in zip(rest, rest, rest, strict=False)
    )
    return Look(**{**row, "changes": tuple(changes)})


def answer_out(answer: Answer) -> Json:
    return {**_picked(answer, _ANSWER), "attachments": [asdict(each) for each in answer.attachments]}


def answer_in(row: Json) -> Answer:
    return Answer(**{**row, "attachments": tuple(Attachment(**each) for each in row["attachments"])})


def target_out(target: Target) -> Json:
    return _picked(target, _TARGET)


def target_in(row: Json) -> Target:
    return Target(**row)


def plugin_out(plugin: Plugin) -> Json:
    """Holds secrets: for the private socket only."""
    return {**_picked(plugin, _PLUGIN), "hidden": sorted(plugin.hidden)}


def plugin_in(row: Json) -> Plugin:
    return Plugin(**{**row, "hidden": frozenset(row["hidden"])})


def context_out(context: AgentContext) -> Json:
    """Holds the database's password: for the private socket only."""
    return _picked(context, _CONTEXT)


def context_in(row: Json) -> AgentContext:
    return AgentContext(**row)


def error_out(error: BaseException) -> Json:
    """One of our errors with all it carries; of any other only its class: its text may hold a secret."""
    known = next((kind for kind in type(error).__mro__ if _is_ours(kind)), None)
    if known is None:
        return {"raised": type(error).__name__}
    more = {name: value for name, value in vars(error).items() if _is_plain(value)}
    return {"kind": known.__name__, "args": [str(value) for value in error.args], "more": more}


def error_in(row: Json) -> AnswerbackError:
    """The error to raise here; what is none of ours is a fault of the agent's adapter: an AgentError."""
    if "raised" in row:
        return AgentError(f"The agent's adapter raised {row['raised']}.")
    kind: type[AnswerbackError] = getattr(errors, row["kind"], AgentError)  # another release may have more
    error = kind.__new__(kind, *row["args"])
    vars(error).update(row["more"])
    return error


def _is_ours(kind: type) -> bool:
    return issubclass(kind, AnswerbackError) and getattr(errors, kind.__name__, None) is kind


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


# What each call is given and gives, by the contract's names: (argument → encoder), result's encoder.
_as_it_is: Callable[[Any], Json] = lambda value: value  # noqa: E731 - one row of the tables below
ARGUMENTS_OUT: dict[str, Callable[[Any], Json]] = {"target": target_out, "answer": answer_out}
ARGUMENTS_IN: dict[str, Callable[[Json], Any]] = {"target": target_in, "answer": answer_in}
GIVE_A_STATE = ("start", "resume", "retry", "reask", "stands")
RESULTS_OUT: dict[str, Callable[[Any], Json]] = {
    **dict.fromkeys(GIVE_A_STATE, lambda state: None if state is None else state_out(state)),
    "pending": pending_out,
    "look": look_out,
    "cancel": _as_it_is,
    "tip": _as_it_is,
    "forget": _as_it_is,
}


def arguments_out(arguments: dict[str, Any]) -> Json:
    return {name: ARGUMENTS_OUT.get(name, _as_it_is)(value) for name, value in arguments.items()}


def arguments_in(row: Json) -> dict[str, Any]:
    return {name: ARGUMENTS_IN.get(name, _as_it_is)(value) for name, value in row.items()}
