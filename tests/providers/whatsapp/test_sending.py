"""Sending: what stands on the handset, inside the 24 hours and outside, and what each failure means."""

from dataclasses import replace

import pytest

from answerback.provider import Button, MessageKind, TryLater, Undeliverable
from answerback_providers.whatsapp import WhatsApp
from answerback_sandbox import FaultKind, Sandbox
from tests.providers.whatsapp.support import ANA, HOUR, YES_NO, connected, now, question, to

pytestmark = pytest.mark.needs_extra("whatsapp")


def opened(box: Sandbox) -> int:
    """Ana wrote just now, so that free text is taken."""
    return box.twilio.type(ANA, "hello").at


async def test_in_an_open_conversation_a_question_has_its_buttons(box: Sandbox, whatsapp: WhatsApp) -> None:
    sent = await whatsapp.send(question(wrote=opened(box)))
    (note,) = box.twilio.received(ANA)
    assert sent.message_ids == (note.sid,)
    assert note.body == "🟦 Ops · release\n\nDeploy now?\n\n#K7Q2"
    assert [(button.title, button.payload) for button in note.buttons] == [
        ("Yes", "t0k3n:0.y"),
        ("No", "t0k3n:0.n"),
    ]


async def test_questions_with_the_same_labels_share_one_content_resource(
    box: Sandbox, whatsapp: WhatsApp
) -> None:
    wrote, known = opened(box), len(box.twilio.world.contents)
    for title in ("One?", "Two?"):
        await whatsapp.send(question(title, wrote=wrote))
    assert len(box.twilio.world.contents) == known + 1
    async with connected(box) as again:
        await again.send(question("Three?", wrote=wrote))
    assert len(box.twilio.world.contents) == known + 1


async def test_four_choices_do_not_fit_and_stand_in_the_text(box: Sandbox, whatsapp: WhatsApp) -> None:
    four = tuple(Button(label, f"t:{label}") for label in "ABCD")
    await whatsapp.send(question(wrote=opened(box), buttons=four))
    (note,) = box.twilio.received(ANA)
    assert not note.buttons
    assert note.body.endswith("A / B / C / D")


async def test_the_signs_around_words_from_right_to_left_arrive(box: Sandbox, whatsapp: WhatsApp) -> None:
    await whatsapp.send(question("“\u2068שלום\u2069”\u202e?", wrote=opened(box)))
    (note,) = box.twilio.received(ANA)
    assert "\n\n“\u2068שלום\u2069”?\n\n" in note.body


async def test_a_space_of_any_width_arrives_as_a_space(box: Sandbox, whatsapp: WhatsApp) -> None:
    await whatsapp.send(question("Payer 10\u202f000\u00a0€\u00a0?\u3000", wrote=opened(box)))
    (note,) = box.twilio.received(ANA)
    assert "\n\nPayer 10 000 € ?" in note.body


async def test_a_label_that_is_too_long_for_a_button_stands_in_the_text(
    box: Sandbox, whatsapp: WhatsApp
) -> None:
    long = (Button("Only the ones of this year", "t:1"), Button("All", "t:2"))
    await whatsapp.send(question(wrote=opened(box), buttons=long))
    (note,) = box.twilio.received(ANA)
    assert not note.buttons
    assert "Only the ones of this year / All" in note.body


async def test_a_link_stands_in_the_text_because_no_button_opens_it(box: Sandbox, whatsapp: WhatsApp) -> None:
    link = Button("Change…", url="https://ask.example/f/x")
    await whatsapp.send(question(wrote=opened(box), buttons=(*YES_NO, link)))
    (note,) = box.twilio.received(ANA)
    assert "Change…: https://ask.example/f/x" in note.body
    assert len(note.buttons) == 2


async def test_a_text_that_is_too_long_ends_with_the_link(box: Sandbox, whatsapp: WhatsApp) -> None:
    message = question(wrote=opened(box), body="word " * 1000, form_url="https://ask.example/f/x")
    await whatsapp.send(message)
    (note,) = box.twilio.received(ANA)
    assert len(note.body) <= 1600
    assert note.body.endswith("…\nhttps://ask.example/f/x")


@pytest.mark.parametrize("hours", [None, 24, 30])
async def test_outside_the_24_hours_the_template_is_sent(
    box: Sandbox, whatsapp: WhatsApp, hours: int | None
) -> None:
    wrote = None if hours is None else now() - hours * HOUR
    await whatsapp.send(question(wrote=wrote, form_url="https://ask.example/f/x"))
    (note,) = box.twilio.received(ANA)
    assert note.content_sid == box.twilio.content_sid
    assert note.body == (
        "🟦 Ops · release: Deploy now? (Yes / No) Answer here or on the form: https://ask.example/f/x"
    )


async def test_a_run_that_failed_can_be_opened_and_tried_again_with_buttons_and_opened_without(
    box: Sandbox, whatsapp: WhatsApp
) -> None:
    link = "https://ask.example/f/x"
    buttons = (Button("Open", url=link), Button("Try again", "t0k3n:retry"))
    ended = question("⚠️ Research stopped.", wrote=opened(box), buttons=buttons, heading="", footer="")
    ended = replace(ended, kind=MessageKind.NOTICE, form_url=link)
    await whatsapp.send(ended)
    async with connected(box, buttons=False) as bare:
        await bare.send(replace(ended, delivery_id="d2"))
    with_buttons, without = box.twilio.received(ANA)
    assert with_buttons.body == without.body == f"⚠️ Research stopped.\n\nOpen: {link}"
    assert [button.title for button in with_buttons.buttons] == ["Try again"]


async def test_outside_the_24_hours_nobody_is_told_how_it_ended(box: Sandbox, whatsapp: WhatsApp) -> None:
    asked = question()
    for kind in (MessageKind.OUTCOME, MessageKind.NOTICE):
        sent = await whatsapp.send(replace(asked, kind=kind, buttons=(), reply_to=("SM1",)))
        assert sent.message_ids == ()
    assert not box.twilio.received(ANA)


async def test_outside_the_24_hours_a_notice_goes_to_the_next_provider(
    box: Sandbox, whatsapp: WhatsApp
) -> None:
    with pytest.raises(Undeliverable, match="a notice has no template"):
        await whatsapp.send(replace(question(), kind=MessageKind.NOTICE, buttons=()))
    assert not box.twilio.received(ANA)


async def test_a_question_of_yes_or_no_has_buttons_outside_the_24_hours_too(box: Sandbox) -> None:
    async with connected(box, confirm_content_sid=box.twilio.confirm_content_sid) as whatsapp:
        await whatsapp.send(question())
        (note,) = box.twilio.received(ANA)
        assert [(button.title, button.payload) for button in note.buttons] == [
            ("Yes", "t0k3n:0.y"),
            ("No", "t0k3n:0.n"),
        ]


async def test_without_a_template_it_says_so_and_the_next_provider_is_asked(box: Sandbox) -> None:
    async with connected(box, content_sid="") as whatsapp:
        with pytest.raises(Undeliverable, match="set content_sid") as failure:
            await whatsapp.send(question())
        assert not failure.value.address_dead


async def test_lines_in_a_question_do_not_break_the_template(box: Sandbox, whatsapp: WhatsApp) -> None:
    await whatsapp.send(question("Which one?\n\n\tThis     or that?"))
    (note,) = box.twilio.received(ANA)
    assert "Which one? This or that?" in note.body


async def test_outside_the_24_hours_too_one_reads_what_it_is_that_one_approves(
    box: Sandbox, whatsapp: WhatsApp
) -> None:
    fields = (("amount", "100"), ("to", "Ben · amount: 1\namount: 2"))
    buttons = (Button("Approve", "t0k3n:0.approve"), Button("Reject", "t0k3n:0.reject"))
    await whatsapp.send(replace(question("refund", buttons=buttons), fields=fields, body="Ops says: urgent"))
    (note,) = box.twilio.received(ANA)
    assert (
        "refund · amount: 100 · to: Ben - amount: 1 · │ amount: 2 · Ops says: urgent (Approve / Reject)"
        in note.body
    )


async def test_outside_the_24_hours_a_long_question_still_says_how_to_answer(
    box: Sandbox, whatsapp: WhatsApp
) -> None:
    link = f"https://ask.example/{'f' * 80}"
    long = replace(question("Which one?"), heading="Ops " * 120, body="word " * 1000, form_url=link)
    await whatsapp.send(long)
    (note,) = box.twilio.received(ANA)
    assert "Which one? · word word" in note.body
    assert " (Yes / No) Answer here or on the form:" in note.body
    assert len(note.body) < 1024


@pytest.mark.parametrize("open_", [True, False])
async def test_what_is_numbered_in_the_text_is_not_listed_again(
    box: Sandbox, whatsapp: WhatsApp, open_: bool
) -> None:
    numbers = tuple(Button(str(place), f"t0k3n:0.{place}") for place in (1, 2))
    asked = replace(question("Which city?", buttons=numbers), body="1. Vienna\n2. Graz")
    if open_:
        async with connected(box, buttons=False) as bare:
            await bare.send(replace(asked, to=replace(asked.to, last_inbound_at=opened(box))))
    else:
        await whatsapp.send(asked)
    (note,) = box.twilio.received(ANA)
    assert "2. Graz" in note.body
    assert "1 / 2" not in note.body


async def test_somebody_who_is_not_on_whatsapp_is_not_tried_again(box: Sandbox, whatsapp: WhatsApp) -> None:
    message = question()
    nobody = to(place="+15005550001")
    with pytest.raises(Undeliverable, match="no such number") as failure:
        await whatsapp.send(type(message)(nobody, message.kind, message.title))
    assert failure.value.address_dead
    assert "15005550001" not in str(failure.value)


@pytest.mark.parametrize(
    ("kind", "maybe_sent"),
    [
        (FaultKind.DOWN, True),
        (FaultKind.REFUSED, True),
        (FaultKind.DROPPED, True),
        (FaultKind.RATE_LIMITED, False),
    ],
)
async def test_what_is_temporary_is_tried_later(
    box: Sandbox, whatsapp: WhatsApp, kind: FaultKind, *, maybe_sent: bool
) -> None:
    box.twilio.fail(kind, method="create", seconds=7)
    with pytest.raises(TryLater) as failure:
        await whatsapp.send(question())
    assert failure.value.maybe_sent is maybe_sent
    if kind is FaultKind.RATE_LIMITED:
        assert failure.value.seconds == 7


async def test_a_wrong_password_is_a_reason_to_wait_for_the_operator(box: Sandbox) -> None:
    with pytest.raises(TryLater, match="account_sid and auth_token"):
        async with connected(box, auth_token="wrong"):
            pass


async def test_where_content_cannot_be_made_the_choices_stand_in_the_text(
    box: Sandbox, whatsapp: WhatsApp
) -> None:
    whatsapp._client.content.base_url = f"{box.url}/nowhere"  # an account without the Content API
    with pytest.raises(TryLater, match="check account_sid and api_base"):
        await whatsapp.send(question(wrote=opened(box)))


async def test_its_repr_and_its_errors_hold_no_secret(box: Sandbox, whatsapp: WhatsApp) -> None:
    assert box.twilio.auth_token not in repr(whatsapp._options)
    assert box.twilio.auth_token not in repr(vars(whatsapp._options))


async def test_the_probe_says_who_answers(whatsapp: WhatsApp) -> None:
    assert await whatsapp.probe() == "the account answers (active); +15550001111, with a template"
