"""The hazards, as data: what can go wrong between an answer and its question, and what the journal must say.

A question is named by its text; of several with one text, `nth` counts them as they were asked. Every line of
the journal is `question answer`, as the node heard it, and `end` when the graph has run to its end. A hazard
is held when the set of lines is one of `holds` and the end came at most once. (A node's line may repeat: an
interrupted node runs again from its start.)
"""

from tests.conformance.hazards.deadlines import OF_TIME
from tests.conformance.hazards.langgraph import OF_LANGGRAPH
from tests.conformance.hazards.people import OF_PEOPLE
from tests.conformance.hazards.processes import OF_PROCESSES
from tests.conformance.hazards.reviews import OF_REVIEWS

HAZARDS = (*OF_LANGGRAPH, *OF_REVIEWS, *OF_PEOPLE, *OF_TIME, *OF_PROCESSES)
