"""What an update means: a person's answer, or nothing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerback.provider import Attachment, Event, Inbound, PlaceNews, Reply, Void
from answerback_providers.telegram import incoming
from answerback_providers.telegram.incoming import Bot
from tests.providers.telegram.support import ANA, BOT, message_update, only_reply, parse, provider, tap_update

OURS = {
    "message_id": 9,
    "from": {"id": BOT, "is_bot": True, "first_name": "B"},
    "chat": {"id": ANA, "type": "private"},
    "date": 1,
}
GROUP = {"id": -1001, "type": "supergroup", "title": "Ops"}
ANA_HERSELF = {"id": ANA, "is_bot": False, "first_name": "Ana"}


def events(update: object, bot: Bot) -> list[Event]:
    return incoming.events(json.dumps(update).encode(), bot)


def test_a_text_is_a_reply_with_everything_the_service_vouches_for() -> None:
    assert only_reply(message_update()) == Reply(
        event_id=f"{BOT}:5",
        sender="1001",
        place="1001",
        text="coding",
        sent_at=1_700_000_000_000_000,
        private=True,
        name="Ana",
    )


@pytest.mark.parametrize("text", ["  yes\n", "/start abc_-1", "𝄞 \u202e rtl", "no \x00 nul", "half \ud83d"])
def test_a_text_is_kept_as_it_was_written(text: str) -> None:
    assert only_reply(message_update(text=text)).text == text


def test_a_reply_to_our_message_refers_to_it() -> None:
    assert only_reply(message_update(reply_to_message=OURS)).references == (f"{BOT}:1001:9",)


def with_buttons(*data: str | None) -> dict[str, Any]:
    """A message of ours with a button for each; without data it is a link."""
    row = [
        {"text": "B", "callback_data": each} if each else {"text": "B", "url": "https://a.b"} for each in data
    ]
    return {**OURS, "reply_markup": {"inline_keyboard": [row]}}


def test_a_reply_to_our_message_says_which_token_its_buttons_carry() -> None:
    reply = only_reply(message_update(reply_to_message=with_buttons("t1:0", "t1:1", None)))
    assert (reply.token, reply.shows, reply.data) == ("t1", True, "")


@pytest.mark.parametrize(
    "earlier",
    [
        with_buttons("t1:pick", "t2:pick"),  # of several questions it names none
        with_buttons(None),
        {**with_buttons("t1:0"), "from": ANA_HERSELF},
        {**OURS, "reply_markup": {"inline_keyboard": [7, [7, {"callback_data": 7}], {"a": 1}]}},
        {**OURS, "reply_markup": {"inline_keyboard": 7}},
        {**OURS, "reply_markup": 7},
    ],
)
def test_a_reply_to_what_names_no_question_has_no_token(earlier: dict[str, Any]) -> None:
    reply = only_reply(message_update(reply_to_message=earlier))
    assert (reply.token, reply.shows) == ("", False)


def test_a_reply_to_somebody_elses_message_refers_to_nothing_of_ours() -> None:
    theirs = {**OURS, "from": ANA_HERSELF}
    assert only_reply(message_update(reply_to_message=theirs)).references == ()


def test_a_reply_to_what_stands_in_another_chat_may_be_about_that() -> None:
    other = {"origin": {"type": "user", "sender_user": ANA_HERSELF, "date": 1}, "message_id": 9}
    assert only_reply(message_update(text="yes", external_reply=other)).references == ("elsewhere",)
    assert only_reply(message_update(chat=GROUP, text="yes", external_reply=other)).references == ()


@pytest.mark.parametrize(
    ("text", "entities", "said"),
    [
        ("yes", [("strikethrough", 0, 3)], "~yes~"),
        ("👍 100 200", [("strikethrough", 3, 3)], "👍 ~100~ 200"),  # a smile has two code units
        ("yes\nwhat he said", [("blockquote", 0, 3)], "> yes\nwhat he said"),
        ("a\nb\nno", [("expandable_blockquote", 0, 3)], "> a\n> b\nno"),
        ("yes", [("bold", 0, 3), ("italic", 0, 3), ("spoiler", 0, 3)], "yes"),
        ("yes", [("strikethrough", 0, 99)], "~yes~"),
        ("yes", [("strikethrough", 3, 1), ("strikethrough", -1, 2), ("strikethrough", 0, 0)], "yes"),
    ],
)
def test_what_is_struck_out_or_quoted_is_not_said(
    text: str, entities: list[tuple[str, int, int]], said: str
) -> None:
    marks = [{"type": kind, "offset": start, "length": length} for kind, start, length in entities]
    assert only_reply(message_update(text=text, entities=marks)).text == said
    captioned = message_update(text=None, caption=text, caption_entities=marks, photo=[{"file_id": "f"}])
    assert only_reply(captioned).text == said


def test_a_reference_names_the_chat_because_message_ids_are_unique_only_there() -> None:
    reply = only_reply(message_update(chat=GROUP, reply_to_message=OURS))
    assert (reply.place, reply.references, reply.private) == ("-1001", (f"{BOT}:-1001:9",), False)


def test_a_tap_carries_its_data_its_message_and_what_acknowledges_it() -> None:
    assert only_reply(tap_update()) == Reply(
        event_id=f"{BOT}:6",
        sender="1001",
        place="1001",
        data="y1",
        references=(f"{BOT}:1001:9",),
        sent_at=None,
        private=True,
        name="Ana",
        handle="cb77",
    )


def test_a_tap_on_a_message_that_telegram_no_longer_shows_counts() -> None:
    inaccessible = {"message_id": 9, "date": 0, "chat": {"id": ANA, "type": "private"}}
    assert only_reply(tap_update(message=inaccessible)).references == (f"{BOT}:1001:9",)


def test_the_tap_of_somebody_in_a_group_is_theirs_and_not_private() -> None:
    ben = {"id": 1002, "is_bot": False, "first_name": "Ben"}
    reply = only_reply(tap_update(**{"from": ben}, message={"message_id": 9, "date": 1, "chat": GROUP}))
    assert (reply.sender, reply.place, reply.private) == ("1002", "-1001", False)


@pytest.mark.parametrize("missing", ["id", "from", "message", "data"])
def test_a_tap_without_what_makes_it_one_is_nothing(missing: str) -> None:
    assert parse(tap_update(**{missing: None})) == []


@pytest.mark.parametrize("kind", ["channel_post", "edited_channel_post", "business_message"])
def test_only_new_messages_and_taps_answer(kind: str) -> None:
    assert parse({"update_id": 5, kind: message_update()["message"]}) == []


@pytest.mark.parametrize(
    "mark",
    [
        {"forward_origin": {"type": "hidden_user", "sender_user_name": "X", "date": 1}},
        {"forward_date": 1, "forward_from": ANA_HERSELF},
    ],
)
def test_what_somebody_else_wrote_can_decide_nothing(mark: dict[str, Any]) -> None:
    assert only_reply(message_update(**mark)).void is Void.FORWARDED
    assert only_reply(message_update(**mark, reply_to_message=OURS)).void is Void.FORWARDED


def test_what_was_edited_afterwards_can_decide_nothing() -> None:
    edited = {"update_id": 5, "edited_message": message_update(edit_date=1_700_000_060)["message"]}
    assert only_reply(edited).void is Void.EDITED


def test_a_place_that_moves_by_itself_is_nothing() -> None:
    live = message_update(text=None, location={"latitude": 1, "longitude": 2, "live_period": 60})
    assert parse({"update_id": 5, "edited_message": live["message"]}) == []


@pytest.mark.parametrize(
    "mark",
    [
        {"sender_chat": GROUP},
        {"sender_chat": {"id": -1002, "type": "channel", "title": "News"}, "is_automatic_forward": True},
        {"from": {"id": 1087968824, "is_bot": True, "first_name": "Group"}, "sender_chat": GROUP},
    ],
)
def test_who_writes_as_a_group_or_a_channel_can_decide_nothing_not_even_as_the_stand_in(
    mark: dict[str, Any],
) -> None:
    reply = only_reply(message_update(chat=GROUP, reply_to_message=OURS, **mark))
    assert (reply.void, reply.sender) == (Void.NAMELESS, str(mark["sender_chat"]["id"]))


@pytest.mark.parametrize(
    "mark", [{"from": {"id": 55, "is_bot": True, "first_name": "Other bot"}}, {"from": None}]
)
def test_what_nobody_did_is_no_answer(mark: dict[str, Any]) -> None:
    assert parse(message_update(chat=GROUP, **mark)) == []


@pytest.mark.parametrize("text", ["/stop@our_bot", "/stop@OUR_BOT", "/stop", "/stop@our_bot now"])
def test_a_command_in_a_group_that_may_be_ours_is_read(text: str) -> None:
    (reply,) = events(message_update(chat=GROUP, text=text), Bot(BOT, "our_bot"))
    assert reply.text == text


def test_a_command_in_a_group_for_another_bot_is_nothing() -> None:
    assert events(message_update(chat=GROUP, text="/stop@other_bot"), Bot(BOT, "our_bot")) == []


def test_a_command_with_a_name_waits_until_we_know_ours() -> None:
    with pytest.raises(ValueError, match="before we knew our own"):
        events(message_update(chat=GROUP, text="/stop@our_bot"), Bot(BOT))


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("@our_bot coding", "@our_bot"),
        ("coding, @Our_Bot", "@Our_Bot"),
        ("@our_bots coding", ""),
        ("mail me@our_bot.org", ""),
        ("coding", ""),
    ],
)
def test_our_name_in_a_group_calls_us_and_the_text_stays_as_it_is(text: str, called: str) -> None:
    (reply,) = events(message_update(chat=GROUP, text=text), Bot(BOT, "our_bot"))
    assert (reply.text, reply.called) == (text, called)


@pytest.mark.parametrize(
    ("status", "chat", "closed"),
    [
        ("kicked", {"id": ANA, "type": "private"}, "The person blocked the bot."),
        ("kicked", GROUP, "The bot is not in the group any more."),
        ("left", GROUP, "The bot is not in the group any more."),
        ("member", {"id": ANA, "type": "private"}, ""),
        ("administrator", GROUP, ""),
    ],
)
def test_a_chat_that_is_closed_to_us_or_open_again_is_news(
    status: str, chat: dict[str, Any], closed: str
) -> None:
    update = {"update_id": 5, "my_chat_member": {"chat": chat, "new_chat_member": {"status": status}}}
    assert events(update, Bot(BOT)) == [PlaceNews(f"{BOT}:5", str(chat["id"]), closed=closed)]


def test_a_group_that_became_a_supergroup_is_news_whichever_of_the_two_says_so() -> None:
    old, new = {"id": -55, "type": "group"}, {"id": -10055, "type": "supergroup"}
    said = message_update(chat=old, text=None, migrate_to_chat_id=-10055)
    again = message_update(chat=new, text=None, migrate_from_chat_id=-55)
    moved = PlaceNews(f"{BOT}:5", "-55", moved_to="-10055")
    assert (events(said, Bot(BOT)), events(again, Bot(BOT))) == ([moved], [moved])


def test_nobody_moves_their_private_chat_to_another() -> None:
    assert events(message_update(migrate_to_chat_id=-10055), Bot(BOT)) == parse(message_update())


def test_an_animation_that_is_a_document_too_is_one_attachment() -> None:
    file = {"file_id": "f1", "file_name": "a.mp4", "mime_type": "video/mp4", "file_size": 3}
    reply = only_reply(message_update(text=None, document=file, animation=file))
    assert reply.attachments == (Attachment("f1", "a.mp4", "video/mp4", 3),)


def test_a_caption_is_the_text_and_the_largest_photo_the_attachment() -> None:
    photos = [{"file_id": "small", "file_size": 10}, {"file_id": "large", "file_size": 9000}]
    reply = only_reply(message_update(text=None, caption="this one", photo=photos))
    assert reply.text == "this one"
    assert reply.attachments == (Attachment("large", "photo", "image/jpeg", 9000),)


def test_a_document_keeps_its_name_and_type() -> None:
    document = {"file_id": "f1", "file_name": "a.pdf", "mime_type": "application/pdf", "file_size": 3}
    reply = only_reply(message_update(text=None, document=document))
    assert (reply.text, reply.attachments) == ("", (Attachment("f1", "a.pdf", "application/pdf", 3),))


def test_a_voice_message_is_a_reply_without_text() -> None:
    voice = {"file_id": "v1", "duration": 2, "mime_type": "audio/ogg"}
    reply = only_reply(message_update(text=None, voice=voice))
    assert (reply.text, reply.attachments) == ("", (Attachment("v1", "voice", "audio/ogg"),))


@pytest.mark.parametrize("kind", ["location", "contact", "poll", "dice", "game", "live_photo"])
def test_what_is_no_text_but_meant_as_an_answer_is_a_reply_that_does_not_fit(kind: str) -> None:
    reply = only_reply(message_update(text=None, **{kind: {"x": 1}}))
    assert (reply.text, reply.attachments) == ("", ())


@pytest.mark.parametrize(
    "service", [{"new_chat_members": []}, {"pinned_message": OURS}, {"new_chat_title": "t"}, {}]
)
def test_a_service_message_is_nothing(service: dict[str, Any]) -> None:
    assert parse(message_update(text=None, **service)) == []


@pytest.mark.parametrize("date", [None, 0, -5, "1700000000", 1.5, True, 10**30])
def test_a_time_that_is_none_is_not_made_up(date: object) -> None:
    assert only_reply(message_update(date=date)).sent_at is None


@pytest.mark.parametrize("body", [b"", b"{", b"update_id=1", b"\xff\xfe\x00"])
def test_what_is_not_json_is_said_to_be(body: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        provider().parse(Inbound(body=body))


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 200_000 + b"]" * 200_000,
        b'{"update_id": 1, "message": {"from": {"id": ' + b"9" * 5000 + b"}}}",
        b'{"update_id": NaN}',
        b'{"update_id": 1e999, "message": {"text": "yes"}}',
        b"null",
        b'"x"',
    ],
)
def test_odd_json_means_nothing(body: bytes) -> None:
    assert provider().parse(Inbound(body=body)) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
TOP = (
    "message_id",
    "from",
    "chat",
    "date",
    "text",
    "caption",
    "photo",
    "document",
    "voice",
    "reply_to_message",
)


@given(JSON)
def test_no_json_whatever_makes_it_raise(value: Any) -> None:
    parse(value)


@given(st.dictionaries(st.sampled_from(TOP), JSON, max_size=4))
def test_no_message_whatever_makes_it_raise(fields: dict[str, Any]) -> None:
    for reply in parse({"update_id": 5, "message": {**message_update()["message"], **fields}}):
        json.dumps([reply.sender, reply.place, reply.text])
        assert reply.sender.lstrip("-").isdecimal()
        assert reply.place.lstrip("-").isdecimal()


@given(st.dictionaries(st.sampled_from(("id", "from", "message", "data")), JSON, max_size=4))
def test_no_tap_whatever_makes_it_raise(fields: dict[str, Any]) -> None:
    parse({"update_id": 5, "callback_query": {**tap_update()["callback_query"], **fields}})


def test_law_1_what_two_bots_number_alike_is_not_the_same() -> None:
    """A provider can be given another bot, and each counts the messages and the updates of its own."""
    update = message_update(reply_to_message=OURS)
    (ours,) = events(update, Bot(BOT))
    update["message"]["reply_to_message"]["from"]["id"] = 123
    (others,) = events(update, Bot(123))
    assert isinstance(ours, Reply)
    assert isinstance(others, Reply)
    assert ours.event_id != others.event_id
    assert not set(ours.references) & set(others.references)
