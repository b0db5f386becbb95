"""The coach that comes along, `graph: answerback_agents.coach:graph`: no account, a model only if you like.

Five steps in a row, for an endurance athlete: training load, workouts, recovery, then a season plan and the
coming week. Each may stop and ask in the middle of its work, as often as it needs, and goes on with the
answer. Started with `{}` it takes sample data; with `options: {model: openai:gpt-5}` a model does the work of
each step and asks with the tool `ask_human`, without one plain rules do. `hitl_enabled: false` is the same
flow without questions. It ends with a text of each step, and `questions`: each with its answer word for word.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from langchain_core.language_models import BaseChatModel

from answerback_agents.coach.flow import Graph, flow
from answerback_agents.coach.rules import Rules
from answerback_agents.coach.settings import Settings
from answerback_agents.coach.with_model import WithModel
from answerback_agents.models import Sleep, chat_model
from answerback_agents.options import checked

__all__ = ["Settings", "coach", "graph"]


def graph(options: Mapping[str, Any]) -> Graph:
    """The coach as an agent's `options` say. Raises ConfigurationError."""
    settings = checked(Settings, options)
    name = settings.model_name
    return coach(chat_model(name) if name else None, settings)


def coach(
    model: BaseChatModel | None = None,
    settings: Settings = Settings(),
    *,
    sleep: Sleep = asyncio.sleep,
    today: Callable[[], date] = date.today,
) -> Graph:
    """The coach with a model of your own, or with none. `sleep` waits before a model is tried again."""
    mind = WithModel(model, settings, sleep) if model is not None else Rules(settings)
    return flow(mind, settings, today)
