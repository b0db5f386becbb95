"""What the API answers: records as JSON, times as RFC 3339 in UTC."""

import datetime
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel
from starlette.responses import JSONResponse

from answerback.model import Answer, Interaction, Json, Question
from answerback.standing import is_stand_in

if TYPE_CHECKING:
    from answerback.ask import Asked
    from answerback.history import History
    from answerback.letters import Letter
    from answerback.run import Run

Out = TypeVar("Out", bound=BaseModel)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


class Ascii(JSONResponse):
    """JSON in ASCII, which carries every string that Python can hold."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


class StartedOut(BaseModel):
    id: str
    agent: str
    thread_id: str
    status: str


class RunOut(StartedOut):
    result: Json
    error: str
    interactions: list[str]
    created_at: str
    updated_at: str
    erased_at: str | None
    user: str


class AskedOut(BaseModel):
    id: str
    status: str
    form_url: str
    expires_at: str | None


class StatusOut(BaseModel):
    id: str
    status: str
    created_at: str
    expires_at: str | None
    answered_at: str | None


class StateOut(BaseModel):
    state: Json


class ChoiceOut(BaseModel):
    id: str
    label: str


class ActionOut(BaseModel):
    name: str
    args: dict[str, Any]


class QuestionOut(BaseModel):
    """A question. `demands`: a JSON Schema that its value has to fit beyond its kind, null for none.

    `written`: a text that is a list, one item on each line ("lines"), or any value as JSON ("json").
    """

    id: str
    text: str
    kind: str
    choices: list[ChoiceOut]
    free_text: bool
    required: bool
    min: float | None
    max: float | None
    whole: bool
    action: ActionOut | None
    decisions: list[str]
    demands: dict[str, Any] | None
    written: str


class AttachmentOut(BaseModel):
    """A file that came with an answer, as its sender describes it; `href` is where its bytes are."""

    id: str
    name: str
    content_type: str
    size: int | None
    provider: str
    href: str


class AnswerOut(BaseModel):
    """`value` is the value of the only question; null when there were several, see `values` then.

    `stand_in`: it was given in place of a person; `by` says by what.
    """

    value: Json
    values: dict[str, Any]
    text: str
    by: str
    via: str
    stand_in: bool
    at: str | None
    expired: bool
    default_used: bool
    attachments: list[AttachmentOut]


class InteractionOut(StatusOut):
    code: str
    title: str
    context: str
    questions: list[QuestionOut]
    agent: str
    user: str
    run_id: str
    thread_id: str
    on_expire: str
    sensitive: bool
    human_only: bool
    overdue_at: str | None
    answered_by: str
    answered_via: str
    answer: AnswerOut | None
    reason: str
    resumed_at: str | None
    resume_error: str
    erased_at: str | None


class LetterOut(BaseModel):
    """A dead letter. `id` is that of what was given up; `reason` and `remedy` are sentences."""

    id: str
    kind: str
    reason: str
    remedy: str
    at: str
    agent: str
    run_id: str
    interaction_id: str
    provider: str
    contact: str


class EventOut(BaseModel):
    """One thing that happened to a question, or is planned. Of what was said it tells nothing.

    `event` is what the audit calls it, `reply`, or the status of a message; `kind` is then what message it
    is, or what became of the reply.
    """

    at: str
    event: str
    actor: str
    provider: str
    kind: str
    error: str


class HistoryOut(BaseModel):
    """`next_at`: when the gateway does something about it by itself; null: nothing is planned."""

    events: list[EventOut]
    next_at: str | None


class PageOut(BaseModel, Generic[Out]):
    """A page of a list, oldest first; `next` is what `after` takes for the following one, null at the end."""

    items: list[Out]
    next: str | None


class DoneOut(BaseModel):
    status: str = "success"
    message: str = "Response received"


def timestamp(moment: int | None) -> str | None:
    """RFC 3339 in UTC of microseconds since the epoch: `2026-11-21T14:02:00.000000Z`."""
    if moment is None:
        return None
    when = _EPOCH + datetime.timedelta(microseconds=moment)
    return when.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _time(moment: int) -> str:
    return timestamp(moment) or ""


def run_out(run: "Run") -> RunOut:
    return RunOut(
        id=run.id,
        agent=run.agent,
        thread_id=run.thread_id,
        status=str(run.status),
        result=run.result,
        error=run.error,
        interactions=list(run.interactions),
        created_at=_time(run.created_at),
        updated_at=_time(run.updated_at),
        erased_at=timestamp(run.erased_at),
        user=run.user,
    )


def asked_out(asked: "Asked") -> AskedOut:
    interaction = asked.interaction
    return AskedOut(
        id=interaction.id,
        status=str(interaction.status),
        form_url=asked.form_url,
        expires_at=timestamp(interaction.expires_at),
    )


def status_out(interaction: Interaction) -> StatusOut:
    return StatusOut(
        id=interaction.id,
        status=str(interaction.status),
        created_at=_time(interaction.created_at),
        expires_at=timestamp(interaction.expires_at),
        answered_at=timestamp(interaction.answered_at),
    )


def interaction_out(interaction: Interaction) -> InteractionOut:
    return InteractionOut(
        **status_out(interaction).model_dump(),
        code=interaction.code,
        title=interaction.title,
        context=interaction.context,
        questions=[_question(question) for question in interaction.questions],
        agent=interaction.agent,
        user=interaction.user,
        run_id=interaction.run_id,
        thread_id=interaction.thread_id,
        on_expire=str(interaction.on_expire),
        sensitive=interaction.sensitive,
        human_only=interaction.human_only,
        overdue_at=timestamp(interaction.overdue_at),
        answered_by=interaction.answered_by,
        answered_via=interaction.answered_via,
        answer=_answer(interaction, interaction.answer) if interaction.answer else None,
        reason=interaction.reason,
        resumed_at=timestamp(interaction.resumed_at),
        resume_error=interaction.resume_error,
        erased_at=timestamp(interaction.erased_at),
    )


def letter_out(letter: "Letter") -> LetterOut:
    return LetterOut(
        id=letter.id,
        kind=str(letter.kind),
        reason=letter.reason,
        remedy=letter.remedy,
        at=_time(letter.at),
        agent=letter.agent,
        run_id=letter.run_id,
        interaction_id=letter.interaction_id,
        provider=letter.provider,
        contact=letter.contact,
    )


def history_out(history: "History") -> HistoryOut:
    events = [EventOut(**asdict(event) | {"at": _time(event.at)}) for event in history.events]
    return HistoryOut(events=events, next_at=timestamp(history.next_at))


def _question(question: Question) -> QuestionOut:
    action = question.action
    return QuestionOut(
        id=question.id,
        text=question.text,
        kind=str(question.kind),
        choices=[ChoiceOut(id=choice.id, label=choice.label) for choice in question.choices],
        free_text=question.free_text,
        required=question.required,
        min=question.minimum,
        max=question.maximum,
        whole=question.whole,
        action=ActionOut(name=action.name, args=action.args) if action else None,
        decisions=list(question.decisions),
        demands=question.demands,
        written=str(question.written),
    )


def _answer(interaction: Interaction, answer: Answer) -> AnswerOut:
    only = interaction.questions[0].id if len(interaction.questions) == 1 else None
    return AnswerOut(
        value=answer.values.get(only) if only is not None else None,
        values=answer.values,
        text=answer.text,
        by=answer.by,
        via=answer.via,
        stand_in=is_stand_in(answer.by),
        at=timestamp(answer.at or None),
        expired=answer.expired,
        default_used=answer.default_used,
        attachments=[AttachmentOut(**asdict(each)) for each in answer.attachments],
    )
