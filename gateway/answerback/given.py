"""given: what a reply gives to one question: values, the words as they were written, files. Or why not."""

import re
from dataclasses import dataclass, replace

from answerback.attachments import kept
from answerback.evidence import uncalled
from answerback.match import strip_code
from answerback.model import Attachment, Contact, Interaction, InteractionStatus, Json, Question, QuestionKind
from answerback.provider import Reply
from answerback.read import Unclear, Value, read, read_payload, unfit, wants_text, without_courtesies
from answerback.steps import Step, asked_by
from answerback.store import Row, Tx, deliveries, interactions
from answerback.store.codec import attachments_in, loads
from answerback.tokens import Tokens

SAID, FILES = "said", "files"  # what was written and sent, kept with the sentence that asks for more
PICK = "pick"  # the payload of a button of "which one?"
NUMBER = re.compile(r"\s*([1-9][0-9]?)[.)]?\s*")


@dataclass(frozen=True, slots=True)
class Given:
    """Values that fit their questions, and what was written and sent for them."""

    values: dict[str, Json]
    text: str
    files: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Sent:
    """What there is to read: what was sent just now, or before we asked "which one?"."""

    text: str = ""
    files: tuple[Attachment, ...] = ()


def value_of(
    tx: Tx, provider: str, reply: Reply, person: Contact | None, record: Interaction, step: Step | None = None
) -> Given | Unclear:
    """What a reply means for the one question that it was found to be for; `step`: of several."""
    if record.sensitive:  # what it asks and what is answered stay between the form and the gateway
        return Unclear("sensitive_form")
    payload = reply.data.partition(":")[2]
    sent = sent_with(tx, provider, reply)
    language, timezone = (person.language, person.timezone) if person else ("en", "UTC")
    if payload and payload != PICK:
        return _tapped(record, payload, language, step)
    if len(record.questions) > 1 and (step is None or sent.files):
        return Unclear(_form_s_work(record, step, sent))
    question = asked_by(record, step)
    files = kept(provider, record.id, sent.files)
    text = uncalled(reply, strip_code(sent.text, record.code))
    if files and not question.files and not text.strip():
        return Unclear("only_text")
    if files and question.kind is QuestionKind.TEXT and not text.strip():
        if unfit(question, text, text, language):  # a file says nothing that could fit
            return Unclear("empty")
        return Given({question.id: text}, sent.text, files)  # a voice message, a photo without a caption
    at = reply.sent_at or tx.now  # "tomorrow" is the day after it was written
    found = read(question, text, language=language, timezone=timezone, now=at)
    if reply.quoted and person is not None and question.kind is not QuestionKind.TEXT:
        short = without_courtesies(text, person.name)
        again = read(question, short, language=language, timezone=timezone, now=at)
        if isinstance(again, Unclear) or not _own_words(question, again.value):
            found = again
    return Given({question.id: found.value}, sent.text, files) if isinstance(found, Value) else found


def _form_s_work(record: Interaction, step: Step | None, sent: Sent) -> str:
    """The sentence for what one of several questions cannot take here. A file is for none of them in

    particular, and the next one of an album would answer the next question.
    """
    if sent.files and record.takes_files:
        return "open_form_files"
    if step is not None:
        return "only_text"
    return "open_form_only_text" if sent.files else "open_form"


def _own_words(question: Question, value: Json) -> bool:
    """Whether a value is a text of the person's own: that is kept with all that stood around it."""
    if question.kind is QuestionKind.CHOICE:
        return all(value != choice.id for choice in question.choices)
    return isinstance(value, dict) and value["decision"] == "respond"


def sent_with(tx: Tx, provider: str, reply: Reply) -> Sent:
    """What the person sent: with this reply, or before we asked "which one?" for which it picks one."""
    if reply.data.partition(":")[2] != PICK:
        return Sent(reply.text, reply.attachments)
    args = _before(tx, provider, reply)
    return Sent(str(args.get("text", "")), attachments_in(args.get(FILES, [])))


def said_before(tx: Tx, provider: str, reply: Reply, asked: Row) -> Sent:
    """For a tap under "I need a clear …": what the person had sent, which the tap makes clear (law 9)."""
    if not reply.data or set(reply.references) <= set(loads(asked["message_ids"])):
        return Sent()  # it stands under the question itself, as nearly all do: nothing to look up
    args = _before(tx, provider, reply, asked["interaction_id"])
    return Sent(str(args.get(SAID, "")), attachments_in(args.get(FILES, [])))


def command_of(tx: Tx, provider: str, reply: Reply) -> tuple[str, str] | None:
    """The command for which a tap picks a question, if it was one that we asked "which one?" for."""
    if reply.data.partition(":")[2] != PICK:
        return None
    name, _, rest = str(_before(tx, provider, reply).get("command", "")).partition(" ")
    return (name, rest) if name else None


def plain(reply: Reply, text: str, person: Contact | None) -> str:
    """A text without what calls us, and in a mail without its greeting and its ending."""
    words = uncalled(reply, text)
    return without_courtesies(words, person.name if person else "") if reply.quoted else words


def by_number(tx: Tx, tokens: Tokens, provider: str, reply: Reply, person: Contact | None) -> Reply:
    """A number written below a list of questions picks one as a tap does, if all of them still wait.

    Otherwise the list may have been shown without those that do not, and the number is another one's.
    """
    if reply.data or reply.attachments or not reply.references:
        return reply
    number = NUMBER.fullmatch(plain(reply, reply.text, person))
    if number is None:
        return reply
    below = reply.references[:1]  # the others are further up in its thread
    listed = _before(tx, provider, replace(reply, references=below)).get("deliveries", ())
    place = int(number[1]) - 1
    if place >= len(listed) or not all(_waits(tx, each) for each in listed):
        return reply
    return replace(reply, data=f"{tokens.of(listed[place])}:{PICK}", references=below)


def _waits(tx: Tx, delivery_id: str) -> bool:
    row = tx.one(deliveries.GET, id=delivery_id)
    record = interactions.get(tx, row["interaction_id"]) if row is not None else None
    return record is not None and record.status is InteractionStatus.PENDING


def _before(tx: Tx, provider: str, reply: Reply, interaction_id: str = "") -> dict[str, Json]:
    """What is kept with the message that a tap stands under; nothing, once it is erased.

    `interaction_id`: the question that this message must be about; "" for one that asks "which one?".
    """
    for id in reply.references:
        row = tx.one(deliveries.BY_MESSAGE, provider=provider, message_id=id)
        if row is not None and row["kind"] == "conversation" and row["interaction_id"] == interaction_id:
            args: dict[str, Json] = loads(row["content"]).get("args", {})
            return args
    return {}


def _tapped(record: Interaction, payload: str, language: str, step: Step | None) -> Given | Unclear:
    tapped = read_payload(record.questions, payload, language)
    if tapped is None:
        return _not_yet(record, payload)
    if len(record.questions) > 1 and step is None:
        return Unclear("open_form")
    question, value, label = tapped
    if question is not asked_by(record, step):  # no button of ours under this message
        return Unclear("not_understood")
    return Given({question.id: value}, label)


def _not_yet(record: Interaction, payload: str) -> Unclear:
    """A tap that does not answer: "Something else…", "Change…"."""
    wanted = wants_text(record.questions, payload)
    return Unclear(wanted[1] if wanted is not None else "not_understood")
