"""The tutor: it drafts a plan, asks until it is approved, changes it as told, and recommends courses."""

import json
from typing import Any

import pytest

from answerback_agents import dialects
from answerback_agents.tutor.amounts import hours_in, weeks_in
from answerback_agents.tutor.ask import ROOM, courses_question, plan_question
from answerback_agents.tutor.catalogue import goal_of, goals
from answerback_agents.tutor.changes import adjust, difference
from answerback_agents.tutor.courses import no_taste, recommend
from answerback_agents.tutor.meaning import Said, said_of_courses, said_of_plan
from answerback_agents.tutor.plan import APPROACHES, different, draft, first_wishes, topics_of
from answerback_agents.tutor.steps import MOST_ROUNDS
from tests.flow.langgraph.tutoring import APPROVE, SILENCE, START, Talk, wrote

# The catalogue


def test_the_catalogue_has_a_dozen_goals_each_with_topics_and_courses_that_teach_them() -> None:
    assert len(goals()) == 13
    for goal in goals():
        names = {topic.name for topic in goal.topics}
        assert len(names) >= 5
        assert all(set(course.topics) & names for course in goal.courses)
        assert len(goal.courses) > 3  # so that there are others when three were shown


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        ("learn Python", "Python"),
        ("学习 Python", "Python"),
        ("我想学英语", "English"),
        ("Python for data analysis", "data analysis"),
        ("machine learning in Python", "machine learning"),
        ("Gitarre lernen", "guitar"),
        ("make pythonic jokes", ""),
    ],
)
def test_a_goal_is_found_by_a_word_for_it_in_any_language(wish: str, name: str) -> None:
    assert goal_of(wish).name == name


# The draft


@pytest.mark.parametrize("weeks", [1, 2, 5, 6, 7, 13, 52])
@pytest.mark.parametrize("goal", [goal.name or "the violin" for goal in goals()])
def test_milestones_follow_each_other_and_fill_all_weeks(goal: str, weeks: int) -> None:
    plan = draft(goal, first_wishes(weeks))
    starts = [each["from_week"] for each in plan["milestones"]]
    ends = [each["to_week"] for each in plan["milestones"]]
    assert starts == [1, *(end + 1 for end in ends[:-1])]
    assert ends[-1] == weeks
    assert all(start <= end for start, end in zip(starts, ends, strict=True))
    assert all(each["topics"] for each in plan["milestones"])


def test_what_there_is_no_time_for_is_left_out_and_named() -> None:
    plan = draft("Python", first_wishes(1))
    assert plan["hours_a_week"] == 10
    assert topics_of(plan) == ["first steps", "functions"]
    assert plan["left_out"] == ["lists and dicts", "files", "tests", "a small program"]
    assert "Left out" in Talk(goal="Python", weeks=1).asked[0]["context"]


def test_a_goal_that_nobody_foresaw_gets_a_general_plan_that_says_so() -> None:
    [asked] = Talk(goal="learn the violin", weeks=4).asked
    assert "“learn the violin” in 4 weeks" in asked["question"]
    assert "general plan" in asked["context"]


@pytest.mark.parametrize("goal", [goal.name or "the violin" for goal in goals()])
@pytest.mark.parametrize("weeks", [1, 6, 20])
def test_each_new_draft_is_a_different_one(goal: str, weeks: int) -> None:
    wishes = first_wishes(weeks)
    for _ in APPROACHES:
        other = different(goal, wishes)
        assert draft(goal, other)["milestones"] != draft(goal, wishes)["milestones"]
        wishes = other


# What a whole answer says

APPROVALS = "同意|批准|确认|好的|可以|approve|yes"
REVISIONS = "重新|不同|修改|调整|redo|change"
SATISFIED = "满意|好的|可以|不错|satisfied|good"
MORE = "更多|其他|别的|more|other"


@pytest.mark.parametrize("text", [*APPROVALS.split("|"), "Genehmigt", "D’accord", "Aprobado", "👍"])
def test_an_approval_phrase_approves_in_every_language(text: str) -> None:
    assert said_of_plan(text) is Said.YES


@pytest.mark.parametrize(
    "text",
    [
        "同意这个计划", "好的，同意", "Yes, approve!", "yes 👍", "Looks good, thanks",
        "Ja, der Plan passt", "“Yes.”",
        "我完全同意", "我同意这个学习计划", "请批准", "批准这个计划", "确认无误", "我确认这个计划",
        "好的，就按这个计划",
        "好的，开始吧", "可以，没问题", "我觉得这个计划可以",
        "I approve this learning plan", "I'd like to approve this plan", "Approved, let's start",
        "yes, I agree with the plan", "Yes, that works for me", "I'm happy with your plan",
        "Ich bin mit dem Plan einverstanden", "je suis d'accord avec ce plan", "estoy de acuerdo con el plan",
    ],
)  # fmt: skip
def test_several_approvals_and_polite_words_approve_too(text: str) -> None:
    assert said_of_plan(text) is Said.YES


@pytest.mark.parametrize(
    "text",
    [
        *REVISIONS.split("|"), "something different", "etwas anderes", "autre chose",
    ],
)  # fmt: skip
def test_a_revision_phrase_wants_another_draft(text: str) -> None:
    assert said_of_plan(text) is Said.DIFFERENT


@pytest.mark.parametrize(
    "text",
    [
        "重新，修改", "redo, change it", "No, something different please", "otra cosa", "不同意",
    ],
)  # fmt: skip
def test_several_revisions_and_refusals_want_another_draft_too(text: str) -> None:
    assert said_of_plan(text) is Said.DIFFERENT


@pytest.mark.parametrize(
    "text",
    [
        "重新制定一个不同的计划", "请重新生成学习计划", "可以重新做一份吗？", "我想要不同的计划",
        "给我一个不同的方案",
        "请修改这个计划", "我想修改一下", "能不能修改一下计划？", "计划需要调整", "我希望调整一下这个计划",
        "please redo the plan", "I'd like you to redo it", "Can you redo the plan?",
        "I'd like a different plan",
        "I want to change it", "I think we should change the plan", "could you change it a bit?",
        "how about another approach?",
        "Ich möchte einen anderen Plan", "Kannst du den Plan ändern?", "je voudrais un autre plan",
        "je veux le changer", "quiero otro plan", "¿Puedes cambiarlo?",
    ],
)  # fmt: skip
def test_a_request_for_a_revision_in_a_sentence_wants_another_draft(text: str) -> None:
    assert said_of_plan(text) is Said.DIFFERENT


@pytest.mark.parametrize("text", SATISFIED.split("|"))
def test_a_satisfaction_phrase_accepts_courses(text: str) -> None:
    assert said_of_courses(text) is Said.YES


@pytest.mark.parametrize(
    "text",
    [
        "我很满意", "我对这些课程很满意", "好的，这些课程都可以", "这些课程可以", "课程很不错",
        "我觉得这些推荐不错",
        "I'm satisfied with these courses", "I am very satisfied, thanks", "These courses look good",
        "good choices", "The courses are good", "Ich bin mit den Kursen zufrieden",
        "je suis satisfait de ces cours", "estoy satisfecho con los cursos",
    ],
)  # fmt: skip
def test_satisfaction_in_a_sentence_accepts_courses_too(text: str) -> None:
    assert said_of_courses(text) is Said.YES


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("有没有更多的课程", Said.MORE), ("我想看更多课程", Said.MORE), ("可以推荐更多选择吗？", Said.MORE),
        ("I want more options", Said.MORE), ("Can you show me some more courses?", Said.MORE),
        ("Are there any more?", Said.MORE), ("gibt es noch mehr Kurse?", Said.MORE),
        ("¿Hay más cursos?", Said.MORE),
        ("想要其他课程", Said.DIFFERENT), ("推荐一些其他的课程", Said.DIFFERENT),
        ("有其他选择吗", Said.DIFFERENT),
        ("还有别的课程吗", Said.DIFFERENT), ("给我看看别的", Said.DIFFERENT),
        ("give me other courses", Said.DIFFERENT), ("I'd like to see other options", Said.DIFFERENT),
        ("What other courses do you have?", Said.DIFFERENT), ("ich möchte andere Kurse", Said.DIFFERENT),
        ("j'aimerais d'autres cours", Said.DIFFERENT), ("quiero ver otros cursos", Said.DIFFERENT),
    ],
)  # fmt: skip
def test_a_request_for_more_courses_or_others_in_a_sentence_wants_further_ones(text: str, said: Said) -> None:
    assert said_of_courses(text) is said


@pytest.mark.parametrize(
    "text",
    [
        *MORE.split("|"), "更多课程", "mehr bitte", "d’autres", "不满意", "not satisfied",
    ],
)  # fmt: skip
def test_a_phrase_for_more_or_others_wants_further_courses(text: str) -> None:
    assert said_of_courses(text) in (Said.MORE, Said.DIFFERENT)


@pytest.mark.parametrize(
    "text",
    [
        "yes but shorter", "yes, but shorter", "yes?", "approve without tests", "可以吗", "好不好",
        "好一点", "同意修改",
        "我要批准吗", "同意吗？", "没有问题吗", "确认一下难度", "I approve most of it", "can you approve it?",
        "I'd approve it without tests", "I agree to a different plan", "happy with it?", "好的，但是要修改",
        "yes and no", "yes, no", "is it good", "not yes", "ja, aber kürzer", "approve in 4 weeks", "",
        "  ", "please",
        "approve " * 20 + "not",
    ],
)  # fmt: skip
def test_what_only_contains_an_approval_is_none(text: str) -> None:
    assert said_of_plan(text) is Said.SOMETHING
    assert said_of_courses(text) is Said.SOMETHING


@pytest.mark.parametrize(
    "text",
    [
        "no change", "不用修改", "不修改", "不要重新", "change it to 4 weeks", "修改为4周",
        "don't change it", "I want no changes", "别改了", "不需要调整", "没有不同", "不同吗",
        "is it different?",
        "do you have to change it?", "有什么不同吗？", "我有别的计划",
    ],
)  # fmt: skip
def test_what_only_contains_a_revision_is_none(text: str) -> None:
    assert said_of_plan(text) is Said.SOMETHING


@pytest.mark.parametrize(
    "text",
    [
        "good but too long",
        "more of the first",
        "不错，但是太长",
        "more?",
        "no more courses",
        "不想要其他课程",
        "更多吗？",
    ],
)
def test_what_only_contains_a_satisfaction_or_more_is_a_wish_of_its_own(text: str) -> None:
    assert said_of_courses(text) is Said.SOMETHING


# Amounts


@pytest.mark.parametrize(
    ("text", "weeks"),
    [
        ("4 weeks", 4), ("in four weeks please", 4), ("vier wochen", 4), ("quatre semaines", 4),
        ("cuatro semanas", 4),
        ("改成4周", 4), ("四周", 4), ("4个星期", 4), ("a month", 4), ("2 months", 8), ("一个月", 4),
        ("no more than 4 weeks", 4),
        ("two more weeks", 8), ("two weeks less", 4), ("zwei wochen länger", 8),
        ("deux semaines de moins", 4),
        ("多两周", 8), ("shorten to 4 weeks", 4), ("增加到8周", 8), ("4 weeks instead of 6", 4),
        ("500 weeks", 500),
    ],
)  # fmt: skip
def test_weeks_are_read_as_a_number_or_as_so_many_more_or_less(text: str, weeks: int) -> None:
    assert weeks_in(text, 6) == weeks


@pytest.mark.parametrize(
    "text",
    [
        "4 to 6 weeks", "4-6 weeks", "not 4 weeks", "instead of 6 weeks", "1.5 weeks", "week 3", "第3周",
        "every 2 weeks",
        "the first two weeks", "more than 4 weeks", "4 weeks or 5 weeks", "weeks", "每周3小时", "-4 weeks",
        "二十周", "twenty-four weeks",
    ],
)  # fmt: skip
def test_weeks_that_could_be_meant_in_two_ways_are_not_read(text: str) -> None:
    assert weeks_in(text, 6) is None


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("3 hours a week", 3), ("3h/week", 3), ("drei stunden pro woche", 3), ("每周3小时", 3),
        ("one hour less", 4),
        ("1 hour a day", 7), ("30 hours in total", None), ("1.5 hours", None),
    ],
)  # fmt: skip
def test_hours_are_those_of_a_week(text: str, hours: int | None) -> None:
    assert hours_in(text, 5) == hours


# Feedback that changes a plan


def changes(text: str) -> tuple[list[str], list[str]]:
    """What is new in a plan of Python in 6 weeks, the hours aside, and what was not understood."""
    wishes = first_wishes(6)
    change = adjust("Python", wishes, text)
    new = difference(draft("Python", wishes), draft("Python", change.wishes))
    return [each for each in new if "hour" not in each], change.unread


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("shorter", ["5 weeks instead of 6"]), ("kürzer bitte", ["5 weeks instead of 6"]),
        ("plus court", ["5 weeks instead of 6"]), ("más corto", ["5 weeks instead of 6"]),
        ("短一点", ["5 weeks instead of 6"]),
        ("longer", ["7 weeks instead of 6"]), ("太短了", ["7 weeks instead of 6"]),
        ("yes but shorter", ["5 weeks instead of 6"]),
        ("no, 4 weeks", ["4 weeks instead of 6"]), ("4 weeks, shorter", ["4 weeks instead of 6"]),
        ("no tests", ["without tests"]), ("Tests brauche ich nicht", ["without tests"]),
        ("去掉测试", ["without tests"]),
        ("sans les fichiers", ["without files"]), ("sin archivos", ["without files"]),
        ("I already know functions", ["without functions"]),
        ("no files, tests", ["without files and tests"]),
        ("functions and no tests", ["without tests"]), ("add SQL", ["with SQL queries"]),
        ("no tests but add SQL", ["with SQL queries", "without tests"]),
        ("不要文件，加上SQL", ["with SQL queries", "without files"]),
    ],
)  # fmt: skip
def test_feedback_changes_weeks_and_topics(text: str, new: list[str]) -> None:
    assert changes(text) == (new, [])


@pytest.mark.parametrize(
    "text",
    [
        "shorter hours", "fewer hours a week", "3 hours a week", "weniger Stunden", "每周3小时",
    ],
)  # fmt: skip
def test_fewer_hours_leave_out_what_comes_last_and_say_so(text: str) -> None:
    wishes = first_wishes(6)
    change = adjust("Python", wishes, text)
    assert difference(draft("Python", wishes), draft("Python", change.wishes)) == [
        "3 hours a week instead of 4",
        "without tests and a small program",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "not shorter", "don't make it longer", "4 to 6 weeks", "add juggling", "functions", "tests?",
        "sounds odd", "hm",
    ],
)  # fmt: skip
def test_what_is_not_clear_changes_nothing_and_is_named(text: str) -> None:
    assert changes(text) == ([], [text])


def test_a_topic_of_another_goal_is_meant_only_where_it_is_asked_for_by_name() -> None:
    assert changes("that voice sounds odd") == ([], ["that voice sounds odd"])
    assert changes("I want charts, more structure") == ([], ["I want charts", "more structure"])
    assert changes("add charts") == (["with charts"], [])


def test_what_should_not_be_skipped_stays() -> None:
    assert changes("don't skip tests") == ([], [])
    assert changes("I don't know functions") == ([], [])


def test_what_the_person_asked_for_is_the_last_to_be_left_out() -> None:
    wishes = adjust("Python", first_wishes(6), "add SQL, only 2 hours a week").wishes
    assert topics_of(draft("Python", wishes)) == ["first steps", "SQL queries"]


def test_a_wish_outlives_the_next_draft() -> None:
    wishes = different("Python", adjust("Python", first_wishes(6), "no tests, 4 weeks").wishes)
    assert draft("Python", wishes)["weeks"] == 4
    assert "tests" not in topics_of(draft("Python", wishes))


def test_a_long_text_is_read_in_time() -> None:
    for text in ("4 weeks no more " * 4000, "a " * 30_000, "x" + " " * 60_000 + "x", "no tests, " * 2000):
        adjust("Python", first_wishes(6), text)


# Requirement 6.1: a plan is presented to the person for approval


def test_the_plan_is_presented_with_its_weeks_before_anything_is_approved() -> None:
    talk = Talk()
    [asked] = talk.asked
    reading = dialects.read(asked)
    [what] = reading.questions
    assert what.text == "Approve this plan: Python in 6 weeks, 4 hours a week?"
    assert reading.context == (
        "Week 1: first steps · 2: functions · 3: lists and dicts · 4: files · 5: tests · 6: a small program"
    )
    assert [choice.label for choice in what.choices] == ["Approve", "A different plan"]
    assert what.free_text and reading.expirable and reading.human_only
    assert talk.plan["status"] == "draft"


@pytest.mark.parametrize(
    "answer",
    [
        APPROVE, wrote("同意这个计划"), wrote("yes"), "approve", "Approve", "好的",
    ],
)  # fmt: skip
def test_an_approval_by_a_tap_by_words_or_as_a_plain_text_approves(answer: Any) -> None:
    assert Talk().answer(answer).plan["status"] == "approved"


@pytest.mark.parametrize("answer", [wrote("yes but shorter"), "yes but shorter", wrote("yes?")])
def test_an_approval_with_an_addition_is_feedback_and_the_plan_is_asked_about_again(answer: Any) -> None:
    talk = Talk().answer(answer)
    assert talk.plan["status"] == "draft"
    assert talk.asked[-1]["type"] == "approve_plan"


@pytest.mark.parametrize(
    "answer",
    [
        {"content": "A different plan", "choice": "different-plan"},
        wrote("重新"),
        "something different",
    ],
)
def test_a_revision_gives_a_new_draft_that_is_asked_about_again(answer: Any) -> None:
    talk = Talk()
    before = talk.plan
    talk.answer(answer)
    assert talk.plan["milestones"] != before["milestones"]
    assert talk.plan["status"] == "draft"
    assert talk.asked[-1]["context"].startswith("Another way: starting with the practical part.\n")


# Requirement 6.2: feedback on courses


def test_courses_are_recommended_for_the_approved_plan_and_asked_about() -> None:
    talk = Talk().answer(APPROVE)
    asked = talk.asked[-1]
    [what] = dialects.read(asked).questions
    assert what.text == "Do these courses suit you?"
    assert [choice.label for choice in what.choices] == ["They suit me", "Show others"]
    assert what.free_text
    assert asked["context"] == (
        "Ten small programs (intermediate, 15 h) · Python from zero (beginner, 12 h) · "
        "Everyday scripts (beginner, 8 h)"
    )


@pytest.mark.parametrize(
    "answer",
    [
        {"content": "They suit me", "choice": "they-suit"}, wrote("满意"), "good",
    ],
)  # fmt: skip
def test_satisfaction_accepts_the_courses_that_were_shown_and_ends_the_run(answer: Any) -> None:
    talk = Talk().answer(APPROVE, answer)
    assert [course["status"] for course in talk.result["courses"]] == ["accepted"] * 3


def test_others_take_the_place_of_the_first_and_more_come_beside_them() -> None:
    first = [course["name"] for course in recommend(draft("Python", first_wishes(6)), no_taste(), [])]
    tap = {"content": "Show others", "choice": "other-courses"}
    others = Talk().answer(APPROVE, tap, "满意").result["courses"]
    more = Talk().answer(APPROVE, wrote("更多"), wrote("不错")).result["courses"]
    assert not {course["name"] for course in others} & set(first)
    assert [course["name"] for course in more] == [*(course["name"] for course in others), *first]


def test_when_there_are_no_more_courses_that_is_said() -> None:
    talk = Talk().answer(APPROVE, wrote("more"), wrote("more"))
    assert talk.asked[-1]["context"].startswith("These are all that I know.")


@pytest.mark.parametrize(
    ("wish", "names"),
    [
        ("easier", ["Python from zero", "Everyday scripts"]),
        ("at most 8 hours", ["Everyday scripts", "Python for the impatient", "Trust your code"]),
        ("without files", ["Python from zero", "Python for the impatient", "Trust your code"]),
        ("add SQL", ["Ask the table", "Joins with a pencil"]),
        ("太难", ["Python from zero", "Everyday scripts"]),
    ],
)
def test_a_wish_about_courses_finds_those_that_fit(wish: str, names: list[str]) -> None:
    result = Talk().answer(APPROVE, wrote(wish), "good").result
    assert [course["name"] for course in result["courses"]] == names


def test_a_wish_that_no_course_fits_leaves_them_and_says_so() -> None:
    talk = Talk().answer(APPROVE, wrote("at most 1 hour"), wrote("in Klingon"))
    assert talk.asked[-2]["context"].startswith("I know no course like that, so these stay.")
    assert talk.asked[-1]["context"].startswith("Nothing changed. I did not understand “in Klingon”.")


# Requirement 6.3: the person may interrupt at any point


@pytest.mark.parametrize("text", ["stop", "Cancel.", "取消", "abbrechen", "annuler", "cancelar"])
def test_the_person_can_stop_at_either_question(text: str) -> None:
    early = Talk().answer(wrote(text)).result
    late = Talk().answer(APPROVE, wrote(text)).result
    assert (early["plan"]["status"], early["courses"]) == ("draft", [])
    assert early["summary"].startswith("Stopped as you said.")
    assert late["plan"]["status"] == "approved"
    assert {course["status"] for course in late["courses"]} == {"suggested"}


# Requirement 6.4: recommendations follow the feedback, and every word is kept


def test_feedback_is_said_back_as_what_changed_and_what_was_not_understood() -> None:
    talk = Talk().answer(wrote("yes but shorter, and more pictures"))
    assert talk.asked[-1]["question"] == "Approve this plan: Python in 5 weeks, 5 hours a week?"
    assert talk.asked[-1]["context"].splitlines()[0] == (
        "Now 5 weeks instead of 6, 5 hours a week instead of 4. I did not understand “and more pictures”."
    )


def test_every_word_of_the_person_is_in_the_result_verbatim_and_in_order() -> None:
    said = [" No tests,\nplease ", "重新", "Yes.", "MORE!", "満足 \u202e?", "good"]
    result = Talk().answer(*map(wrote, said[:2]), said[2], *map(wrote, said[3:])).result
    assert result["feedback"] == said


def test_a_second_run_on_the_same_thread_begins_without_the_words_of_the_first() -> None:
    talk = Talk().answer(wrote("stop"))
    talk.start(START)
    assert talk.answer(wrote("cancel")).result["feedback"] == ["cancel"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 weeks", "Nothing changed. A plan has 1 to 52 weeks."),
        ("500 weeks", "Nothing changed. A plan has 1 to 52 weeks."),
        ("90 hours a week", "Nothing changed. A week has 1 to 40 hours."),
        ("4 weeks. 5 weeks!", "Nothing changed. You named several numbers of weeks."),
        ("hm", "Nothing changed. I did not understand “hm”. I can change weeks, hours a week and topics."),
    ],
)
def test_what_cannot_be_done_is_explained(text: str, said: str) -> None:
    assert Talk().answer(wrote(text)).asked[-1]["context"].startswith(said)


# Requirement 6.5: clear prompts


@pytest.mark.parametrize("goal", [goal.name or "x" * 300 for goal in goals()])
@pytest.mark.parametrize("weeks", [1, 6, 52])
@pytest.mark.parametrize("notice", ["", "Word " * 100])
def test_a_question_and_its_reason_fit_a_telephone(goal: str, weeks: int, notice: str) -> None:
    wishes = first_wishes(weeks)
    wishes.update({"hours": 40, "wanted": ["light and shade", "open chords"]})
    plan = draft(goal, wishes)
    courses = recommend(plan, no_taste(), [])
    for asked in (plan_question(plan, notice), courses_question(courses * 2, notice)):
        assert len(asked["question"]) <= 120
        assert len(asked["context"]) <= ROOM
        assert len(asked["context"].splitlines()) <= 2
        assert asked["context"].count("(") == asked["context"].count(")")  # whole courses only


@pytest.mark.parametrize("answer", ["", "  ", None, wrote(""), {"content": None}, {}, 7, ["x"]])
def test_an_answer_without_words_approves_nothing_and_is_asked_for_again(answer: Any) -> None:
    for talk in (Talk(), Talk().answer(APPROVE)):
        before = talk.asked[-1]
        talk.answer(answer)
        assert talk.asked[-1]["question"] == before["question"]
        assert talk.asked[-1]["context"].startswith("I got no words from you.")


def test_nobody_is_asked_without_end() -> None:
    talk = Talk().answer(*[wrote("hm")] * MOST_ROUNDS)
    assert len(talk.asked) == MOST_ROUNDS
    assert talk.asked[-1]["context"].startswith("I ask one last time.")
    assert talk.result["plan"]["status"] == "draft"
    assert talk.result["courses"] == []
    assert talk.result["summary"].startswith("We found no plan that you approved")
    late = Talk().answer(APPROVE, *[wrote("hm")] * MOST_ROUNDS).result
    assert late["plan"]["status"] == "approved"
    assert {course["status"] for course in late["courses"]} == {"suggested"}


# Law 6: silence is not an answer


@pytest.mark.parametrize("silence", [SILENCE, "No response"])
def test_silence_approves_nothing_and_the_run_says_that_nobody_answered(silence: Any) -> None:
    result = Talk().answer(wrote("shorter"), silence).result
    assert (result["plan"]["status"], result["courses"], result["feedback"]) == ("draft", [], ["shorter"])
    assert result["summary"].startswith("Nobody answered, so this plan was not approved.")


def test_silence_about_courses_accepts_none_of_them() -> None:
    result = Talk().answer(APPROVE, SILENCE).result
    assert result["plan"]["status"] == "approved"
    assert {course["status"] for course in result["courses"]} == {"suggested"}
    assert "nobody said whether they suit" in result["summary"]


def test_somebody_who_writes_no_response_has_answered() -> None:
    assert Talk().answer(wrote("No response")).asked[1:]


# The run


def test_the_result_is_json_with_the_plan_the_courses_the_words_and_a_summary() -> None:
    result = Talk().answer(wrote("no tests"), APPROVE, wrote("good")).result
    assert set(result) == {"plan", "courses", "feedback", "messages", "summary"}
    assert json.loads(json.dumps(result)) == result
    assert result["summary"] == (
        "Your plan is approved: Python in 6 weeks, 4 hours a week.\n\n"
        "- Week 1: first steps\n- Week 2: functions\n- Weeks 3–4: lists and dicts\n- Week 5: files\n"
        "- Week 6: a small program\n\n"
        "**Courses that you chose**\n\n"
        "- Ten small programs (intermediate, 15 h)\n- Python from zero (beginner, 12 h)\n"
        "- Everyday scripts (beginner, 8 h)\n"
    )


@pytest.mark.parametrize("goal", ["", "   ", None, 7])
def test_a_missing_goal_is_explained(goal: Any) -> None:
    with pytest.raises(ValueError, match="say what to learn: "):
        Talk(goal=goal, weeks=6)


@pytest.mark.parametrize("weeks", ["6", "six", None, 0, -1, 53, 500, 2.5, True])
def test_weeks_that_are_no_number_of_weeks_are_explained(weeks: Any) -> None:
    with pytest.raises(ValueError, match="a whole number from 1 to 52: "):
        Talk(goal="learn Python", weeks=weeks)


def test_without_weeks_a_plan_has_six() -> None:
    assert Talk(goal="learn Python").plan["weeks"] == 6
