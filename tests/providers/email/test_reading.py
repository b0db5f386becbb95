"""What is read of a mail: which question it is about, its text, and what never counts."""

import base64

import pytest

from answerback.provider import Reply, Void
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
        f"agent+{TOKEN}@example.org <agent+{TOKEN}@example.org>",
        f"'agent+{TOKEN}@example.org' <agent+{TOKEN}@example.org>",
        f"Agent (Research) <agent+{TOKEN}@example.org>",
    ],
)
def test_programs_write_all_sorts_of_names_before_it(to: str) -> None:
    assert read(reply(To=to), OWN).token == TOKEN
    found = read(vouched(From="Ana@x.org <ana@x.org>", To=to), OWN, OURS)
    assert (found.sender, found.trusted) == ("ana@x.org", True)


def test_a_header_of_a_long_thread_is_cut_and_the_mail_is_read() -> None:
    long = " ".join(f"<{place}@a-long-name-of-some-server.example.org>" for place in range(400))
    found = read(vouched(References=long, In_Reply_To="<mine@example.org>"), OWN, OURS)
    assert (found.text, found.trusted, found.references[0]) == ("coding", True, "<mine@example.org>")


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


@pytest.mark.parametrize(
    ("named", "meant", "written"),
    [
        ("gb2312", "gb18030", "确认镕"),
        ("gbk", "gb18030", "𠮷"),
        ("big5", "big5", "確認"),
        ("shift_jis", "cp932", "①はい"),
        ("ks_c_5601-1987", "cp949", "네"),
        ("iso-2022-jp", "iso-2022-jp", "はい"),
        ("iso-8859-1", "cp1252", "don’t – 10 €"),
        ("us-ascii", "utf-8", "Größe"),
        ("us-ascii", "cp1252", "Größe"),
        ("", "cp1252", "Größe"),
        ("", "utf-8", "Größe"),
        ("utf-8", "utf-8-sig", "yes"),
        ("utf-16", "utf-16", "yes"),
    ],
)
def test_the_charset_that_is_meant_is_read_where_a_narrower_one_is_named(
    named: str, meant: str, written: str
) -> None:
    kinds = {
        "Content_Type": f"text/plain; charset={named}" if named else "text/plain",
        "Content_Transfer_Encoding": "base64",
    }
    assert text(reply(base64.b64encode(written.encode(meant)).decode(), **kinds)) == written


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


def test_what_is_written_above_and_below_a_photo_is_all_read() -> None:
    photo = (
        "--b\nContent-Type: text/plain\n\nyes\n"
        "--b\nContent-Type: image/png; name=a.png\nContent-Disposition: inline; filename=a.png\n\nx\n"
        "--b\nContent-Type: text/plain\n\nbut not prod\n--b--\n"
    )
    assert text(reply(photo, Content_Type="multipart/mixed; boundary=b")) == "yes\nbut not prod"


def test_a_footer_beside_a_page_of_html_does_not_replace_it() -> None:
    footer = (
        "--b\nContent-Type: text/html\n\n<p>coding</p>\n--b\nContent-Type: text/plain\n\nOur terms\n--b--\n"
    )
    assert text(reply(footer, Content_Type="multipart/mixed; boundary=b")) == "coding\nOur terms"


def test_gmails_reaction_to_a_mail_is_no_text_of_anybodys() -> None:
    smile = (
        "--b\nContent-Type: text/plain\n\n👍\n\nAna Lima reacted via Gmail\n"
        '--b\nContent-Type: text/vnd.google.email-reaction+json\n\n{"emoji":"👍","version":1}\n--b--\n'
    )
    assert text(reply(smile, Content_Type="multipart/alternative; boundary=b")) == ""


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (
            "multipart/encrypted; boundary=b",
            "--b\nContent-Type: application/octet-stream; name=encrypted.asc\n\nx\n--b--\n",
        ),
        ("application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m", "AAAA"),
        ("text/plain", "-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----"),
    ],
)
def test_what_is_encrypted_is_neither_text_nor_file(kind: str, body: str) -> None:
    found = read(reply(body, Content_Type=kind), OWN)
    assert (found.kind, found.text, found.files) == (Kind.REPLY, "", ())


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


def test_outlooks_own_tags_are_no_text_and_what_is_struck_out_is_marked() -> None:
    outlook = '<p class="MsoNormal">yes<o:p></o:p></p><p><o:p>&nbsp;</o:p></p>'
    assert text(reply(outlook, Content_Type="text/html")).strip() == "yes"
    assert text(reply("<p><s>yes</s> no</p>", Content_Type="text/html")) == "~yes~ no"


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
        {"X_Precedence": "auto-reply"},
        {"X_Mail_Autoreply": "yes"},
        {"X_MS_Exchange_Generated_Message_Source": "Mailbox Rules Agent"},
        {"List_Id": "<l.x.org>"},
        {"X_Autoreply": "yes"},
        {"X_Loop": "ana@x.org"},
        {"Return_Path": "<>"},
        {"From": "MAILER-DAEMON@x.org"},
        {"From": f"agent+{TOKEN}@example.org"},
        {"Content_Type": "text/calendar; method=REPLY"},
        {"Content_Type": "multipart/report; boundary=b"},
        {"Content_Type": "message/disposition-notification"},
    ],
)
def test_what_no_person_wrote_does_not_count(headers: dict[str, str]) -> None:
    assert kind(vouched(**headers)) is Kind.NOTHING


@pytest.mark.parametrize(
    "subject",
    [
        "Automatic reply: Search? [#K7Q2]",
        "Auto: Search?",
        "Out of Office: Re: Search?",
        "Automatische Antwort: Search?",
        "Abwesenheitsnotiz: Search?",
        "=?utf-8?Q?R=C3=A9ponse_automatique_:_Search=3F?=",
        "=?utf-8?Q?Respuesta_autom=C3=A1tica:_Search=3F?=",
        "=?utf-8?B?6Ieq5Yqo5Zue5aSNOiBTZWFyY2g=?=",
        "Read: Search? [#K7Q2]",
        "Gelesen: Search? [#K7Q2]",
    ],
)
def test_a_program_that_answers_by_itself_may_say_so_in_the_subject_alone(subject: str) -> None:
    assert kind(vouched("I am away until Monday.", Subject=subject)) is Kind.NOTHING
    assert kind(vouched("I am away until Monday.", Subject=f"Re: {subject}")) is Kind.REPLY


@pytest.mark.parametrize(
    "subject",
    [
        "Fwd: Re: Search? [#K7Q2]",
        "FW: Search?",
        "WG: Search?",
        "TR : Search?",
        "RV: Search?",
        "=?utf-8?B?6L2s5Y+ROiBTZWFyY2g=?=",
    ],
)
def test_law_6_what_is_forwarded_decides_nothing_because_somebody_else_may_have_written_it(
    subject: str,
) -> None:
    outlook = "Von: Ben <ben@x.org>\nGesendet: heute\nAn: Ana\nBetreff: AW: Search?\n\nja\n"
    (found,) = read(vouched(outlook, Subject=subject), OWN, OURS).found(0)
    assert isinstance(found, Reply)
    assert found.void is Void.FORWARDED


@pytest.mark.parametrize(
    "subject", ["Re: Search?", "VS: Search?", "AW: WG: Search?", "Re: Fwd: Search?", "Fwd without end"]
)
def test_what_answers_is_not_forwarded(subject: str) -> None:
    assert not read(vouched(Subject=subject), OWN, OURS).forwarded


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


def test_a_copy_of_a_reply_that_is_made_to_look_like_a_bounce_is_another_event() -> None:
    (original,) = read(reply("yes"), OWN).found(0)
    looks = {"Delivered_To": f"agent+bounce-{TOKEN}@example.org", "X_Failed_Recipients": "ana@x.org"}
    copy = read(reply("yes", **looks), OWN)
    assert copy.kind is Kind.BOUNCE
    assert copy.found(0)[0].event_id != original.event_id


@pytest.mark.parametrize("action", ["delayed", "delivered", "relayed", "expanded"])
def test_a_report_that_it_is_late_or_there_marks_nothing(action: str) -> None:
    assert read(report(action), OWN).found(0) == []


@pytest.mark.parametrize(
    "headers",
    [
        {"From": "ana@x.org", "Subject": "Automatic reply: Search?"},
        {"From": "ana@x.org", "Content_Type": "multipart/report; boundary=b"},
        {"Subject": "Warning: could not send message for past 4 hours"},
        {"Subject": "Delivery delayed"},
    ],
)
def test_an_address_is_not_dead_because_somebody_is_away_has_read_it_or_it_takes_longer(
    headers: dict[str, str],
) -> None:
    receipt = "--b\n\nRead.\n--b\nContent-Type: message/disposition-notification\n\nx\n--b--\n"
    assert kind(bounced(receipt, **headers)) is Kind.NOTHING


def test_exim_says_whom_it_could_not_reach_in_a_header() -> None:
    exim = {"Auto_Submitted": "auto-replied", "X_Failed_Recipients": "ana@x.org"}
    assert kind(bounced("no", **exim)) is Kind.BOUNCE


def test_somebodys_absence_is_no_mail_that_came_back() -> None:
    assert kind(bounced("I am away.", From="ana@x.org", Auto_Submitted="auto-replied")) is Kind.NOTHING
    assert kind(bounced("yes", From="ana@x.org", Return_Path="<ana@x.org>")) is Kind.NOTHING
