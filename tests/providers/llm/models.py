"""Real LangChain chat models that answer from a list, made the way `init_chat_model` makes one."""

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import Field

MADE: list[tuple[str, dict[str, Any]]] = []


class Formed(BaseChatModel):
    """A model that takes tools, and with them a form; `said` keeps what it was asked."""

    answers: list[Any]
    said: list[list[BaseMessage]] = Field(default_factory=list)
    forms: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "formed"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "Runnable[Any, AIMessage]":
        self.forms.append(tools[0])
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.said.append(messages)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            made = AIMessage(answer)
        else:
            made = AIMessage("", tool_calls=[{"name": "answer", "args": answer, "id": "c1"}])
        return ChatResult(generations=[ChatGeneration(message=made)])


def init(model: str, **options: Any) -> BaseChatModel:
    """The model after the colon: `list:a|b` says a and then b."""
    MADE.append((model, options))
    return FakeListChatModel(responses=model.partition(":")[2].split("|"))


def broken(model: str, **options: Any) -> BaseChatModel:
    raise RuntimeError(f"no such model for the key {options['api_key']}")


def absent(model: str, **options: Any) -> BaseChatModel:
    raise ImportError(
        "Could not import langchain_openai. Please install it with `pip install langchain-openai`."
    )
