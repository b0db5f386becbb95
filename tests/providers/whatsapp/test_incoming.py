"""Webhooks: signed or refused, read into replies and receipts, and silent about what is not ours."""

import dataclasses

import pytest

from answerback.provider import Attachment, Inbound, Receipt, Reply, Undeliverable, Unverified, Void
from answerback_providers.whatsapp import WhatsApp
from answerback_sandbox import Sandbox
from answerback_sandbox.twilio.courier import Event
from tests.providers.whatsapp.support import ANA, HOOK, connected, signed

pytestmark = pytest.mark.needs_extra("whatsapp")


def replied(whatsapp: WhatsApp, inbound: Inbound) -> Reply:
    (reply,) = whatsapp.parse(inbound)
    assert isinstance(reply, Reply)
    return reply


async def test_a_text_is_kept_word_for_word(box: Sandbox, whatsapp: WhatsApp) -> None:
    inbound = signed(box, Body="  Ja – 2 & „3“\n", ProfileName="Ana")
    await whatsapp.verify(inbound)
    reply = replied(whatsapp, inbound)
    assert (reply.text, reply.sender, reply.place) == ("  Ja – 2 & „3“\n", ANA, ANA)
    assert (reply.event_id, reply.name, reply.references, reply.data) == ("SM1", "Ana", (), "")


async def test_a_tap_brings_its_payload_and_not_its_label(box: Sandbox, whatsapp: WhatsApp) -> None:
    tapped = {"MessageType": "button", "ButtonText": "Yes", "ButtonPayload": "t0k3n:0.y", "Body": "Yes"}
    reply = replied(whatsapp, signed(box, OriginalRepliedMessageSid="SM9", **tapped))
    assert (reply.data, reply.text, reply.references) == ("t0k3n:0.y", "", ("SM9",))


async def test_a_quoted_message_is_what_it_replies_to(box: Sandbox, whatsapp: WhatsApp) -> None:
    reply = replied(whatsapp, signed(box, OriginalRepliedMessageSid="SM7"))
    assert reply.references == ("SM7",)


@pytest.mark.parametrize("mark", ["Forwarded", "FrequentlyForwarded"])
async def test_what_somebody_else_wrote_can_decide_nothing(
    box: Sandbox, whatsapp: WhatsApp, mark: str
) -> None:
    assert replied(whatsapp, signed(box, Body="yes", **{mark: "true"})).void is Void.FORWARDED
    assert replied(whatsapp, signed(box, Body="yes", **{mark: "false"})).void is None


async def test_somebody_without_a_number_is_an_opaque_id(box: Sandbox, whatsapp: WhatsApp) -> None:
    reply = replied(whatsapp, signed(box, From="whatsapp:ana.lima", ExternalUserId="u-81"))
    assert reply.sender == "ana.lima"


async def test_empty_fields_are_part_of_the_signature(box: Sandbox, whatsapp: WhatsApp) -> None:
    await whatsapp.verify(signed(box, Body="", ButtonText=""))


async def test_the_query_and_the_port_of_the_address_count(box: Sandbox, whatsapp: WhatsApp) -> None:
    await whatsapp.verify(signed(box, f"{HOOK}?a=1&b="))
    ours = signed(box, "https://ask.example/in/whatsapp")
    await whatsapp.verify(dataclasses.replace(ours, url="https://ask.example:443/in/whatsapp"))


async def test_a_shared_key_signs_with_sha_256(box: Sandbox) -> None:
    box.twilio.courier.shared_key = ("key1", "a shared secret")
    async with connected(box, shared_key="a shared secret") as whatsapp:
        await whatsapp.verify(signed(box))
    async with connected(box) as without:
        with pytest.raises(Unverified, match="shared_key"):
            await without.verify(signed(box))


@pytest.mark.parametrize("spoil", ["nothing", "other body", "other url", "no header", "odd header"])
async def test_what_is_not_signed_right_is_refused(box: Sandbox, whatsapp: WhatsApp, spoil: str) -> None:
    inbound = signed(box)
    spoilt = {
        "nothing": dataclasses.replace(inbound, body=b""),
        "other body": dataclasses.replace(inbound, body=inbound.body.replace(b"coding", b"costing")),
        "other url": dataclasses.replace(inbound, url=HOOK + "/"),
        "no header": dataclasses.replace(inbound, headers={}),
        "odd header": dataclasses.replace(inbound, headers={"x-twilio-signature": "ünsigned\udcff"}),
    }[spoil]
    with pytest.raises(Unverified):
        await whatsapp.verify(spoilt)


@pytest.mark.parametrize(
    "body",
    [b"Body=a&Body=b", b"\xff=1", b"a" * 10, b"&".join(b"f%d=1" % place for place in range(201))],
    ids=["repeated", "not utf-8", "no form", "too many"],
)
async def test_a_form_that_twilio_would_not_send_is_refused(whatsapp: WhatsApp, body: bytes) -> None:
    with pytest.raises(Unverified):
        await whatsapp.verify(Inbound(body, url=HOOK, headers={"x-twilio-signature": "x"}))


async def test_json_is_refused(whatsapp: WhatsApp) -> None:
    inbound = Inbound(b"{}", url=HOOK, headers={"content-type": "application/json"})
    with pytest.raises(Unverified) as failure:
        await whatsapp.verify(inbound)
    assert failure.value.status == 415


@pytest.mark.parametrize(
    "other",
    [{"AccountSid": "AC" + "0" * 32}, {"To": "whatsapp:+15559999999"}, {"From": ""}, {"MessageSid": ""}],
    ids=["another account", "another sender", "nobody", "no id"],
)
async def test_what_is_not_for_us_is_nobody_s_answer(
    box: Sandbox, whatsapp: WhatsApp, other: dict[str, str]
) -> None:
    assert whatsapp.parse(signed(box, **other)) == []


def status(box: Sandbox, value: str, code: str = "") -> Inbound:
    ours = f"whatsapp:{box.twilio.sender}"
    fields = {"From": ours, "To": f"whatsapp:{ANA}", "MessageStatus": value, "SmsStatus": value, "Body": ""}
    return signed(box, **fields, **({"ErrorCode": code} if code else {}))


@pytest.mark.parametrize("value", ["sent", "delivered", "read"])
async def test_a_status_is_a_receipt(box: Sandbox, whatsapp: WhatsApp, value: str) -> None:
    assert whatsapp.parse(status(box, value)) == [Receipt(f"SM1:{value}", "SM1", value)]


@pytest.mark.parametrize("value", ["queued", "accepted", "sending", "scheduled"])
async def test_a_status_that_is_no_news_is_nothing(box: Sandbox, whatsapp: WhatsApp, value: str) -> None:
    assert whatsapp.parse(status(box, value)) == []


@pytest.mark.parametrize(
    ("code", "meaning"),
    [("63016", "window"), ("63018", "wait"), ("20429", "wait"), ("63024", "failed"), ("", "failed")],
)
async def test_a_failure_says_what_to_do_about_it(
    box: Sandbox, whatsapp: WhatsApp, code: str, meaning: str
) -> None:
    (receipt,) = whatsapp.parse(status(box, "undelivered", code))
    assert isinstance(receipt, Receipt)
    assert receipt.status == meaning
    assert code in receipt.reason
    assert ANA not in receipt.reason


async def test_a_photo_is_an_attachment_that_is_fetched_with_the_password(
    box: Sandbox, whatsapp: WhatsApp
) -> None:
    note = box.twilio.send_file(ANA, b"\x89PNG...", "image/png")
    fields = box.twilio.courier.fields(Event.inbound(note, box.twilio.world.handset(ANA)))
    inbound = signed(box, **fields)
    await whatsapp.verify(inbound)
    (attachment,) = replied(whatsapp, inbound).attachments
    assert attachment.content_type == "image/png"
    assert await whatsapp.fetch(attachment) == b"\x89PNG..."


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest",
        "https://evil.example/x",
        "file:///etc/passwd",
        "",
        "https://twilio.com.evil.example/",
    ],
)
async def test_a_file_is_fetched_from_twilio_and_from_nowhere_else(whatsapp: WhatsApp, url: str) -> None:
    with pytest.raises(Undeliverable):
        await whatsapp.fetch(Attachment(url))
