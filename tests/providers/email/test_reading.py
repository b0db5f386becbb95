"""What is read of a mail: which question it is about, its text, and what never counts."""

import base64

import pytest

from answerback_providers.email.marks import bounce_id
from answerback_providers.email.reading import Kind, load, read
from tests.providers.email.replies import GMAIL, OURS, OWN, reply, vouched
from tests.providers.email.support import TOKEN


def kind(mail: bytes) -> Kind:
    return read(mail, OWN, OURS).kind


def text(mail: bytes) -> str:
    return read(mail, OWN, OURS).text


# Which question


def test_the_address_of_the_reply_carries_the_token() -> None:
    assert read(reply(), OWN).token == TOKEN
    assert read(reply(To=f'"A, B" <Agent+{TOKEN.upper()}@EXAMPLE.org>, ben@x.org'), OWN).token == TOKEN


@pytest.mark.parametrize(
    "to",
    [
        "agent@example.org",
        f"other+{TOKEN}@example.org",
        f"agent+{TOKEN}@example.com",
        f"agent{TOKEN}@example.org",
    ],
)
def test_another_address_carries_none(to: str) -> None:
    assert read(reply(To=to), OWN).token == ""


def test_two_tokens_are_none() -> None:
    assert read(reply(To=f"agent+{TOKEN}@example.org, agent+other@example.org"), OWN).token == ""


def test_the_threads_ids_are_references_the_nearest_first() -> None:
    found = read(
        reply(In_Reply_To="<b@example.org>", References="<a@example.org>\n <b@example.org> <c@y>"), OWN
    )
    assert found.references == ("<b@example.org>", "<a@example.org>", "<c@y>")
    assert read(reply(In_Reply_To="<>", References="no ids <a b> <"), OWN).references == ()


# The text


def test_the_whole_plain_text_is_given_with_what_it_quotes() -> None:
    assert text(reply(GMAIL)) == GMAIL.rstrip("\n")


def test_encodings_and_charsets_are_undone() -> None:
    encoded = base64.b64encode("Größe: 10 €".encode("cp1252")).decode()
    kinds = {"Content_Type": "text/plain; charset=windows-1252", "Content_Transfer_Encoding": "base64"}
    assert text(reply(encoded, **kinds)) == "Größe: 10 €"


@pytest.mark.parametrize("charset", ["x-unknown", "hex", "zip", "idna", "unicode_escape", "utf-7", '"', "\\"])
def test_a_charset_that_is_none_is_read_as_utf_8(charset: str) -> None:
    assert (
        text(reply("Größe +AGE- \\u0041", Content_Type=f"text/plain; charset={charset}"))
        == "Größe +AGE- \\u0041"
    )


def test_lines_that_a_program_broke_are_joined() -> None:
    flowed = "One \nline.\nAnother. \n> quoted \n> too\n-- \nAna"
    assert text(reply(flowed, Content_Type="text/plain; format=flowed")) == (
        "One line.\nAnother. \n> quoted too\n-- \nAna"
    )


def test_of_two_forms_the_plain_one_is_read() -> None:
    both = "--b\nContent-Type: text/html\n\n<p>no\n--b\nContent-Type: text/plain\n\nyes\n--b--\n"
    assert text(reply(both, Content_Type="multipart/alternative; boundary=b")) == "yes"


def test_what_is_attached_is_not_what_was_written() -> None:
    attached = (
        "--b\nContent-Type: text/plain\nContent-Disposition: attachment\n\nno\n"
        "--b\nContent-Type: message/rfc822\n\nFrom: x@y\n\nno\n--b\nContent-Type: text/plain\n\nyes\n--b--\n"
    )
    assert text(reply(attached, Content_Type="multipart/mixed; boundary=b")) == "yes"


def test_of_html_alone_the_visible_text_is_read_and_quotations_are_marked() -> None:
    page = (
        "<html><head><style>p {color: red}</style><title>x</title></head><body><!-- <b>no</b> -->"
        "<div>Yes &amp; <b>more</b>&nbsp;&lt;3<br>second   line</div><script>alert(1)</script>"
        "<div>On Sun, Nov 22, 2026 at 2:00 AM &lt;agent@example.org&gt; wrote:</div>"
        "<blockquote><div>Search?</div><p>1. Yes</p></blockquote>bye < 3</body></html>"
    )
    assert text(reply(page, Content_Type="text/html")) == (
        "Yes & more <3\nsecond line\n"
        "On Sun, Nov 22, 2026 at 2:00 AM <agent@example.org> wrote:\n\n> Search?\n\n> 1. Yes\n\nbye < 3"
    )


def test_the_time_is_the_writers_where_it_can_be_believed_and_never_later_than_now() -> None:
    found = read(vouched(), OWN, OURS)
    assert found.sent_at == 1_795_312_800_000_000
    assert found.found(1)[0].sent_at == 1
    assert read(vouched(Date="Sun, 99 Nov 99999"), OWN, OURS).sent_at is None
    assert read(vouched(Date=None), OWN, OURS).sent_at is None


# The same mail


def test_a_mail_that_comes_twice_is_one_event() -> None:
    first = read(vouched(), OWN, OURS).event_id
    again = reply(above="Received: from a by b\n", Message_ID="<changed@elsewhere>", References="<x@y>")
    assert read(again, OWN).event_id == first
    assert read(vouched("another"), OWN, OURS).event_id != first
    assert read(vouched(Date="Sun, 22 Nov 2026 02:00:01 +0000"), OWN, OURS).event_id != first


def test_a_reading_survives_its_transport() -> None:
    found = read(vouched(References="<a@b>"), OWN, OURS)
    assert load(found.dump()) == found


# What never counts


@pytest.mark.parametrize(
    "headers",
    [
        {"Auto_Submitted": "auto-replied"},
        {"Auto_Submitted": "Auto-Generated; type=x"},
        {"Precedence": "bulk"},
        {"Precedence": "Auto_Reply"},
        {"List_Id": "<l.x.org>"},
        {"X_Autoreply": "yes"},
        {"X_Loop": "ana@x.org"},
        {"Return_Path": "<>"},
        {"From": "MAILER-DAEMON@x.org"},
        {"From": f"agent+{TOKEN}@example.org"},
        {"Content_Type": "text/calendar; method=REPLY"},
        {"Content_Type": "multipart/report; boundary=b"},
    ],
)
def test_what_no_person_wrote_does_not_count(headers: dict[str, str]) -> None:
    assert kind(vouched(**headers)) is Kind.NOTHING


@pytest.mark.parametrize(
    "headers", [{"Auto_Submitted": "no"}, {"Precedence": "normal"}, {"X_Auto_Response_Suppress": "All"}]
)
def test_what_only_looks_so_does(headers: dict[str, str]) -> None:
    assert kind(vouched(**headers)) is Kind.REPLY


def test_a_calendars_answer_does_not_count_whatever_text_is_beside_it() -> None:
    accepted = "--b\n\nyes\n--b\nContent-Type: text/calendar; method=REPLY\n\nBEGIN:VCALENDAR\n--b--\n"
    assert kind(vouched(accepted, Content_Type="multipart/alternative; boundary=b")) is Kind.NOTHING


# What came back


def report(action: str, **headers: str) -> bytes:
    body = (
        f"--b\n\nSorry.\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; x.org\n\n"
        f"Final-Recipient: rfc822; ana@x.org\nAction: {action}\nStatus: 5.1.1\n\n--b--\n"
    )
    return bounced(body, Content_Type="multipart/report; report-type=delivery-status; boundary=b", **headers)


def bounced(body: str, **headers: str) -> bytes:
    usual = {"From": "MAILER-DAEMON@x.org", "To": f"agent+bounce-{TOKEN}@example.org", "Return_Path": "<>"}
    return reply(body, **{**usual, **headers})


def test_a_mail_that_came_back_marks_its_delivery_failed() -> None:
    for mail in (
        report("failed"),
        report("Failed", To="x@y.org", Delivered_To=f"agent+bounce-{TOKEN}@example.org"),
    ):
        (found,) = read(mail, OWN).found(0)
        assert (found.message_id, found.status) == (bounce_id(TOKEN), "failed")
    assert read(bounced("This is the qmail-send program."), OWN).kind is Kind.BOUNCE


@pytest.mark.parametrize("action", ["delayed", "delivered", "relayed", "expanded"])
def test_a_report_that_it_is_late_or_there_marks_nothing(action: str) -> None:
    assert read(report(action), OWN).found(0) == []


def test_somebodys_absence_is_no_mail_that_came_back() -> None:
    assert kind(bounced("I am away.", From="ana@x.org", Auto_Submitted="auto-replied")) is Kind.NOTHING
    assert kind(bounced("yes", From="ana@x.org", Return_Path="<ana@x.org>")) is Kind.NOTHING
