"""Sentences: every language says the same things, and fills the same gaps."""

import datetime
import string
import unicodedata

import pytest
from babel.localedata import locale_identifiers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerback.sentences import (
    LANGUAGES,
    count,
    duration,
    isolated,
    language_of,
    moment,
    number,
    say,
    worded,
)
from answerback.sentences.catalogue import SENTENCES
from answerback.sentences.isolating import RIGHT_TO_LEFT
from answerback.web.wording import word

# A loaded machine is slow, which says nothing about what is tested.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

MINUTE = 60_000_000
NOON = int(datetime.datetime(2026, 12, 3, 12, 0, tzinfo=datetime.UTC).timestamp()) * 1_000_000


def gaps(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_sentence_with_the_same_gaps(language):
    assert SENTENCES[language].keys() == SENTENCES["en"].keys()
    for key, sentence in SENTENCES[language].items():
        assert gaps(sentence) == gaps(SENTENCES["en"][key]), key
        assert sentence == sentence.strip(), key


def test_a_language_that_is_not_spoken_is_answered_in_english():
    assert [language_of(tag) for tag in ("de-AT", "zh_Hant_TW", "FR", "tlh", "")] == [
        "de",
        "zh",
        "fr",
        "en",
        "en",
    ]
    assert say("yes", "pt-BR") == "Yes"


def test_what_fills_a_gap_is_taken_as_it_is():
    assert say("not_for_you", "en", who="{who} {0!r}") == "This question is for {who} {0!r}."


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", ["שלום", "مرحبا 14", "PSR שלום", "𞤀𞤣"])
def test_what_reads_from_right_to_left_is_set_apart_once_in_every_sentence(language, text):
    for key, sentence in SENTENCES[language].items():
        said = say(key, language, **dict.fromkeys(gaps(sentence) - {"did", "need"}, text), did="d", need="n")
        places = sum(
            name not in (None, "did", "need") for _, name, _, _ in string.Formatter().parse(sentence)
        )
        assert said.count(f"\u2068{text}\u2069") == said.count("\u2068") == places
        assert worded(key, language, **dict.fromkeys(gaps(sentence), text)).count("\u2068") == 0


def test_what_is_composed_of_sentences_is_not_set_apart_as_a_whole():
    did = say("you_wrote", "en", value="שלום")
    assert say("outcome", "en", did=did, time="14:05") == "You wrote “\u2068שלום\u2069” · 14:05."


@settings(unhurried)
@given(st.text(st.characters(max_codepoint=0x58F) | st.sampled_from("漢字がな한ไทย…“”„€🟦⟦"), max_size=30))
def test_what_is_written_in_other_scripts_stays_as_it_is(text):
    assert isolated(text) == text


def test_every_letter_that_runs_from_right_to_left_is_known():
    letters = filter(str.isalpha, map(chr, range(0x110000)))
    turning = [each for each in letters if unicodedata.bidirectional(each) in ("R", "AL")]
    assert len(turning) > 1000 and all(map(RIGHT_TO_LEFT.search, turning))


def test_each_line_is_set_apart_for_itself():
    assert isolated("שלום\nplain\n\nمرحبا") == "\u2068שלום\u2069\nplain\n\n\u2068مرحبا\u2069"


def test_in_french_no_line_ends_inside_quotation_marks_or_before_a_sign():
    assert say("which_one", "fr", count="Deux", text="oui") == (
        "Deux questions sont ouvertes. À laquelle répond «\u00a0oui\u00a0»\u00a0?"
    )
    assert word("files_too_much", "fr").startswith("C’est trop\u00a0: 20 fichiers et 8\u00a0Mo en tout")
    assert (duration(600 * 10**6, "fr"), duration(7200 * 10**6, "fr")) == ("10\u00a0min", "2\u00a0h")
    assert say("which_one", "de", count="Zwei", text="a : b ?").endswith("„a : b ?“?")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("left", [4_000_000, MINUTE, 40 * MINUTE, 100 * MINUTE, 90 * 24 * 60 * MINUTE])
def test_how_long_is_left_makes_a_whole_sentence_with_one_end(language, left):
    said = say("still_waiting", language, left=duration(left, language))
    assert ".." not in said and said[-1] in ".。"
    assert "bleiben" not in said and "quedan" not in said  # not one minute


def test_small_numbers_are_words_at_the_beginning_of_a_sentence():
    assert [count(2, "en"), count(2, "de"), count(12, "en")] == ["Two", "Zwei", "12"]


def test_a_time_today_is_only_the_time():
    assert moment(NOON + 60 * MINUTE, "en", "Europe/Vienna", NOON) == "14:00"
    assert moment(NOON + 60 * MINUTE, "en-US", "Europe/Vienna", NOON).replace("\u202f", " ") == "2:00 PM"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Fri 4 Dec, 13:00"),
        ("de", "Fr., 4. Dez., 13:00"),
        ("fr", "ven. 4 déc., 13:00"),
        ("zh", "12月4日周五 13:00"),
    ],
)
def test_another_day_is_named_in_the_persons_language(language, said):
    assert moment(NOON + 24 * 60 * MINUTE, language, "Europe/Vienna", NOON) == said


def test_today_is_today_where_the_person_is():
    late = NOON + 11 * 60 * MINUTE  # 23:00 UTC
    assert moment(late, "en", "UTC", NOON) == "23:00"
    assert moment(late, "en", "Asia/Tokyo", NOON) == "Fri 4 Dec, 08:00"


def test_another_year_is_named():
    assert moment(NOON + 365 * 24 * 60 * MINUTE, "en", "UTC", NOON) == "Fri, 3 Dec 2027, 12:00"


def test_how_long_is_said_in_one_unit_rounded_down():
    said = [duration(minutes * MINUTE, "en") for minutes in (1, 40, 119, 120, 47 * 60, 50 * 60)]
    assert said == ["1 min", "40 min", "119 min", "2 h", "47 h", "2 days"]
    assert duration(4_000_000, "en") == duration(0, "en") == "less than a minute"
    assert duration(3 * 60 * MINUTE, "zh") == "3 小时"


def test_numbers_keep_every_digit():
    assert number(1234567.25, "de", grouped=True) == "1.234.567,25"
    assert number(1234, "de", grouped=True) == "1234"
    assert number(0.1, "en") == "0.1"
    assert number(1e-7, "fr") == "0,0000001"
    assert number(100.0, "en") == "100.0"


@settings(unhurried)
@given(st.integers(-(10**25), 10**25), st.text(max_size=12), st.text(max_size=12), st.integers(0, 10**17))
def test_any_moment_can_be_said_in_any_language_and_zone(at, language, timezone, now):
    assert moment(at, language, timezone, now)


@pytest.mark.parametrize("language", sorted(locale_identifiers())[::9])
def test_every_locale_there_is_can_say_a_moment_and_a_number(language):
    assert moment(NOON, language, "UTC", 0)
    assert number(12345.5, language, grouped=True)
