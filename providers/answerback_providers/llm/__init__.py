"""A language model in place of a person, through LangChain's `init_chat_model`.

    advisor:
      use: llm
      model: openai:gpt-5
      temperature: 0.3
      max_tokens: 300

It chooses, writes and says no; it approves, confirms and edits only with `may_approve: true`, it is never
asked what only people may answer, and records say of every answer that a model gave it.
"""

from answerback_providers.llm.provider import LLM
from answerback_providers.llm.settings import LLMSettings

__all__ = ["LLM", "LLMSettings"]
