"""The two bodies of a mail: plain text that is complete in itself, and the same as HTML."""

from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from answerback.provider import Message, MessageKind, labelled, outline, shorten
from answerback_providers.email.clean import block, line, link
from answerback_providers.email.words import MARKER, Words, words

ASKING = frozenset({MessageKind.QUESTION, MessageKind.REMINDER, MessageKind.CONVERSATION})
LONGEST = 20_000  # characters of one block: mail readers clip a message at about 100 kB
MOST_FIELDS = 100
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True, slots=True)
class Row:
    """One way on: `url` is what a tap opens; `number` answers for it, 0 where none is to be shown.

    `word`: it is typed as it stands here, since a number lets nothing happen.
    """

    label: str
    url: str
    number: int = 0
    word: bool = False


@dataclass(frozen=True, slots=True)
class Body:
    """A message, cleaned and cut to size, as both bodies show it."""

    heading: str
    title: str
    fields: tuple[tuple[str, str], ...]
    body: str
    choices: tuple[Row, ...]
    others: tuple[Row, ...]  # what only the form takes: own words, changes
    links: tuple[Row, ...]  # other pages
    form_url: str
    footer: str
    how: str  # whether replies are read, where something is asked
    language: str
    words: Words


def lay_out(message: Message, *, replies: bool) -> Body:
    """Clean a message for showing it. `replies`: whether somebody reads what is mailed back."""
    said = words(message.language)
    form_url = link(message.form_url) if message.kind in ASKING else ""

    def cut(text: str) -> str:
        return shorten(block(text).strip("\n"), LONGEST, form_url)

    choices, others, links = _ways(message, form_url)
    asks = message.kind in ASKING
    return Body(
        heading=cut(message.heading),
        title=_without_link(cut(message.title), form_url),
        fields=_fields(message, said),
        body=cut(message.body),
        choices=choices,
        others=others,
        links=links,
        form_url=form_url,
        footer=cut(message.footer),
        how=_how(said, message, choices, form_url, replies=replies) if asks else "",
        language=line(message.language) or "en",
        words=said,
    )


def _how(said: Words, message: Message, choices: tuple[Row, ...], form_url: str, *, replies: bool) -> str:
    """What can be written back. Where the link is the only way (a sensitive question), no other is named."""
    typed = " / ".join(choice.label for choice in choices if choice.word)
    answers = bool(message.placeholder or any(button.data for button in message.buttons))
    if replies and answers:
        if typed:
            return said.word.format(words=typed)
        if choices and not message.placeholder:
            return said.number if form_url else said.pick
        return said.reply
    return (said.page if replies else said.unread) if form_url else ""


def _without_link(title: str, form_url: str) -> str:
    """A sentence that ends with the form's link, without it: the link has a line of its own, and a button."""
    if not form_url or not title.endswith(form_url):
        return title
    said = title.removesuffix(form_url).rstrip(" \u00a0\u202f\n:")
    return said.rstrip("：") + "。" if said.endswith("：") else f"{said}."


def _ways(message: Message, form_url: str) -> tuple[tuple[Row, ...], tuple[Row, ...], tuple[Row, ...]]:
    """The choices by number, what is left to the form, and links to other pages."""
    if message.kind not in ASKING:  # what asks nothing takes no reply: what could be tapped is on its page
        return (), (), _pages(message)
    hint = line(message.placeholder)
    words_ = {line(button.label) for button in message.buttons if button.means}
    taps = [line(button.label) for button in message.buttons if not button.url]
    pages = [(line(button.label), link(button.url)) for button in message.buttons if link(button.url)]
    numbered = list(enumerate((label for label in taps if label != hint), start=1))
    choices = tuple(
        Row(label, form_url, 0 if words_ or label == str(number) else number, label in words_)
        for number, label in numbered
    )
    forms = [label for label, url in pages if url == form_url]
    if choices and hint and hint not in forms:
        forms.append(hint)
    others = tuple(Row(label, form_url) for label in forms)
    return choices, others, tuple(Row(label, url) for label, url in pages if url != form_url)


def _pages(message: Message) -> tuple[Row, ...]:
    """Each page once, under what can be done there rather than as something to open."""
    buttons = sorted(message.buttons, key=lambda button: bool(button.url))
    found = {link(button.url or message.form_url): line(button.label) for button in reversed(buttons)}
    return tuple(Row(label, url) for url, label in found.items() if url)


def _fields(message: Message, said: Words) -> tuple[tuple[str, str], ...]:
    shown = [(line(label), shorten(block(value), LONGEST)) for label, value in message.fields[:MOST_FIELDS]]
    left = len(message.fields) - len(shown)
    return (*shown, ("…", said.more.format(count=left))) if left > 0 else tuple(shown)


def as_text(body: Body) -> str:
    """The plain text: blocks separated by a blank line, choices numbered, links written out."""
    choices = [
        f"{choice.number}. {choice.label}" if choice.number else f"   {choice.label}"
        for choice in body.choices
        if choice.number or choice.word
    ]
    others = [f"   {other.label}" for other in body.others] if choices else []
    links = [f"{button.label}: {button.url}" for button in body.links]
    answer = [body.words.here, body.form_url] if body.form_url else []
    blocks = (
        MARKER,
        body.heading,
        body.title,
        "\n".join("".join(labelled(label, value)) for label, value in body.fields),
        body.body,
        "\n".join(choices + others + links),
        "\n".join(answer + ([body.how] if body.how else [])),
        body.footer,
        f"-- \n{body.words.why}",  # the separator that mail readers know a footer by (RFC 3676 section 4.3)
    )
    return "\n\n".join(text for text in blocks if text) + "\n"


def as_html(body: Body) -> str:
    """The HTML: the same in the same order, with buttons that open the form. It loads nothing."""
    return TEMPLATES.get_template("mail.html").render(mail=body, marker=MARKER, outline=outline)
