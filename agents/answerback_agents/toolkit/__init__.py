"""What an agent needs in order to ask a person: tools for one with a model, functions for a step without one.

    agent = create_agent(model, [*my_tools, *tools()], system_prompt=f"{MY_PROMPT}\n\n{INSTRUCTIONS}")

    def deploy(state):
        if confirmed("deploy", "Version 2.4 to production."):
            ...

Both pause the graph by LangGraph's `interrupt`, with payloads that docs/asking.md describes, so whatever
resumes LangGraph graphs can answer them; answerback does. Silence is told apart from every answer: by a
sentence and the artifact of the tool's message, by `Silence`, and by the None of `confirmed`.
"""

from answerback_agents.toolkit.answers import Silence
from answerback_agents.toolkit.for_models import INSTRUCTIONS, ask_human, confirm_action, tools
from answerback_agents.toolkit.for_steps import ask, confirmed

__all__ = ["INSTRUCTIONS", "Silence", "ask", "ask_human", "confirm_action", "confirmed", "tools"]
