"""Quoting: of a mail only what was newly written is read, and in doubt more of it rather than less."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerback.quoting import new_text
from answerback.sentences import LANGUAGES, say

# A loaded machine is slow, which says nothing about what is tested.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

QUESTION = """--- write above this line ---

🟦 Research · term check

Search for “coding”?

1. Yes
2. No

If you do nothing by 18:00 I stop. · #K7Q2
"""
QUOTED = "\n".join(f"> {line}" for line in QUESTION.split("\n"))


def test_a_plain_answer_is_all_of_it():
    assert new_text("yes\n") == "yes"
    assert new_text("one\n\ntwo  \n") == "one\n\ntwo  "


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_below_our_line_is_read(language):
    marker = f"--- {say('write_above', language)} ---"
    assert new_text(f"yes\n\n{marker}\nno\n") == "yes"
    assert new_text(f"yes\r\n\r\n  {marker.upper()}  \r\nno\r\n") == "yes"


@pytest.mark.parametrize(
    "header",
    [
        "On Thu, Dec 3, 2026 at 2:02 PM Agent <agent+tok@example.org> wrote:",
        "On Thu, Dec 3, 2026 at 2:02 PM Agent\n<agent+tok@example.org> wrote:",
        "On 3 Dec 2026, at 14:02, Agent <agent+tok@example.org>\nwrote:",
        "Am Do., 3. Dez. 2026 um 14:02 Uhr schrieb Agent <agent@example.org>:",
        "Am 03.12.26 um 14:02 schrieb Agent:",
        "Le jeu. 3 déc. 2026 à 14:02, Agent <agent@example.org> a écrit :",
        "El jue, 3 dic 2026 a las 14:02, Agent (<agent@example.org>) escribió:",
        "Il giorno gio 3 dic 2026 alle ore 14:02 Agent <agent@example.org> ha scritto:",
        "Em qui., 3 de dez. de 2026 às 14:02, Agent <agent@example.org> escreveu:",
        "Op do 3 dec 2026 om 14:02 schreef Agent <agent@example.org>:",
        "Den tors 3 dec. 2026 kl 14:02 skrev Agent <agent@example.org>:",
        "czw., 3 gru 2026 o 14:02 Agent <agent@example.org> napisał(a):",
        "чт, 3 дек. 2026 г. в 14:02, Agent <agent@example.org> написал:",
        "2026年12月3日 14:02，Agent <agent@example.org> 写道：",
        "2026/12/03 14:02、Agent <agent@example.org>のメール:",
        "Agent <agent@example.org> schrieb am Do., 3. Dez. 2026, 14:02:",
        "-----Original Message-----\nFrom: Agent <a@example.org>\nSent: Thursday\nTo: Ana\nSubject: Search?",
        "From: Agent <a@example.org>\nSent: Thursday, December 3, 2026\nTo: Ana\nSubject: Search? [#K7Q2]",
        "Von: Agent <agent@example.org>\nGesendet: Donnerstag\nAn: Ana\nBetreff: Search? [#K7Q2]",
        "De : Agent <agent@example.org>\nEnvoyé : jeudi\nÀ : Ana\nObjet : Search? [#K7Q2]",
        "*From:* Agent\n*Sent:* Thursday\n*To:* Ana\n*Subject:* Search?",
        "发件人: Agent\n发送时间: 2026年12月3日\n收件人: Ana\n主题: Search?",
        "-----Ursprüngliche Nachricht-----",
        "Gesendet: Sonntag, 22. November 2026 um 02:00 Uhr\nVon: Agent <a@example.org>\nAn: ana\nBetreff: S",
        "----- Mail original -----\nDe: Agent\nÀ: ana\nEnvoyé: Dimanche\nObjet: S",
        "------------------&nbsp;原始邮件&nbsp;------------------",
        "---- 回复的原邮件 ----\n| 发件人 | Agent<a@example.org> |\n| 日期 | 2026年11月 |\n| 收件人 | Ana |",
        "________________________________\nFrom: Agent\nSent: now\nTo: Ana\nSubject: Search?",
    ],
)
@pytest.mark.parametrize("history", [QUOTED, QUESTION, "Search for “coding”?\n1. Yes"])
def test_the_history_below_an_answer_is_not_read(header, history):
    assert new_text(f"yes please\n\n{header}\n\n{history}") == "yes please"


@pytest.mark.parametrize(
    "line",
    [
        "Sent from my iPhone",
        "Get Outlook for iOS<https://aka.ms/o0ukef>",
        "Outlook für iOS beziehen<https://aka.ms/o0ukef>",
        "Holen Sie sich Outlook für Android<https://aka.ms/AAb9ysg>",
        "Télécharger Outlook pour iOS<https://aka.ms/o0ukef>",
        "Obtener Outlook para iOS<https://aka.ms/o0ukef>",
        "获取 Outlook for iOS<https://aka.ms/o0ukef>",
        "Von meinem/meiner Galaxy gesendet",
        "Sent with Proton Mail secure email.",
        "Sent from my Verizon Wireless 4G LTE smartphone",
        "Sent from my iPhone 15 Pro",
        "Sent from Mail for Windows",
        "Sent from Outlook for Android<https://aka.ms/AAb9ysg>",
        "Gesendet von Mail für Windows",
        "Gesendet mit der GMX Mail App",
        "Diese Nachricht wurde von meinem Mobiltelefon gesendet.",
        "Envoyé de mon iPhone",
        "Envoyé à partir de Outlook pour Android",
        "Enviado desde mi Samsung Galaxy",
        "Enviado do meu iPhone",
        "Inviato da iPhone",
        "Verzonden vanaf mijn iPhone",
        "Skickat från min iPhone",
        "Wysłane z iPhone’a",
        "Отправлено с iPhone",
        "从我的华为手机发送",
        "Yahoo Mail: Search, Organize, Conquer",
        "发自我的 iPhone",
    ],
)
def test_what_a_telephone_adds_is_not_read(line):
    history = f"________________________________\nFrom: Agent\nSent: now\nTo: Ana\n\n{QUESTION}"
    assert new_text(f"yes\n\n{line}\n{history}") == "yes"
    assert new_text(f"yes\n\n{line}\n \n\u00a0\n") == "yes"


@pytest.mark.parametrize(
    "line",
    [
        "Sent from my phone - but wait, not prod!",
        "Sent from my phone but not prod",
        "Sent from my iPhone NO",
        "Sent from my iPhone. Not prod",
        "Sent from Berlin, not from prod",
        "Sent from my list, 2 rows",
        "Sent with the old key",
        "Get Outlook for everybody else",
        "Get Ben",
        "Gesendet von unterwegs, aber bitte noch nicht ausführen",
        "Gesendet von unterwegs bitte nicht ausführen",
        "Von meinem Konto darf nichts gesendet werden",
        "Von meinem alten Konto nichts gesendet",
        "Envoyé depuis mon téléphone mais pas maintenant",
        "Enviado desde mi móvil pero todavía no",
        "发自我的手机，但先不要执行",
        "发自我的内心不同意",
    ],
)
def test_law_6_what_is_added_to_such_a_line_was_written_by_a_person(line):
    assert new_text(f"yes\n{line}") == f"yes\n{line}"


def test_our_line_may_stand_behind_the_introduction():
    assert new_text(f"yes\n\nOn Sun, 2026 at 2:00, Agent <a@example.org> wrote: {QUESTION}") == "yes"


@pytest.mark.parametrize(
    "header",
    [
        "вс, 22 нояб. 2026 г. в 18:54, Agent <agent@example.org>:",
        "2026年11月22日(日) 18:54 Agent <agent@example.org>:",
        "22 Kas 2026 Paz, saat 18:54 tarihinde Agent\n<agent@example.org> şunu yazdı:",
        "ne 22. 11. 2026 v 18:54 odesílatel Agent <agent@example.org> napsal:",
        "Wiadomość napisana przez Agent <agent@example.org> w dniu 22 lis 2026, o godz. 18:54:",
        "W dniu 22.11.2026 o 18:54, Agent pisze:",
        "2026년 11월 22일 (일) 오후 6:54, Agent <agent@example.org>님이 작성:",
        "Στις Κυρ 22 Νοε 2026 στις 6:54 μ.μ., ο χρήστης Agent <agent@example.org> έγραψε:",
        "ב-יום א׳, 22 בנוב׳ 2026 ב-18:54 מאת \u202aAgent\u202c\u200f <\u202aagent@example.org\u202c\u200f>:",
        "في الأحد، 22 نوفمبر 2026 في 6:54 م تمت كتابة ما يلي بواسطة Agent <agent@example.org>:",
        "нд, 22 лист. 2026 р. о 18:54 Agent <agent@example.org> пише:",
    ],
)
@pytest.mark.parametrize("history", [QUOTED, f">\n{QUOTED}", QUESTION, f"\n{QUESTION}"])
def test_what_stands_right_above_our_own_mail_is_known_in_any_language(header, history):
    assert new_text(f"yes please\n\n{header}\n{history}") == "yes please"
    assert new_text(f"yes please\n{header}\n{history}") == "yes please"


@pytest.mark.parametrize(
    "text", ["Do it at 18:54:", "My list of 2026:", "Write to <a@b.c>:", "yes, 22.11.2026 18:54"]
)
def test_words_right_above_our_own_mail_are_kept(text):
    assert new_text(f"{text}\n\n{QUOTED}") == text


def test_answers_between_and_below_quoted_lines_are_kept():
    header = "On 3 Dec 2026, at 14:02, Agent <a@example.org> wrote:"
    mail = f"{header}\n> Which term?\ncoding\n> And why?\nmore hits\n"
    assert new_text(mail) == "coding\nmore hits"
    assert new_text(f"{QUOTED}\nyes\n") == "yes"


def test_an_answer_below_an_unmarked_quotation_is_not_lost():
    assert "yes" in new_text(
        "From: A <a@example.org>\nSent: now\nTo: Ana\nSubject: Search?\n\nSearch?\n\nyes\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "From: 3 Dec on, use coding.",
        "On Friday I wrote:\nplease use coding",
        "On balance, use:\ncoding",
        "write above this line? no, use coding",
        "Von: hier\nnach dort",
        "Datum: 3. Dez.\nVon: Wien\nAn: Graz",
        "a -- b\n--- c",
        "On Monday\n\nwrote:",
        "yes\nOn Monday at 10:30 I wrote:\nplease do not touch prod",
        "ja\nAm Montag um 10:30 schrieb ich:\nbitte nicht auf prod",
    ],
)
def test_words_that_only_look_like_a_header_are_kept(text):
    assert new_text(text) == text


def test_a_signature_is_not_read():
    assert new_text("yes\n-- \nAna Lima\nExample Ltd") == "yes"
    assert new_text("yes\n\nSent from my phone") == "yes"
    assert new_text("ja\n\nVon meinem iPhone gesendet") == "ja"


@pytest.mark.parametrize(
    "signature",
    [
        "Ana Lima\nExample Ltd",
        "Ana Lima\nHead of Research, Example GmbH\nTel.: +43 1 234 56 78",
        "Ana\n\nana@example.org | www.example.org",
        "Ana Lima\nMobile: (0664) 123 45 67",
    ],
)
def test_nor_is_one_whose_ruler_has_lost_its_blank_if_it_is_certain(signature):
    assert new_text(f"yes\n\n--\n{signature}") == "yes"


@pytest.mark.parametrize(
    "more",
    [
        "but only on staging, not prod",
        "Not prod",
        "NOT PROD\nAna Lima, Example Ltd",
        "Staging but not Prod\nAna Lima, Example Ltd",
        "but not before you call me: +43 1 234 56 78",
        "Wait for the OK of ben@example.org",
        "not at Example Ltd",
        "Ana",
    ],
)
def test_law_6_what_follows_a_ruler_that_a_person_drew_is_read(more):
    assert new_text(f"yes\n--\n{more}") == f"yes\n--\n{more}"


def test_a_ruler_in_a_long_text_is_no_signature():
    text = "one\n--\n" + "\n".join(f"line {number}" for number in range(20))
    assert new_text(text) == text


def test_an_empty_reply_is_empty():
    assert new_text(QUESTION) == ""
    assert new_text(f"\n\nOn 3 Dec 2026, at 14:02, A <a@example.org> wrote:\n{QUOTED}") == ""
    assert new_text("") == ""


@settings(unhurried)
@given(st.text(max_size=200))
def test_nothing_is_invented(text):
    kept = set(new_text(text).split("\n"))
    assert kept - {""} <= set(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


@pytest.mark.parametrize(
    "piece",
    [
        "> ",
        ">\n",
        "From: a\n",
        "Sent: a\n",
        "On 1 @ ",
        "On 1:00 a\n",
        "-",
        "_ ",
        "=",
        "-- \n",
        "wrote: ",
        "schrieb ",
        "\n",
        "\r",
        "*From:* a\n*Sent:* b\n",
        "a\n--\n",
        "\u3000",
        " ",
        "Sent from my ",
        "von meinem ",
        "<@",
        "write above this line\n> ",
        "\n--- original message ---\n",
    ],
)
@pytest.mark.parametrize(("first", "last"), [("", ""), ("yes\n", "x")], ids=["alone", "below an answer"])
def test_hostile_text_takes_linear_time(piece, first, last):
    short, long = (first + piece * (most // len(piece)) + last for most in (20_000, 200_000))

    def cost(text: str) -> float:
        began = time.process_time()
        new_text(text)
        return time.process_time() - began

    assert cost(long) < 40 * max(cost(short), 0.01)
