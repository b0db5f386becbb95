"""What a message changes to when its question is closed: who answered what, when, and what happens now."""

from collections.abc import Mapping
from itertools import compress

from answerback.model import (
    CHANGED,
    GONE,
    Address,
    Interaction,
    InteractionStatus,
    Json,
    OnExpire,
    Question,
    QuestionKind,
)
from answerback.provider import Message, MessageKind
from answerback.render.answer import answer_line, default_text, interaction_answer
from answerback.render.question import question_title, subject
from answerback.render.silence import waiting
from answerback.render.visible import brief, line
from answerback.sentences import moment, number, say
from answerback.standing import is_program, is_stand_in

QUESTION = 120  # characters of the question that stay below its outcome
LISTED, MOST = 60, 10  # characters of one of several questions, and how many of them are listed
FILE_NAME = 40  # characters of a file's name
NAMES = {"telegram": "Telegram", "whatsapp": "WhatsApp", "slack": "Slack", "sms": "SMS"}
PLACES = {
    "email": "via_email",
    "mail": "via_email",
    "form": "via_form",
    "webform": "via_form",
    "inbox": "via_inbox",
    "api": "via_api",
    "console": "via_console",
}


def outcome_message(
    interaction: Interaction,
    to: Address,
    *,
    viewer: str,
    who: str,
    language: str,
    timezone: str,
    now: int,
) -> Message:
    """The edited copy, or a short message of its own.

    `viewer` is the contact's id who sees it ("" for nobody in particular), `who` the name of whoever
    answered. `now` is in microseconds since the epoch.
    """
    said = outcome_text(interaction, viewer=viewer, who=who, language=language, timezone=timezone, now=now)
    asked = "" if interaction.sensitive or not interaction.questions else _asked(interaction, language)
    return Message(
        to,
        MessageKind.OUTCOME,
        said,
        body=asked,
        subject=subject(said, interaction.code),
        code=interaction.code,
        language=language,
        interaction_id=interaction.id,
    )


def noted_message(
    interaction: Interaction, noted: Mapping[str, Json], to: Address, language: str, timezone: str
) -> Message:
    """The copy of one of several questions, once it is answered: what was said, and which one it was.

    `noted`: its place, the value, the text that was tapped or written, and when, in microseconds.
    """
    place, at = int(noted["place"]), int(noted["at"])
    question = interaction.questions[place]
    key = _how(question, noted["value"])
    value = brief(line(str(noted["text"])), QUESTION)
    said = say(
        "outcome",
        language,
        did=say(f"you_{key}", language, value=value, who=""),
        time=moment(at, language, timezone, at),
    )
    number_ = say("one_of", language, place=place + 1, count=len(interaction.questions))
    return Message(
        to,
        MessageKind.OUTCOME,
        f"☑️ {said}",  # it counts with the last one only
        body=f"{brief(question_title(question), QUESTION)} · {number_}",
        subject=subject(said, interaction.code),
        code=interaction.code,
        language=language,
        interaction_id=interaction.id,
    )


def delegated_message(interaction: Interaction, to_whom: str, to: Address, language: str) -> Message:
    """The copy of whoever handed a question on: to whom, and what it was."""
    said = say("delegated", language, who=line(to_whom))
    return Message(
        to,
        MessageKind.OUTCOME,
        f"↪️ {said}",
        body="" if interaction.sensitive or not interaction.questions else _asked(interaction, language),
        subject=subject(said, interaction.code),
        code=interaction.code,
        language=language,
        interaction_id=interaction.id,
    )


def outcome_text(
    interaction: Interaction, *, viewer: str, who: str, language: str, timezone: str, now: int
) -> str:
    """One sentence for what became of an interaction, and one for what happens now."""

    def at(moment_at: int | None) -> str:
        return moment(now if moment_at is None else moment_at, language, timezone, now)

    match interaction.status:
        case InteractionStatus.COMPLETED:
            own = bool(viewer) and viewer == interaction.answered_by
            said = _answered(interaction, own, who, language, at(interaction.answered_at))
            if interaction.resume_error == GONE:
                return f"↩️ {said} {say('gone_without', language)}"
            if interaction.resume_error == CHANGED:
                return f"↩️ {said} {say('superseded', language)}"
            more = "going_on" if own else "no_person" if is_program(interaction.answered_by) else ""
            said = f"✅ {said} {say(more, language)}" if more else f"✅ {said}"
            return f"{said} {say('files_unread', language)}" if _in_vain(interaction) else said
        case InteractionStatus.EXPIRED:
            return "⌛ " + expired_text(interaction, language, timezone, now)
        case InteractionStatus.CANCELLED:
            key = "superseded" if interaction.reason == "superseded" else "cancelled"
            return "↩️ " + say(key, language)
        case _:
            return "⏳ " + say("still_open", language)


def told_later(
    interaction: Interaction, *, viewer: str, who: str, language: str, timezone: str, now: int
) -> tuple[str, str]:
    """What was asked, and in a sentence what became of it, for a look back; of a sensitive one no more than

    its code and who answered.
    """
    asked = f"#{interaction.code}" if interaction.sensitive else _asked(interaction, language)
    if interaction.status is InteractionStatus.PENDING:
        return asked, waiting(interaction, language=language, timezone=timezone, now=now)
    if interaction.status is not InteractionStatus.COMPLETED:
        said = outcome_text(
            interaction, viewer=viewer, who=who, language=language, timezone=timezone, now=now
        )
        return asked, said.partition(" ")[2]
    own = bool(viewer) and viewer == interaction.answered_by
    answered_at = now if interaction.answered_at is None else interaction.answered_at
    return asked, _answered(interaction, own, who, language, moment(answered_at, language, timezone, now))


def _answered(interaction: Interaction, own: bool, who: str, language: str, time: str) -> str:
    return say("outcome", language, did=_did(interaction, own, who, language), time=time)


def expired_text(interaction: Interaction, language: str, timezone: str, now: int) -> str:
    """When it closed, and what the agent was given for an answer."""
    closed_at = now if interaction.expires_at is None else interaction.expires_at
    time = moment(closed_at, language, timezone, now)
    used_default = interaction.answer is not None and interaction.answer.default_used
    if used_default or interaction.on_expire is OnExpire.DEFAULT:
        value = default_text(interaction, language)
        return say("expired_default" if value else "expired_preset", language, time=time, value=value)
    stopped = interaction.on_expire is OnExpire.CANCEL
    return say("expired_stopped" if stopped else "expired", language, time=time)


def already_text(
    interaction: Interaction, *, viewer: str, who: str, language: str, timezone: str, now: int
) -> str:
    """For a reply to a closed question: what was decided, when and where, and that nothing changed."""
    if interaction.status is not InteractionStatus.COMPLETED:
        said = outcome_text(
            interaction, viewer=viewer, who=who, language=language, timezone=timezone, now=now
        )
        return said.partition(" ")[2]
    value = interaction_answer(interaction, language)
    own = bool(viewer) and viewer == interaction.answered_by
    key = "already_answered" + ("_you" if own else "") + ("" if value else "_quiet")
    answered_at = now if interaction.answered_at is None else interaction.answered_at
    time = _where(interaction, moment(answered_at, language, timezone, now), language)
    return say(key, language, who=_name(interaction, who, language), time=time, value=value)


def asked_anew(via: str, at: int, *, language: str, timezone: str, now: int) -> str:
    """For somebody who looks at a question that changed: when it was asked again, and where to look."""
    return say("asked_anew", language, time=_through(via, moment(at, language, timezone, now), language))


def also_sent(provider: str, language: str) -> str:
    """What a message says that stands in for one on a provider that is away; "" where that has no name."""
    if not provider or provider.lower() in PLACES:
        return ""
    return say("also_sent", language, provider=provider_name(provider))


def provider_name(provider: str) -> str:
    """A provider as people call it."""
    return NAMES.get(provider.lower()) or line(provider)


def _did(interaction: Interaction, own: bool, who: str, language: str) -> str:
    value = interaction_answer(interaction, language)
    key = _verb(interaction, value)
    did = say(("you_" if own else "who_") + key, language, who=_name(interaction, who, language), value=value)
    return _with_files(interaction, did if own else _where(interaction, did, language), language)


def _with_files(interaction: Interaction, did: str, language: str) -> str:
    """What was done, and which files came with it: whoever sent them must know that they arrived."""
    files = interaction.answer.attachments if interaction.answer is not None else ()
    if not files or interaction.sensitive or _in_vain(interaction):
        return did
    name = brief(line(files[0].name), FILE_NAME) if "." in files[0].name else say("one_file", language)
    many = say("files", language, count=number(len(files), language))
    return say("with_files", language, did=did, files=many if len(files) > 1 else name)


def _in_vain(interaction: Interaction) -> bool:
    """Whether files came, and whoever asked gets none: then nothing may sound as if they did."""
    answer = interaction.answer
    return answer is not None and bool(answer.attachments) and not interaction.brings_files


def _where(interaction: Interaction, did: str, language: str) -> str:
    """What was done, or when, and through what."""
    via = interaction.answered_via
    return did if not via or is_stand_in(interaction.answered_by) else _through(via, did, language)


def _through(via: str, did: str, language: str) -> str:
    return say(PLACES.get(via.lower(), "via"), language, did=did, provider=provider_name(via))


def _verb(interaction: Interaction, value: str) -> str:
    if not value or interaction.answer is None:
        return "answered"
    question = interaction.questions[0]
    return _how(question, interaction.answer.values[question.id])


def _how(question: Question, given: Json) -> str:
    """What somebody did who gave this value: the end of the name of a sentence."""
    if question.kind is QuestionKind.REVIEW and isinstance(given, dict):
        decision = str(given.get("decision"))
        return decision if decision in ("approve", "reject", "edit") else "wrote"
    listed = given in [choice.id for choice in question.choices]
    tapped = question.kind in (QuestionKind.CONFIRM, QuestionKind.CHOICES) or listed
    return "chose" if tapped else "wrote"


def asked_lines(interaction: Interaction, language: str, most: int) -> list[str]:
    """Each of several questions, up to `most` characters of it, and what was answered to it. That is not told

    of sensitive ones.
    """
    answer = None if interaction.sensitive else interaction.answer
    values = {} if answer is None else answer.values
    return [
        f"{brief(question_title(question), most)} → {answer_line(question, values[question.id], language)}"
        if question.id in values
        else brief(question_title(question), most)
        for question in interaction.questions
    ]


def _asked(interaction: Interaction, language: str) -> str:
    """What was asked; of several questions, what was answered to each."""
    if len(interaction.questions) == 1:
        return brief(question_title(interaction.questions[0]), QUESTION)
    values = interaction.answer.values if interaction.answer is not None else {}
    answered = [question.id in values for question in interaction.questions]
    lines = [*compress(asked_lines(interaction, language, LISTED), answered)]
    return "\n".join([*lines[:MOST], "…"] if len(lines) > MOST else lines)


def _name(interaction: Interaction, who: str, language: str) -> str:
    by = interaction.answered_by
    if not is_stand_in(by):
        return line(who) or say("somebody", language)
    if is_program(by):
        return say("stand_in", language, name=line(by.partition(":")[2]))
    return say("terminal", language)
