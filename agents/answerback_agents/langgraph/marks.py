"""Marks that runs of ours leave in the metadata of their checkpoints: what led to these."""

from langgraph.checkpoint.base import CheckpointTuple

# Which start, or which answer, led to a checkpoint; inner graphs' too.
STARTED, ANSWERED = "answerback_started", "answerback_answered"
Stamp = dict[str, str]


def is_stamped(found: CheckpointTuple, stamp: Stamp) -> bool:
    return all(found.metadata.get(key) == value for key, value in stamp.items())
