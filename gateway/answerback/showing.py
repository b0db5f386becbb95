"""showing: a question once more, for somebody who asks for it: by its code alone, from a list, or by "?"."""

from answerback.case import Case, Effect
from answerback.given import PICK, plain, sent_with
from answerback.match import find_codes, strip_code
from answerback.model import Interaction, MessageKind, Outcome
from answerback.steps import Step, asked_by
from answerback.store import Row
from answerback.store.codec import address_in

ASKING = " \t\r\n?？!！.…"  # what is left where nothing is said


def asks_to_see(case: Case, record: Interaction, step: Step | None) -> bool:
    """Whether a reply that is for a question says nothing but which one it means, or "?"."""
    reply = case.reply
    payload = reply.data.partition(":")[2]
    sent = sent_with(case.tx, case.provider, reply)
    if sent.files or (payload and payload != PICK):
        return False
    text = plain(reply, strip_code(sent.text, record.code), case.person)
    if text.strip(ASKING):
        return False
    means = payload == PICK and not sent.text
    means = means or "?" in text.translate({ord("？"): "?"}) or record.code in find_codes(sent.text)
    return means and not _is_choice(text, record, step)


def show(case: Case, record: Interaction, asked: Row, step: Step | None) -> Effect:
    """The pending question again, where it was asked; at once, since whoever asks for it is awake.

    What was asked where others read too is shown in private to whoever asks in private, never the other way.
    Like a reminder, it tells in the end how the question was closed.
    """
    outbox = case.context.outbox
    if case.reply.private and outbox.is_shared(asked):
        asked = asked | {"place": case.reply.place}
    there = address_in(asked | {"id": asked["address_id"]})
    row = outbox.question(case.tx, record, there, MessageKind.REMINDER, step=step, awake=True)
    return Effect(Outcome.COMMAND, [row], about=record.id)


def _is_choice(text: str, record: Interaction, step: Step | None) -> bool:
    """Whether something can be chosen that is called so."""
    choices = asked_by(record, step).choices if step is not None or len(record.questions) == 1 else ()
    return bool(text.strip()) and any(text.strip() in (choice.label, choice.id) for choice in choices)
