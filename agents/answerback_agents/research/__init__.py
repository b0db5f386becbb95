"""The research agent that comes along, `graph: answerback_agents.research:graph`: no model, no account.

Started with `{"topic": "which question a massage is for"}` it proposes search terms, pauses to ask whether
they are meant ("massage" is nowhere in the collection, "message" is), takes a choice or words of the person's
own, searches, sums up and reports. Words of their own that look mistyped are asked about again. It ends with
`report` (Markdown, which cites nothing but passages of the collection: the project's own documents, or
`options: {documents: FOLDER}`), `passages` (`{"document", "section", "text"}` each), the `topic` and the
`search_terms` that were searched for, and `additional_context`: what the person wrote, "" if they only
tapped.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from answerback_agents.options import checked
from answerback_agents.research.collection import collection
from answerback_agents.research.folder import collection_in
from answerback_agents.research.settings import Settings

if TYPE_CHECKING:
    from answerback_agents.research.flow import Graph

__all__ = ["Settings", "graph", "research"]


def graph(options: Mapping[str, Any]) -> "Graph":
    """The research agent as an agent's `options` say. Raises ConfigurationError."""
    return research(checked(Settings, options))


def research(settings: Settings = Settings()) -> "Graph":
    """The research agent. A folder is read now, the documents that come along at their first use."""
    # It imports LangGraph, which takes long and which whoever only wants the collection has no need of.
    from answerback_agents.research.flow import flow

    if not settings.documents:
        return flow(collection)
    found = collection_in(settings.documents)
    return flow(lambda: found)
