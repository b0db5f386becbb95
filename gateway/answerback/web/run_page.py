"""The page of a run, in words: whose it is, how it stands, what came out of it, what was asked on the way."""

from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

from answerback import render
from answerback.model import Interaction, RunStatus
from answerback.sentences import say
from answerback.web.pages import Entry, page

if TYPE_CHECKING:
    from answerback.endings import Ending

ERROR = 1000  # characters of why it stopped
SAID = {
    RunStatus.RUNNING: "run_working",
    RunStatus.WAITING: "run_waiting",
    RunStatus.COMPLETED: "run_done",
    RunStatus.FAILED: "run_stopped",
    RunStatus.CANCELLED: "run_cancelled",
}


def page_of(ending: "Ending", entry: Entry, status: int = 200) -> HTMLResponse:
    """How a run stands for the person whom the link belongs to."""
    who = render.called(ending.agent)
    return page(
        "run.html",
        ending.language,
        status,
        pre="",
        entry=entry,
        who=who,
        sentence=say(SAID[ending.status], ending.language, who=who or say("an_agent", ending.language)),
        error=_error(ending),
        erased=ending.erased,
        newer=ending.newer,
        result=_result(ending),
        asked=[_asked(ending, record) for record in ending.asked if _is_told(record)],
        step=_step(ending, entry),
    )


def _error(ending: "Ending") -> str:
    failed = ending.status is RunStatus.FAILED
    return render.brief(ending.error, ERROR) if failed else ""


def _result(ending: "Ending") -> render.Whole:
    """Only of a run that has come to an end: what an earlier try left is not what comes out."""
    if ending.status not in (RunStatus.COMPLETED, RunStatus.CANCELLED) or ending.erased:
        return render.Whole()
    return render.whole_result(
        ending.result, language=ending.language, timezone=ending.timezone, now=ending.now
    )


def _asked(ending: "Ending", record: Interaction) -> tuple[str, str]:
    return render.told_later(
        record,
        viewer=ending.contact.id if ending.contact is not None else "",
        who=ending.names.get(record.answered_by, record.answered_by),
        language=ending.language,
        timezone=ending.timezone,
        now=ending.now,
    )


def _is_told(record: Interaction) -> bool:
    """Erased, there is nothing left of it; superseded, another one stands for it."""
    return bool(record.questions) and record.reason != "superseded"


def _step(ending: "Ending", entry: Entry) -> str:
    """Nothing can be done here, or try again: at once, by asking for a code first, or with it."""
    if not ending.retry:
        return ""
    if not ending.needs_code:
        return "retry"
    return "retry with code" if entry.code_sent else "code"
