"""The outcome of a run, shortly: what came out, or why it stopped."""

import re

from answerback.model import Address, Json, RunStatus
from answerback.provider import Button, Message, MessageKind
from answerback.render.buttons import MOST_DATA, link_button
from answerback.render.question import subject
from answerback.render.visible import brief, cap, line, visible
from answerback.sentences import say

FIRST, REST = 160, 600  # characters of the first line, and of what follows it
KEYS = (
    "report",
    "answer",
    "result",
    "summary",
    "output",
    "final_answer",
    "response",
    "content",
    "text",
    "message",
)
DEPTH = 5
LEADING = re.compile(r"^[ \t]*(?:#{1,6} |> ?)", re.MULTILINE)  # headings and quotations
MARKS = re.compile(r"\*\*|`")
LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\((https?://[^()\s]{1,500})\)")
BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


def run_message(
    to: Address,
    *,
    who: str,
    status: RunStatus,
    result: Json = None,
    error: str = "",
    language: str = "en",
    open_url: str = "",
    retry_data: str = "",
) -> Message:
    """How a run ended. `who` is the agent's name; `retry_data` is what a tap on "Try again" sends back."""
    name = line(who) or say("an_agent", language)
    title, body = _said(name, status, result, error, language)
    buttons = link_button("open", open_url, language)
    if status is RunStatus.FAILED and 0 < len(retry_data.encode()) <= MOST_DATA:
        buttons += (Button(say("try_again", language), retry_data),)
    return Message(
        to,
        MessageKind.NOTICE,
        title,
        body=body,
        buttons=buttons,
        subject=subject(title, ""),
        language=language,
    )


def result_text(result: Json, depth: int = DEPTH) -> str:
    """The words in a result: a text, a well-known key, the last of `messages`; "" if there are none."""
    if isinstance(result, str):
        return visible(result).strip()
    if depth == 0:
        return ""
    if isinstance(result, list):  # messages, or the blocks of one
        texts = (result_text(each, depth - 1) for each in reversed(result[-20:]))
        return next((text for text in texts if text), "")
    if not isinstance(result, dict):
        return ""
    found = (result_text(result.get(key), depth - 1) for key in (*KEYS, "messages"))
    return next((text for text in found if text), "")


def plain(markdown: str) -> str:
    """What agents write as Markdown, as the text of a message: marks gone, words and lines kept."""
    text = LINK.sub(r"\1 (\2)", MARKS.sub("", LEADING.sub("", markdown)))
    return BLANK_LINES.sub("\n\n", text)


def _said(name: str, status: RunStatus, result: Json, error: str, language: str) -> tuple[str, str]:
    if status is RunStatus.CANCELLED:
        return "⏹ " + say("run_cancelled", language, who=name), ""
    if status is RunStatus.FAILED:
        reason = brief(error, FIRST)
        key = "run_stopped_text" if reason else "run_stopped"
        return "⚠️ " + say(key, language, who=name, text=reason), ""
    key = "report_ready" if isinstance(result, dict) and result_text(result.get("report")) else "run_done"
    first, _, rest = plain(result_text(result)).partition("\n")
    shown = cap(line(first), FIRST)
    if len(line(first)) > FIRST:  # a long first line is shown whole below, as far as there is room
        shown, rest = "", f"{first}\n{rest}"
    title = say(f"{key}_text" if shown else key, language, who=name, text=shown)
    return "📄 " + title, cap(rest.strip(), REST)
