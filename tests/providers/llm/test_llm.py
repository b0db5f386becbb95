"""A model in place of a person: what it is asked, how its answer is read, and what its failures mean."""

import subprocess
import sys
from typing import Any

import pytest
from pydantic import ValidationError

from answerback.model import Action, Choice, Json, Question, QuestionKind, StandsIn
from answerback.provider import ConfigurationError, TryLater, Undeliverable
from answerback_providers.llm import LLM, asking
from tests.providers.llm import models
from tests.providers.llm.models import Formed
from tests.support.stand_ins import made, message

TEXT = Question("q", "Which costing?")
CHOICE = Question("q", "Which one?", QuestionKind.CHOICE, (Choice("a", "Alpha"), Choice("b", "Beta")))
WIPE = Question("q", "Wipe?", QuestionKind.CONFIRM)
REFUND = Question(
    "q", "", QuestionKind.REVIEW, action=Action("refund", {"amount": 100}), decisions=("approve", "reject")
)
KEY = "sk-very-secret-key"


def listed(*answers: str, **more: Json) -> LLM:
    model = f"list:{'|'.join(answers)}"
    found = made(LLM, model=model, init="tests.providers.llm.models:init", **more)
    assert isinstance(found, LLM)
    return found


async def formed(*answers: Any, **more: Json) -> tuple[LLM, Formed]:
    """A provider whose model takes a form."""
    provider, model = listed("unused", **more), Formed(answers=list(answers))
    await provider.open()
    provider._model = model
    return provider, model


async def value(provider: LLM, *questions: Question, **more: bool) -> Json:
    sent = await provider.send(message(*questions, **more))
    return sent.replies[0].value if sent.replies else None


# -- answers


async def test_a_text_is_taken_as_the_model_wrote_it() -> None:
    assert await value(listed("Absorption costing, as in 2024."), TEXT) == "Absorption costing, as in 2024."


@pytest.mark.parametrize(
    ("question", "said", "meant"),
    [
        (CHOICE, '{"answer": "b"}', "b"),
        (CHOICE, 'Sure!\n```json\n{"answer": "b"}\n```', "b"),
        (CHOICE, "Beta", "Beta"),
        (CHOICE, "2", "2"),
        (WIPE, '{"answer": false}', False),
        (
            REFUND,
            '{"answer": {"decision": "reject", "message": "why?"}}',
            {"decision": "reject", "message": "why?"},
        ),
        (Question("q", "How many?", QuestionKind.NUMBER), '{"answer": 3}', 3),
        (Question("q", "When?", QuestionKind.DATE), '{"answer": "2026-12-03"}', "2026-12-03"),
    ],
)
async def test_a_model_without_forms_answers_in_json_or_plainly(
    question: Question, said: str, meant: Json
) -> None:
    assert await value(listed(said), question) == meant


@pytest.mark.parametrize(
    ("question", "answer", "meant"),
    [
        (CHOICE, "b", "b"),
        (Question("q", "Which?", QuestionKind.CHOICES, CHOICE.choices), ["a", "b"], ["a", "b"]),
        (WIPE, False, False),
        (REFUND, {"decision": "reject"}, {"decision": "reject"}),
    ],
)
async def test_a_model_that_takes_a_form_gets_one(question: Question, answer: Json, meant: Json) -> None:
    provider, model = await formed({"answer": answer})
    assert await value(provider, question) == meant
    ((form),) = model.forms
    assert form["properties"]["answer"]["description"]


async def test_several_questions_are_answered_at_once() -> None:
    provider, model = await formed({"answer_1": "blue", "answer_2": "a"})
    assert await value(provider, Question("colour of it", "Colour?"), CHOICE) == {
        "colour of it": "blue",
        "q": "a",
    }
    assert list(model.forms[0]["properties"]) == ["answer_1", "answer_2"]


async def test_an_answer_that_fits_no_choice_is_asked_for_once_more_and_told_why() -> None:
    provider, model = await formed({"answer": "gamma"}, {"answer": "a"})
    assert await value(provider, CHOICE) == "a"
    assert "“gamma” is not one of the choices" in str(model.said[1][-1].content)


async def test_after_that_the_question_goes_on() -> None:
    provider, model = await formed({"answer": "gamma"}, {"answer": "delta"}, {"answer": "a"})
    sent = await provider.send(message(CHOICE))
    assert not sent.replies and "no answer that fits" in sent.declined
    assert "gamma" not in sent.declined and len(model.said) == 2


async def test_what_it_may_not_decide_is_not_even_sent() -> None:
    provider, model = await formed({"answer": True}, {"answer": True})
    assert (await provider.send(message(WIPE))).declined
    assert "Only a person may approve" in str(model.said[1][-1].content)
    provider, _ = await formed({"answer": True})
    assert await value(provider, WIPE, may_approve=True) is True


async def test_a_model_that_says_nothing_or_leaves_its_form_is_understood_as_far_as_possible() -> None:
    provider, _ = await formed("", "Beta")
    assert await value(provider, CHOICE) == "Beta"


async def test_the_answer_carries_the_delivery_s_token_and_id() -> None:
    (reply,) = (await listed("x").send(message(TEXT))).replies
    assert (reply.event_id, reply.token, reply.text) == ("d1", "token-d1", "x")
    assert "token-d1" not in repr(reply)


# -- what it is asked


async def test_it_sees_the_question_the_reason_the_call_and_the_choices() -> None:
    provider, model = await formed({"answer": {"decision": "reject"}}, {"answer": "a"})
    await provider.send(message(REFUND, context="The customer called."))
    asked = str(model.said[0][1].content)
    assert (
        "Research · terms" in asked and 'refund {"amount": 100}' in asked and "The customer called." in asked
    )
    await provider.send(message(CHOICE))
    assert "- b: Beta" in str(model.said[1][1].content)


async def test_braces_in_a_question_are_only_text() -> None:
    provider = listed("fine", prompt="{question} and {{this}}")
    asked = message(Question("q", "What is {context} in {0}?"), context="secret").asked
    assert asked is not None
    assert asking.prompt_of(provider.settings, asked) == "What is {context} in {0}? and {this}"


async def test_the_model_is_made_as_configured() -> None:
    models.MADE.clear()
    await listed(
        "x", temperature="0.7", max_tokens="50", timeout="9", api_key=KEY, base_url="http://b"
    ).open()
    await listed("y", temperature="none", max_tokens="none").open()
    assert models.MADE == [
        (
            "list:x",
            {"temperature": 0.7, "max_tokens": 50, "timeout": 9.0, "api_key": KEY, "base_url": "http://b"},
        ),
        ("list:y", {"timeout": 30.0}),
    ]


def test_records_name_the_model() -> None:
    assert (listed("x").stands_as, LLM.stand_in) == ("stand (list:x)", StandsIn.PROGRAM)


def test_it_waits_as_long_as_two_answers_may_take() -> None:
    assert listed("x", timeout="100").patience > 200


async def test_what_concerns_people_is_not_shown_to_it() -> None:
    assert not (await listed("x").send(message())).replies


# -- failures


class WithStatus(Exception):
    """As OpenAI's, Anthropic's and Google's packages raise: a status, and a text that may hold anything."""

    def __init__(self, status: int, headers: dict[str, str] | None = None) -> None:
        super().__init__(f"Incorrect API key provided: {KEY}")
        self.status_code = status
        self.response = type("Response", (), {"headers": headers or {}})()


class AuthenticationError(Exception):
    """One that carries no status."""


class RateLimitError(Exception):
    """Likewise."""


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (WithStatus(429, {"retry-after": "7"}), 7.0),
        (WithStatus(429), 20.0),
        (WithStatus(503), 20.0),
        (WithStatus(529), 20.0),
        (RateLimitError("slow down"), 20.0),
        (ConnectionError("refused"), 20.0),
        (TimeoutError(), 20.0),
    ],
)
async def test_a_service_that_is_busy_or_away_is_tried_later(error: Exception, seconds: float) -> None:
    provider, _ = await formed(error)
    with pytest.raises(TryLater) as raised:
        await provider.send(message(CHOICE))
    assert raised.value.seconds == seconds and not raised.value.maybe_sent and KEY not in str(raised.value)


@pytest.mark.parametrize(
    "error", [WithStatus(401), WithStatus(403), WithStatus(404), WithStatus(400), AuthenticationError(KEY)]
)
async def test_a_key_or_a_model_that_is_not_valid_is_permanent_and_the_key_is_not_repeated(
    error: Exception,
) -> None:
    provider, _ = await formed(error)
    with pytest.raises(Undeliverable) as raised:
        await provider.send(message(CHOICE))
    assert KEY not in str(raised.value) and raised.value.__suppress_context__


async def test_anything_else_is_a_bug_and_stays_one() -> None:
    provider, _ = await formed(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        await provider.send(message(CHOICE))


async def test_a_model_that_never_answers_is_given_up_in_time() -> None:
    class Hangs(Formed):
        async def _agenerate(self, *_: Any, **__: Any) -> Any:
            import asyncio

            await asyncio.Event().wait()

    provider = listed("x", timeout="0.01")
    await provider.open()
    provider._model = Hangs(answers=[])
    with pytest.raises(TryLater):
        await provider.send(message(TEXT))


@pytest.mark.parametrize(
    ("init", "said"),
    [("broken", "cannot be set up"), ("absent", "langchain-openai"), ("nothing_like_it", "set up")],
)
async def test_a_model_that_cannot_be_made_says_so_without_its_key(init: str, said: str) -> None:
    provider = made(LLM, model="openai:gpt-5", api_key=KEY, init=f"tests.providers.llm.models:{init}")
    with pytest.raises(ConfigurationError, match=said) as raised:
        await provider.open()
    assert KEY not in str(raised.value)
    with pytest.raises(Undeliverable, match=said):
        await provider.send(message(TEXT))


async def test_a_package_that_is_missing_is_named_by_langchain_itself() -> None:
    provider = made(LLM, model="openai:gpt-5", api_key=KEY)
    with pytest.raises(ConfigurationError, match="langchain-openai"):
        await provider.open()


# -- settings


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"prompt": "{question} {who}"}, "there is no gap who in a prompt"),
        ({"prompt": "{context}"}, "has no {question}"),
        ({"prompt": "{question"}, "cannot be read"),
        ({"prompt": "{question.__class__}"}, "no gap question.__class__"),
        ({"prompt": "{question:{x}}"}, "holds more than a name"),
        ({"prompt": "{question} {}"}, "no gap {}"),
        ({"temperature": "3"}, "less than or equal to 2"),
        ({"max_tokens": "0"}, "greater than or equal to 1"),
        ({"timeout": "0"}, "greater than 0"),
        ({"model": ""}, "at least 1 character"),
        ({"init": "os.system"}, "not of the form"),
        ({"top_p": "1"}, "not permitted"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_the_start(settings: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        made(LLM, **{"model": "openai:gpt-5", **settings})


def test_nothing_of_langchain_is_imported_before_a_model_is_made() -> None:
    code = (
        "import sys\nfrom answerback.provider import ProviderContext\n"
        "from answerback_providers.llm import LLM\n"
        "LLM('x', LLM.Settings(model='openai:gpt-5'), ProviderContext())\n"
        "print([name for name in sys.modules if name.startswith('langchain')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
