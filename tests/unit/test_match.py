"""Match: a reply belongs to exactly one question, or somebody is asked which one."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerback.match import (
    ALPHABET,
    Evidence,
    Match,
    Nothing,
    Open,
    WhichOne,
    find_codes,
    match,
    match_one_of,
    new_code,
    strip_code,
)
from answerback.model import InteractionStatus

# A loaded machine is slow, which says nothing about what is tested.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

PENDING, COMPLETED = InteractionStatus.PENDING, InteractionStatus.COMPLETED


def asked(name: str, status=PENDING, delivery: str = "") -> Open:
    return Open(name, delivery or f"d-{name}", f"{name.upper()}2K3"[:4], (f"{name}?",), status)


A, B, C = asked("a"), asked("b"), asked("c")
CLOSED = asked("x", COMPLETED)


def test_the_token_decides_first():
    assert match(Evidence(A, open_for_sender=(A, B, C))) == Match("a", "token", "d-a")


def test_then_what_the_reply_refers_to():
    assert match(Evidence(None, (B,), open_for_sender=(A, B))) == Match("b", "reference", "d-b")


def test_then_the_code_in_the_text():
    assert match(Evidence(codes=(B,), open_for_sender=(A, B))) == Match("b", "code", "d-b")


def test_then_the_only_question_that_is_open():
    assert match(Evidence(open_for_sender=(A, CLOSED))) == Match("a", "only one", "d-a")


def test_several_open_and_no_evidence_is_asked_never_guessed():
    assert match(Evidence(open_for_sender=(A, B, CLOSED))) == WhichOne((A, B))


def test_nothing_open_and_no_evidence_is_nothing():
    assert match(Evidence()) == Nothing()
    assert match(Evidence(open_for_sender=(CLOSED,))) == Nothing()


def test_evidence_that_agrees_is_one_piece_of_evidence():
    again = asked("a", delivery="reminder")
    assert match(Evidence(A, (again,), (A,), (A, B))) == Match("a", "token", "d-a")
    assert match(Evidence(None, (A, again), (), (A, B))) == Match("a", "reference", "d-a")
    assert match(Evidence(A, (A, B), (), (A, B))) == Match("a", "token", "d-a")


def test_a_code_decides_between_several_references():
    assert match(Evidence(None, (A, B), (B,), (A, B))) == Match("b", "reference", "d-b")


@pytest.mark.parametrize(
    "evidence",
    [
        Evidence(A, (B,), (), (A, B)),
        Evidence(A, (), (B,), (A, B)),
        Evidence(None, (A,), (B,), (A, B)),
        Evidence(None, (A, B), (), (A, B)),
        Evidence(None, (), (A, B), (A, B)),
    ],
)
def test_evidence_that_disagrees_is_asked(evidence):
    assert match(evidence) == WhichOne((A, B))


def test_a_reply_to_something_closed_never_falls_through_to_what_is_open():
    assert match(Evidence(CLOSED, open_for_sender=(A,))) == Match("x", "token", "d-x")
    assert match(Evidence(None, (CLOSED,), open_for_sender=(A,))) == Match("x", "reference", "d-x")
    assert match(Evidence(codes=(CLOSED,), open_for_sender=(A,))) == Match("x", "code", "d-x")


def test_where_one_of_what_disagrees_is_closed_the_other_is_asked_for_not_assumed():
    assert match(Evidence(CLOSED, (), (A,), (A,))) == WhichOne((A,))


def test_where_all_that_disagrees_is_closed_the_strongest_is_told_of():
    other = asked("y", COMPLETED)
    assert match(Evidence(CLOSED, (other,), (), (A,))) == Match("x", "token", "d-x")


def test_a_reply_that_names_some_itself_is_for_one_of_these():
    assert match_one_of(Evidence(open_for_sender=(A, B, C)), {"b"}) == Match("b", "only one", "d-b")
    assert match_one_of(Evidence(open_for_sender=(A, B, C)), {"b", "c"}) == WhichOne((B, C))
    assert match_one_of(Evidence(None, (B,), open_for_sender=(A, B)), {"b"}) == Match("b", "reference", "d-b")


def test_what_it_came_with_may_disagree_with_what_it_names():
    assert match_one_of(Evidence(None, (A,), open_for_sender=(A, B, C)), {"b"}) == WhichOne((A, B))
    assert match_one_of(Evidence(A, codes=(B,), open_for_sender=(A, B, C)), {"b"}) == WhichOne((A, B))


def test_what_is_over_disagrees_with_nothing_that_is_open():
    assert match_one_of(Evidence(None, (CLOSED,), open_for_sender=(A, B)), {"b"}) == WhichOne((B,))
    assert match_one_of(Evidence(None, (CLOSED,), open_for_sender=(A,)), {"b"}) == Nothing()


def test_a_reply_that_names_what_is_not_open_is_for_nothing():
    assert match_one_of(Evidence(open_for_sender=(A, B)), set()) == Nothing()


def test_a_code_that_nobody_knows_keeps_the_only_open_question_from_being_assumed():
    assert match(Evidence(open_for_sender=(A,), doubtful=True)) == WhichOne((A,))
    assert match(Evidence(A, open_for_sender=(A, B), doubtful=True)) == Match("a", "token", "d-a")


opens = st.builds(asked, st.sampled_from("abcde"), st.sampled_from([PENDING, COMPLETED]))
many = st.lists(opens, max_size=4).map(tuple)


@settings(unhurried)
@given(st.builds(Evidence, st.none() | opens, many, many, many, st.booleans()))
def test_whatever_the_evidence_nothing_is_matched_that_it_does_not_name(evidence):
    named = (evidence.token_delivery,) if evidence.token_delivery else ()
    named += evidence.referenced_deliveries + evidence.codes
    decided = match(evidence)
    if isinstance(decided, Match):
        among = named or evidence.open_for_sender
        assert decided.interaction_id in {each.interaction_id for each in among}
        if decided.how == "only one":
            assert not named
    if isinstance(decided, WhichOne):
        ids = [each.interaction_id for each in decided.candidates]
        assert ids
        assert len(ids) == len(set(ids))
        assert all(each.status is PENDING for each in decided.candidates)
    if isinstance(decided, Nothing):
        assert not named


class TestCodes:
    @settings(unhurried)
    @given(st.integers(0, 2**64 - 1))
    def test_a_new_code_is_short_unambiguous_and_found_again(self, bits):
        code = new_code(bits)
        assert len(code) == 4
        assert set(code) <= set(ALPHABET)
        assert not set(code) & set("01OIL")
        assert find_codes(f"yes #{code}") == (code,)

    def test_random_bits_make_many_codes(self):
        assert len({new_code(number * 2654435761 % 2**40) for number in range(2000)}) > 1900

    @pytest.mark.parametrize(
        ("text", "codes"),
        [
            ("#K7Q2 yes", ("K7Q2",)),
            ("yes #k7q2", ("K7Q2",)),
            ("Re: Deploy now? [#K7Q2]", ("K7Q2",)),
            ("＃K7Q2", ("K7Q2",)),
            ("(#K7Q2), #K7Q2. and #M3N4!", ("K7Q2", "M3N4")),
            ("> #K7Q2\nyes", ()),
            ("  >> #K7Q2\nyes #M3N4", ("M3N4",)),
            ("K7Q2", ()),
            ("#K7Q23", ()),
            ("#K7Q", ()),
            ("#TODO and #2026", ()),
            ("#K7O2", ()),
            ("https://example.org/#K7Q2", ()),
            ("issue#K7Q2", ()),
            ("&#K7Q2", ()),
        ],
    )
    def test_only_a_code_that_was_newly_written_is_found(self, text, codes):
        assert find_codes(text) == codes

    @pytest.mark.parametrize(
        ("text", "rest"),
        [
            ("#K7Q2 yes", "yes"),
            ("yes #k7q2", "yes"),
            ("[#K7Q2] yes", "yes"),
            ("#K7Q2: yes", "yes"),
            ("use #K7Q2 coding", "use coding"),
            ("#K7Q2", ""),
            ("yes", "yes"),
            (" as it is ", " as it is "),
            ("see #K7Q23", "see #K7Q23"),
        ],
    )
    def test_the_code_is_taken_out_of_what_is_read(self, text, rest):
        assert strip_code(text, "K7Q2") == rest

    @settings(unhurried)
    @given(st.text(max_size=40), st.text(max_size=5))
    def test_any_text_is_survived(self, text, code):
        find_codes(text)
        strip_code(text, code)
