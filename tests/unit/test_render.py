"""Render: whole messages as people see them. Below each question stand its buttons, in brackets."""

import datetime
import json
import zoneinfo
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerback.match import find_codes
from answerback.messages import Entry, outline
from answerback.model import (
    Action,
    Address,
    Answer,
    Attachment,
    Choice,
    Contact,
    Interaction,
    InteractionStatus,
    OnExpire,
    Question,
    QuestionKind,
    RunStatus,
)
from answerback.provider import Message, MessageKind
from answerback.read import read_payload, wants_text
from answerback.render import (
    Part,
    Room,
    Whole,
    already_message,
    by_code,
    conversation_message,
    excerpt,
    notice_message,
    outcome_message,
    pick_label,
    pick_labels,
    question_message,
    reachable,
    reminder_message,
    run_message,
    says_less,
    subject,
    unclear_message,
    visible,
    which_one_message,
    whole_result,
)
from answerback.render.conversation import PICK
from answerback.sentences import LANGUAGES, say
from answerback.values import dumps

# A loaded machine is slow, which says nothing about what is tested.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

VIENNA = zoneinfo.ZoneInfo("Europe/Vienna")
TOKEN = "abcdefghijklmnopqrstuvwxyz"
FORM = f"https://ask.example.org/f/{TOKEN}"
LOCAL = f"http://127.0.0.1:8700/f/{TOKEN}"
ANA = Contact("ana", "Ana", "en", "Europe/Vienna")
DORA = Contact("dora", "Dora", "de", "Europe/Vienna")
TO = Address("telegram", "1001", "1001", "ana")


def at(year: int, month: int, day: int, hour: int, minute: int) -> int:
    return int(datetime.datetime(year, month, day, hour, minute, tzinfo=VIENNA).timestamp()) * 1_000_000


NOW, SIX = at(2026, 12, 3, 14, 2), at(2026, 12, 3, 18, 0)

TERMS = (Choice("yes", "Yes"), Choice("coding", "Use “coding”"))
SEARCH = Question("q", "Search for “PSR best costing practices”?", QuestionKind.CHOICE, TERMS, free_text=True)
ASKED = Interaction(
    id="i",
    code="K7Q2",
    status=InteractionStatus.PENDING,
    questions=(SEARCH,),
    context="I found 0 documents with “costing”, 214 with “coding”.",
    title="Research · term check",
    on_expire=OnExpire.CANCEL,
    expires_at=SIX,
)
REFUND = Action(
    "refund_payment", {"customer": "Ana Lima (c_8812)", "amount": 100.0, "reason": "double charge"}
)
REVIEW = replace(
    ASKED,
    questions=(
        Question(
            "q",
            "Customer confirmed by phone.",
            QuestionKind.REVIEW,
            action=REFUND,
            decisions=("approve", "edit", "reject"),
        ),
    ),
    context="",
    title="Billing",
    on_expire=OnExpire.AUTO,
    expirable=True,
    expires_at=None,
)


def ask(interaction=ASKED, index=0, contact=ANA, form_url=FORM, most=10, **more) -> Message:
    settings_ = {"token": TOKEN, "form_url": form_url, "now": NOW, "room": Room(most)}
    return question_message(interaction, index, TO, contact=contact, **(settings_ | more))


def argued(args) -> Message:
    """A review of a call with these arguments."""
    return ask(replace(REVIEW, questions=(replace(REVIEW.questions[0], action=Action("pay", args)),)))


def shown(message: Message) -> str:
    """The message as a person sees it, with its buttons between the reason and the footer."""
    rows = "\n".join(f"{label}: {value}" for label, value in message.fields)
    buttons = "  ".join(f"[ {button.label} ]" for button in message.buttons)
    blocks = (message.heading, message.title, rows, message.body, buttons, message.footer)
    return "\n".join(block for block in blocks if block)


class TestQuestion:
    def test_it_reads_as_a_person_would_ask(self):
        assert shown(ask()) == (
            "🟦 Research · term check\n"
            "Search for “PSR best costing practices”?\n"
            "I found 0 documents with “costing”, 214 with “coding”.\n"
            "[ Yes ]  [ Use “coding” ]  [ Something else… ]\n"
            "If you do nothing by 18:00 I stop. · #K7Q2"
        )

    def test_everything_that_it_says_is_in_the_persons_language_but_the_agents_words(self):
        assert shown(ask(contact=DORA)).endswith(
            "[ Yes ]  [ Use “coding” ]  [ Etwas anderes… ]\nOhne Antwort bis 18:00 höre ich auf. · #K7Q2"
        )

    def test_it_carries_what_a_provider_needs_to_bring_the_answer_back(self):
        message = ask()
        assert message.kind is MessageKind.QUESTION
        assert (message.token, message.code, message.form_url, message.language) == (
            TOKEN,
            "K7Q2",
            FORM,
            "en",
        )
        assert (message.to, message.interaction_id, message.expires_at) == (TO, "i", SIX)
        assert message.placeholder == "Something else…"
        assert [button.data or button.url for button in message.buttons] == [
            f"{TOKEN}:0.0",
            f"{TOKEN}:0.1",
            FORM,
        ]

    def test_a_link_that_only_works_on_this_machine_is_no_button(self):
        assert ask(form_url=LOCAL).buttons[-1].data == f"{TOKEN}:0.other"
        assert not any(button.url for button in ask(form_url=LOCAL).buttons)

    def test_a_confirmation_has_yes_and_no(self):
        question = Question("q", "Wipe production?", QuestionKind.CONFIRM)
        message = ask(replace(ASKED, questions=(question,), context="", expires_at=None))
        assert shown(message) == "🟦 Research · term check\nWipe production?\n[ Yes ]  [ No ]\n#K7Q2"
        assert [button.data for button in message.buttons] == [f"{TOKEN}:0.y", f"{TOKEN}:0.n"]

    def test_more_choices_than_fit_are_numbered_in_the_text(self):
        message = ask(most=2)
        assert shown(message) == (
            "🟦 Research · term check\n"
            "Search for “PSR best costing practices”?\n"
            "I found 0 documents with “costing”, 214 with “coding”.\n\n"
            "1. Yes\n"
            "2. Use “coding”\n\n"
            "Reply with the number, or in your own words.\n"
            "[ Answer on the form ]\n"
            "If you do nothing by 18:00 I stop. · #K7Q2"
        )

    def test_labels_too_long_for_a_button_are_numbered_and_so_are_the_buttons(self):
        choices = (Choice("a", "Keep " + "everything " * 5), Choice("b", "Keep nothing"))
        message = ask(replace(ASKED, questions=(replace(SEARCH, choices=choices, free_text=False),)))
        assert [button.label for button in message.buttons] == ["1", "2"]
        assert "1. Keep everything everything" in message.body

    def test_how_long_a_label_may_be_is_for_the_provider_to_say(self):
        choices = (Choice("a", "Keep all of it for now"), Choice("b", "Keep nothing"))
        question = replace(SEARCH, choices=choices, free_text=False)
        narrow, wide = (
            ask(replace(ASKED, questions=(question,), context=""), room=Room(3, most)) for most in (20, 40)
        )
        assert [button.label for button in narrow.buttons] == ["1", "2"]
        assert narrow.body == "1. Keep all of it for now\n2. Keep nothing"
        assert ([button.label for button in wide.buttons], wide.body) == (
            ["Keep all of it for now", "Keep nothing"],
            "",
        )

    def test_of_more_decisions_than_fit_those_that_decide_have_buttons(self):
        question = replace(REVIEW.questions[0], decisions=("approve", "edit", "reject", "respond"))
        review = replace(REVIEW, questions=(question,))
        message = ask(review, room=Room(3))
        assert [button.label for button in message.buttons] == ["Approve", "Reject", "Answer on the form"]
        assert message.buttons[2].url == FORM
        assert "Reply approve" not in message.body
        without_a_link = ask(review, room=Room(3), form_url=LOCAL)
        assert [button.label for button in without_a_link.buttons] == ["Approve", "Reject"]
        assert ask(review, room=Room(1)).body.endswith("Reply approve or reject.")

    def test_several_of_many_are_answered_with_numbers(self):
        question = replace(SEARCH, kind=QuestionKind.CHOICES, free_text=False)
        message = ask(replace(ASKED, questions=(question,), context=""))
        assert message.body == "1. Yes\n2. Use “coding”\n\nReply with the numbers, e.g. 1, 3."
        assert [button.url for button in message.buttons] == [FORM]
        assert message.placeholder == "1, 3"

    @pytest.mark.parametrize(
        ("kind", "hint"),
        [
            (QuestionKind.TEXT, "Your answer"),
            (QuestionKind.NUMBER, "A number"),
            (QuestionKind.DATE, "3 Dec, tomorrow, Friday 9:00"),
        ],
    )
    def test_what_is_answered_in_words_has_a_hint_and_no_buttons(self, kind, hint):
        message = ask(replace(ASKED, questions=(Question("q", "What now?", kind),)))
        assert (message.placeholder, message.buttons) == (hint, ())

    def test_a_provider_without_buttons_gets_a_hint(self):
        question = Question("q", "Wipe production?", QuestionKind.CONFIRM)
        message = ask(replace(ASKED, questions=(question,), context=""), most=0)
        assert (message.body, message.buttons) == ("Reply yes or no.", ())

    def test_a_long_reason_is_cut_with_a_link_to_all_of_it(self):
        long = replace(ASKED, context="one\ntwo\nthree\nfour")
        assert ask(long).body == f"one\ntwo …\n{FORM}"
        assert ask(replace(ASKED, context="word " * 200)).body.endswith(f"…\n{FORM}")
        assert ask(long, full=True).body == "one\ntwo\nthree\nfour"

    def test_the_subject_of_a_mail_is_the_question_and_the_code(self):
        assert ask().subject == "Search for “PSR best costing practices”? [#K7Q2]"
        long = subject("Shall I " + "really " * 20 + "go?\nBcc: x@example.org", "K7Q2")
        assert len(long) <= 60 + len(" [#K7Q2]")
        assert long.endswith("… [#K7Q2]")
        assert "\n" not in subject("a\r\nb\u2028c", "")

    def test_the_code_can_be_found_again_in_what_was_sent(self):
        assert find_codes(ask().footer) == find_codes(ask().subject) == ("K7Q2",)


class TestSeveralQuestions:
    two = replace(ASKED, questions=(SEARCH, Question("r", "How many hits?", QuestionKind.NUMBER)))

    def test_they_are_listed_and_answered_on_the_form(self):
        assert shown(ask(self.two, None)) == (
            "🟦 Research · term check\n"
            "2 questions for you\n"
            "1. Search for “PSR best costing practices”?\n"
            "2. How many hits?\n\n"
            "I found 0 documents with “costing”, 214 with “coding”.\n"
            "[ Answer 2 questions ]\n"
            "If you do nothing by 18:00 I stop. · #K7Q2"
        )

    def test_on_this_machine_the_link_stands_in_the_text(self):
        message = ask(self.two, None, form_url=LOCAL)
        assert message.body.endswith(f"Answer here: {LOCAL}")
        assert message.buttons == ()

    def test_one_of_them_says_which_it_is(self):
        assert ask(self.two, 1).heading == "🟦 Research · term check · 2 of 2"
        assert ask(self.two, 0).buttons[1].data == f"{TOKEN}:0.1"


class TestReview:
    def test_the_call_comes_first_and_what_the_agent_says_below(self):
        assert shown(ask(REVIEW)) == (
            "🟥 Billing · wants to run\n"
            "refund_payment\n"
            "customer: Ana Lima (c_8812)\n"
            "amount: 100.0\n"
            "reason: double charge\n"
            "The agent says: “Customer confirmed by phone.”\n"
            "[ Approve ]  [ Reject ]  [ Change… ]\n"
            "#K7Q2"
        )

    def test_numbers_and_times_are_the_persons_own_with_the_exact_value(self):
        args = {"amount": 1234567.5, "customer_id": 1234567, "at": "2026-12-04T09:00:00Z", "limit": 0.1}
        question = replace(REVIEW.questions[0], action=Action("pay", args))
        assert ask(replace(REVIEW, questions=(question,)), contact=DORA).fields == (
            ("amount", "1.234.567,5"),
            ("customer_id", "1234567"),
            ("at", "Fr., 4. Dez., 10:00 (2026-12-04T09:00:00Z)"),
            ("limit", "0,1"),
        )

    def test_values_that_look_like_others_are_told_apart(self):
        args = {"a": "100", "b": "", "c": None, "d": True, "e": "true", "f": {"x": [1, "é"]}, "g": " x"}
        question = replace(REVIEW.questions[0], action=Action("pay", args))
        assert [value for _, value in ask(replace(REVIEW, questions=(question,))).fields] == [
            "“100”",
            "“”",
            "—",
            "yes (true)",
            "“true”",
            "\nx:\n│ 1. 1\n│ 2. é",
            "“ x”",
        ]

    def test_what_is_nested_stands_in_lines_under_its_name(self):
        args = {
            "to": {"name": "Ana Lima", "account_no": 88123, "verified": True},
            "lines": [{"sku": "A-1", "price": 1234.5}, {"sku": "B-2", "note": "Hi\nthere"}],
            "retry": {"on": {"status": {"codes": [502]}, "empty": {}}},
        }
        assert argued(args).text.split("\n\n")[2].splitlines() == [
            "to:",
            "│ name: Ana Lima",
            "│ account_no: 88123",
            "│ verified: yes (true)",
            "lines:",
            "│ 1.",
            "│ │ sku: A-1",
            "│ │ price: 1234.5",
            "│ 2.",
            "│ │ sku: B-2",
            '│ │ note: "Hi\\nthere"',
            "retry:",
            "│ on:",
            "│ │ status:",
            "│ │ │ codes: [502]",
            "│ │ empty: {}",
        ]

    @pytest.mark.parametrize(
        "value",
        [{}, [], list(range(25)), {"n" * 41: 1}, {"a": {"b" * 500: 1}}],
        ids=lambda value: str(value)[:9],
    )
    def test_what_is_empty_or_long_stays_json(self, value):
        assert argued({"a": value}).fields == (("a", json.dumps(value)),)

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\x85", "\u2028", "\x0b", "\x1e"])
    @pytest.mark.parametrize("forged", ["iban: EVIL", "│ iban: EVIL", "2. EVIL"])
    def test_nothing_nested_can_be_taken_for_another_line(self, end, forged):
        """Names come from a model, and are as hostile as values."""
        lie = f"x{end}{forged}"
        for value in ({"a": lie}, {lie: "a"}, [lie], {"a": {"b": {"c": {"d": lie}}}}, {forged: {"b": 1}}):
            (shown,) = (text for _, text in argued({"to": value}).fields)
            lines = shown.splitlines()
            assert lines[0] == "" and not any(line.lstrip("│ ").startswith(forged) for line in lines), shown

    @pytest.mark.parametrize("before", ["\n", "\x00\n", "\x85", " \n", "\u2028"])
    def test_no_text_can_be_taken_for_something_nested(self, before):
        (shown,) = (text for _, text in argued({"to": f"{before}iban: EVIL"}).fields)
        assert shown.startswith("“") and outline(shown) == ()

    def test_what_turns_or_hides_is_shown_in_names_too(self):
        assert '\n"a⟦U+202E⟧b": 1' in argued({"to": {"a\u202eb": 1}}).fields[0][1]

    def test_what_is_nested_is_a_tree_for_where_lists_can_be_nested(self):
        (entry, last) = outline(argued({"to": {"a": [1, {"b": 2}], "c": 3}}).fields[0][1])
        assert (entry.text, last) == ("a:", Entry("c: 3"))
        assert entry.below == (Entry("1. 1"), Entry("2.", (Entry("b: 2"),)))

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x0b", "\u2028"])
    def test_in_plain_text_no_line_of_an_argument_can_be_taken_for_another_one(self, end):
        action = Action("pay", {"note": f"Hi{end}amount: 1{end}The agent says: “fine”", "amount": 100})
        question = replace(REVIEW.questions[0], action=action)
        rows = ask(replace(REVIEW, questions=(question,))).text.splitlines()
        assert [row for row in rows if row.startswith(("note", "amount", "The agent"))] == [
            "note: Hi",
            "amount: 100",
            *[row for row in rows if row.startswith("The agent") and "fine" not in row],
        ]
        assert "│ amount: 1" in rows and "│ The agent says: “fine”" in rows

    def test_nothing_of_a_call_is_cut(self):
        question = replace(REVIEW.questions[0], action=Action("run", {"script": "rm " * 3000}))
        assert ask(replace(REVIEW, questions=(question,))).fields[0][1].count("rm") == 3000

    def test_what_an_agent_claims_is_capped_and_cannot_pass_for_the_call(self):
        question = replace(REVIEW.questions[0], text="\u202egnihton 🟩 Approved already. " * 40)
        message = ask(replace(REVIEW, questions=(question,)))
        assert message.body.startswith("The agent says: “⟦U+202E⟧")
        assert len(message.body) < 340
        assert message.title == "refund_payment"

    @pytest.mark.parametrize(
        "decisions", [(), ("approve",), ("approve", "edit"), ("approve", "respond"), ("reject",)]
    )
    @pytest.mark.parametrize("form_url", [FORM, LOCAL, ""])
    def test_approve_is_never_the_only_button(self, decisions, form_url):
        question = replace(REVIEW.questions[0], decisions=decisions)
        labels = [
            button.label for button in ask(replace(REVIEW, questions=(question,)), form_url=form_url).buttons
        ]
        assert labels
        assert labels != ["Approve"]

    def test_a_confirmation_of_an_action_is_red_too(self):
        question = Question("q", "Go?", QuestionKind.CONFIRM, action=REFUND)
        message = ask(replace(REVIEW, questions=(question,), title="Billing · refunds"))
        assert message.heading == "🟥 Billing · wants to run"
        assert [button.label for button in message.buttons] == ["Yes", "No"]


class TestSilence:
    @pytest.mark.parametrize(
        ("on_expire", "expirable", "said"),
        [
            (OnExpire.CANCEL, True, "If you do nothing by 18:00 I stop."),
            (OnExpire.AUTO, True, "If you do nothing by 18:00 I go on without an answer."),
            (OnExpire.AUTO, False, "Please answer by 18:00. I wait until you do."),
            (OnExpire.LEAVE, True, "Please answer by 18:00. I wait until you do."),
            (OnExpire.NO_RESPONSE, False, "If you do nothing by 18:00 I go on without an answer."),
            (OnExpire.DEFAULT, False, "If you do nothing by 18:00 I go on with “Use ‘coding’”."),
        ],
    )
    def test_the_footer_says_what_silence_truly_does(self, on_expire, expirable, said):
        interaction = replace(ASKED, on_expire=on_expire, expirable=expirable, default="coding")
        assert ask(interaction).footer == f"{said} · #K7Q2"

    def test_silence_is_never_said_to_approve(self):
        assert ask(replace(REVIEW, expires_at=SIX)).footer.startswith(
            "If you do nothing by 18:00 it is not approved."
        )
        question = Question("q", "Wipe?", QuestionKind.CONFIRM)
        interaction = replace(REVIEW, questions=(question,), expires_at=SIX)
        assert ask(interaction).footer.startswith("If you do nothing by 18:00 I take it as not confirmed.")

    def test_without_a_deadline_there_is_only_the_code(self):
        assert ask(replace(ASKED, expires_at=None)).footer == "#K7Q2"

    def test_another_day_is_named(self):
        message = ask(replace(ASKED, expires_at=at(2026, 12, 4, 9, 0)))
        assert message.footer == "If you do nothing by Fri 4 Dec, 09:00 I stop. · #K7Q2"

    def test_a_reminder_is_the_question_with_the_time_left_above(self):
        given = {"contact": ANA, "token": TOKEN, "form_url": FORM, "room": Room()}
        message = reminder_message(ASKED, 0, TO, now=at(2026, 12, 3, 17, 20), **given)
        assert message.kind is MessageKind.REMINDER
        assert shown(message) == f"⏳ Still waiting, 40 min left.\n{shown(ask())}"
        assert message.code == "K7Q2"
        last = reminder_message(ASKED, 0, TO, now=ASKED.expires_at - 4_000_000, **given)
        assert last.heading.startswith("⏳ Still waiting, less than a minute left.\n")
        overdue = reminder_message(ASKED, 0, TO, now=at(2026, 12, 3, 19, 0), **given)
        assert overdue.heading.startswith("⏳ Still waiting. This was due at 18:00.\n")
        endless = reminder_message(replace(ASKED, expires_at=None), 0, TO, now=NOW, **given)
        assert endless.heading.startswith("⏳ Still waiting.\n")


class TestSensitive:
    secret = replace(
        ASKED,
        sensitive=True,
        title="secret agent",
        context="secret reason",
        questions=(replace(SEARCH, text="secret?", choices=(Choice("a", "secret"),)),),
        default="a",
        on_expire=OnExpire.DEFAULT,
    )

    def test_only_that_there_is_a_question_leaves(self):
        assert shown(ask(self.secret)) == "🟦 An agent\nA question is waiting for you.\n[ Open ]\n#K7Q2"
        assert f"Answer here: {LOCAL}" in ask(self.secret, form_url=LOCAL).body

    def test_nothing_said_about_it_afterwards_tells_more(self):
        done = replace(
            self.secret,
            status=InteractionStatus.COMPLETED,
            answered_by="ana",
            answered_at=NOW,
            answer=Answer({"q": "secret"}, "secret"),
        )
        given = {"viewer": "ana", "who": "Ana", "language": "en", "timezone": "UTC", "now": NOW}
        expired = replace(self.secret, status=InteractionStatus.EXPIRED)
        for message in (
            ask(self.secret, None),
            outcome_message(done, TO, **given),
            outcome_message(expired, TO, **given),
            already_message(done, TO, **given),
            unclear_message(
                self.secret,
                0,
                "unclear_confirm",
                {"question": "secret?", "text": "hm"},
                TO,
                contact=ANA,
                token=TOKEN,
                form_url=FORM,
                room=Room(),
            ),
        ):
            labels = "".join(button.label for button in message.buttons)
            assert "secret" not in message.text + message.subject + labels
        assert outcome_message(done, TO, **given).title == "✅ You answered · 13:02. Going on."
        assert pick_label(self.secret, "en") == "#K7Q2"


def outcome(interaction: Interaction, viewer: str = "ana", language: str = "en") -> str:
    message = outcome_message(
        interaction, TO, viewer=viewer, who="Ben", language=language, timezone="Europe/Vienna", now=NOW
    )
    assert message.kind is MessageKind.OUTCOME
    assert message.buttons == ()
    return message.title


def answered(value, question=SEARCH, by="ana", via="telegram") -> Interaction:
    return replace(
        ASKED,
        questions=(question,),
        status=InteractionStatus.COMPLETED,
        answered_by=by,
        answered_via=via,
        answered_at=NOW,
        answer=Answer({"q": value}, str(value), by, via, NOW),
    )


class TestOutcome:
    def test_who_answered_hears_that_it_goes_on(self):
        assert outcome(answered("coding")) == "✅ You chose “Use ‘coding’” · 14:02. Going on."

    @pytest.mark.parametrize(
        ("language", "said"),
        [
            ("en", "✅ The stand-in llm (openai:gpt-5) chose “Yes” · 14:02. No person answered."),
            ("de", "Kein Mensch hat geantwortet."),
            ("fr", "Aucune personne n’a répondu."),
            ("es", "No respondió ninguna persona."),
            ("zh", "没有人亲自回答。"),
        ],
    )
    def test_that_no_person_answered_is_said(self, language, said):
        by = "stand-in:llm (openai:gpt-5)"
        title = outcome(answered("yes", by=by, via="llm"), language=language)
        assert title.endswith(said) and "llm (openai:gpt-5)" in title

    def test_who_sits_at_the_terminal_is_nobody_in_particular(self):
        title = outcome(answered("yes", by="terminal:console", via="console"))
        assert title == "✅ Somebody in the terminal chose “Yes” · 14:02."

    def test_the_others_hear_who_and_through_what(self):
        assert outcome(answered("yes", by="ben", via="whatsapp")) == "✅ Ben chose “Yes” on WhatsApp · 14:02."
        assert outcome(answered("yes", by="ben", via="email"), language="de") == (
            "✅ Ben hat „Yes“ gewählt (per Mail) · 14:02."
        )
        assert outcome(answered("yes", by="ben", via="api")) == "✅ Ben chose “Yes” through the API · 14:02."

    @pytest.mark.parametrize(
        ("question", "value", "said"),
        [
            (SEARCH, "my own words", "You wrote “my own words”"),
            (Question("q", "?"), "a\nb", "You wrote “a b”"),
            (Question("q", "?", QuestionKind.CONFIRM), False, "You chose “No”"),
            (
                Question("q", "?", QuestionKind.CHOICES, TERMS),
                ["yes", "coding"],
                "You chose “Yes, Use ‘coding’”",
            ),
            (Question("q", "?", QuestionKind.NUMBER), 1.5, "You wrote “1.5”"),
            (Question("q", "?", QuestionKind.DATE), "2026-12-04", "You wrote “Fri, 4 Dec 2026”"),
            (
                Question("q", "?", QuestionKind.DATE),
                "2026-12-04T09:00:00+01:00",
                "You wrote “Fri, 4 Dec 2026, 09:00”",
            ),
            (REVIEW.questions[0], {"decision": "approve"}, "You approved this"),
            (REVIEW.questions[0], {"decision": "reject", "message": "no"}, "You rejected this"),
            (REVIEW.questions[0], {"decision": "edit", "args": {}}, "You approved this with changes"),
            (REVIEW.questions[0], {"decision": "respond", "message": "ask Ana"}, "You wrote “ask Ana”"),
        ],
    )
    def test_every_kind_of_answer_has_its_words(self, question, value, said):
        assert outcome(answered(value, question)) == f"✅ {said} · 14:02. Going on."

    @pytest.mark.parametrize(
        ("value", "names", "by", "said"),
        [
            ("like this", ["plan.pdf"], "ana", "You wrote “like this”, with plan.pdf"),
            ("", ["plan.pdf"], "ana", "You answered, with plan.pdf"),
            ("", ["voice"], "ana", "You answered, with a file"),
            ("", ["a.pdf", "b.pdf"], "ben", "Ben answered on WhatsApp, with 2 files"),
            ("", ["\u202efdp.exe"], "ana", "You answered, with ⟦U+202E⟧fdp.exe"),
            ("", ["x" * 99 + ".pdf"], "ana", f"You answered, with {'x' * 39}…"),
        ],
    )
    def test_which_files_came_with_it_is_said(self, value, names, by, said):
        question = Question("q", "What does it look like?")
        files = tuple(Attachment(str(place), name) for place, name in enumerate(names))
        record = answered(value, question, by=by, via="whatsapp")
        assert record.answer is not None
        record = replace(record, answer=replace(record.answer, attachments=files))
        assert outcome(record).removesuffix(" Going on.") == f"✅ {said} · 14:02."
        quiet = outcome(replace(record, sensitive=True))
        assert "with" not in quiet and "answered" in quiet

    @pytest.mark.parametrize("by", ["ana", "ben"])
    def test_files_that_do_not_reach_the_agent_are_not_told_as_if_they_did(self, by):
        question = Question("q", "What does it look like?", files=False)
        record = answered("like this", question, by=by, via="whatsapp")
        assert record.answer is not None
        sent = replace(record, answer=replace(record.answer, attachments=(Attachment("1", "plan.pdf"),)))
        for language in LANGUAGES:
            said = outcome(sent, language=language)
            assert said.endswith(say("files_unread", language)) and "plan.pdf" not in said
        assert outcome(sent) == f"{outcome(record)} {say('files_unread', 'en')}"

    def test_words_from_right_to_left_turn_nothing_of_the_sentence_around(self):
        record = answered("שלום", Question("q", "Which?"))
        assert outcome(record) == "✅ You wrote “\u2068שלום\u2069” · 14:02. Going on."
        hidden = answered("\u2068a\u2069 שלום", Question("q", "Which?"))
        assert "“\u2068⟦U+2068⟧a⟦U+2069⟧ שלום\u2069”" in outcome(hidden)  # nobody else's signs count

    def test_what_is_cut_ends_what_is_set_apart(self):
        record = answered("שלום " * 40, Question("q", "Which?"))
        message = outcome_message(record, TO, viewer="ana", who="Ana", language="en", timezone="UTC", now=NOW)
        assert message.subject.startswith("✅ You wrote “\u2068שלום") and "⟦" not in message.subject
        assert message.subject.endswith("\u2069… [#K7Q2]") and message.subject.count("\u2068") == 1

    def test_the_question_stays_below(self):
        message = outcome_message(
            answered("yes"), TO, viewer="ana", who="Ana", language="en", timezone="UTC", now=NOW
        )
        assert message.body == SEARCH.text

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            (
                {"on_expire": OnExpire.AUTO},
                "⌛ This closed at 18:00 without an answer. The agent was told that nobody answered.",
            ),
            ({}, "⌛ This closed at 18:00 without an answer. The agent was stopped."),
            (
                {"on_expire": OnExpire.DEFAULT, "default": "yes"},
                "⌛ This closed at 18:00 without an answer. The agent goes on with “Yes”.",
            ),
        ],
    )
    def test_what_expired_says_what_the_agent_was_given(self, changes, said):
        assert outcome(replace(ASKED, status=InteractionStatus.EXPIRED, **changes)) == said

    def test_what_was_cancelled_says_why(self):
        gone = replace(ASKED, status=InteractionStatus.CANCELLED, reason="cancelled by the asker")
        assert outcome(gone) == "↩️ The agent no longer needs this. Thanks anyway."
        changed = replace(gone, reason="superseded")
        assert outcome(changed) == "↩️ The question changed. Please look again."

    def test_what_is_still_open_says_so(self):
        assert outcome(ASKED) == "⏳ This is overdue. You can still answer."


class TestConversation:
    def test_which_one(self):
        message = which_one_message(
            [("Search for “costing”?", TOKEN), ("Deploy now?", TOKEN[::-1])], "yes", TO, language="en"
        )
        assert shown(message) == (
            "Two questions are open. Which one is “yes” for?\n[ Search for “costing”? ]  [ Deploy now? ]"
        )
        assert [button.data for button in message.buttons] == [f"{TOKEN}:pick", f"{TOKEN[::-1]}:pick"]
        single = which_one_message([("Deploy now?", TOKEN)], "yes", TO, language="en")
        assert single.title == "I am not sure what “yes” is for. Is it this question?"

    def test_questions_that_look_alike_are_listed_with_their_codes(self):
        def asked(code: str, *texts: str) -> Interaction:
            return replace(
                ASKED, code=code, questions=tuple(Question(t, t, QuestionKind.TEXT) for t in texts)
            )

        alike = [asked("K7Q2", "Delete it?"), asked("M3PX", "Pay?"), asked("R4SU", "Delete it?")]
        assert pick_labels(alike, "en") == ["#K7Q2 Delete it?", "Pay?", "#R4SU Delete it?"]
        cut = [asked("K7Q2", "Delete the report of March?"), asked("R4SU", "Delete the report of May?")]
        assert pick_labels(cut, "en") == [
            "#K7Q2 Delete the report of March?",
            "#R4SU Delete the report of May?",
        ]
        long = [asked(code, "Delete the report " * 5) for code in ("K7Q2", "R4SU")]
        assert all(len(label) <= PICK and label[5] == " " for label in pick_labels(long, "en"))
        assert pick_labels([asked("K7Q2", "How many?", "When?", "Why?")], "en") == ["How many? (+2)"]

    def test_where_buttons_may_be_missing_which_one_is_answered_by_code(self):
        asked = [replace(ASKED, code="M3PX", sensitive=True), ASKED]
        message = which_one_message(
            [(label, TOKEN) for label in pick_labels(asked, "en")], "yes", TO, language="en"
        )
        listed = by_code(message, asked, "yes")
        assert shown(listed) == (
            "Two questions are open. Which one is “yes” for?\n"
            f"#M3PX\n#K7Q2 {pick_label(ASKED, 'en')}\n"
            "Write its code and your answer, e.g. “#K7Q2 yes”.\n[ #M3PX ]  [ #K7Q2 ]"
        )
        assert [button.data for button in listed.buttons] == [button.data for button in message.buttons]
        see_it = "Write its code to see it again, e.g. “#M3PX”."
        assert by_code(message, asked, "").body.endswith(see_it)
        secret = [asked[0], replace(ASKED, questions=ASKED.questions * 2)]
        assert by_code(message, secret, "yes").body.endswith(see_it)
        assert by_code(message, [replace(ASKED, code=""), ASKED], "yes") == message

    def test_not_clear_comes_with_the_questions_own_buttons(self):
        question = Question("q", "Wipe production?", QuestionKind.CONFIRM)
        message = unclear_message(
            replace(ASKED, questions=(question,)),
            0,
            "unclear_confirm",
            {"question": question.text, "text": "yes but not prod"},
            TO,
            contact=ANA,
            token=TOKEN,
            form_url=FORM,
            room=Room(),
        )
        assert message.kind is MessageKind.CONVERSATION
        assert shown(message) == (
            "I need a clear yes or no for “Wipe production?”. You wrote “yes but not prod”.\n"
            "[ Yes ]  [ No ]\n#K7Q2"
        )
        assert message.token == TOKEN

    @pytest.mark.parametrize(
        ("key", "room", "said"),
        [
            ("unclear_choice", Room(), "Tap one, or write its number."),
            ("unclear_choice", Room(1), "Write one of the numbers."),
            ("choice_ambiguous", Room(), "Tap the one you mean."),
            ("choice_ambiguous", Room(1), "Write the one you mean in full."),
        ],
    )
    def test_nobody_is_told_to_tap_where_there_are_only_numbers(self, key, room, said):
        given = {"contact": ANA, "token": TOKEN, "form_url": FORM, "room": room}
        message = unclear_message(ASKED, 0, key, {"text": "blue"}, TO, **given)
        assert message.title.endswith(said)
        assert ("1. Yes" in message.body) == (room == Room(1))

    def test_for_changes_there_is_a_way_to_the_form_from_everywhere(self):
        for form_url in (FORM, LOCAL):
            message = unclear_message(
                REVIEW,
                0,
                "edit_needs_form",
                {},
                TO,
                contact=ANA,
                token=TOKEN,
                form_url=form_url,
                room=Room(),
            )
            assert form_url in message.text + "".join(button.url for button in message.buttons)

    def test_several_questions_are_answered_on_the_form_again(self):
        message = unclear_message(
            TestSeveralQuestions.two,
            None,
            "not_understood",
            {},
            TO,
            contact=ANA,
            token=TOKEN,
            form_url=FORM,
            room=Room(),
        )
        assert [button.url for button in message.buttons] == [FORM]

    def test_already_answered(self):
        given = {"who": "Ben", "language": "en", "timezone": "Europe/Vienna", "now": NOW}
        done = answered("yes", by="ben")
        assert already_message(done, TO, viewer="ana", **given).title == (
            "Ben answered this at 14:02 on Telegram: “Yes”. Nothing changed."
        )
        assert already_message(done, TO, viewer="ben", **given).title == (
            "You answered this at 14:02 on Telegram: “Yes”. Nothing changed."
        )
        expired = replace(ASKED, status=InteractionStatus.EXPIRED, on_expire=OnExpire.AUTO)
        assert already_message(expired, TO, viewer="ana", **given).title == (
            "This closed at 18:00 without an answer. The agent was told that nobody answered."
        )

    @pytest.mark.parametrize(
        ("key", "args", "said"),
        [
            ("not_for_you", {"who": "Ana"}, "This question is for Ana."),
            ("stranger", {}, "I don't know this account. Ask whoever runs the agent for a link."),
            (
                "unclear_date",
                {"text": "next week"},
                "“next week” is not a date I can read. Try 3 Dec, tomorrow, or Friday 9:00.",
            ),
            (
                "mail_not_trusted",
                {"link": FORM},
                f"I can't be sure this mail is from you, so nothing was decided. Answer here: {FORM}",
            ),
            (
                "also_sent",
                {"provider": "Telegram"},
                "Also sent on Telegram, which is not answering right now.",
            ),
            ("cancelled", {}, "The agent no longer needs this. Thanks anyway."),
        ],
    )
    def test_every_other_case_has_its_sentence(self, key, args, said):
        assert conversation_message(key, TO, language="en", args=args).title == said

    def test_what_somebody_wrote_is_shortened_and_made_visible_inside_a_sentence(self):
        message = conversation_message(
            "unclear_date", TO, language="en", args={"text": "a\u202e\n" + "x" * 500}
        )
        assert message.title.startswith("“a⟦U+202E⟧ xxx")
        assert len(message.title) < 160


class TestRun:
    def said(self, **given) -> str:
        return shown(run_message(TO, who="Research", **({"status": RunStatus.COMPLETED} | given)))

    def test_a_report_is_shown_shortly(self):
        assert self.said(result={"report": "12 passages on coding practices."}, open_url=FORM) == (
            "📄 Report ready: 12 passages on coding practices.\n[ Open ]"
        )
        assert self.said(result={"report": "12 passages.\n1. a\n2. b"}) == (
            "📄 Report ready: 12 passages.\n1. a\n2. b"
        )

    @pytest.mark.parametrize(
        ("result", "said"),
        [
            ("all well", "📄 Research is done: all well"),
            (None, "📄 Research is done."),
            ({"x": 1}, "📄 Research is done."),
            (
                {"messages": [{"content": "hi"}, {"content": [{"type": "text", "text": "bye"}]}]},
                "📄 Research is done: bye",
            ),
        ],
    )
    def test_any_result_has_a_sentence(self, result, said):
        assert self.said(result=result) == said

    def test_a_failure_says_why_and_offers_to_try_again(self):
        message = run_message(
            TO,
            who="Research",
            status=RunStatus.FAILED,
            error="no documents.",
            token=TOKEN,
            open_url=FORM,
            retry=True,
        )
        assert shown(message) == "⚠️ Research stopped: no documents.\n[ Open ]  [ Try again ]"
        assert [(button.url, button.data) for button in message.buttons] == [
            (FORM, ""),
            ("", f"{TOKEN}:retry"),
        ]
        assert message.token == ""  # a reply to it answers nothing

    def test_where_others_read_too_open_is_a_tap_and_no_link(self):
        message = run_message(TO, who="Research", status=RunStatus.COMPLETED, result="a", token=TOKEN)
        assert [(button.url, button.data) for button in message.buttons] == [("", f"{TOKEN}:open")]

    def test_only_a_failure_can_be_tried_again(self):
        for status in RunStatus:
            given = {"token": TOKEN, "open_url": FORM, "retry": True}
            message = run_message(TO, who="Research", status=status, **given)
            assert any(button.data for button in message.buttons) == (status is RunStatus.FAILED)

    @pytest.mark.parametrize(
        ("result", "less"),
        [
            (None, False),
            ("", False),
            ([], False),
            ("all well", False),
            (["all well"], False),
            ({"report": "12 passages.\n1. a"}, False),
            ({"messages": [{"content": "hi"}]}, False),
            ("x" * 160 + "\n" + "y" * 600, False),
            ("x" * 160 + "\n" + "y" * 601, True),
            ("x" * 600, False),
            ("x" * 601, True),
            ("word " * 5000, True),
            ({"report": "12 passages.", "count": 12}, True),
            ({"count": 12}, True),
            (["one", "two"], True),
            (0, True),
            ({"report": ["a", "b"]}, True),
        ],
    )
    def test_there_is_something_to_open_where_the_message_shows_less(self, result, less):
        assert says_less({"kind": "completed", "result": result}) is less
        if isinstance(result, str) and not less:
            assert "…" not in run_message(TO, who="R", status=RunStatus.COMPLETED, result=result).text

    def test_a_failure_can_always_be_opened(self):
        assert says_less({"kind": "failed", "error": ""})


class TestResult:
    def whole(self, result):
        return whole_result(result, language="en", timezone="UTC", now=NOW)

    def test_a_text_is_itself_line_by_line_without_the_marks_of_markdown(self):
        assert self.whole("a\n\n- **b**\u202e") == Whole("a\n\n- b⟦U+202E⟧")
        assert self.whole({"report": "> `b`", "raw": "> `b`"}) == Whole("b", (Part("Raw", "> `b`"),))

    def test_words_come_first_and_the_rest_with_its_labels(self):
        assert self.whole(
            {"report": "12 passages.", "page_count": 12000, "done": True, "none": None}
        ) == Whole(
            "12 passages.",
            (Part("Page count", "12,000"), Part("Done", "yes (true)"), Part("None", "—")),
        )

    def test_what_is_nested_stays_nested(self):
        result = {"found": [{"name": "a"}, "b"], "lines": [12, 40], "empty": {}}
        assert self.whole(result).parts == (
            Part("Found", parts=(Part("1", parts=(Part("Name", "a"),)), Part("2", "b"))),
            Part("Lines", "12\n40"),
            Part("Empty", "—"),
        )

    def test_a_conversation_s_last_words_come_first(self):
        messages = [{"content": "hi"}, {"content": "bye"}]
        found = self.whole({"messages": messages})
        assert found.text == "bye"
        assert [part.label for part in found.parts] == ["Messages"]

    def test_nothing_is_nothing_and_a_number_is_itself(self):
        assert (self.whole(None), self.whole(0), self.whole([])) == (Whole(), Whole("0"), Whole())

    def test_of_what_is_too_deep_too_many_or_too_long_as_much_as_fits_is_shown_and_that_it_is_not_all(self):
        deep: object = "bottom"
        for _ in range(50):
            deep = {"in": deep}
        assert "bottom" in str(self.whole(deep))
        assert not self.whole(deep).cut
        many = self.whole([{"n": n} for n in range(5000)])
        assert many.cut and len(many.parts) == 250
        long = self.whole({"report": "x" * 300_000, "more": "y"})
        assert long.cut and len(long.text) == 200_000 and long.parts == ()

    def test_a_long_result_is_cut(self):
        message = run_message(TO, who="Research", status=RunStatus.COMPLETED, result="word " * 5000)
        assert len(message.text) < 700

    def test_a_notice_is_its_text(self):
        message = notice_message("Backup done.\u202e", TO)
        assert (message.kind, message.title) == (MessageKind.NOTICE, "Backup done.⟦U+202E⟧")


class TestVisible:
    @pytest.mark.parametrize(
        ("text", "seen"),
        [
            ("a\u202eb", "a⟦U+202E⟧b"),
            ("a\u200bb\u2066c\u00ad", "a⟦U+200B⟧b⟦U+2066⟧c⟦U+00AD⟧"),
            ("hid\U000e0041den", "hid⟦U+E0041⟧den"),
            ("\u3164\u2800\ufeff", "⟦U+3164⟧⟦U+2800⟧⟦U+FEFF⟧"),
            ("a\x00\x1b[31m\x7fb\x9b", "a[31mb"),
            ("a\r\nb\u2028c\x0bd", "a\nb\nc\nd"),
            ("a\ud83db", "a⟦U+D83D⟧b"),
            ("a\ufe0fb", "a⟦U+FE0F⟧b"),
            ("a\u200db", "a⟦U+200D⟧b"),
        ],
    )
    def test_what_hides_is_shown_as_what_it_is(self, text, seen):
        assert visible(text) == seen

    @pytest.mark.parametrize(
        "text", ["Ünï “códé” — 你好 שלום مرحبا\n\tok", "❤️ 1️⃣ 👩‍👩‍👧 👍🏽", "می‌خواهم", "क्‍ष", "e\u0301"]
    )
    def test_what_writing_needs_stays(self, text):
        assert visible(text) == text

    @settings(unhurried)
    @given(st.text(st.characters()))
    def test_nothing_that_hides_is_left(self, text):
        assert not set(visible(text)) & set(
            "\u202a\u202b\u202d\u202e\u2066\u2067\u2069\u200b\u200e\u200f\x00\x1b"
        )
        visible(text).encode()


@pytest.mark.parametrize(
    ("url", "opens"),
    [
        (FORM, True),
        ("http://192.168.1.5/f/x", True),
        ("", False),
        (LOCAL, False),
        ("http://localhost:8700/f/x", False),
        ("http://a.localhost/f/x", False),
        ("http://[::1]/f/x", False),
        ("http://0.0.0.0/f/x", False),
        ("http://127.1.2.3/f/x", False),
        ("javascript:alert(1)", False),
        ("http://[bad/f", False),
    ],
)
def test_a_link_is_a_button_only_where_it_can_be_opened_elsewhere(url, opens):
    assert reachable(url) is opens


anything = st.text(st.characters(), max_size=30)
choices = st.lists(st.builds(Choice, anything, anything), max_size=5).map(tuple)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | anything,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3),
    max_leaves=8,
)
actions = st.none() | st.builds(Action, anything, st.dictionaries(anything, json_values, max_size=3))
decisions = st.lists(st.sampled_from(["approve", "edit", "reject", "respond"]), unique=True).map(tuple)
questions = st.builds(
    Question,
    anything,
    anything,
    st.sampled_from(QuestionKind),
    choices,
    st.booleans(),
    action=actions,
    decisions=decisions,
)
times = st.none() | st.integers(-(10**18), 10**18)
answers = st.none() | st.builds(
    Answer, st.dictionaries(anything, json_values, max_size=2), default_used=st.booleans()
)
interactions = st.builds(
    Interaction,
    id=st.just("i"),
    code=st.sampled_from(["", "K7Q2"]),
    status=st.sampled_from(InteractionStatus),
    questions=st.lists(questions, min_size=1, max_size=3).map(tuple),
    context=anything,
    title=anything,
    agent=anything,
    on_expire=st.sampled_from(OnExpire),
    default=json_values,
    expirable=st.booleans(),
    sensitive=st.booleans(),
    expires_at=times,
    answered_by=st.sampled_from(["", "ana"]),
    answered_via=anything,
    answered_at=times,
    answer=answers,
    reason=anything,
)
contacts = st.none() | st.builds(Contact, st.just("ana"), anything, anything, anything)


@settings(unhurried, max_examples=150)
@given(
    interactions,
    contacts,
    st.sampled_from([FORM, LOCAL, "", "http://[x"]),
    st.integers(0, 12),
    json_values,
    anything,
)
def test_whatever_agents_and_people_write_a_message_comes_out_and_its_taps_come_back(
    interaction, contact, form_url, most, result, text
):
    language = contact.language if contact else "en"
    timezone = contact.timezone if contact else "UTC"
    given = {"viewer": "ana", "who": text, "language": language, "timezone": timezone, "now": NOW}
    place = {"contact": contact, "token": TOKEN, "form_url": form_url, "room": Room(most)}
    many = [ask(interaction, index, contact, form_url, most) for index in range(len(interaction.questions))]
    messages = [
        *many,
        ask(interaction, None, contact, form_url, most),
        reminder_message(interaction, None, TO, now=NOW, **place),
        outcome_message(interaction, TO, **given),
        already_message(interaction, TO, **given),
        unclear_message(interaction, 0, "unclear_choice", {"text": text, "question": text}, TO, **place),
        which_one_message([(pick_label(interaction, language), TOKEN)] * 2, text, TO, language=language),
        run_message(TO, who=text, status=RunStatus.COMPLETED, result=result, language=language),
        run_message(TO, who=text, status=RunStatus.FAILED, error=text, language=language),
        notice_message(text, TO, title=text),
    ]
    for message in messages:
        assert message.title
        (message.text + message.subject).encode()
        assert "\n" not in message.subject
        for button in message.buttons:
            assert button.label.strip()
            assert bool(button.data) != bool(button.url)
            assert len(button.data.encode("ascii")) <= 64
            token, _, payload = button.data.partition(":")
            if button.data and payload != "pick":
                assert token == TOKEN
                assert read_payload(interaction.questions, payload) or wants_text(
                    interaction.questions, payload
                )


@unhurried
@given(json_values)
def test_any_result_can_be_shown_readably_and_opened_if_its_message_says_less(result):
    found = whole_result(result, language="en", timezone="UTC", now=NOW)
    assert all(part.label for part in found.parts)
    assert says_less({"kind": "completed", "result": result}) in (True, False)


@given(json_values | st.dictionaries(st.sampled_from(["report", "text", "messages", "x"]), json_values))
def test_the_message_about_a_result_needs_no_more_of_it_than_its_excerpt(result):
    kept = excerpt(result)
    assert says_less({"kind": "completed", "result": kept}) is says_less(
        {"kind": "completed", "result": result}
    )
    assert run_message(TO, who="R", status=RunStatus.COMPLETED, result=kept) == run_message(
        TO, who="R", status=RunStatus.COMPLETED, result=result
    )


@pytest.mark.parametrize("key", ["report", "summary", "text"])
@pytest.mark.parametrize("words", ["word " * 200_000, "**word**\n\n" * 20_000, "\u202e" * 100_000])
def test_of_a_large_result_little_is_kept_with_its_message(key, words):
    result = {key: words, "rows": [1] * 1000}
    kept = excerpt(result)
    assert len(dumps(kept)) < 100_000
    assert run_message(TO, who="R", status=RunStatus.COMPLETED, result=kept) == run_message(
        TO, who="R", status=RunStatus.COMPLETED, result=result
    )


def test_a_report_in_markdown_is_shown_as_plain_words():
    report = (
        "2 passages.\n\n## First\n\n1. **docs/a.md**, `Title`\n\n"
        "   > Every [link](https://x.y/z) and __init__.\n\n\n2. b"
    )
    message = run_message(TO, who="Research", status=RunStatus.COMPLETED, result={"report": report})
    assert message.title == "📄 Report ready: 2 passages."
    assert message.body == (
        "First\n\n1. docs/a.md, Title\n\nEvery link (https://x.y/z) and __init__.\n\n2. b"
    )
