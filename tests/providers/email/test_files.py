"""Which parts of a mail are files, as programs write them, and what never is one."""

import pytest

from answerback.provider import Attachment, Inbound, ProviderContext, Reply, Undeliverable
from answerback_providers.email import Email, EmailSettings
from answerback_providers.email.head import Unreadable
from answerback_providers.email.parts import file, written
from answerback_providers.email.reading import load, read
from tests.providers.email.replies import OURS, OWN, vouched

TEXT = "Content-Type: text/plain; charset=utf-8\n\nLike this.\n"
LOGO = "Content-Type: image/png; name=logo.png\nContent-ID: <logo@x.org>\nContent-Disposition: inline\n\nx\n"
HTML = "Content-Type: text/html; charset=utf-8\n\n<p>Like this.<img src='cid:logo%40x.org'></p>\n"
NOWHERE = f"mail:{'0' * 64}"


def mail(*parts: str) -> bytes:
    """A vouched reply of these parts."""
    body = multipart(*parts, kind="mixed").partition("\n\n")[2]
    return vouched(body, MIME_Version="1.0", Content_Type='multipart/mixed; boundary="mixed"')


def multipart(*parts: str, kind: str) -> str:
    body = "".join(f"--{kind}\n{part}\n" for part in parts)
    return f'Content-Type: multipart/{kind}; boundary="{kind}"\n\n{body}--{kind}--\n'


def part(
    kind: str = "application/pdf", said: str = "attachment; filename=a.pdf", body: str = "x", **more: str
) -> str:
    rows = {"Content-Type": kind, "Content-Disposition": said}
    rows |= {name.replace("_", "-"): value for name, value in more.items()}
    return "".join(f"{name}: {value}\n" for name, value in rows.items() if value) + f"\n{body}"


def names(raw: bytes) -> list[str]:
    return [found.name for found in written(raw).files]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("attachment; filename=a.pdf", "a.pdf"),
        ('attachment; filename="a b.pdf"', "a b.pdf"),
        ("attachment; filename*=utf-8''%C3%A4%20b.pdf", "ä b.pdf"),
        ("attachment; filename*0=aa; filename*1=bb.pdf", "aabb.pdf"),
        ('attachment; filename="=?utf-8?b?w6QucGRm?="', "ä.pdf"),
        ('attachment; filename="=?utf-8?b?w?="', "=?utf-8?b?w?="),
        ('attachment; filename="=?no-such-charset?q?a?="', "=?no-such-charset?q?a?="),
        ("inline; filename=a.pdf", "a.pdf"),
        ("attachment", ""),
        ("attachment; filename*0*=a\x00''b", ""),
    ],
)
def test_a_file_has_the_name_that_its_program_gave_it(said: str, name: str) -> None:
    assert names(mail(TEXT, part(said=said))) == [name]


def test_a_name_that_is_none_hides_nothing_of_its_mail() -> None:
    (found,) = names(mail(TEXT, part(said="attachment; filename*; filename*0=a")))
    assert found in ("", "a")  # Python's parser raised here before 3.13


def test_a_name_may_stand_with_the_type_alone_as_outlook_has_it() -> None:
    assert names(mail(TEXT, part("application/pdf; name=a.pdf", said=""))) == ["a.pdf"]


def test_the_text_is_what_was_written_and_not_what_stands_in_a_file() -> None:
    notes = part("text/plain; charset=utf-8", "inline; filename=notes.txt", "of last year")
    page = "Content-Type: text/html\n\n<p>Like this.</p>\n"
    for raw in (mail(notes, TEXT), mail(notes, page), mail(page, notes)):
        found = written(raw)
        assert found.text.strip() == "Like this."
        assert [each.name for each in found.files] == ["notes.txt"]


def test_a_photo_that_the_text_shows_is_a_file_as_apple_mail_sends_it_and_a_logo_is_none() -> None:
    photo = part(
        "image/jpeg; name=IMG_0001.jpeg",
        "inline; filename=IMG_0001.jpeg",
        "x" * 8 * 1024,
        Content_ID="<logo@x.org>",
    )
    assert names(mail(TEXT, multipart(HTML, photo, kind="related"))) == ["IMG_0001.jpeg"]
    assert names(mail(TEXT, multipart(HTML, LOGO, kind="related"))) == []


def test_a_small_picture_that_the_text_shows_is_no_file_and_one_that_it_does_not_is() -> None:
    related = multipart(multipart(TEXT, HTML, kind="alternative"), LOGO, kind="related")
    photo = part("image/jpeg", "inline; filename=photo.jpg", Content_ID="<other@x.org>")
    assert names(mail(related, photo)) == ["photo.jpg"]
    voice = "Content-Type: audio/ogg\n\nx"  # without any name
    assert names(mail(TEXT, voice)) == [""]


@pytest.mark.parametrize(
    "kind", ["application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"]
)
def test_a_signature_is_no_file(kind: str) -> None:
    assert names(mail(TEXT, part(kind, "attachment; filename=smime.p7s"))) == []


def test_a_mail_that_was_attached_is_one_file_with_all_that_is_in_it() -> None:
    inner = "Subject: older\n\nwords"
    raw = mail(TEXT, part("message/rfc822", "attachment; filename=older.eml", inner))
    (found,) = written(raw).files
    octets = file(raw, found.place)
    assert (found.name, found.size) == ("older.eml", len(octets))
    assert b"Subject: older" in octets and b"words" in octets


def test_a_mail_in_it_that_is_none_hides_nothing_else() -> None:
    inner = 'Content-Type: multipart/mixed; boundary="é"\n\n--é\n\nwords'
    raw = mail(TEXT, part("message/rfc822", "attachment; filename=odd.eml", inner), part())
    odd, other = written(raw).files
    assert (odd.name, other.name) == ("odd.eml", "a.pdf")
    assert b"words" in file(raw, odd.place) and file(raw, other.place) == b"x"


def test_its_octets_come_out_as_they_went_in() -> None:
    coded = part(body="JVBERi0A/w==", Content_Transfer_Encoding="base64")
    raw = mail(TEXT, coded, part(said="attachment; filename=b.pdf", body="second"))
    first, second = written(raw).files
    assert (file(raw, first.place), first.size) == (b"%PDF-\0\xff", 7)
    assert file(raw, second.place) == b"second"


@pytest.mark.parametrize("place", [-1, 0, 1, 99])  # nowhere, the whole, the text, beyond
def test_only_a_file_can_be_taken_out(place: int) -> None:
    with pytest.raises(Unreadable):
        file(mail(TEXT, part()), place)


def test_a_reading_carries_its_files_to_the_core() -> None:
    reading = read(mail(TEXT, part(body="four")), OWN, OURS)
    assert load(reading.dump()) == reading
    (reply,) = reading.found(0)
    assert isinstance(reply, Reply) and reply.void is None
    assert reply.attachments == (Attachment(f"{reading.event_id}/2", "a.pdf", "application/pdf", 4),)


@pytest.mark.parametrize(
    "id", ["", "x", "mail:1/2", f"{NOWHERE}/2", f"{NOWHERE}/{'9' * 5000}", f"{NOWHERE}/٢"]
)
async def test_what_no_mail_of_ours_had_is_not_fetched(id: str) -> None:
    with pytest.raises(Undeliverable, match="not kept"):
        await email().fetch(Attachment(id))


async def test_a_file_is_taken_out_by_the_process_that_reads_mail_and_nothing_else_is() -> None:
    raw = mail(TEXT, part(body="four"))
    provider = email(raw)
    dumped = read(raw, OWN, OURS).dump()
    (reply,) = provider.parse(Inbound(raw, headers={"answerback-reading": dumped}))
    assert isinstance(reply, Reply)
    assert await provider.fetch(reply.attachments[0]) == b"four"
    with pytest.raises(Undeliverable, match="cannot be read"):
        await provider.fetch(Attachment(f"{NOWHERE}/1"))
    await provider.close()


def email(raw: bytes | None = None) -> Email:
    """A provider whose gateway has stored this mail, whatever event it is asked for."""

    async def stored(provider: str, event_id: str) -> bytes | None:
        assert provider == "email"
        return raw

    smtp = {"host": "localhost", "security": "plain"}
    settings = EmailSettings.model_validate({"address": "agent@example.org", "smtp": smtp})
    return Email("email", settings, ProviderContext(stored=stored))
