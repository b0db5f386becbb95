"""From a delivery's row to the message that a person reads: which renderer, with what."""

from dataclasses import dataclass, field, replace

from answerback.model import Address, Contact, Interaction, Json, MessageKind, RunStatus
from answerback.provider import Button, Message
from answerback.render import (
    NOTICE_SHOWN,
    Room,
    already_message,
    also_sent,
    by_code,
    called,
    conversation_message,
    delegated_message,
    line,
    noted_message,
    notice_message,
    outcome_message,
    pick_labels,
    question_message,
    reminder_message,
    run_message,
    subject,
    unclear_message,
    which_one_message,
)
from answerback.sentences import count, moment, say
from answerback.steps import step_of
from answerback.store import Row
from answerback.store.codec import loads
from answerback.tokens import Tokens

RUN_MORE = "run_more"
# Sentences with a link or a code in them.
FOR_ONE = frozenset(
    {
        "form_code",
        "open_form",
        "open_form_files",
        "open_form_only_text",
        "write_change",
        "edit_needs_form",
        "mail_not_trusted",
        "mail_too_long",
        "sensitive_form",
        RUN_MORE,
    }
)
CLOSED, WHICH_ONE, PENDING, CONFIRM_LINK = "closed", "which_one", "pending", "confirm_link"


@dataclass(frozen=True, slots=True)
class Told:
    """Whom a message is for, and what it needs of the store: names, time, open questions to pick from."""

    person: Contact | None
    names: dict[str, str]  # by contact id
    now: int
    picks: list[tuple[Interaction, str]] = field(default_factory=list)  # what is left, and its token

    @property
    def language(self) -> str:
        return self.person.language if self.person else "en"

    @property
    def timezone(self) -> str:
        return self.person.timezone if self.person else "UTC"


@dataclass(frozen=True, slots=True)
class Sheet:
    """One delivery about to be put into words."""

    row: Row
    record: Interaction | None
    told: Told
    tokens: Tokens
    room: Room
    shared: bool = False  # others read the place too
    tappable: bool = True  # every button is shown there

    @property
    def to(self) -> Address:
        row = self.row
        return Address(
            row["provider"], row["external_id"], row["place"], row["contact_id"], row["address_id"]
        )

    @property
    def asks(self) -> str:
        """The delivery whose token a reply must carry: this one, or the question it is about."""
        return str(self.row["id"] if self.row["token_hash"] else self.row["of_delivery"])

    @property
    def form_url(self) -> str:
        """The form's link; none where others would read it, since it is as good as the person's own."""
        return "" if self.shared else self.tokens.form_url(self.asks)


def is_private(row: Row, record: Interaction | None) -> bool:
    """Whether a delivery carries a link, a code or a secret: for the eyes of its own person only."""
    if row["kind"] == MessageKind.CONVERSATION and loads(row["content"]).get("key") in FOR_ONE:
        return True
    if row["kind"] == MessageKind.NOTICE:
        content = loads(row["content"])
        return bool(content.get("sensitive")) or len(content.get("text", "")) > NOTICE_SHOWN
    asks = row["kind"] in (MessageKind.QUESTION, MessageKind.REMINDER)
    if not asks or record is None:
        return False
    return record.sensitive or (len(record.questions) > 1 and step_of(row, record) is None)


def compose(sheet: Sheet, thread: tuple[str, ...]) -> Message:
    """The whole message; `thread` are the ids of our earlier ones that it belongs to."""
    message = _COMPOSE[MessageKind(sheet.row["kind"])](sheet)
    if sheet.shared and sheet.told.person is not None:
        message = _among_others(message, sheet.told.person)
    return replace(
        message, delivery_id=sheet.row["id"], interaction_id=sheet.row["interaction_id"], reply_to=thread
    )


def _among_others(message: Message, person: Contact) -> Message:
    """Who is meant, and how to write: of a group, a bot sees little more than replies to itself."""
    if message.kind is MessageKind.CONVERSATION:
        return replace(message, heading=message.heading or f"{line(person.name)}:")
    if message.kind not in (MessageKind.QUESTION, MessageKind.REMINDER):
        return message
    meant = say("in_group", person.language, who=line(person.name))
    return replace(message, body="\n\n".join(part for part in (message.body, meant) if part))


def _lost(since: int, told: Told) -> str:
    return say("lost_since", told.language, time=moment(since, told.language, told.timezone, told.now))


def _question(sheet: Sheet) -> Message:
    assert sheet.record is not None
    make = reminder_message if sheet.row["kind"] == MessageKind.REMINDER else question_message
    step = step_of(sheet.row, sheet.record)
    all_at_once = len(sheet.record.questions) > 1 and step is None
    message = make(
        sheet.record,
        None if all_at_once else step.place if step else 0,
        sheet.to,
        contact=sheet.told.person,
        token=sheet.tokens.of(sheet.asks),
        form_url=sheet.form_url,
        now=sheet.told.now,
        room=sheet.room,
    )
    content, language = loads(sheet.row["content"]), sheet.told.language
    by = say("delegated_by", language, who=line(content["by"])) if content.get("by") else ""
    lost = _lost(content["lost_since"], sheet.told) if content.get("lost_since") else ""
    more = [each for each in (by, also_sent(content.get("away", ""), language), lost) if each]
    return replace(message, body="\n".join([*filter(None, [message.body]), *more])) if more else message


def _outcome(sheet: Sheet) -> Message:
    assert sheet.record is not None
    content = loads(sheet.row["content"])
    if "delegated" in content:
        return delegated_message(sheet.record, content["delegated"], sheet.to, sheet.told.language)
    noted = content.get("noted")
    if noted is not None:
        return noted_message(sheet.record, noted, sheet.to, sheet.told.language, sheet.told.timezone)
    return outcome_message(sheet.record, sheet.to, **_viewed(sheet, sheet.record))


def _viewed(sheet: Sheet, record: Interaction) -> dict[str, Json]:
    who = record.answered_by
    return {
        "viewer": "" if sheet.shared else sheet.row["contact_id"],
        "who": sheet.told.names.get(who, who),
        "language": sheet.told.language,
        "timezone": sheet.told.timezone,
        "now": sheet.told.now,
    }


def _conversation(sheet: Sheet) -> Message:
    content = loads(sheet.row["content"])
    key, args = content["key"], {**content["args"]}
    sent = ", ".join(each["name"] for each in args.pop("files", ()))
    if key == CLOSED and sheet.record is not None:
        return already_message(sheet.record, sheet.to, **_viewed(sheet, sheet.record))
    if key in (WHICH_ONE, PENDING):
        message = _which_one(sheet, key, args.get("text") or sent)
        if args.get("skipped"):
            said = say("skipped_others" if message.buttons else "skipped", sheet.told.language)
            return replace(message, title=said, subject=subject(said, ""))
        return message
    if key == CONFIRM_LINK:
        return _confirm_link(sheet, args)
    if key == RUN_MORE:
        args = {"link": sheet.form_url}
    if sheet.record is not None and sheet.asks:
        return _unclear(sheet, sheet.record, key, args, content.get("step"))
    return conversation_message(key, sheet.to, language=sheet.told.language, args=args)


def _unclear(sheet: Sheet, record: Interaction, key: str, args: dict[str, str], step: int | None) -> Message:
    url = sheet.form_url
    return unclear_message(
        record,
        0 if step is None and len(record.questions) == 1 else step,
        key,
        {"link": url, **args},
        sheet.to,
        contact=sheet.told.person,
        token=sheet.tokens.of(sheet.asks),
        form_url=url,
        room=sheet.room,
    )


def _which_one(sheet: Sheet, key: str, text: str) -> Message:
    records = [record for record, _ in sheet.told.picks]
    if not records:  # all of them have ended since
        return conversation_message("nothing_waiting", sheet.to, language=sheet.told.language)
    labels = pick_labels(records, sheet.told.language)
    candidates = [(label, token) for label, (_, token) in zip(labels, sheet.told.picks, strict=True)]
    message = which_one_message(candidates, text, sheet.to, language=sheet.told.language)
    if not sheet.tappable:
        message = by_code(message, records, text if key == WHICH_ONE else "")
    if key == WHICH_ONE:
        return message
    one = len(candidates) == 1
    language = sheet.told.language
    title = say("pending_one" if one else "pending", language, count=count(len(candidates), language))
    return replace(message, title=title, subject=subject(title, ""))


def _confirm_link(sheet: Sheet, args: dict[str, str]) -> Message:
    language, start = sheet.told.language, args["link"]
    buttons = (
        Button(say("yes", language), f"link.{start}.y"),
        Button(say("no", language), f"link.{start}.n"),
    )
    return conversation_message(
        CONFIRM_LINK, sheet.to, language=language, args={"who": args["who"]}, buttons=buttons
    )


def _notice(sheet: Sheet) -> Message:
    content = loads(sheet.row["content"])
    if "text" in content:
        return notice_message(
            content["text"],
            sheet.to,
            language=sheet.told.language,
            title=content.get("title", ""),
            agent=content.get("agent", ""),
            sensitive=content.get("sensitive", False),
            token=sheet.tokens.of(sheet.asks) if sheet.row["token_hash"] else "",
            form_url=sheet.form_url if sheet.row["token_hash"] else "",
        )
    return run_message(
        sheet.to,
        who=called(content["agent"]),
        status=RunStatus(content["kind"]),
        result=content.get("result"),
        error=content.get("error", ""),
        language=sheet.told.language,
        **_way_on(sheet),
    )


def _way_on(sheet: Sheet) -> dict[str, Json]:
    """What opens a run, and whether a tap can have it tried again: only whoever is somebody."""
    if not sheet.row["token_hash"]:
        return {}
    retry = bool(sheet.row["contact_id"]) and sheet.room.buttons > 0
    return {"token": sheet.tokens.of(sheet.asks), "open_url": sheet.form_url, "retry": retry}


_COMPOSE = {
    MessageKind.QUESTION: _question,
    MessageKind.REMINDER: _question,
    MessageKind.OUTCOME: _outcome,
    MessageKind.CONVERSATION: _conversation,
    MessageKind.NOTICE: _notice,
}
