"""Chat models for the agents that come along: by name, and called again when their service stumbles."""

import asyncio
import importlib.util
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel

from answerback.errors import ConfigurationError

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]

TRIES = 5
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds
PASSING = frozenset({408, 409, 425, 429})
# Classes of the packages that speak to the services: their errors have no common base.
AWAY = ("RateLimit", "Timeout", "Connection", "Connect", "Overloaded", "ServiceUnavailable", "InternalServer")


def chat_model(name: str) -> BaseChatModel:
    """The model that LangChain's `init_chat_model` makes of `provider:model`. Raises ConfigurationError."""
    if importlib.util.find_spec("langchain") is None:
        raise ConfigurationError(
            "model: this needs LangChain and the package of the model's service: pip install "
            "'answerback[agents]' langchain-openai, for example"
        )
    from langchain.chat_models import init_chat_model

    try:
        made: BaseChatModel = init_chat_model(name)
    except ImportError as error:
        raise ConfigurationError(f"model: {name} cannot be used yet: {error}") from error
    except Exception as error:  # its text may quote a key
        raise ConfigurationError(
            f"model: {name} cannot be made ({type(error).__name__}); write it as provider:model, such as "
            "openai:gpt-5, and put the key where that package looks for it, usually the environment"
        ) from error
    return made


async def patiently(call: Callable[[], Awaitable[T]], sleep: Sleep = asyncio.sleep) -> T:
    """What `call` gives; tried again after 1, 2, 4 and 8 seconds while what it raises may pass by itself."""
    pause = FIRST_PAUSE
    for _ in range(TRIES - 1):
        try:
            return await call()
        except Exception as error:
            if not may_pass(error):
                raise
        await sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
    return await call()


def may_pass(error: Exception) -> bool:
    """Whether an error of a model's service is about now, not about what it was asked."""
    status = _status(error)
    if status:
        return status in PASSING or status >= 500
    name = type(error).__name__
    return isinstance(error, ConnectionError | TimeoutError) or any(part in name for part in AWAY)


def _status(error: Exception) -> int:
    response: Any = getattr(error, "response", None)
    named = (getattr(error, "status_code", None), getattr(response, "status_code", None))
    return next((code for code in (*named, getattr(error, "code", None)) if isinstance(code, int)), 0)
