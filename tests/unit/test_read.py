"""Read: a reply's text, tap or JSON becomes a canonical value only if it can mean one thing."""

import datetime
import time
import zoneinfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerback.errors import DoesNotFit
from answerback.model import Action, Choice, Question, QuestionKind
from answerback.read import (
    Unclear,
    Value,
    expected,
    is_command,
    read,
    read_payload,
    validate,
    validate_response,
    wants_text,
    without_courtesies,
)
from answerback.read.phrases import _NO, _YES, _listed
from answerback.sentences import say
from answerback.sentences.catalogue import SENTENCES

# A loaded machine is slow, which says nothing about what is tested.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

VIENNA = zoneinfo.ZoneInfo("Europe/Vienna")


def at(year: int, month: int, day: int, hour: int, minute: int) -> int:
    return int(datetime.datetime(year, month, day, hour, minute, tzinfo=VIENNA).timestamp()) * 1_000_000


NOW = at(2026, 12, 3, 14, 2)  # a Thursday

TEXT = Question("q", "What now?")
CONFIRM = Question("q", "Wipe production?", QuestionKind.CONFIRM)
TERMS = (Choice("yes", "Yes"), Choice("coding", "Use “coding”"), Choice("both", "Both, one by one"))
CHOICE = Question("q", "Which term?", QuestionKind.CHOICE, TERMS)
FREE = Question("q", "Which term?", QuestionKind.CHOICE, TERMS, free_text=True)
CHOICES = Question("q", "Which ones?", QuestionKind.CHOICES, TERMS)
NUMBER = Question("q", "How many?", QuestionKind.NUMBER)
WHOLE = Question("q", "How many?", QuestionKind.NUMBER, whole=True, minimum=1, maximum=5000)
DATE = Question("q", "When?", QuestionKind.DATE)
ACTION = Action("refund_payment", {"amount": 100})
ALL = ("approve", "edit", "reject", "respond")
REVIEW = Question("q", "", QuestionKind.REVIEW, action=ACTION, decisions=("approve", "edit", "reject"))
RESPOND = Question("q", "", QuestionKind.REVIEW, action=ACTION, decisions=ALL)


def said(question: Question, text: str, language: str = "en", **more):
    """The value, or the key of the sentence that says why there is none."""
    found = read(question, text, language=language, timezone="Europe/Vienna", now=NOW, **more)
    if isinstance(found, Unclear):
        say(found.key, language, **found.args)
        return found.key
    assert found.text == text
    return [found.value]


class TestText:
    @pytest.mark.parametrize("text", ["yes", "  two spaces  \n", "ﬁ e\u0301 é", "/not a command", "👍"])
    def test_it_is_verbatim(self, text):
        assert said(TEXT, text) == [text]

    @pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0"])
    def test_nothing_is_no_answer(self, text):
        assert said(TEXT, text) == "empty"

    def test_a_character_that_cannot_be_kept_is_named(self):
        found = read(TEXT, "a\0", language="en", timezone="UTC", now=NOW)
        assert isinstance(found, Unclear)
        assert "U+0000 at position 2" in say(found.key, "en", **found.args)

    def test_what_is_too_long_to_keep_is_asked_again(self):
        assert said(TEXT, "x" * 300_000) == "too_long"


class TestConfirm:
    @pytest.mark.parametrize(
        "text",
        [
            "yes",
            "Yes!",
            " YES. ",
            "y",
            "ok 👍",
            "👍",
            "👍🏽",
            "✅",
            "ja",
            "Oui.",
            "sí",
            "はい",
            "是的",
            "evet",
            "Да",
        ],
    )
    def test_a_listed_phrase_confirms(self, text):
        assert said(CONFIRM, text) == [True]

    @pytest.mark.parametrize(
        ("text", "language"),
        [
            ("proceed", "en"),
            ("Please proceed.", "en"),
            ("Nur zu!", "de"),
            ("Leg los", "de"),
            ("Procédez", "fr"),
            ("proceda", "es"),
            ("procedi", "it"),
            ("prossiga", "pt"),
            ("ga je gang", "nl"),
            ("去做吧", "zh"),
            ("就这么办。", "zh"),
            ("進めてください", "ja"),
            ("진행하세요", "ko"),
        ],
    )
    def test_so_does_leave_to_proceed(self, text, language):
        assert said(CONFIRM, text, language) == [True]
        assert said(CONFIRM, f"{text} but not prod", language) == "unclear_confirm"

    @pytest.mark.parametrize(
        "text",
        [
            "yes,",  # and then comes: but not prod
            "yes:",
            "ok...",
            "sure…",
            "好的。。。",
            "yes, 👍",
            "~yes~",
            "~~yes~~",
            "[ ] yes",
            "[] yes",
            "( ) yes",
            "yes ;)",
            "yes :(",
            "yes :-/",
            "yes 🙃",
            "yeah, right",
            "yes, but",
            "no, wait, yes",
            "no, yes",
            "!yes",  # as programs write what is not so
            "！yes",
            "いいです",  # that is fine, or no, thank you
        ],
    )
    def test_law_6_what_trails_off_winks_or_is_struck_out_is_no_yes(self, text):
        assert said(CONFIRM, text) == "unclear_confirm"
        assert said(REVIEW, text) == "unclear_review"

    @pytest.mark.parametrize(
        ("text", "language"),
        [("igen", "sv"), ("hai", "vi"), ("ano", "fil"), ("prima", "it"), ("vale", "et"), ("了解", "zh")],
    )
    def test_a_yes_of_one_language_is_another_word_in_the_next(self, text, language):
        assert said(CONFIRM, text, language) == "unclear_confirm"

    @pytest.mark.parametrize(
        ("text", "value", "language"),
        [
            ("Yes, please.", True, "en"),
            ("No, thanks!", False, "en"),
            ("Yes, go ahead", True, "en"),
            ("yes :)", True, "en"),
            ("YES‼️", True, "en"),
            ("yes\u200b", True, "en"),
            ("\u200fכן", True, "he"),
            ("ＯＫ", True, "zh"),
            ("[x]", None, "en"),
            ("Ja, bitte!", True, "de"),
            ("Nein, danke.", False, "de"),
            ("Ja, gern", True, "de"),
            ("Auf gar keinen Fall!", False, "de"),
            ("Oui, s'il te plaît", True, "fr"),
            ("Non, merci.", False, "fr"),
            ("bien sur", True, "fr"),
            ("¡Claro que sí!", True, "es"),
            ("Sí, por favor", True, "es"),
            ("claro que no", False, "es"),
            ("没问题", True, "zh"),
            ("不用了，谢谢", False, "zh"),
        ],
    )
    def test_a_listed_phrase_may_have_its_comma_and_what_telephones_add(self, text, value, language):
        assert said(CONFIRM, text, language) == ("unclear_confirm" if value is None else [value])

    @pytest.mark.parametrize("text", ["continue", "fortfahren", "weiter", "continuer", "继续", "continuar"])
    def test_going_on_could_mean_with_what_is_to_be_stopped(self, text):
        assert said(CONFIRM, text) == "unclear_confirm"

    @pytest.mark.parametrize(
        "text",
        [
            "no",
            "No!!",
            "nein, danke".replace(",", ""),
            "👎",
            "❌ no",
            "non",
            "não",
            "nee",
            "いいえ",
            "不",
            "HAYIR",
        ],
    )
    def test_a_listed_phrase_refuses(self, text):
        assert said(CONFIRM, text) == [False]

    @pytest.mark.parametrize(
        "text",
        [
            "yes but not prod",
            "yes, but not prod",
            "yes?",
            "yes no",
            "yes\n\nSent from my phone",
            "not yes",
            "y/n",
            "yes 👎",
            "no 👍",
            "👍👎",
            "🙂",
            "1",
            "2",
            "ye s",
            "y\u200bes",
            "> yes",
            "…",
            "stop",
            "cancel",
        ],
    )
    def test_anything_more_or_else_does_not(self, text):
        assert said(CONFIRM, text) == "unclear_confirm"

    def test_the_sentence_says_what_is_needed(self):
        found = read(CONFIRM, "yes but not prod", language="en", timezone="UTC", now=NOW)
        assert isinstance(found, Unclear)
        assert say(found.key, "en", **found.args) == (
            "I need a clear yes or no for “Wipe production?”. You wrote “yes but not prod”."
        )

    def test_a_word_that_means_something_else_in_the_persons_language_does_not_count(self):
        assert said(CONFIRM, "no", "pl") == "unclear_confirm"  # "well"
        assert said(CONFIRM, "tak", "pl") == [True]
        assert said(CONFIRM, "tak", "da") == "unclear_confirm"  # "thanks"

    @pytest.mark.parametrize(
        "language", ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "tr", "zh", "ja", "ko"]
    )
    def test_no_phrase_means_both(self, language):
        both = [
            phrase for phrase in _YES if _listed(_YES, phrase, language) and _listed(_NO, phrase, language)
        ]
        assert both == []

    def test_a_number_counts_only_where_numbers_were_shown(self):
        assert said(CONFIRM, "1", numbered=True) == [True]
        assert said(CONFIRM, "2.", numbered=True) == [False]
        assert said(CONFIRM, "3", numbered=True) == "unclear_confirm"

    def test_from_a_control_only_its_label_counts(self):
        assert said(CONFIRM, "Ja", "de", typed=False) == [True]
        assert said(CONFIRM, "ok", "de", typed=False) == "unclear_confirm"

    @settings(unhurried)
    @given(st.text(min_size=1, max_size=12))
    def test_no_word_can_be_added_to_a_yes(self, more):
        for text in (f"yes {more} x", f"x {more} yes"):
            assert said(CONFIRM, text) in ("unclear_confirm", "not_storable")


class TestChoice:
    @pytest.mark.parametrize(
        "text",
        ["coding", "2", "2.", "#2".replace("#", ""), "Use “coding”", "use “CODING”", "Use “coding”.", "２"],
    )
    def test_number_id_and_label_choose(self, text):
        assert said(CHOICE, text) == ["coding"]

    @pytest.mark.parametrize(
        "text", ["4", "0", "maybe", "Use coding or not", "yes to all", "Yes?", "-2", "2 of them"]
    )
    def test_anything_else_is_asked_again(self, text):
        assert said(CHOICE, text) == "unclear_choice"

    def test_where_a_text_is_welcome_it_is_taken_as_it_is(self):
        assert said(FREE, " neither, try “PSR” ") == [" neither, try “PSR” "]
        assert said(FREE, "2") == ["coding"]

    def test_a_number_that_is_also_another_label_is_ambiguous(self):
        amounts = (Choice("a", "3"), Choice("b", "2"), Choice("c", "7"))
        question = Question("q", "How many?", QuestionKind.CHOICE, amounts, free_text=True)
        assert said(question, "3") == "choice_ambiguous"
        assert said(question, "2") == ["b"]
        assert said(question, "7") == ["c"]

    def test_punctuation_that_makes_a_name_is_kept_apart(self):
        question = Question("q", "Language?", QuestionKind.CHOICE, (Choice("1x", "C"), Choice("2x", "C++")))
        assert said(question, "c++") == ["2x"]
        assert said(question, "C.") == ["1x"]

    @pytest.mark.parametrize(
        ("text", "chosen"), [("1", "0"), ("2", "7"), ("3.", "1"), ("7", "7"), ("0", "0")]
    )
    def test_a_place_that_a_person_sees_goes_before_an_id_that_nobody_does(self, text, chosen):
        choices = (Choice("0", "Alpha"), Choice("7", "Beta"), Choice("1", "Gamma"))
        assert said(Question("q", "Which?", QuestionKind.CHOICE, choices), text) == [chosen]
        assert said(Question("q", "Which?", QuestionKind.CHOICES, choices), text) == [[chosen]]

    def test_two_choices_that_look_alike_are_ambiguous(self):
        question = Question("q", "?", QuestionKind.CHOICE, (Choice("a", "Stop!"), Choice("b", "stop")))
        assert said(question, "stop.") == "choice_ambiguous"
        assert said(question, "stop!") == ["a"]

    def test_from_a_control_neither_numbers_nor_free_text_count(self):
        assert said(FREE, "Use “coding”", typed=False) == ["coding"]
        assert said(FREE, "2", typed=False) == "unclear_choice"

    @pytest.mark.parametrize(
        ("labels", "text", "chosen"),
        [
            (("US", "us"), "US", 0),
            (("US", "us"), "us", 1),
            (("US", "us"), "Us", None),
            (("1 GB", "2 GB", "4 GB", "8 GB"), "4", None),  # the fourth, or 4 GB
            (("1 GB", "2 GB", "4 GB", "8 GB"), "2", 1),
            (("1 GB", "2 GB", "4 GB", "8 GB"), "3", 2),
            (("10 min", "20 min", "2 h"), "2", None),
            (("Room 2", "Room 1"), "1", None),
            (("Red", "Green"), "2.", 1),
            (("Red", "Green"), "2)", 1),
            (("Red", "Green"), "#2", 1),
            (("Red", "Green"), "No. 2", 1),
            (("Red", "Green"), "Option 2", 1),
            (("Red", "Green"), "2nd", 1),
            (("Red", "Green"), "the second one", 1),
            (("Red", "Green"), "die zweite", 1),
            (("Red", "Green"), "la deuxième", 1),
            (("Red", "Green"), "el segundo", 1),
            (("Red", "Green"), "第二个", 1),
            (("Red", "Green"), "第2个", 1),
            (("Red", "Green"), "2️⃣", 1),
            (("Red", "Green"), "②", 1),
            (("Red", "Green"), "２", 1),
            (("Red", "Green"), "٢", 1),
            (("Red", "Green"), "2. Green", 1),
            (("Red", "Green"), "1. Green", None),
            (("Red", "Green"), "3. Blue", None),
            (("Red", "Green"), "0 4", None),
            (("Red", "Green"), "2?", None),
            (("Red", "Green"), "-2", None),
            (("Red", "Green"), "~red~", None),
            (("Red", "Green"), "not red", None),
            (("Red", "Green"), "3", None),
            (("🛑 Stop", "Go on"), "stop", 0),
            (("🛑 Stop", "Go on"), "🛑 stop 👍🏽", 0),
            (("🛑 Stop", "Go on"), "Go on 🚀", 1),
            (("Deploy", "Wait"), "👍 deploy", 0),
            (("Deploy", "Wait"), "❌ Deploy", None),
            (("Deploy", "Wait"), "👎🏽 Deploy", None),
            (("Deploy", "Wait"), "Deploy ❓", None),
            (("Deploy", "Wait"), "Deploy 🤔", None),
            (("Deploy", "Wait"), "!deploy", None),
            (("Yes", "No"), "Yes ❌", None),
            (("✅ Deploy", "Wait ✅"), "❌ deploy", None),
            (("Use “coding”", "Stop"), "use coding", 0),
            (("C", "C++", "C#"), "C", 0),
            (("Yes", "No", "Later"), "yep", 0),
            (("Yes", "No", "Later"), "👍", 0),
            (("Yes", "No", "Later"), "ja", 0),
            (("Yes", "No", "Later"), "nein danke", 1),
            (("Yes", "No", "Later"), "yes, but", None),
            (("Yes", "Of course", "No"), "ja", None),
            (("Yes, delete it", "No"), "yes", None),
        ],
    )
    def test_what_a_person_reads_is_what_counts(self, labels, text, chosen):
        choices = tuple(Choice(f"id{place}", label) for place, label in enumerate(labels))
        found = said(Question("q", "?", QuestionKind.CHOICE, choices), text)
        assert found in ([f"id{chosen}"], "unclear_choice", "choice_ambiguous")
        assert (found == [f"id{chosen}"]) is (chosen is not None)


class TestChoices:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("1, 3", ["yes", "both"]),
            ("3 and 1", ["yes", "both"]),
            ("1 3", ["yes", "both"]),
            ("1 und 2", ["yes", "coding"]),
            ("2, 2", ["coding"]),
            ("coding", ["coding"]),
            ("Use “coding”, yes", ["yes", "coding"]),
            ("Both, one by one", ["both"]),
            ("yes, Both, one by one", ["yes", "both"]),
            ("all", ["yes", "coding", "both"]),
            ("1\n2", ["yes", "coding"]),
        ],
    )
    def test_numbers_and_labels_choose_in_the_order_offered(self, text, value):
        assert said(CHOICES, text) == [value]

    @pytest.mark.parametrize(
        "text", ["1, 9", "1 but not 2", "none", ",", "yes and maybe", "1-3", "1 or 2", "1, or 2"]
    )
    def test_one_part_that_is_no_choice_makes_all_of_it_unclear(self, text):
        assert said(CHOICES, text) == "unclear_choices"

    def test_none_is_an_answer_where_none_is_needed(self):
        assert said(Question("q", "?", QuestionKind.CHOICES, TERMS, required=False), "none") == [[]]

    def test_a_long_list_is_read_in_no_time(self):
        assert said(CHOICES, "1, " * 80_000) in ("unclear_choices", [["yes"]])


class TestNumber:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("12", 12),
            (" -3 ", -3),
            ("−3", -3),
            ("1.5", 1.5),
            ("1,5", 1.5),
            ("0.125", 0.125),
            ("1.234.567", 1234567),
            ("1,234,567.5", 1234567.5),
            ("1.234.567,5", 1234567.5),
            ("1,234.50", 1234.5),
            ("1 234 567", 1234567),
            ("1’234.5", 1234.5),
            ("1234.567", 1234.567),
            ("٣٫٥", 3.5),
            ("１２", 12),
        ],
    )
    def test_it_is_read_as_people_write_it(self, text, value):
        (found,) = said(NUMBER, text)
        assert found == value
        assert type(found) is type(value)

    @pytest.mark.parametrize(
        ("asked", "text", "value", "language"),
        [
            ("How many GB?", "5 GB", 5, "en"),
            ("How many GB?", "5gb", 5, "en"),
            ("How many GB?", "5 MB", None, "en"),
            ("How many hours?", "5 minutes", None, "en"),
            ("How many hours?", "90 hours.", 90, "en"),
            ("Which discount, in %?", "12,5 %", 12.5, "de"),
            ("Which discount?", "5%", None, "en"),
            ("Refund how many €?", "€ 1 000,50", 1000.5, "fr"),
            ("Refund how many €?", "20€", 20, "de"),
            ("Refund how many €?", "$20", None, "en"),
            ("Refund how much, in EUR?", "EUR 20", 20, "en"),
            ("Refund how much?", "20 EUR", None, "en"),
            ("需要几台服务器？", "3台", 3, "zh"),
            ("How many?", "five", 5, "en"),
            ("How many?", "Fünf!", 5, "de"),
            ("How many?", "cinq", 5, "fr"),
            ("How many?", "once", 11, "es"),
            ("How many?", "once", None, "en"),
            ("How many?", "十二", 12, "zh"),
            ("How many?", "3个", 3, "zh"),
            ("How many?", "5 please", 5, "en"),
            ("How many?", "**5**", 5, "en"),
            ("How many?", "5.", 5, "en"),
            ("How many?", "(5)", None, "en"),  # minus five, in accounts
            ("How many?", "5?", None, "en"),
            ("How many?", "ca. 5", None, "de"),
            ("How many?", "5-6", None, "en"),
            ("How many, if not 3?", "not 5", None, "en"),
            ("How many more than 3?", "more than 5", None, "en"),
            ("How many?", "-5", -5, "en"),
        ],
    )
    def test_a_number_may_have_its_unit_only_where_the_question_names_it(self, asked, text, value, language):
        found = said(Question("q", asked, QuestionKind.NUMBER), text, language)
        assert found == ("unclear_number" if value is None else [value])

    @pytest.mark.parametrize("text", ["1.234", "1,234", "-12.345"])
    def test_what_can_mean_two_numbers_is_asked_again(self, text):
        assert said(NUMBER, text) == "number_ambiguous"

    def test_the_sentence_names_both(self):
        found = read(NUMBER, "1.234", language="de", timezone="UTC", now=NOW)
        assert isinstance(found, Unclear)
        assert say(found.key, "de", **found.args).endswith("Schreiben Sie 1234 oder 1.2340.")
        assert said(NUMBER, "1.2340") == [1.234]

    def test_where_only_whole_numbers_fit_a_sign_groups(self):
        assert said(WHOLE, "1.234") == [1234]

    @pytest.mark.parametrize(
        "text",
        [
            "a dozen",
            "1e3",
            "12 apples",
            "1,23,456",
            "1.2.3",
            "--1",
            "0x10",
            "½",
            "5²",
            "NaN",
            "1_000",
            "9" * 30,
            "9" * 5000,
        ],
    )
    def test_anything_else_is_not_a_number(self, text):
        assert said(NUMBER, text) == "unclear_number"

    @pytest.mark.parametrize(
        ("limits", "language", "example"),
        [
            ({}, "en", "12"),
            ({"minimum": 1, "maximum": 10}, "en", "10"),
            ({"maximum": -2.5, "whole": True}, "en", "-3"),
            ({"minimum": 99.5}, "de", "99,5"),
            ({"minimum": 99.5, "whole": True}, "en", "100"),
            ({"minimum": 9, "maximum": 1}, "en", "12"),
        ],
    )
    def test_what_is_no_number_is_told_one_that_is_possible(self, limits, language, example):
        question = Question("q", "How many?", QuestionKind.NUMBER, **limits)
        for text in ("some", "9" * 30):
            found = read(question, text, language=language, timezone="UTC", now=NOW)
            assert isinstance(found, Unclear) and found.args["example"] == example

    def test_limits_are_kept(self):
        assert [said(WHOLE, text) for text in ("0", "5001", "2.5", "5000")] == [
            "number_small",
            "number_large",
            "number_whole",
            [5000],
        ]


class TestDate:
    @pytest.mark.parametrize(
        ("text", "language", "value"),
        [
            ("2026-12-24", "en", "2026-12-24"),
            ("2026-12-24 09:30", "en", "2026-12-24T09:30:00+01:00"),
            ("2026-07-01T09:30:00Z", "en", "2026-07-01T09:30:00+00:00"),
            ("3 Dec", "en", "2026-12-03"),
            ("2 Dec", "en", "2027-12-02"),
            ("Dec 24th", "en", "2026-12-24"),
            ("24 December 2027, 9:00", "en", "2027-12-24T09:00:00+01:00"),
            ("Thu, 24 Dec 2026", "en", "2026-12-24"),
            ("today", "en", "2026-12-03"),
            ("Tomorrow", "en", "2026-12-04"),
            ("tomorrow at 9", "en", "2026-12-04T09:00:00+01:00"),
            ("the day after tomorrow", "en", "2026-12-05"),
            ("Friday 9:00", "en", "2026-12-04T09:00:00+01:00"),
            ("on Monday at 9 pm", "en", "2026-12-07T21:00:00+01:00"),
            ("12 am tomorrow", "en", "2026-12-04T00:00:00+01:00"),
            ("15:30", "en", "2026-12-03T15:30:00+01:00"),
            ("in 3 days", "en", "2026-12-06"),
            ("in 2 hours", "en", "2026-12-03T16:02:00+01:00"),
            ("24.12.2026", "en", "2026-12-24"),
            ("3.4.2027", "en", "2027-04-03"),
            ("3.4.", "de", "2027-04-03"),
            ("24/12", "en", "2026-12-24"),
            ("12/24/2026", "en", "2026-12-24"),
            ("2026/12/24", "en", "2026-12-24"),
            ("3/4/2027", "fr", "2027-04-03"),
            ("3/4/2027", "en-US", "2027-03-04"),
            ("4/4", "en", "2027-04-04"),
            ("3. Dezember", "de", "2026-12-03"),
            ("morgen um 9", "de", "2026-12-04T09:00:00+01:00"),
            ("am Freitag, 9 Uhr", "de", "2026-12-04T09:00:00+01:00"),
            ("übermorgen", "de", "2026-12-05"),
            ("in einer Woche", "de", "2026-12-10"),
            ("demain à 18h30", "fr", "2026-12-04T18:30:00+01:00"),
            ("le 24 décembre", "fr", "2026-12-24"),
            ("mar. 8 déc.", "fr", "2026-12-08"),
            ("mañana a las 9", "es", "2026-12-04T09:00:00+01:00"),
            ("24 de diciembre de 2026", "es", "2026-12-24"),
            ("viernes", "es", "2026-12-04"),
            ("12月24日", "zh", "2026-12-24"),
            ("2027年1月2日", "zh", "2027-01-02"),
            ("12月4日周五", "zh", "2026-12-04"),
            ("12月4日（星期五）9:00", "zh", "2026-12-04T09:00:00+01:00"),
            ("12月4日(金)", "ja", "2026-12-04"),
            ("明天下午3点", "zh", "2026-12-04T15:00:00+01:00"),
            ("tomorrow at 5 pm", "en", "2026-12-04T17:00:00+01:00"),
            ("tomorrow at 5:00", "en", "2026-12-04T05:00:00+01:00"),
            ("morgen 5 Uhr", "de", "2026-12-04T05:00:00+01:00"),
            ("at 5", "en", "2026-12-03T17:00:00+01:00"),  # it is 14:02
            ("周五 9:00", "zh", "2026-12-04T09:00:00+01:00"),
            ("24 grudnia", "pl", "2026-12-24"),
        ],
    )
    def test_it_is_read_as_people_write_it(self, text, language, value):
        assert said(DATE, text, language) == [value]

    @pytest.mark.parametrize(
        "text",
        [
            "next week",
            "soon",
            "Friday or Saturday",
            "31 Feb",
            "2026-02-31",
            "Fri 24 Dec",
            "12月4日周四",
            "12月4日(木)",
            "3 4",
            "Dec 2026",
            "9:00 10:00",
            "25:00",
            "13 pm",
            "tomorrow?!? maybe",
            "not tomorrow",
            "12",
            "99/99",
            "in 9999 weeks" + "s",
            "x" * 5000,
        ],
    )
    def test_anything_else_is_not_a_date(self, text):
        assert said(DATE, text) == "unclear_date"

    def test_a_name_that_is_a_day_and_a_month_is_not_guessed(self):
        assert (
            said(DATE, "mar", "es") == said(DATE, "mar 8", "fr") == said(DATE, "mar", "en") == "unclear_date"
        )
        assert said(DATE, "8 mar", "es") == ["2027-03-08"]
        assert said(DATE, "do") == "unclear_date"
        assert said(DATE, "fr", "de") == ["2026-12-04"]
        assert said(DATE, "Fri", "de") == ["2026-12-04"]

    def test_the_sentence_says_what_to_try(self):
        found = read(DATE, "next week", language="en", timezone="UTC", now=NOW)
        assert isinstance(found, Unclear)
        assert say(found.key, "en", **found.args) == (
            "“next week” is not a date I can read. Try 3 Dec, tomorrow, or Friday 9:00."
        )

    def test_a_day_that_can_be_two_is_asked_again_with_both(self):
        found = read(DATE, "03/04/2027", language="en", timezone="UTC", now=NOW)
        assert isinstance(found, Unclear)
        assert say(found.key, "en", **found.args) == (
            "“03/04/2027” can mean two days. Write Sat, 3 Apr 2027 or Thu, 4 Mar 2027."
        )
        assert said(DATE, "Sat, 3 Apr 2027") == ["2027-04-03"]

    @pytest.mark.parametrize(
        ("text", "language", "one", "other"),
        [
            ("tomorrow at 5", "en", "2026-12-04T05:00:00+01:00", "2026-12-04T17:00:00+01:00"),
            ("morgen um 1", "de", "2026-12-04T01:00:00+01:00", "2026-12-04T13:00:00+01:00"),
            ("mañana a las 6", "es", "2026-12-04T06:00:00+01:00", "2026-12-04T18:00:00+01:00"),
            ("demain à 3", "fr", "2026-12-04T03:00:00+01:00", "2026-12-04T15:00:00+01:00"),
            ("明天4点", "zh", "2026-12-04T04:00:00+01:00", "2026-12-04T16:00:00+01:00"),
        ],
    )
    def test_an_hour_that_can_be_in_either_half_of_a_day_is_asked_again_with_both(
        self, text, language, one, other
    ):
        found = read(DATE, text, language=language, timezone="Europe/Vienna", now=NOW)
        assert isinstance(found, Unclear) and found.key == "date_hour"
        assert said(DATE, found.args["one"], language) == [one]
        assert said(DATE, found.args["other"], language) == [other]

    def test_its_sentence_has_both_as_they_can_be_written(self):
        found = read(DATE, "tomorrow at 5", language="en", timezone="UTC", now=NOW)
        assert isinstance(found, Unclear)
        assert say(found.key, "en", **found.args) == (
            "“tomorrow at 5” can be in the morning or in the afternoon. "
            "Write Fri 4 Dec 05:00 or Fri 4 Dec 17:00."
        )

    def test_todays_own_weekday_could_be_today_or_in_a_week(self):
        assert said(DATE, "Thursday") == "date_today"
        assert said(DATE, "Thursday 18:00") == "date_today"

    def test_a_time_that_is_over_needs_its_day(self):
        assert said(DATE, "9:00") == "date_past"

    @pytest.mark.parametrize("text", ["2027-03-28 02:30", "31 Oct 2027 2:30"])
    def test_a_time_that_the_clocks_skip_or_repeat_is_not_one_moment(self, text):
        assert said(DATE, text) == "date_clock"

    @settings(unhurried, max_examples=200)
    @given(
        st.text(max_size=30)
        | st.from_regex(r"\d{1,4}[./-]\d{1,2}[./-]?\d{0,4} ?\d{0,2}:?\d{0,2}", fullmatch=True)
    )
    def test_whatever_is_written_it_is_a_date_or_a_sentence(self, text):
        found = read(DATE, text, language="en", timezone="Europe/Vienna", now=NOW)
        if isinstance(found, Value):
            assert validate(DATE, found.value) == found.value
        else:
            assert say(found.key, "en", **found.args)


class TestDatesOfPeople:
    """All on Thursday 3 December 2026, at 14:02 in Vienna."""

    @pytest.mark.parametrize(
        ("text", "language", "value"),
        [
            ("Tomorrow!", "en", "2026-12-04"),
            ("this Friday", "en", "2026-12-04"),
            ("next Monday 9am", "en", "2026-12-07T09:00:00+01:00"),
            ("in two weeks", "en", "2026-12-17"),
            ("end of month", "en", "2026-12-31"),
            ("tomorrow noon", "en", "2026-12-04T12:00:00+01:00"),
            ("uebermorgen", "de", "2026-12-05"),
            ("in drei Tagen", "de", "2026-12-06"),
            ("3. Jänner", "de", "2027-01-03"),
            ("Mi 9.12. 10 Uhr", "de", "2026-12-09T10:00:00+01:00"),
            ("Do 9.12.", "de", "unclear_date"),
            ("kommenden Freitag 9 Uhr", "de", "2026-12-04T09:00:00+01:00"),
            ("le 3/12", "fr", "2026-12-03"),
            ("le 3 decembre", "fr", "2026-12-03"),
            ("demain à midi", "fr", "2026-12-04T12:00:00+01:00"),
            ("mañana a las 9:00", "es", "2026-12-04T09:00:00+01:00"),
            ("mañana a las 5 de la tarde", "es", "2026-12-04T17:00:00+01:00"),
            ("el miercoles", "es", "2026-12-09"),
            ("dentro de tres días", "es", "2026-12-06"),
            ("明天下午三点半", "zh", "2026-12-04T15:30:00+01:00"),
            ("十二月四日", "zh", "2026-12-04"),
            ("三天后", "zh", "2026-12-06"),
            ("下周五", "zh", "2026-12-11"),
            ("这周五", "zh", "2026-12-04"),
            ("这周三", "zh", "unclear_date"),  # it is over
            ("月底", "zh", "2026-12-31"),
            ("今晚8点", "zh", "2026-12-03T20:00:00+01:00"),
            ("明天下午12点", "zh", "2026-12-04T12:00:00+01:00"),
            ("明天晚上20点", "zh", "2026-12-04T20:00:00+01:00"),
            ("明天凌晨3点", "zh", "2026-12-04T03:00:00+01:00"),
            ("明天晚上12点", "zh", "unclear_date"),  # midnight, at either end of the day
            ("明天晚上1点", "zh", "unclear_date"),  # and not one in the afternoon
            ("明天上午12点", "zh", "unclear_date"),  # and not midnight
            ("next Friday", "en", "date_ambiguous"),
            ("nächsten Freitag 9 Uhr", "de", "date_ambiguous"),
            ("vendredi prochain", "fr", "date_ambiguous"),
            ("el viernes que viene", "es", "date_ambiguous"),
            ("next Thursday", "en", "2026-12-10"),
            ("next week", "en", "unclear_date"),
        ],
    )
    def test_they_are_read_where_they_can_mean_one_day_only(self, text, language, value):
        found = said(DATE, text, language)
        assert found == (value if value.endswith(("date", "ambiguous")) else [value])


class TestReview:
    @pytest.mark.parametrize(
        "text", ["approve", "Approved!", "yes", "ok", "👍", "genehmigt", "approuvé", "批准"]
    )
    def test_a_listed_phrase_approves(self, text):
        assert said(REVIEW, text) == [{"decision": "approve"}]

    @pytest.mark.parametrize(
        "text", ["reject", "No.", "abgelehnt", "👎", "拒绝", "don't approve", "nicht genehmigt", "不通过"]
    )
    def test_a_listed_phrase_rejects(self, text):
        assert said(REVIEW, text) == [{"decision": "reject"}]

    def test_a_reason_may_follow_a_rejection(self):
        assert said(REVIEW, "Reject: wrong customer") == [{"decision": "reject", "message": "wrong customer"}]
        assert said(REVIEW, "no: ask Ana\nfirst") == [{"decision": "reject", "message": "ask Ana\nfirst"}]

    @pytest.mark.parametrize(
        "text",
        [
            "approve: but only half",
            "approve half",
            "yes, refund 50",
            "approve?",
            "approve 👎",
            "reject 👍",
            "hm",
            "1",
        ],
    )
    def test_an_addition_to_an_approval_makes_it_unclear(self, text):
        assert said(REVIEW, text) == "unclear_review"

    def test_changes_are_made_on_the_form(self):
        assert said(REVIEW, "edit") == "edit_needs_form"
        assert said(REVIEW, "ändern", "de") == "edit_needs_form"

    def test_other_words_are_a_reply_where_that_is_allowed(self):
        text = "yes, but only € 50"
        assert said(RESPOND, text) == [{"decision": "respond", "message": text}]
        assert said(RESPOND, "approve") == [{"decision": "approve"}]

    def test_what_is_not_offered_is_not_decided(self):
        only = Question("q", "", QuestionKind.REVIEW, action=ACTION, decisions=("reject", "respond"))
        assert said(only, "approve") == "not_offered"

    def test_a_number_counts_only_where_numbers_were_shown(self):
        assert said(REVIEW, "1", numbered=True) == [{"decision": "approve"}]
        assert said(REVIEW, "2", numbered=True) == [{"decision": "reject"}]
        assert said(REVIEW, "3", numbered=True) == "unclear_review"


KINDS = [TEXT, CONFIRM, CHOICE, FREE, CHOICES, NUMBER, WHOLE, DATE, REVIEW, RESPOND]


@settings(unhurried, max_examples=300)
@given(
    st.sampled_from(KINDS),
    st.text(max_size=40),
    st.sampled_from(["en", "de", "zh", "ar", "tr-TR", "??"]),
    st.booleans(),
)
def test_any_text_is_a_value_that_fits_or_a_sentence(question, text, language, typed):
    found = read(
        question, text, language=language, timezone="Nowhere/Else", now=NOW, typed=typed, numbered=True
    )
    if isinstance(found, Value):
        assert found.text == text
        assert validate(question, found.value) == found.value
    else:
        assert found.key in SENTENCES["en"]
        assert say(found.key, language, **found.args)


def test_neither_a_value_nor_a_doubt_shows_the_answer_in_its_repr():
    assert "secret" not in repr(Value("secret", "secret"))
    assert "secret" not in repr(Unclear("unclear_date", {"text": "secret"}))


@pytest.mark.parametrize(
    "piece",
    ["(", ")", ":)", "yes, ", "~", "[ ", "5 ", "  ", "a,", "🙂", "1\u20e3", "the ", "三", "的", ",", "…"],
)
@pytest.mark.parametrize("question", KINDS, ids=lambda question: question.kind)
def test_hostile_text_takes_linear_time(question, piece):
    started = time.process_time()
    for begins in ("", "yes", "5", "a " + " " * 1000):
        text = begins + piece * (50_000 // len(piece)) + "x"
        said(question, text)
        is_command(text, [question])
        without_courtesies(text.replace(",", "\n"), "Ana Lima")
    assert time.process_time() - started < 10


class TestCourtesies:
    @pytest.mark.parametrize(
        ("mail", "answer"),
        [
            ("yes\n\nBest regards\nAna Lima", "yes"),
            ("Yes,\n\nAna", "Yes"),
            ("Hi,\n\nyes\n\nThanks,\nAna", "yes"),
            ("Ja\n\nMit freundlichen Grüßen\nAna Lima", "Ja"),
            ("Oui\n\nBien cordialement,\n\nAna LIMA", "Oui"),
            ("2\n\nSaludos", "2"),
            ("Hello agent,\nyes", "yes"),
            ("Dear answer back!\n\nyes\n\nAna", "yes"),
            ("Hallo zusammen,\nJa", "Ja"),
            ("Hello agent\nyes", "Hello agent\nyes"),
            ("Hi, never do that again,\nyes", "Hi, never do that again,\nyes"),
            ("No Ana,\nyes", "No Ana,\nyes"),
            ("yes\n\n--\nAna", "yes"),
            ("yes\n\n--\nnot prod", "yes -- not prod"),
            ("您好，\n\n是的\n\n谢谢", "是的"),
            ("yes", "yes"),
            ("yes,", "yes,"),
            ("Thanks", "Thanks"),
            ("yes\n\nBest regards\nBen", "yes\n\nBest regards\nBen"),
            ("yes\n\nbut not prod\n\nAna", "yes\nbut not prod"),
            ("yes\n\nBest regards\nAna\n\nPS: not prod", "yes\n\nBest regards\nAna\n\nPS: not prod"),
            ("yes\n\nthanks but no\nAna", "yes\nthanks but no"),
        ],
    )
    def test_only_a_greeting_and_ones_own_name_are_left_out(self, mail, answer):
        left = without_courtesies(mail, "Ana Lima")
        assert left.split() == answer.split()
        assert (said(CONFIRM, left) == [True]) is (answer in ("yes", "Yes", "Ja", "Oui", "是的"))


class TestPayload:
    questions = (CONFIRM, FREE, REVIEW, CHOICES)

    @pytest.mark.parametrize(
        ("payload", "question", "value", "label"),
        [
            ("0.y", CONFIRM, True, "Yes"),
            ("0.n", CONFIRM, False, "No"),
            ("1.0", FREE, "yes", "Yes"),
            ("1.1", FREE, "coding", "Use “coding”"),
            ("2.approve", REVIEW, {"decision": "approve"}, "Approve"),
            ("2.reject", REVIEW, {"decision": "reject"}, "Reject"),
        ],
    )
    def test_a_tap_is_the_value_and_its_label(self, payload, question, value, label):
        assert read_payload(self.questions, payload) == (question, value, label)

    @pytest.mark.parametrize(
        "payload",
        [
            "",
            "0",
            "0.",
            "0.1",
            "0.yes",
            "1.3",
            "1.y",
            "2.0",
            "2.edit",
            "2.respond",
            "3.0",
            "9.y",
            "-1.y",
            "0.y ",
            "٠.y",
            "pick",
        ],
    )
    def test_anything_else_decides_nothing(self, payload):
        assert read_payload(self.questions, payload) is None

    def test_a_decision_that_is_not_offered_cannot_be_tapped(self):
        only = Question("q", "", QuestionKind.REVIEW, decisions=("reject",))
        assert read_payload([only], "0.approve") is None

    def test_some_taps_ask_for_words(self):
        assert wants_text(self.questions, "1.other") == (FREE, "write_answer")
        assert wants_text(self.questions, "2.edit") == (REVIEW, "edit_needs_form")
        assert wants_text(self.questions, "2.respond") == (REVIEW, "write_reply")
        assert wants_text(self.questions, "0.y") is None

    @settings(unhurried)
    @given(st.text(max_size=12))
    def test_any_payload_is_survived(self, payload):
        read_payload(self.questions, payload)
        wants_text(self.questions, payload)


class TestValidate:
    @pytest.mark.parametrize(
        ("question", "value"),
        [
            (TEXT, " as it is "),
            (CONFIRM, False),
            (CHOICE, "coding"),
            (FREE, "anything"),
            (CHOICES, ["both", "yes"]),
            (NUMBER, 1.5),
            (WHOLE, 7),
            (DATE, "2026-12-03"),
            (DATE, "2026-12-03T09:00:00+01:00"),
            (REVIEW, {"decision": "approve"}),
            (REVIEW, {"decision": "reject", "message": "no"}),
            (REVIEW, {"decision": "edit", "args": {"amount": 50}}),
            (RESPOND, {"decision": "respond", "message": "ask Ana"}),
            (Question("q", "?", required=False), None),
            (Question("q", "?", required=False), ""),
        ],
    )
    def test_what_fits_is_kept_as_it_is(self, question, value):
        assert validate(question, value) == value

    @pytest.mark.parametrize(
        ("question", "value"),
        [
            (TEXT, ""),
            (TEXT, 1),
            (TEXT, None),
            (CONFIRM, "yes"),
            (CONFIRM, 1),
            (CHOICE, "Use “coding”"),
            (CHOICE, 2),
            (FREE, " "),
            (CHOICES, "yes"),
            (CHOICES, ["yes", "yes"]),
            (CHOICES, []),
            (CHOICES, [["yes"]]),
            (NUMBER, "12"),
            (NUMBER, True),
            (WHOLE, 1.5),
            (WHOLE, 0),
            (DATE, "3 Dec"),
            (DATE, "2026-12-03T09:00:00"),
            (DATE, "2026-02-31"),
            (REVIEW, "approve"),
            (REVIEW, {"decision": "respond", "message": "x"}),
            (REVIEW, {"decision": "edit"}),
            (REVIEW, {"decision": "approve", "args": {}}),
            (REVIEW, {"decision": ["approve"]}),
            (REVIEW, {"decision": "reject", "reason": "x"}),
            (REVIEW, {}),
            (RESPOND, {"decision": "respond", "message": " "}),
        ],
    )
    def test_what_does_not_is_refused_saying_what_would(self, question, value):
        with pytest.raises(DoesNotFit) as refused:
            validate(question, value)
        assert refused.value.detail == f"This does not answer the question. It needs {expected(question)}."

    def test_law_8_a_change_drops_no_argument_that_was_reviewed(self):
        action = Action("wipe", {"path": "/old", "dry_run": True})
        asked = Question("q", "", QuestionKind.REVIEW, action=action, decisions=("approve", "edit"))
        with pytest.raises(DoesNotFit, match="all the call's own arguments"):
            validate(asked, {"decision": "edit", "args": {"path": "/new"}})
        whole = {"decision": "edit", "args": {"path": "/new", "dry_run": True}}
        assert validate(asked, whole) == whole

    @pytest.mark.parametrize("value", [{"content": "x"}, ["a", "b"]])
    def test_a_form_s_lists_and_objects_are_said_to_be_sent_as_text(self, value):
        with pytest.raises(DoesNotFit, match=r"not empty\. A list or an object is sent as a text that holds"):
            validate(TEXT, value)

    def test_only_what_is_the_same_value_is_rewritten(self):
        assert repr(validate(WHOLE, 7.0)) == "7"
        assert validate(DATE, "2026-12-03T09:00:00Z") == "2026-12-03T09:00:00+00:00"

    @pytest.mark.parametrize("value", [2**70, float("nan"), "a\0", "\ud83d", {1: 2}])
    @pytest.mark.parametrize("question", KINDS)
    def test_what_cannot_be_stored_is_refused_for_every_kind(self, question, value):
        with pytest.raises(DoesNotFit):
            validate(question, value)


class TestResponse:
    @pytest.mark.parametrize(
        ("said", "value"),
        [
            ("us", "us"),
            ("United States", "us"),
            (" united states ", "us"),
            ("EU", "eu"),
            ("1", "us"),
            ("Neither, wait", "Neither, wait"),
        ],
    )
    def test_a_text_for_choices_that_allow_own_words_names_a_choice_where_it_can(
        self, said: str, value: str
    ) -> None:
        choices = (Choice("us", "United States"), Choice("eu", "Europe"))
        asked = Question("q", "Which?", QuestionKind.CHOICE, choices, free_text=True)
        assert validate_response([asked], said) == {"q": value}

    def test_a_bare_value_answers_the_only_question(self):
        assert validate_response([TEXT], "free text") == {"q": "free text"}
        assert validate_response([TEXT], {"q": "free text"}) == {"q": "free text"}
        assert validate_response([REVIEW], {"decision": "reject"}) == {"q": {"decision": "reject"}}

    def test_words_for_other_kinds_are_read_as_a_persons_would_be(self):
        assert validate_response([CONFIRM], "yes") == {"q": True}
        assert validate_response([CHOICE], "2") == {"q": "coding"}
        assert validate_response([REVIEW], "approve") == {"q": {"decision": "approve"}}
        assert validate_response([DATE], "tomorrow", timezone="Europe/Vienna", now=NOW) == {"q": "2026-12-04"}

    @pytest.mark.parametrize(
        ("question", "response"),
        [(TEXT, 5), (TEXT, {"text": "x"}), (TEXT, None), (CONFIRM, "yes but"), (CONFIRM, 1)],
    )
    def test_what_does_not_fit_says_what_would_and_repeats_nothing(self, question, response):
        with pytest.raises(DoesNotFit) as refused:
            validate_response([question], response)
        assert expected(question) in refused.value.detail
        assert "yes but" not in refused.value.detail

    def test_without_a_today_there_is_no_tomorrow(self):
        with pytest.raises(DoesNotFit):
            validate_response([DATE], "tomorrow")
        assert validate_response([DATE], "2026-12-03") == {"q": "2026-12-03"}

    def test_several_questions_need_an_object_by_id(self):
        two = [Question("a", "A?"), Question("b", "B?", QuestionKind.CONFIRM)]
        assert validate_response(two, {"a": "x", "b": "no"}) == {"a": "x", "b": False}
        for response, part in [
            ("x", 'value for "a", "b"'),
            ({"a": "x"}, 'no value for: "b"'),
            ({"a": "x", "b": True, "c": 1}, "not asked"),
            ({"a": 1, "b": True}, "a: This does not answer"),
        ]:
            with pytest.raises(DoesNotFit) as refused:
                validate_response(two, response)
            assert part in refused.value.detail

    def test_a_question_that_may_be_left_out_may_be(self):
        two = [Question("a", "A?"), Question("b", "B?", required=False)]
        assert validate_response(two, {"a": "x"}) == {"a": "x"}


class TestCommands:
    @pytest.mark.parametrize(
        ("text", "command"),
        [
            ("help", ("help", "")),
            ("Help!", ("help", "")),
            ("/help", ("help", "")),
            ("/help@answer_bot", ("help", "")),
            ("/start", ("start", "")),
            ("/start dQw4w9WgXcQdQw4w9WgXcQ", ("start", "dQw4w9WgXcQdQw4w9WgXcQ")),
            ("start dQw4w9WgXcQdQw4w9WgXcQ", ("start", "dQw4w9WgXcQdQw4w9WgXcQ")),
            ("run research find PSR", ("run", "research find PSR")),
            ("/run research\nfind PSR", ("run", "research\nfind PSR")),
            ("quit", ("cancel", "")),
            ("EXIT", ("cancel", "")),
            ("/cancel", ("cancel", "")),
            ("stop", ("stop", "")),
            ("skip", ("skip", "")),
            ("snooze 2h", ("snooze", "2h")),
            ("snooze", ("snooze", "")),
            ("mute 1 day", ("mute", "1 day")),
            ("snooze tomorrow", ("snooze", "tomorrow")),
            ("why", ("why", "")),
            ("delegate Ben", ("delegate", "Ben")),
            ("pending", ("pending", "")),
            ("Hilfe", ("help", "")),
            ("/hilfe", ("help", "")),
            ("aide", ("help", "")),
            ("ayuda.", ("help", "")),
            ("帮助", ("help", "")),
            ("Warum", ("why", "")),
            ("pourquoi", ("why", "")),
            ("por qué", ("why", "")),
            ("为什么", ("why", "")),
        ],
    )
    def test_a_command_is_known_with_and_without_a_slash(self, text, command):
        assert is_command(text) == command

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "yes",
            "stop the presses",
            "help me",
            "hilfe ist unterwegs",
            "warum?",
            "why?",
            "/unknown",
            "/etc/passwd",
            "start tomorrow",
            "cancel it",
            "skip it",
            "“stop”",
            "'cancel'",
        ],
    )
    def test_other_words_are_an_answer(self, text):
        assert is_command(text) is None

    def test_a_word_that_is_a_choice_is_no_command(self):
        question = Question("q", "?", QuestionKind.CHOICE, (Choice("a", "Stop"), Choice("skip", "Later")))
        assert is_command("stop", [question]) is None
        assert is_command("Skip", [question]) is None
        assert is_command("/stop", [question]) == ("stop", "")
        assert is_command("help", [question]) == ("help", "")

    @pytest.mark.parametrize("label", ["Cancel", "🛑 Cancel", "Cancel!", "“Cancel”", "CANCEL…"])
    @pytest.mark.parametrize("text", ["cancel", "Cancel.", "Cancel!", "CANCEL", "“Cancel”"])
    def test_a_choice_is_no_command_however_it_is_decorated(self, label, text):
        question = Question("q", "?", QuestionKind.CHOICE, (Choice("a", label), Choice("b", "Go on")))
        assert is_command(text, [question]) is None
        assert said(question, text) == ["a"]

    @settings(unhurried)
    @given(st.text(max_size=40))
    def test_any_text_is_survived(self, text):
        is_command(text)
