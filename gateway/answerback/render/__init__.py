"""From a question, an answer or an outcome to the message that a person reads, worded and ordered.

Pure: `now` is given. Whatever an agent or a stranger wrote is made visible before it is shown.
"""

from answerback.render.action import rows as action_rows
from answerback.render.answer import answer_text, interaction_answer
from answerback.render.buttons import Room, reachable
from answerback.render.conversation import (
    already_message,
    by_code,
    conversation_message,
    pick_label,
    pick_labels,
    unclear_message,
    which_one_message,
)
from answerback.render.notice import NOTICE_SHOWN, notice_message
from answerback.render.outcome import (
    already_text,
    also_sent,
    asked_anew,
    asked_lines,
    delegated_message,
    noted_message,
    outcome_message,
    outcome_text,
    provider_name,
    told_later,
)
from answerback.render.question import (
    asker,
    called,
    heading,
    is_called,
    question_message,
    question_title,
    reminder_message,
    subject,
)
from answerback.render.result import Part, Whole, whole_result
from answerback.render.run import OPEN, RETRY, excerpt, result_text, run_message, says_less
from answerback.render.silence import consequence, footer, waiting
from answerback.render.visible import brief, line, visible
from answerback.render.wanted import wanted

__all__ = [
    "NOTICE_SHOWN",
    "OPEN",
    "RETRY",
    "Part",
    "Room",
    "Whole",
    "action_rows",
    "already_message",
    "already_text",
    "also_sent",
    "answer_text",
    "asked_anew",
    "asked_lines",
    "asker",
    "brief",
    "by_code",
    "called",
    "consequence",
    "conversation_message",
    "delegated_message",
    "excerpt",
    "footer",
    "heading",
    "interaction_answer",
    "is_called",
    "line",
    "noted_message",
    "notice_message",
    "outcome_message",
    "outcome_text",
    "pick_label",
    "pick_labels",
    "provider_name",
    "question_message",
    "question_title",
    "reachable",
    "reminder_message",
    "result_text",
    "run_message",
    "says_less",
    "subject",
    "told_later",
    "unclear_message",
    "visible",
    "waiting",
    "wanted",
    "which_one_message",
    "whole_result",
]
