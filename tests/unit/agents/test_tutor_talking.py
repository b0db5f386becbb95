"""The tutor's conversation: it is kept, and what is no wish about what was asked is handled as what it is."""

import json
from typing import Any

import pytest
from langgraph.types import Command

from answerback_agents.tutor.ask import NOTICE
from answerback_agents.tutor.changes import adjust
from answerback_agents.tutor.meaning import Said, said_of_courses, said_of_plan
from answerback_agents.tutor.on_courses import MOST_REOPENED
from answerback_agents.tutor.plan import first_wishes
from answerback_agents.tutor.steps import MOST_REMARKS, MOST_ROUNDS
from answerback_agents.tutor.talk import LONGEST_KEPT
from tests.flow.langgraph.tutoring import APPROVE, SILENCE, START, THREAD, Talk, wrote

SUIT = {"content": "They suit me", "choice": "they-suit"}
UNCHANGED = "Approve this plan: Python in 6 weeks, 4 hours a week?"


# The conversation is kept


def test_the_open_question_is_in_the_messages_as_the_person_sees_it() -> None:
    talk = Talk()
    [asked] = talk.asked
    assert talk.messages == [
        {
            "role": "assistant",
            "content": f"{asked['question']}\n{asked['context']}",
            "choices": ["Approve", "A different plan"],
        }
    ]


def test_all_that_was_said_is_in_the_result_word_for_word_and_in_order() -> None:
    words = [" No tests,\nplease ", "later", "重新", "Yes.", "満足 \u202e?", "good"]
    talk = Talk().answer(*map(wrote, words))
    kept = talk.result["messages"]
    assert [each["content"] for each in kept if each["role"] == "user"] == words
    assert [each["content"].split("\n")[0] for each in kept if each["role"] == "assistant"] == [
        *(asked["question"] for asked in talk.asked),
        talk.result["summary"].split("\n")[0],
    ]
    assert [each["role"] for each in kept] == ["assistant", "user"] * len(words) + ["assistant"]
    assert json.loads(json.dumps(kept)) == kept


def test_what_an_answer_was_taken_as_stands_beside_its_words() -> None:
    talk = Talk().answer(
        "4 weeks", "redo", "hm", "why?", "", "later", APPROVE, "more", "others", "easier", SUIT
    )
    assert [each["taken_as"] for each in talk.messages if each["role"] == "user"] == [
        "plan changed", "another plan", "not understood", "remark", "no words", "later", "approved",
        "more courses", "other courses", "courses adjusted", "satisfied",
    ]  # fmt: skip
    assert talk.messages[-2]["choice"] == "they-suit"


def test_silence_is_no_message_of_the_person_and_the_tutor_says_that_nobody_answered() -> None:
    for answers in ([SILENCE], [APPROVE, SILENCE]):
        kept = Talk().answer(*answers).result["messages"]
        assert [each["role"] for each in kept].count("user") == len(answers) - 1
        assert "obody " in kept[-1]["content"]


def test_of_a_text_too_long_to_keep_twice_the_messages_say_how_much_is_missing() -> None:
    text = "no tests " + "x" * LONGEST_KEPT
    talk = Talk().answer(wrote(text))
    assert (talk.messages[1]["content"], talk.messages[1]["left_out"]) == (text[:LONGEST_KEPT], 9)
    assert talk.answer("stop").result["feedback"] == [text, "stop"]
    assert "left_out" not in talk.messages[3]


def test_a_question_that_runs_again_from_its_start_leaves_nothing_in_the_messages_twice() -> None:
    talk = Talk().answer("4 weeks", "redo")
    before = next(
        each
        for each in talk.graph.get_state_history(THREAD)
        if each.interrupts and len(each.values["messages"]) == 3
    )
    after = talk.messages
    talk.graph.invoke(Command(resume={before.interrupts[0].id: "redo"}), before.config)
    assert talk.messages == after
    talk.graph.invoke(None, before.config)
    assert talk.messages == after[:3]


def test_a_second_run_on_the_same_thread_begins_with_nothing_of_the_first() -> None:
    talk = Talk().answer("why?", "easier courses", APPROVE, "the plan is too long", "stop")
    talk.start(START)
    values = talk.graph.get_state(THREAD).values
    assert (len(values["messages"]), values["summary"], values["questions"]) == (1, "", [])
    assert (values["for_courses"], values["taste"]["level"], values["reopened"]) == ([], "", 0)


# General feedback: neither about the plan nor about the courses


@pytest.mark.parametrize(
    "text",
    [
        "why tests?", "What is a file?", "Do I need no tests?", "is 4 weeks too short?",
        "Warum ohne Tests?", "Brauche ich keine Tests?", "Pourquoi sans fichiers ?", "Qui a moins de tests ?",
        "¿Cuántas semanas menos?", "¿Necesito menos pruebas?", "为什么要去掉测试？", "需要4周吗？",
    ],
)  # fmt: skip
def test_a_question_is_no_wish_and_is_said_to_be_passed_on(text: str) -> None:
    talk = Talk().answer(wrote(text))
    assert talk.asked[-1]["question"] == UNCHANGED
    assert talk.said.startswith(f"I cannot answer “{text}”, but I pass it on.")
    assert talk.taken == "remark"


@pytest.mark.parametrize(
    "text",
    [
        "can you skip tests?", "how about no tests?", "Können wir Tests weglassen?",
        "peut-on enlever tests ?", "¿podemos quitar pruebas?", "可以去掉测试吗？",
    ],
)  # fmt: skip
def test_a_wish_that_is_put_as_a_question_is_a_wish(text: str) -> None:
    assert Talk().answer(wrote(text)).said == "Now without tests."


def test_a_wish_and_a_question_in_one_text_are_both_handled() -> None:
    talk = Talk().answer("Why tests? Make it 4 weeks.")
    assert talk.said == (
        "Now 4 weeks instead of 6, 6 hours a week instead of 4. "
        "I cannot answer “Why tests?”, but I pass it on."
    )


def test_what_was_asked_and_not_answered_stands_at_the_end_for_whoever_reads_it() -> None:
    talk = Talk().answer("why tests?", APPROVE, "Who teaches?", SUIT)
    assert talk.result["summary"].endswith(
        "\n\n**You also asked, and I could not answer**\n\n- “why tests?”\n- “Who teaches?”\n"
    )
    many = Talk().answer(*[f"why {number}?" for number in range(7)], APPROVE, SUIT)
    assert many.result["summary"].endswith("- “why 4?”\n- and 2 more\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Hello!", "Hello!"), ("Guten Morgen", "Hello!"), ("bonjour", "Hello!"), ("¡Hola!", "Hello!"),
        ("你好", "Hello!"),
        ("thanks a lot", "You are welcome."), ("Vielen Dank!", "You are welcome."),
        ("merci", "You are welcome."), ("gracias", "You are welcome."), ("谢谢", "You are welcome."),
        ("please", "I take note."), ("🙂", "I take note."),
    ],
)  # fmt: skip
def test_courtesy_is_answered_and_decides_nothing(text: str, said: str) -> None:
    for talk in (Talk(), Talk().answer(APPROVE)):
        before = talk.asked[-1]["question"]
        talk.answer(wrote(text))
        assert (talk.asked[-1]["question"], talk.taken) == (before, "remark")
        assert talk.said.startswith(f"{said} I can ")


def test_remarks_take_no_round_but_do_not_go_on_without_end() -> None:
    talk = Talk().answer(*["why?"] * MOST_REMARKS, *["hm"] * (MOST_ROUNDS - 1))
    assert talk.said.startswith("I ask one last time.")
    assert Talk().answer(*["why?"] * (MOST_REMARKS + MOST_ROUNDS)).result["plan"]["status"] == "draft"


def test_a_file_without_words_is_named_as_what_cannot_be_read() -> None:
    voice = {"content": "", "choice": None, "attachments": [{"name": "voice.ogg", "type": "audio/ogg"}]}
    talk = Talk().answer(voice)
    assert talk.said.startswith("I cannot read voice.ogg, only words.")
    assert (talk.messages[1]["files"], talk.taken) == (["voice.ogg"], "no words")


# Wishes for the courses while the plan is asked about


@pytest.mark.parametrize(
    "text",
    [
        "easier courses", "shorter courses please", "einfachere Kurse, Kurse für Anfänger",
        "des cours plus faciles", "cursos más fáciles", "简单的课程", "easier", "a course by post",
    ],
)  # fmt: skip
def test_a_wish_about_courses_does_not_touch_the_plan_and_is_kept_for_them(text: str) -> None:
    talk = Talk().answer(wrote(text))
    assert (talk.asked[-1]["question"], talk.taken) == (UNCHANGED, "for the courses")
    assert talk.said.startswith("The courses come after the plan; I keep “")


def test_what_was_kept_for_the_courses_is_looked_for_when_it_is_their_turn() -> None:
    talk = Talk().answer("4 weeks, and easier courses", APPROVE)
    assert talk.courses == ["Python from zero", "Everyday scripts"]
    assert talk.said == "You wished for “and easier courses”, so I looked for that."


def test_what_was_kept_and_no_course_fits_or_nobody_understands_is_said() -> None:
    none = Talk().answer("courses of at most 1 hour", APPROVE)
    assert none.said == "You wished for “courses of at most 1 hour”, but I know none."
    assert len(none.courses) == 3
    odd = Talk().answer("courses in Klingon", APPROVE)
    assert odd.said == "I did not understand “courses in Klingon”."


@pytest.mark.parametrize("text", ["the courses are good", "good courses", "课程很好", "die Kurse sind gut"])
def test_law_6_praise_for_courses_approves_no_plan(text: str) -> None:
    assert said_of_plan(text) is Said.SOMETHING
    assert Talk().answer(wrote(text)).plan["status"] == "draft"


@pytest.mark.parametrize("text", ["the plan is good", "计划很好", "der Plan ist gut", "good plan"])
def test_law_6_praise_for_the_plan_accepts_no_courses(text: str) -> None:
    assert said_of_courses(text) is Said.SOMETHING
    assert not Talk().answer(APPROVE, wrote(text)).result


# Keywords in a sentence with something else


@pytest.mark.parametrize(
    "text",
    [
        "redo it with more practice", "please start over and begin with projects",
        "I'd like a different plan that begins with projects", "重新制定计划并多一些练习",
        "希望计划和这个不一样",
        "我不太满意想要一个不同的计划", "etwas anderes mit mehr Übungen",
        "je veux autre chose avec des exercices",
        "otra cosa con ejercicios",
    ],
)  # fmt: skip
def test_a_revision_with_what_nobody_understands_is_another_draft_and_that_is_said(text: str) -> None:
    talk = Talk().answer(wrote(text))
    assert (talk.plan["status"], talk.plan["approach"]) == ("draft", "starting with the practical part")
    assert talk.taken == "another plan"
    assert talk.said.startswith("Now starting with the practical part. I did not understand all of “")


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("redo it shorter", "5 weeks instead of 6"), ("redo it without tests", "without tests"),
        ("请重新做一个更短的计划", "5 weeks instead of 6"), ("重新制定，不要测试", "without tests"),
    ],
)  # fmt: skip
def test_a_revision_with_a_wish_in_one_sentence_is_both(text: str, new: str) -> None:
    talk = Talk().answer(wrote(text))
    assert talk.said.startswith(f"Now starting with the practical part, {new}")


@pytest.mark.parametrize(
    "text",
    [
        "you do not need to redo it", "不需要重新制定这个计划", "I never asked for a different plan",
        "我批准不同的计划", "nobody approves a different plan like that", "别重新做这个计划了",
        "don't change it",
        "不修改", "no change", "yes?",
    ],
)  # fmt: skip
def test_law_6_a_keyword_that_is_denied_or_agreed_to_neither_changes_nor_approves(text: str) -> None:
    talk = Talk().answer(wrote(text))
    assert (talk.plan["status"], talk.asked[-1]["question"]) == ("draft", UNCHANGED)
    assert talk.plan["approach"] == "step by step"


@pytest.mark.parametrize(
    "text", ["why a different plan?", "What is different?", "有什么不同吗？", "为什么重新制定？"]
)
def test_a_question_with_a_keyword_is_a_question(text: str) -> None:
    talk = Talk().answer(wrote(text))
    assert (talk.plan["approach"], talk.taken) == ("step by step", "remark")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("调整一下难度", "Should it be easier or harder?"),
        ("adjust the difficulty", "Should it be easier or harder?"),
        ("I want a different level", "Should it be easier or harder?"),
        ("die Schwierigkeit ändern", "Should it be easier or harder?"),
        ("请修改一下时间", "Should it be shorter or longer?"),
        ("change the length", "Should it be shorter or longer?"),
        ("change the hours", "Should it be more or fewer hours a week?"),
        ("please change the topics", "Which topics should come in, and which should go?"),
    ],
)  # fmt: skip
def test_who_does_not_say_which_way_is_asked_that(text: str, said: str) -> None:
    for talk in (Talk(), Talk().answer(APPROVE)):
        before = talk.asked[-1]["question"]
        talk.answer(wrote(text))
        assert (talk.said, talk.asked[-1]["question"], talk.taken) == (said, before, "unclear")


def test_which_way_is_asked_beside_what_was_understood() -> None:
    talk = Talk().answer("调整难度，4周")
    assert talk.said.endswith("6 hours a week instead of 4. Should it be easier or harder?")
    assert (
        Talk().answer("adjust the difficulty of the courses", APPROVE).said
        == "Should it be easier or harder?"
    )


def test_a_level_that_a_revision_names_is_said_to_be_left_over() -> None:
    talk = Talk().answer("重新制定一个简单的计划")
    assert talk.said == (
        "Now starting with the practical part. I did not understand all of “重新制定一个简单的计划”."
    )


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("other free online courses please", "other courses"), ("别的老师的课程", "other courses"),
        ("有没有其他关于数据库的课程？", "other courses"),
        ("What other courses do you have about cooking?", "other courses"),
        ("I don't like these so give me other cheap courses", "other courses"),
        ("I'd like more courses about cooking", "more courses"), ("更多免费的课程", "more courses"),
    ],
)  # fmt: skip
def test_a_request_for_courses_with_what_nobody_understands_brings_them_and_that_is_said(
    text: str, taken: str
) -> None:
    talk = Talk().answer(APPROVE, wrote(text))
    assert (talk.taken, len(talk.courses)) == (taken, 5 if taken == "more courses" else 2)
    assert talk.said.endswith(f"I did not understand all of “{text}”.")


@pytest.mark.parametrize(
    "text",
    ["I don't need more courses", "no other courses", "不想要其他课程", "how many more courses are there?"],
)
def test_courses_that_are_not_asked_for_do_not_come(text: str) -> None:
    talk = Talk().answer(APPROVE)
    before = talk.courses
    assert talk.answer(wrote(text)).courses == before
    assert not talk.result


def test_more_of_a_level_is_that_level_and_no_further_courses() -> None:
    assert Talk().answer(APPROVE, "more advanced courses").taken == "courses adjusted"


def test_courses_that_go_with_the_plan_are_about_courses_and_a_different_plan_is_about_the_plan() -> None:
    assert Talk().answer(APPROVE, "I want other courses that fit the plan").taken == "other courses"
    talk = Talk().answer(APPROVE, "I'd like a different plan")
    assert talk.said == "The plan is open again. Now starting with the practical part."


# Several approval or revision words in one text


@pytest.mark.parametrize(
    "text", ["yes and no", "yes, no", "no, it's good", "approve redo", "同意修改", "ja und nein", "sí, no"]
)
def test_a_yes_and_a_no_at_once_decide_nothing_and_that_is_said(text: str) -> None:
    talk = Talk().answer(wrote(text))
    assert (talk.plan["status"], talk.asked[-1]["question"]) == ("draft", UNCHANGED)
    assert talk.said.startswith("That was a yes and a no at once, so nothing is decided.")


@pytest.mark.parametrize(
    "text",
    [
        "redo, but shorter",
        "重新，短一点",
        "noch einmal, kürzer",
        "autre chose, plus court",
        "otra cosa, más corto",
    ],
)
def test_something_different_with_a_wish_is_both(text: str) -> None:
    talk = Talk().answer(wrote(text))
    assert (talk.plan["approach"], talk.plan["weeks"]) == ("starting with the practical part", 5)
    assert talk.taken == "another plan"
    assert talk.said.startswith("Now starting with the practical part, 5 weeks instead of 6")


@pytest.mark.parametrize("text", ["change, 4 weeks", "修改，4周", "ändern, 4 Wochen", "modifier, 4 semaines"])
def test_a_word_for_a_change_beside_the_change_itself_adds_nothing(text: str) -> None:
    talk = Talk().answer(wrote(text))
    assert (talk.plan["approach"], talk.plan["weeks"]) == ("step by step", 4)


@pytest.mark.parametrize("text", ["yes, redo", "好的，重新", "approve, but something different"])
def test_a_yes_before_something_different_approves_nothing(text: str) -> None:
    talk = Talk().answer(wrote(text))
    assert (talk.plan["status"], talk.plan["approach"]) == ("draft", "starting with the practical part")


# Feedback on courses: satisfied, more, adjusted, and mixtures


@pytest.mark.parametrize(
    "text",
    [
        "they suit me, but show more", "满意，但想要更多", "good, more please", "gut, aber noch mehr",
        "bien, mais encore", "me gustan, pero más",
    ],
)  # fmt: skip
def test_satisfied_and_more_keeps_what_is_there_and_accepts_nothing_yet(text: str) -> None:
    talk = Talk().answer(APPROVE)
    before = talk.courses
    talk.answer(wrote(text))
    assert talk.courses[-3:] == before
    assert (len(talk.courses), talk.taken) == (5, "more courses")
    assert {each["status"] for each in talk.answer(SUIT).result["courses"]} == {"accepted"}


@pytest.mark.parametrize("text", ["satisfied, but others", "more and others", "不错，不过换一批"])
def test_others_take_the_place_whatever_stands_beside_it(text: str) -> None:
    talk = Talk().answer(APPROVE)
    before = talk.courses
    talk.answer(wrote(text))
    assert not set(talk.courses) & set(before)
    assert talk.taken == "other courses"


@pytest.mark.parametrize("text", ["good, but shorter", "they suit me, but at most 8 hours", "不错，但是太长"])
def test_satisfied_with_a_wish_is_a_wish(text: str) -> None:
    talk = Talk().answer(APPROVE, wrote(text))
    assert talk.taken == "courses adjusted"
    assert "Ten small programs" not in talk.courses
    assert not talk.result


def test_more_of_another_kind_are_the_new_ones_that_fit_beside_those_that_are_there() -> None:
    talk = Talk().answer(APPROVE, "more, but at most 8 hours")
    assert talk.courses == [
        "Python for the impatient", "Trust your code",
        "Ten small programs", "Python from zero", "Everyday scripts",
    ]  # fmt: skip
    assert talk.said == "The new ones come first."


@pytest.mark.parametrize("text", ["more, but easier", "others, easier", "不满意，太难"])
def test_where_all_that_fit_were_shown_before_these_are_shown_and_it_is_said(text: str) -> None:
    talk = Talk().answer(APPROVE, wrote(text))
    assert talk.courses == ["Python from zero", "Everyday scripts"]
    assert talk.said == "These are all that I know like that."


def test_where_a_wish_leaves_no_more_courses_it_is_said_to_be_because_of_it() -> None:
    talk = Talk().answer(APPROVE, "easier", "more")
    assert talk.said.startswith("These are all that I know like that. I can look for ")


def test_further_courses_that_do_not_exist_leave_those_that_are_there() -> None:
    talk = Talk().answer(APPROVE, "more, but at most 1 hour")
    assert len(talk.courses) == 3
    assert talk.said == "I know no course like that, so these stay."


# The plan, while the courses are asked about


@pytest.mark.parametrize(
    ("text", "weeks"),
    [
        ("the plan is too long", 5), ("good courses, but the plan in 4 weeks", 4), ("计划太长", 5),
        ("der Plan ist zu lang", 5), ("le plan est trop long", 5), ("el plan es demasiado largo", 5),
    ],
)  # fmt: skip
def test_a_wish_about_the_plan_opens_it_again_for_a_new_approval(text: str, weeks: int) -> None:
    talk = Talk().answer(APPROVE, wrote(text))
    assert (talk.plan["status"], talk.plan["weeks"], talk.asked[-1]["type"]) == (
        "draft",
        weeks,
        "approve_plan",
    )
    assert talk.said.startswith("The plan is open again. Now ")
    assert talk.answer(APPROVE, SUIT).result["plan"] | {"weeks": 0, "milestones": 0} == talk.plan | {
        "weeks": 0,
        "milestones": 0,
        "status": "approved",
    }


def test_silence_after_the_plan_was_opened_again_approves_it_no_more() -> None:
    result = Talk().answer(APPROVE, "the plan is too long", SILENCE).result
    assert (result["plan"]["status"], result["courses"]) == ("draft", [])


def test_what_was_said_of_courses_outlives_a_plan_that_is_opened_again() -> None:
    talk = Talk().answer(APPROVE, "easier", "change the plan", APPROVE)
    assert talk.courses == ["Python from zero", "Everyday scripts"]


def test_a_remark_about_the_plan_leaves_it_as_it_was_approved() -> None:
    talk = Talk().answer(APPROVE, "the plan is boring")
    assert talk.plan["status"] == "approved"
    assert talk.said.startswith("The plan stays as you approved it.")


def test_the_plan_is_not_opened_again_without_end() -> None:
    talk = Talk().answer(APPROVE, *["the plan is too long", APPROVE] * MOST_REOPENED, "the plan is too long")
    assert (talk.plan["status"], talk.asked[-1]["type"]) == ("approved", "judge_courses")
    assert talk.said.startswith("The plan stays as you approved it.")


# Interrupting


@pytest.mark.parametrize(
    "text",
    [
        "later", "Not now, please", "ask me tomorrow", "später", "jetzt nicht, danke", "plus tard",
        "pas maintenant", "más tarde", "ahora no", "以后再说", "我现在没空", "later, I'm on a train",
    ],
)  # fmt: skip
def test_who_wants_to_answer_later_changes_nothing_and_reads_how_to_wait_and_how_to_end(text: str) -> None:
    for talk in (Talk(), Talk().answer(APPROVE)):
        before = talk.asked[-1]["question"]
        talk.answer(wrote(text))
        assert (talk.asked[-1]["question"], talk.taken) == (before, "later")
        assert "snooze 2h" in talk.said and "“stop”" in talk.said


@pytest.mark.parametrize(
    "text",
    [
        "I want to stop", "stop it please", "that's enough", "ich möchte aufhören", "je veux arrêter",
        "quiero parar", "先停一下", "到此为止",
    ],
)  # fmt: skip
def test_the_person_can_stop_in_a_sentence(text: str) -> None:
    assert Talk().answer(wrote(text)).result["summary"].startswith("Stopped as you said.")
    assert Talk().answer(APPROVE, wrote(text)).result["plan"]["status"] == "approved"


@pytest.mark.parametrize("text", ["stop, this is nonsense", "cancel, I said something else"])
def test_a_stop_among_other_words_ends_nothing_and_says_how_to(text: str) -> None:
    talk = Talk().answer(wrote(text))
    assert "To end this, write only “stop”." in talk.said


def test_a_wish_beside_a_stop_is_what_counts() -> None:
    assert Talk().answer("stop, 4 weeks are enough").plan["weeks"] == 4


# Law 6: who is no person approves and accepts nothing


@pytest.mark.parametrize("by", ["default", "stand-in:script"])
@pytest.mark.parametrize("yes", [APPROVE, wrote("yes")])
def test_law_6_no_default_and_no_stand_in_approves_a_plan(by: str, yes: dict[str, Any]) -> None:
    talk = Talk().answer({**yes, "answered_by": by})
    assert talk.result["plan"]["status"] == "draft"
    assert talk.result["summary"].startswith("No person answered, so this plan was not approved.")
    assert (talk.messages[1]["answered_by"], talk.taken) == (by, "not a person's")


def test_law_6_courses_that_no_person_accepted_are_suggestions() -> None:
    result = Talk().answer(APPROVE, {**SUIT, "answered_by": "stand-in:script"}).result
    assert {course["status"] for course in result["courses"]} == {"suggested"}
    assert "no person said whether they suit" in result["summary"]


# Whatever is said


@pytest.mark.parametrize("text", ["hm. " * 40_000, "?" * 60_000, "why? " * 30_000, "courses " * 30_000])
def test_a_text_without_end_is_read_in_time_and_what_was_not_read_is_named(text: str) -> None:
    talk = Talk().answer(wrote(text))
    assert talk.plan["status"] == "draft"
    assert 0 < len(talk.said) <= NOTICE
    assert talk.answer("stop").result["feedback"] == [text, "stop"]


def test_of_a_text_with_very_many_clauses_the_rest_is_not_understood() -> None:
    change = adjust("Python", first_wishes(6), "please no tests, " + "no files; " * 200)
    assert len(change.unread) == 1
    assert change.wishes["unwanted"] == ["tests", "files"]


def test_the_longest_conversation_has_145_messages_and_none_is_dropped() -> None:
    dawdling = [*["why?"] * MOST_REMARKS, *["hm"] * (MOST_ROUNDS - 1)]
    again = [*dawdling, APPROVE, *dawdling, "the plan is too long"]
    talk = Talk().answer(*again * MOST_REOPENED, *dawdling, APPROVE, *dawdling, "hm")
    assert len(talk.result["messages"]) == 145
    assert talk.result["summary"].startswith("Your plan is approved: Python in 4 weeks")
