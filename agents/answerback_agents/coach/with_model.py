"""The coach with a model: in each step it may ask by tool calls, as often as it needs, within limits."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolCall, ToolMessage
from pydantic import ValidationError

from answerback_agents.coach.mind import Payload, Update
from answerback_agents.coach.prompts import ENOUGH, opening
from answerback_agents.coach.rules import noted
from answerback_agents.coach.settings import Settings
from answerback_agents.coach.state import State, Step
from answerback_agents.models import Sleep, patiently
from answerback_agents.toolkit import answers, ask_human, payloads
from answerback_agents.toolkit.for_models import Question

MOST_ROUNDS = 15  # turns of one step in which the model calls tools


class NothingWritten(Exception):
    """The model ended its part without a text."""


@dataclass(frozen=True, slots=True)
class WithModel:
    """See `mind.Mind`. The talk is stored after each turn, so no turn is paid for twice after a restart."""

    model: BaseChatModel
    settings: Settings
    sleep: Sleep = asyncio.sleep

    async def think(self, step: Step, state: State) -> Update:
        talk = state["talk"] or opening(step, state, self.settings)
        may_ask = state["hitl_enabled"]
        last = may_ask and _rounds(talk) >= MOST_ROUNDS
        model = self.model.bind_tools([ask_human]) if may_ask else self.model
        said = [*talk, HumanMessage(ENOUGH)] if last else talk
        turn = await patiently(lambda: model.ainvoke(said), self.sleep)
        if may_ask and not last and (turn.tool_calls or turn.invalid_tool_calls):
            return {"talk": [*talk, turn, *_refusals(turn)]}
        text = str(turn.text).strip()
        if not text:
            raise NothingWritten(f"The model wrote nothing in the step {step.name}. Retry the run.")
        return {"talk": [], step.result: text}

    def waiting(self, step: Step, state: State) -> Payload | None:
        """The first call without an answer: one at a time, so that no answer gets to another call."""
        call = _open_call(state["talk"])
        if call is None:
            return None
        asked = Question.model_validate(call["args"])
        return {**payloads.question(asked.question, asked.context, asked.choices), "title": step.title}

    def heard(self, step: Step, state: State, payload: Payload, answer: answers.Heard) -> Update:
        call = _open_call(state["talk"])
        assert call is not None, "only what is open is answered"
        id = call["id"] or ""
        told = ToolMessage(answers.told(answer), name=call["name"], tool_call_id=id, artifact=answer)
        note = noted(step, id, payload["question"], answer)
        return {"talk": [*state["talk"], told], "questions": [*state["questions"], note]}


def _rounds(talk: Sequence[AnyMessage]) -> int:
    """The model's turns so far: as long as a step talks, each of them has called tools."""
    return sum(isinstance(each, AIMessage) for each in talk)


def _open_call(talk: Sequence[AnyMessage]) -> ToolCall | None:
    """Of the last turn only: ids need not differ from turn to turn."""
    turns = [place for place, each in enumerate(talk) if isinstance(each, AIMessage)]
    if not turns:
        return None
    turn, *since = talk[turns[-1] :]
    answered = {each.tool_call_id for each in since if isinstance(each, ToolMessage)}
    calls = turn.tool_calls if isinstance(turn, AIMessage) else []
    return next((call for call in calls if (call["id"] or "") not in answered), None)


def _refusals(turn: AIMessage) -> list[ToolMessage]:
    """What the model reads about calls that ask nobody anything; it can call again."""
    wrong = [(call["id"], _wrong(call)) for call in turn.tool_calls]
    wrong += [(call["id"], "These arguments are no JSON.") for call in turn.invalid_tool_calls]
    return [ToolMessage(why, tool_call_id=id or "", status="error") for id, why in wrong if why]


def _wrong(call: ToolCall) -> str:
    """Why a call cannot be asked; "" if it can."""
    if call["name"] != ask_human.name:
        return f"There is no tool {call['name']}; there is {ask_human.name}."
    try:
        Question.model_validate(call["args"])
    except ValidationError as error:
        return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
    return ""
