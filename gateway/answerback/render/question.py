"""A question as a message: who asks, the question, the reason, the choices, what silence does."""

from dataclasses import dataclass, replace

from answerback.model import Address, Contact, Interaction, Question, QuestionKind
from answerback.provider import Button, Message, MessageKind
from answerback.render import action
from answerback.render.buttons import Offer, Room, link_button, offer, reachable
from answerback.render.silence import footer, waiting
from answerback.render.visible import brief, cap, line, visible
from answerback.render.wanted import wanted
from answerback.sentences import say

LINES, REASON = 2, 240  # of the reason: the choices must be in sight without scrolling
CLAIM = 300  # characters of what an agent says about its own action
SUBJECT = 60
PLACEHOLDERS = {
    QuestionKind.TEXT: "place_text",
    QuestionKind.NUMBER: "place_number",
    QuestionKind.DATE: "place_date",
    QuestionKind.CHOICES: "place_choices",
}


@dataclass(frozen=True, slots=True)
class _Sheet:
    """What every part of one message needs to know."""

    interaction: Interaction
    language: str
    timezone: str
    now: int
    token: str
    form_url: str
    room: Room
    full: bool


def question_message(
    interaction: Interaction,
    index: int | None,
    to: Address,
    *,
    contact: Contact | None,
    token: str,
    form_url: str,
    now: int,
    room: Room,
    kind: MessageKind = MessageKind.QUESTION,
    full: bool = False,
) -> Message:
    """Question `index` of an interaction, or all of it (None), for one person.

    `room`: what fits below a message there. `full`: a long reason is not cut (mail).
    `now` is in microseconds since the epoch.
    """
    language, timezone = (contact.language, contact.timezone) if contact else ("en", "UTC")
    sheet = _Sheet(interaction, language, timezone, now, token, form_url, room, full)
    if interaction.sensitive:
        message = _sensitive(sheet, to)
    elif index is None and len(interaction.questions) != 1:
        message = _several(sheet, to)
    else:
        message = _single(sheet, to, index or 0)
    return replace(
        message,
        kind=kind,
        footer=footer(interaction, language=language, timezone=timezone, now=now),
        subject=subject(message.title, interaction.code),
        form_url=form_url,
        token=token,
        code=interaction.code,
        language=language,
        interaction_id=interaction.id,
        expires_at=interaction.expires_at,
    )


def reminder_message(
    interaction: Interaction,
    index: int | None,
    to: Address,
    *,
    contact: Contact | None,
    token: str,
    form_url: str,
    now: int,
    room: Room,
    full: bool = False,
) -> Message:
    """The question again, and above it how much time is left."""
    message = question_message(
        interaction,
        index,
        to,
        contact=contact,
        token=token,
        form_url=form_url,
        now=now,
        room=room,
        kind=MessageKind.REMINDER,
        full=full,
    )
    timezone = contact.timezone if contact else "UTC"
    above = f"⏳ {waiting(interaction, language=message.language, timezone=timezone, now=now)}"
    return replace(message, heading=f"{above}\n{message.heading}" if message.heading else above)


def subject(title: str, code: str) -> str:
    """One line for mail: the question, at most 60 characters, then the code. `title` is visible already."""
    short = cap(" ".join(title.split()), SUBJECT)
    return f"{short} [#{code}]" if code else short


def question_title(question: Question) -> str:
    """What is asked, as the largest thing on a message or a page: an action's own name, else the text."""
    if question.action is not None:
        return action.name(question.action)
    return visible(question.text).strip() or "?"


def asker(interaction: Interaction, language: str) -> str:
    """Who asks. The title of a sensitive question may say what it is about: then only the agent's name."""
    title = "" if interaction.sensitive else line(interaction.title).split(" · ")[0]
    return title or called(interaction.agent) or say("an_agent", language)


def is_called(name: str, record: Interaction, language: str) -> bool:
    """Whether somebody may mean the one who asks by this name: as it is configured, or as it is shown."""
    known = record.agent, called(record.agent), asker(record, language)
    return name.casefold() in {each.casefold() for each in known}


def called(agent: str) -> str:
    """An agent as people call it: "term_check" is "Term check"."""
    return line(agent.replace("_", " ").capitalize())


def heading(interaction: Interaction, question: Question | None, language: str) -> str:
    """Who asks and about what: blue for a question, red where something is about to be done."""
    who = line(interaction.title) or line(interaction.agent) or say("an_agent", language)
    if question is not None and question.action is not None:
        return "🟥 " + say("wants_to_run", language, who=who.split(" · ")[0])
    return ("🟥 " if question is not None and question.kind is QuestionKind.REVIEW else "🟦 ") + who


def _single(sheet: _Sheet, to: Address, index: int) -> Message:
    interaction, language = sheet.interaction, sheet.language
    question = interaction.questions[index]
    found = offer(
        question, index, token=sheet.token, form_url=sheet.form_url, room=sheet.room, language=language
    )
    rows: tuple[tuple[str, str], ...] = ()
    if question.action is not None:
        rows = action.rows(question.action, language=language, timezone=sheet.timezone, now=sheet.now)
    head = heading(interaction, question, language)
    count = len(interaction.questions)
    if count > 1:
        head += " · " + say("one_of", language, place=index + 1, count=count)
    return Message(
        to,
        MessageKind.QUESTION,
        question_title(question),
        heading=head,
        fields=rows,
        body=_body(sheet, question, found),
        buttons=found.buttons,
        placeholder=_placeholder(question, found, language),
    )


def _several(sheet: _Sheet, to: Address) -> Message:
    """Several questions are answered on the form; the message lists them."""
    interaction, language = sheet.interaction, sheet.language
    count = len(interaction.questions)
    buttons: tuple[Button, ...] = ()
    if reachable(sheet.form_url):
        buttons = (Button(say("answer_all", language, count=count), url=sheet.form_url),)
    listed = "\n".join(
        f"{place}. {brief(question_title(question), REASON)}"
        for place, question in enumerate(interaction.questions, start=1)
    )
    link = _link(sheet) if not buttons else ""
    return Message(
        to,
        MessageKind.QUESTION,
        say("questions", language, count=count),
        heading=heading(interaction, None, language),
        body=_blocks(listed, _reason(sheet, interaction.context), link),
        buttons=buttons,
    )


def _sensitive(sheet: _Sheet, to: Address) -> Message:
    """Nothing of the question leaves: only that there is one, who asks it, and where it is shown."""
    buttons = link_button("open", sheet.form_url, sheet.language)
    body = "" if buttons else _link(sheet)
    said = say("sensitive", sheet.language)
    head = f"🟦 {asker(sheet.interaction, sheet.language)}"
    return Message(to, MessageKind.QUESTION, said, heading=head, body=body, buttons=buttons)


def _body(sheet: _Sheet, question: Question, found: Offer) -> str:
    numbered = "\n".join(f"{place}. {label}" for place, label in enumerate(found.numbered, start=1))
    if question.action is not None:
        words = [text for text in (question.text, sheet.interaction.context) if text.strip()]
        claim = "\n".join(dict.fromkeys(words))
        reason = say("agent_says", sheet.language, text=_cut(sheet, claim, CLAIM)) if claim else ""
    else:
        reason = _reason(sheet, sheet.interaction.context)
    hints = (found.hint, wanted(question, sheet.language))
    return _blocks(reason, numbered, " ".join(hint for hint in hints if hint))


def _reason(sheet: _Sheet, text: str) -> str:
    shown = visible(text).strip()
    if sheet.full or not shown:
        return shown
    lines = [each.strip() for each in shown.split("\n") if each.strip()]
    short = cap("\n".join(lines[:LINES]), REASON)
    if len(lines) <= LINES and short == "\n".join(lines):
        return short
    short = short if short.endswith("…") else short + " …"
    return f"{short}\n{sheet.form_url}" if sheet.form_url else short


def _cut(sheet: _Sheet, text: str, most: int) -> str:
    shown = visible(text).strip()
    return shown if sheet.full else cap(shown, most)


def _placeholder(question: Question, found: Offer, language: str) -> str:
    if question.kind is QuestionKind.CHOICE and question.free_text:
        return say("other", language)
    if question.kind is QuestionKind.CHOICE and found.hint:
        return say("place_choice", language)
    return say(PLACEHOLDERS[question.kind], language) if question.kind in PLACEHOLDERS else ""


def _link(sheet: _Sheet) -> str:
    return say("answer_here", sheet.language, link=sheet.form_url) if sheet.form_url else ""


def _blocks(*blocks: str) -> str:
    return "\n\n".join(block for block in blocks if block)
