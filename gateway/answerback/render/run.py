"""The outcome of a run, shortly: what came out, or why it stopped."""

import re

from answerback.model import Address, Json, RunStatus
from answerback.provider import Button, Message, MessageKind
from answerback.render.buttons import MOST_DATA, data, link_button
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
SHOWN = 10 * (FIRST + REST)  # characters of what may be shown, before marks, links and blank lines are gone
OPEN, RETRY = "open", "retry"  # what a tap below the message means
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
    token: str = "",
    open_url: str = "",
    retry: bool = False,
) -> Message:
    """How a run ended. `who` is the agent's name.

    `open_url` leads to all of it; where others read the message too there is only the `token`, and a tap asks
    for the link. `retry`: whether whoever reads it may have a failed run tried again by a tap.
    """
    name = line(who) or say("an_agent", language)
    title, body = _said(name, status, result, error, language)
    buttons = link_button("open", open_url, language)
    if open_url and not buttons:  # a page of this machine
        body = "\n\n".join(part for part in (body, say("run_more", language, link=open_url)) if part)
    elif token and not open_url:
        buttons = _tap("open", token, OPEN, language)
    if status is RunStatus.FAILED and retry:
        buttons += _tap("try_again", token, RETRY, language)
    return Message(
        to,
        MessageKind.NOTICE,
        title,
        body=body,
        buttons=buttons,
        subject=subject(title, ""),
        form_url=open_url,
        language=language,
    )


def says_less(content: Json) -> bool:
    """Whether there is more to a run's end than its message shows, or something to be done about it.

    `content`: its status as `kind`, and its `result`.
    """
    return content["kind"] == RunStatus.FAILED or not _is_whole(content.get("result"))


def excerpt(result: Json) -> Json:
    """What the message about a result needs of it: the message is made later, and a result may be large."""
    if _is_whole(result):
        return result
    # Two keys, so that it is not taken for all there is.
    is_report = isinstance(result, dict) and bool(result_text(result.get("report"), longest=SHOWN))
    return {"report" if is_report else "text": result_text(result, longest=SHOWN)[:SHOWN], "more": True}


def _is_whole(result: Json, depth: int = DEPTH) -> bool:
    """Whether a message shows all of a result."""
    if isinstance(result, str):
        return _fits(result)
    if result is None or result == [] or result == {}:
        return True
    if depth and isinstance(result, list) and len(result) == 1:
        return _is_whole(result[0], depth - 1)
    if depth and isinstance(result, dict) and len(result) == 1:
        ((key, value),) = result.items()
        return key in (*KEYS, "messages") and _is_whole(value, depth - 1)
    return False


def _fits(text: str) -> bool:
    if len(text) > 2 * (FIRST + REST):
        return False
    return len(_parted(result_text(text))[1]) <= REST


def _tap(key: str, token: str, payload: str, language: str) -> tuple[Button, ...]:
    tapped = data(token, payload)
    return (Button(say(key, language), tapped),) if token and len(tapped.encode()) <= MOST_DATA else ()


def result_text(result: Json, depth: int = DEPTH, longest: int | None = None) -> str:
    """The words in a result: a text, a well-known key, the last of `messages`; "" if there are none."""
    if isinstance(result, str):
        return visible(result.strip()[:longest]).strip()
    if depth == 0:
        return ""
    if isinstance(result, list):  # messages, or the blocks of one
        texts = (result_text(each, depth - 1, longest) for each in reversed(result[-20:]))
        return next((text for text in texts if text), "")
    if not isinstance(result, dict):
        return ""
    found = (result_text(result.get(key), depth - 1, longest) for key in (*KEYS, "messages"))
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
    shown, rest = _parted(result_text(result))
    title = say(f"{key}_text" if shown else key, language, who=name, text=shown)
    return "📄 " + title, cap(rest, REST)


def _parted(text: str) -> tuple[str, str]:
    """The first line and what follows; one that is too long begins what follows, and nothing stands first."""
    first, _, rest = plain(text).partition("\n")
    shown = line(first)
    return (shown, rest.strip()) if len(shown) <= FIRST else ("", f"{first}\n{rest}".strip())
