"""What is said back when a reply cannot be taken as it is: one sentence what, one what now."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from answerback.model import Address, Contact, Interaction
from answerback.provider import Button, Message, MessageKind
from answerback.render.buttons import MOST_DATA, Offer, Room, data, link_button, offer, reachable
from answerback.render.outcome import already_text
from answerback.render.question import question_title, subject
from answerback.render.visible import brief
from answerback.sentences import count, say

QUOTED = 80  # characters of what a person wrote, or of a question, inside a sentence
REASON = 1000  # characters of an agent's reason, for somebody who asks for it
NEED = 400  # characters of what an answer has to be
LINKS = frozenset({"link"})  # these gaps are ours and must stay whole
PICK = 36  # characters of a question on a "which one?" button
# What is said of a choice that can be tapped, and where it can only be written.
LISTED = {"unclear_choice": "unclear_choice_listed", "choice_ambiguous": "choice_ambiguous_listed"}
SEEN = 20  # those of them that any app on any phone shows


def conversation_message(
    key: str,
    to: Address,
    *,
    language: str,
    args: Mapping[str, str] | None = None,
    buttons: Sequence[Button] = (),
    token: str = "",
    code: str = "",
    form_url: str = "",
    interaction_id: str = "",
) -> Message:
    """A sentence of the catalogue as a message. What fills its gaps is shortened and made visible."""
    given = args or {}
    long = {"reason": REASON, "need": NEED}
    shown = {
        name: text if name in LINKS else brief(text, long.get(name, QUOTED)) for name, text in given.items()
    }
    said = say(key, language, **shown)
    return Message(
        to,
        MessageKind.CONVERSATION,
        said,
        buttons=tuple(buttons),
        subject=subject(said, code),
        form_url=form_url,
        token=token,
        code=code,
        language=language,
        interaction_id=interaction_id,
    )


def which_one_message(
    candidates: Sequence[tuple[str, str]], text: str, to: Address, *, language: str
) -> Message:
    """Ask which question a reply is for. `candidates`: the question's label and its delivery's token."""
    buttons = tuple(
        Button(brief(question, PICK) or "?", data(token, "pick"))
        for question, token in candidates
        if len(data(token, "pick").encode()) <= MOST_DATA
    )
    key = "which_one_single" if len(candidates) == 1 else "which_one"
    args = {"text": text, "count": count(len(candidates), language)}
    return conversation_message(key, to, language=language, args=args, buttons=buttons)


def by_code(message: Message, asked: Sequence[Interaction], text: str) -> Message:
    """A "which one?" where buttons may be missing: what is asked by its codes, and how to use them.

    The buttons are the codes alone, in the same order. `text`: what the reply said, if it was one: it can be
    written again beside the code of a question that takes a text, and any code alone shows its question.
    """
    if not all(each.code for each in asked) or len(asked) != len(message.buttons):
        return message
    names = [brief(pick_label(each, message.language), QUOTED) for each in asked]
    codes = [f"#{each.code}" for each in asked]
    lines = [name if name == code else f"{code} {name}" for code, name in zip(codes, names, strict=True)]
    takes = [code for code, each in zip(codes, asked, strict=True) if _takes_text(each)]
    if text and takes:
        how = say("pick_by_code", message.language, code=takes[0], text=brief(text, SEEN))
    else:
        how = say("see_by_code", message.language, code=codes[0])
    buttons = [replace(button, label=code) for button, code in zip(message.buttons, codes, strict=True)]
    return replace(message, body="\n".join([*lines, how]), buttons=tuple(buttons))


def _takes_text(asked: Interaction) -> bool:
    """Whether all of it can be answered in one message."""
    return len(asked.questions) == 1 and not asked.sensitive


def unclear_message(
    interaction: Interaction,
    index: int | None,
    key: str,
    args: Mapping[str, str],
    to: Address,
    *,
    contact: Contact | None,
    token: str,
    form_url: str,
    room: Room,
) -> Message:
    """Ask again in place: what is not clear about the reply, and the question's own buttons below.

    Sensitive questions, and several at once (`index` is None), are answered on the form: then only its link
    stands below.
    """
    language = contact.language if contact else "en"
    found = Offer(link_button("open", form_url, language))
    if interaction.sensitive:
        args = {**args, "question": pick_label(interaction, language)}
    elif index is not None:
        question = interaction.questions[index]
        found = offer(question, index, token=token, form_url=form_url, room=room, language=language)
    if found.numbered and not any(button.data for button in found.buttons):
        key = LISTED.get(key, key)
    message = conversation_message(
        key,
        to,
        language=language,
        args=args,
        buttons=found.buttons,
        token=token,
        code=interaction.code,
        form_url=form_url,
        interaction_id=interaction.id,
    )
    below = "\n".join(f"{place}. {label}" for place, label in enumerate(found.numbered, start=1))
    if key == "edit_needs_form" and form_url and not reachable(form_url):
        below = say("answer_here", language, link=form_url)
    code = f"#{interaction.code}" if interaction.code else ""
    return replace(message, body=below, footer=code)


def already_message(
    interaction: Interaction,
    to: Address,
    *,
    viewer: str,
    who: str,
    language: str,
    timezone: str,
    now: int,
) -> Message:
    """For a reply to what is closed: answered by whom, expired, or no longer needed."""
    said = already_text(interaction, viewer=viewer, who=who, language=language, timezone=timezone, now=now)
    return Message(
        to,
        MessageKind.CONVERSATION,
        said,
        subject=subject(said, interaction.code),
        code=interaction.code,
        language=language,
        interaction_id=interaction.id,
    )


def pick_labels(interactions: Sequence[Interaction], language: str) -> list[str]:
    """How questions are called on buttons beside each other: those that look alike by their codes too."""
    names = [brief(pick_label(each, language), PICK) for each in interactions]
    looks = [name[:SEEN].casefold() for name in names]

    def label(each: Interaction, name: str, look: str) -> str:
        alike = looks.count(look) > 1
        return f"#{each.code} {brief(name, PICK - len(each.code) - 2)}" if alike and each.code else name

    return [*map(label, interactions, names, looks)]


def pick_label(interaction: Interaction, language: str) -> str:
    """How a question is called where several are listed; a sensitive one only by its code."""
    if interaction.sensitive or not interaction.questions:
        return f"#{interaction.code}" if interaction.code else say("sensitive", language)
    more = len(interaction.questions) - 1
    return brief(question_title(interaction.questions[0]), QUOTED) + (f" (+{more})" if more else "")
