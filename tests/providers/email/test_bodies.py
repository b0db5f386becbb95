"""What a person reads: the plain text, and the HTML that says the same."""

import dataclasses
import html
import re

import pytest

from answerback.provider import Button, Message, MessageKind
from answerback_providers.email.bodies import as_html, as_text, lay_out
from answerback_providers.email.words import words
from tests.providers.email.support import FORM, QUESTION, question

REVIEW = question(
    heading="Billing · wants to run",
    title="refund_payment",
    fields=(("customer", "Ana Lima (c_8812)"), ("amount", "€ 100.00"), ("reason", "“double charge”")),
    body="The agent says: “Customer confirmed by phone.”",
    buttons=(Button("Approve", data="a"), Button("Reject", data="r"), Button("Change…", data="c")),
)


def text_of(message: Message, *, replies: bool = True) -> str:
    return as_text(lay_out(message, replies=replies))


def html_of(message: Message, *, replies: bool = True) -> str:
    return as_html(lay_out(message, replies=replies))


def read_aloud(page: str) -> list[str]:
    """The visible words of a page, a line each."""
    body = re.sub(r"<[^>]+>", "\n", page.partition("<body")[2].partition(">")[2])
    return [row.strip() for row in html.unescape(body).splitlines() if row.strip()]


def test_no_line_of_an_argument_can_be_taken_for_another_argument_or_for_what_is_below() -> None:
    text = text_of(question(title="send", fields=(("body", "Hi\nto: the boss\n\n1. Approve"), ("to", "all"))))
    assert "\nbody: Hi\n│ to: the boss\n│\n│ 1. Approve\nto: all\n" in text.replace("│ \n", "│\n")


def test_a_question_as_text() -> None:
    assert text_of(QUESTION) == (
        "--- write above this line ---\n"
        "\n"
        "Research · term check\n"
        "\n"
        "Search for “PSR best costing practices”?\n"
        "\n"
        "I found 0 documents with “costing”, 214 with “coding”.\n"
        "\n"
        "1. Yes\n"
        "2. Use “coding”\n"
        "\n"
        "Answer here:\n"
        f"{FORM}\n"
        "Or reply to this mail with a number.\n"
        "\n"
        "If you do nothing by 18:00 I stop. · #K7Q2\n"
        "\n"
        "-- \n"
        "You get this because an agent works for you. Whoever runs it can stop these mails.\n"
    )


def test_a_question_as_html_says_the_same() -> None:
    assert read_aloud(html_of(QUESTION)) == [
        "--- write above this line ---",
        "Research · term check",
        "Search for “PSR best costing practices”?",
        "I found 0 documents with “costing”, 214 with “coding”.",
        "1.",
        "Yes",
        "2.",
        "Use “coding”",
        "If you do nothing by 18:00 I stop. · #K7Q2",
        "Answer here:",
        FORM,
        "Or reply to this mail with a number.",
        "You get this because an agent works for you. Whoever runs it can stop these mails.",
    ]


def test_an_action_comes_before_what_the_agent_says_about_it() -> None:
    shown = text_of(REVIEW)
    parts = (
        "refund_payment",
        "customer: Ana Lima (c_8812)",
        "amount: € 100.00",
        "The agent says",
        "1. Approve",
    )
    assert sorted(parts, key=shown.index) == list(parts)
    spoken = read_aloud(html_of(REVIEW))
    order = ("refund_payment", "customer", "Ana Lima (c_8812)", "amount", "€ 100.00", "Approve", "Reject")
    assert sorted(order, key=spoken.index) == list(order)


def test_while_no_mail_is_read_the_mail_says_so() -> None:
    for shown in (text_of(QUESTION, replies=False), html_of(QUESTION, replies=False)):
        assert "replies to this mail are not read" in shown
        assert "Or reply to this mail" not in shown


def test_every_button_of_the_html_opens_the_form_and_nothing_else_is_linked() -> None:
    links = re.findall(r'href="([^"]*)"', html_of(QUESTION))
    assert links == [FORM] * 3  # two choices and the address written out


def test_own_words_are_asked_for_where_they_count() -> None:
    free = question(placeholder="Something else…")
    for shown in (text_of(free), html_of(free)):
        assert "Or reply to this mail: a number, or your own words." in shown


def test_where_there_is_no_link_a_list_asks_for_a_number_alone() -> None:
    listed = question(kind=MessageKind.CONVERSATION, form_url="", token="")
    for shown in (text_of(listed), html_of(listed)):
        assert "Reply to this mail with a number." in shown
        assert "Or reply" not in shown


def test_a_question_without_choices_has_one_button() -> None:
    page = html_of(question(buttons=()))
    assert read_aloud(page).count("Answer") == 1
    assert re.findall(r'href="([^"]*)"', page) == [FORM] * 2


def test_own_words_are_offered_beside_the_choices_without_a_number() -> None:
    free = question(placeholder="Something else…")
    assert "1. Yes\n2. Use “coding”\n   Something else…\n" in text_of(free)
    assert "Something else…" in read_aloud(html_of(free))


def test_own_words_are_offered_once() -> None:
    button = (*QUESTION.buttons, Button("Something else…", data="other"))
    assert text_of(question(placeholder="Something else…", buttons=button)).count("Something else…") == 1


@pytest.mark.parametrize(
    ("language", "means", "labels", "asked"),
    [
        ("en", ("yes", "no"), ("Yes", "No"), "reply to this mail with just the word: Yes / No\n"),
        (
            "de",
            ("approve", "reject"),
            ("Genehmigen", "Ablehnen"),
            "nur mit dem Wort: Genehmigen / Ablehnen\n",
        ),
    ],
)
def test_no_number_stands_for_a_word_that_lets_something_happen(
    language: str, means: tuple[str, str], labels: tuple[str, str], asked: str
) -> None:
    taps = tuple(Button(label, data=label, means=mean) for label, mean in zip(labels, means, strict=True))
    message = question(buttons=(*taps, Button("…", url=FORM)), language=language)
    shown = text_of(message)
    assert f"   {labels[0]}\n   {labels[1]}\n   …\n" in shown
    assert asked in shown
    assert "1." not in shown
    assert not any("1." in spoken for spoken in read_aloud(html_of(message)))


def test_what_only_the_form_takes_has_no_number() -> None:
    review = (Button("Approve", data="a"), Button("Reject", data="r"), Button("Change…", url=FORM))
    assert "1. Approve\n2. Reject\n   Change…\n\nAnswer here:\n" in text_of(question(buttons=review))
    assert read_aloud(html_of(question(buttons=review))).count("Change…") == 1


def test_a_question_that_only_the_form_takes_names_the_link_once() -> None:
    message = question(buttons=(Button("Answer 3 questions", url=FORM),), placeholder="Your answer")
    assert text_of(message).count(FORM) == 1
    assert read_aloud(html_of(message))[4:6] == [
        "Answer 3 questions",
        "If you do nothing by 18:00 I stop. · #K7Q2",
    ]


def test_choices_that_the_text_lists_by_number_are_not_listed_twice() -> None:
    message = question(
        body="1. a very long one\n2. another", buttons=(Button("1", data="a"), Button("2", data="b"))
    )
    assert text_of(message).count("1. ") == 1
    assert "1. 1" not in text_of(message)
    spoken = read_aloud(html_of(message))
    assert spoken[spoken.index("2. another") + 1 :][:2] == ["1", "2"]


def test_a_button_that_opens_a_page_is_a_link_and_has_no_number() -> None:
    outcome = question(
        kind=MessageKind.NOTICE,
        title="Report ready: 12 passages on coding practices.",
        buttons=(Button("Open", url="https://docs.example.org/r?a=1&b=2"),),
        form_url="",
        body="",
    )
    assert "Open: https://docs.example.org/r?a=1&b=2\n" in text_of(outcome)
    assert re.findall(r'href="([^"]*)"', html_of(outcome)) == ["https://docs.example.org/r?a=1&amp;b=2"]


def test_what_can_be_tapped_below_a_message_that_asks_nothing_is_done_on_its_page() -> None:
    failed = question(
        kind=MessageKind.NOTICE,
        title="⚠️ Research stopped: no documents.",
        buttons=(Button("Open", url=FORM), Button("Try again", data="t0k3n:retry")),
        placeholder="",
    )
    assert f"Try again: {FORM}\n" in text_of(failed)
    for shown in (text_of(failed), html_of(failed)):
        assert shown.count(FORM) == 1
        assert shown.count("Try again") == 1
        assert not any(words in shown for words in (">Open", "Open:", "1. Try", "reply to this mail"))


@pytest.mark.parametrize("kind", [MessageKind.NOTICE, MessageKind.OUTCOME])
def test_a_message_that_asks_nothing_has_no_form_link(kind: MessageKind) -> None:
    for shown in (text_of(question(kind=kind, buttons=())), html_of(question(kind=kind, buttons=()))):
        assert FORM not in shown
        assert "Answer" not in shown
        assert "reply to this mail" not in shown


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "zh"])
def test_where_only_the_form_takes_the_answer_nobody_is_told_to_reply(language: str) -> None:
    """Nor that replies are not read: "why" is, and so is "stop"."""
    sensitive = question(buttons=(Button("Open", url=FORM),), placeholder="", language=language)
    said = words(language)
    for shown in (text_of(sensitive), html_of(sensitive)):
        assert FORM in shown
        assert said.page in shown
        assert not any(other in shown for other in (said.reply, said.unread, said.word.split("{")[0]))


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        (f"Please answer on the form: {FORM}", "Please answer on the form."),
        (f"Répondez sur le formulaire\u202f: {FORM}", "Répondez sur le formulaire."),
        (f"请在表单上回答：{FORM}", "请在表单上回答。"),
    ],
)
def test_a_link_that_ends_a_sentence_stands_on_the_line_for_it_and_not_twice(
    sentence: str, said: str
) -> None:
    asked = question(title=sentence, kind=MessageKind.CONVERSATION, buttons=(Button("Open", url=FORM),))
    assert f"{said}\n" in text_of(asked)
    assert text_of(asked).count(FORM) == 1


def test_without_a_form_the_choices_are_still_all_there() -> None:
    shown = html_of(question(form_url=""))
    assert "href" not in shown
    assert "1. Yes" in shown
    assert "2. Use" in shown


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "//evil.example", "https://a b", "HTTPS:x"]
)
def test_only_web_addresses_become_links(url: str) -> None:
    shown = html_of(question(form_url=url, buttons=(Button("Open", url=url),)))
    assert "href" not in shown
    assert url not in text_of(question(form_url=url, buttons=()))


def test_the_html_is_inert() -> None:
    hostile = '<img src="https://evil.example/x.png"><script>alert(1)</script>{{ 7*7 }}&amp;'
    everywhere = dict.fromkeys(("title", "heading", "body", "footer", "placeholder", "language"), hostile)
    page = html_of(
        question(**everywhere, fields=((hostile, hostile),), buttons=(Button(hostile, data="x"),)),
        replies=True,
    )
    assert "<img" not in page
    assert "<script" not in page
    assert "49" not in read_aloud(page)
    assert hostile in read_aloud(page)


def test_the_html_loads_nothing() -> None:
    page = html_of(REVIEW)
    for loader in (
        "src=",
        "url(",
        "@import",
        "<link",
        "<img",
        "<script",
        "<iframe",
        "background=",
        "http-equiv",
    ):
        assert loader not in page


def test_labels_are_shown_as_they_are() -> None:
    assert "1. a =?b? c\n" in text_of(question(buttons=(Button("a =?b? c", data="x"),)))


def test_each_paragraph_has_a_direction_of_its_own() -> None:
    page = html_of(question(heading="⏳ Still waiting.\n🟦 בדיקה", body="למה\nככה\n\nReply yes or no."))
    paragraphs = re.findall(r'<p dir="auto"[^>]*>(.*?)</p>', page)
    assert paragraphs[:4] == ["⏳ Still waiting.", "🟦 בדיקה", "למה<br>ככה", "Reply yes or no."]


def test_lines_stay_lines() -> None:
    message = question(body="one\r\ntwo\rthree\u2028four")
    assert "one\ntwo\nthree\nfour\n" in text_of(message)
    assert "one<br>two<br>three<br>four" in html_of(message)


def test_text_that_could_not_be_stored_is_shown_without_what_cannot() -> None:
    message = question(title="a\x00b\x1b[31mc\ud800d", body="\ud83d\ude00")
    assert "ab[31mc\ufffdd\n" in text_of(message)
    assert "😀" in text_of(message)  # two halves that were a character


def test_a_very_long_text_is_cut_and_says_where_the_whole_is() -> None:
    shown = text_of(question(body="word " * 100_000))
    assert len(shown) < 25_000
    assert f"…\n{FORM}\n" in shown


def test_arguments_that_are_left_out_are_counted() -> None:
    many = tuple((f"argument {n}", "x") for n in range(150))
    assert "…: and 50 more, shown with the link" in text_of(question(fields=many))


@pytest.mark.parametrize(
    ("language", "button"), [("de-AT", "Antworten"), ("fr", "Répondre"), ("tlh", "Answer")]
)
def test_what_mail_adds_is_in_the_language_of_the_person(language: str, button: str) -> None:
    page = html_of(question(language=language, buttons=()))
    assert button in read_aloud(page)
    assert f'<html lang="{language}">' in page


def test_the_line_that_replies_are_cut_at_is_the_same_in_every_language() -> None:
    for language in ("en", "de", "fr", "es", "zh", "ja"):
        assert text_of(dataclasses.replace(QUESTION, language=language)).startswith(
            "--- write above this line ---\n"
        )
