"""How a message becomes text, entities, parts and a keyboard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telegram import MessageEntity

from answerback.provider import Button
from answerback_providers.telegram.wording import (
    LIMIT,
    MAX_ENTITIES,
    Part,
    Span,
    clean,
    fits,
    keyboard,
    split,
    units,
    word,
)
from tests.providers.telegram.support import YES_NO, outcome, question

# Astral characters, white space and single units, so that every kind of seam comes up.
TEXTS = st.text(st.sampled_from("ab \n𝄞😀é"), max_size=120)


def covered(part: Part, entity: MessageEntity) -> str:
    """The text of an entity, read the way Telegram does: by UTF-16 units."""
    raw = part.text.encode("utf-16-le")
    return raw[entity.offset * 2 : (entity.offset + entity.length) * 2].decode("utf-16-le")


def one(parts: tuple[Part, ...]) -> Part:
    (part,) = parts
    return part


def test_a_question_reads_asker_question_reason_then_what_silence_does() -> None:
    asked = question(
        "Search for “PSR best costing practices”?",
        heading="🟦 Research · term check",
        body="I found 0 documents with “costing”, 214 with “coding”.",
        footer="If you do nothing by 18:00 I stop. · #K7Q2",
    )
    assert one(word(asked)).text == (
        "🟦 Research · term check\n"
        "Search for “PSR best costing practices”?\n"
        "I found 0 documents with “costing”, 214 with “coding”.\n"
        "\n"
        "If you do nothing by 18:00 I stop. · #K7Q2"
    )


def test_the_question_is_bold_and_the_footer_quiet_also_behind_an_emoji() -> None:
    part = one(word(question("Deploy?", heading="🟦 Ops 👩‍💻", footer="#K7Q2")))
    assert [(entity.type, covered(part, entity)) for entity in part.entities] == [
        ("bold", "Deploy?"),
        ("italic", "#K7Q2"),
    ]


def test_the_arguments_of_an_action_are_exact_and_stand_before_what_the_agent_says() -> None:
    fields = (("customer", "Ana Lima"), ("amount", "€ 100.00"))
    part = one(word(question("refund_payment", fields=fields, body="Customer confirmed.")))
    assert part.text == "refund_payment\ncustomer: Ana Lima\namount: € 100.00\nCustomer confirmed."
    values = [covered(part, entity) for entity in part.entities if entity.type == "code"]
    assert values == ["Ana Lima", "€ 100.00"]


def test_no_line_of_an_argument_can_be_taken_for_another_argument() -> None:
    part = one(word(question("send", fields=(("body", "Hi\nto: the boss\n\nBye"), ("to", "all")))))
    assert part.text == "send\nbody: Hi\n│ to: the boss\n│ \n│ Bye\nto: all"


def test_what_asks_nothing_is_not_bold() -> None:
    assert one(word(outcome())).entities == ()


def test_plain_means_no_entities_and_links_as_text() -> None:
    buttons = (*YES_NO, Button("Open", url="https://ask.example.org/f/t1"))
    part = one(word(question(buttons=buttons), plain=True))
    assert part == Part("Deploy now?\nOpen: https://ask.example.org/f/t1")


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8700/f/t",
        "http://127.0.0.1:8700/f/t",
        "http://[::1]:8700/f/t",
        "http://0.0.0.0/f/t",
        "http://box/f/t",
        "ftp://files.example.org/",
        "http://[broken",
    ],
)
def test_a_link_that_telegram_refuses_or_a_phone_cannot_open_goes_into_the_text(url: str) -> None:
    asked = question(buttons=(*YES_NO, Button("Answer on the form", url=url)))
    assert one(word(asked)).text == f"Deploy now?\nAnswer on the form: {url}"
    markup = keyboard(asked.buttons)
    assert markup is not None
    assert [[button.text for button in row] for row in markup.inline_keyboard] == [["Yes", "No"]]


@pytest.mark.parametrize("url", ["https://ask.example.org/f/t", "http://10.0.0.7:8700/f/t"])
def test_a_link_that_others_can_open_is_a_button(url: str) -> None:
    button = Button("Open", url=url)
    assert fits(button)
    markup = keyboard([button])
    assert markup is not None
    assert markup.inline_keyboard[0][0].url == url


def test_64_bytes_of_data_fit_and_65_become_words_to_write() -> None:
    assert fits(Button("Yes", "x" * 64))
    assert not fits(Button("Yes", "é" * 33))
    assert one(word(question(buttons=(Button("Yes", "x" * 65),)))).text == "Deploy now?\n• Yes"


def test_short_labels_stand_side_by_side_and_long_ones_alone() -> None:
    labels = ["Approve", "Reject", "Change…", "Ask somebody who knows the customer", "Later"]
    markup = keyboard(Button(label, f"d{place}") for place, label in enumerate(labels))
    assert markup is not None
    assert [[button.text for button in row] for row in markup.inline_keyboard] == [
        ["Approve", "Reject", "Change…"],
        ["Ask somebody who knows the customer"],
        ["Later"],
    ]


def test_a_label_is_never_empty_and_never_endless() -> None:
    markup = keyboard([Button(" ", "a"), Button("😀" * 500, "b")])
    assert markup is not None
    empty, long = (button for row in markup.inline_keyboard for button in row)
    assert empty.text == "…"
    assert units(long.text) <= 120


def test_no_buttons_make_no_keyboard() -> None:
    assert keyboard([]) is None


def test_a_text_of_4096_units_is_one_message_and_one_more_makes_two() -> None:
    assert len(word(question("😀" * (LIMIT // 2)))) == 1
    assert len(word(question("😀" * (LIMIT // 2) + "a"))) == 2


def test_a_long_text_is_cut_where_a_line_ends() -> None:
    lines = "\n".join(f"{number:03} " + "x" * 60 for number in range(100))
    first, second = word(question("Read this", body=lines))
    assert first.text.endswith("\n")
    assert second.text[:3].isdecimal()


def test_a_text_beyond_all_measure_keeps_its_end_and_says_where_the_whole_is() -> None:
    link = "https://ask.example.org/f/t1"
    parts = word(question("Read this", body="word " * 200_000, footer="Until 18:00. #K7Q2", form_url=link))
    assert 1 < len(parts) <= 4
    assert all(units(part.text) <= LIMIT for part in parts)
    assert parts[-1].text.endswith(f"…\n{link}\n\nUntil 18:00. #K7Q2")


def test_a_footer_beyond_all_measure_leaves_room_for_the_question() -> None:
    text = "".join(part.text for part in word(question("Deploy now?", footer="x" * 100_000)))
    assert text.startswith("Deploy now?\n\nxxx")


def test_a_hundred_entities_are_the_most() -> None:
    fields = tuple((f"k{number}", "v") for number in range(150))
    assert len(word(question(fields=fields))[0].entities) == MAX_ENTITIES


def test_a_lone_surrogate_does_not_keep_the_rest_from_arriving() -> None:
    assert clean("a\ud83db😀") == "a\ufffdb😀"
    assert one(word(outcome("half \ud83d"))).text == "half \ufffd"


def test_nothing_at_all_is_still_a_message() -> None:
    assert one(word(outcome(" \n "))).text == "…"


@given(TEXTS, st.integers(2, 30))
def test_nothing_but_white_space_is_lost_when_a_text_is_split(text: str, limit: int) -> None:
    parts = split(text, (), limit)
    assert "".join("".join(part.text for part in parts).split()) == ("".join(text.split()) or "…")


@given(TEXTS, st.integers(2, 30))
def test_every_part_fits_says_something_and_can_be_encoded(text: str, limit: int) -> None:
    for part in split(text, (), limit):
        assert units(part.text) <= limit
        assert part.text.strip()
        part.text.encode("utf-16-le").decode("utf-16-le")  # strict: a halved surrogate pair raises


@given(TEXTS)
def test_units_are_those_of_utf_16(text: str) -> None:
    assert units(text) == len(text.encode("utf-16-le")) // 2


@given(TEXTS, st.lists(st.tuples(st.integers(0, 120), st.integers(0, 120)), max_size=4), st.integers(2, 30))
def test_entities_stay_in_their_part_and_on_their_characters(
    text: str, places: list[tuple[int, int]], limit: int
) -> None:
    spans = [Span("bold", start, min(end, len(text))) for start, end in places]
    parts = split(text, spans, limit)
    for part in parts:
        for entity in part.entities:
            assert entity.length > 0
            assert entity.offset >= 0
            assert entity.offset + entity.length <= units(part.text)
            covered(part, entity)  # strict: an entity that halves a surrogate pair raises
    told = "".join(covered(part, entity) for part in parts for entity in part.entities)
    meant = "".join(text[span.start : span.end] for span in spans)
    assert sorted("".join(told.split())) == sorted("".join(meant.split()))


@given(TEXTS, TEXTS, TEXTS, st.integers(0, 90))
def test_whatever_is_said_fits_into_four_parts_and_for_an_edit_into_one(
    title: str, body: str, footer: str, times: int
) -> None:
    asked = question(title, body=body * times, footer=footer * times, form_url="https://ask.example.org/f/t1")
    assert len(word(asked)) <= 4
    assert len(word(asked, most=LIMIT)) == 1
    assert all(units(part.text) <= LIMIT for part in word(asked))
