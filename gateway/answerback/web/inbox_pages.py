"""The pages of the inbox: each question as the form shows it, one below the other."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse

from answerback import render
from answerback.inbox import Listed, Sent, Waiting
from answerback.sentences import moment
from answerback.web.csrf import Proof
from answerback.web.pages import Entry, asked_context, page, part
from answerback.web.posted import Posted
from answerback.web.prefilled import prefilled
from answerback.web.sessions import Session
from answerback.web.wording import word

if TYPE_CHECKING:
    from answerback.forms import FormView

__all__ = ["Said", "digest", "ended", "first", "inbox_page", "sign_in_page"]
STATUSES = frozenset({"queued", "sent", "delivered", "read", "failed", "unknown"})


@dataclass(frozen=True, slots=True)
class Said:
    """What is said about one question: what was typed and is wrong, or, with no `id`, how it ended."""

    id: str = ""
    posted: Posted = field(default_factory=Posted)
    errors: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    outcome: str = ""
    about: str = ""  # the question that ended so


def inbox_page(
    listed: Listed,
    session: Session,
    *,
    said: Said | None = None,
    status: int = 200,
    below: bool = False,
    later: bool = False,
) -> HTMLResponse:
    """The list. `below`: it is shown at an address below /inbox; `later`: there are others before these."""
    said, following, last = said or Said(), listed.next, listed.last_answer
    rows = [_row(number, row, session.proof, said, below) for number, row in enumerate(listed.rows)]
    return page(
        "inbox.html",
        listed.language,
        status,
        below=below,
        later=later,
        rows=rows,
        who=listed.who,
        outcome=said.outcome,
        about=said.about,
        proof=session.proof,
        ends=session.ends,
        digest=digest(row.view.interaction.id for row in listed.rows),
        following=f"{following.deadline}.{following.id}" if following else "",
        last=moment(last, listed.language, listed.timezone, listed.now) if last is not None else "",
    )


def sign_in_page(language: str, problem: str, status: int, *, below: bool) -> HTMLResponse:
    """Asks for a key."""
    return page("sign-in.html", language, status, below=below, problem=problem)


def ended(view: "FormView", *, late: bool) -> Said:
    """How a question ended; `late`: whoever reads this has just tried to answer it."""
    tell = render.already_text if late else render.outcome_text
    sentence = tell(
        view.interaction,
        viewer=view.interaction.answered_by if view.you else "",
        who=view.answerer,
        language=view.language,
        timezone=view.timezone,
        now=view.now,
    )
    return Said(outcome=sentence, about=render.pick_label(view.interaction, view.language))


def first(listed: Listed, view: "FormView") -> Listed:
    """The list with a question on top that is not on this page of it."""
    return replace(listed, rows=(Waiting(view, ()), *listed.rows))


def digest(ids: Iterable[str]) -> str:
    """Changes when something else waits."""
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16]


def _row(number: int, row: Waiting, proof: str, said: Said, below: bool) -> dict[str, Any]:
    view, mine = row.view, said.id == row.view.interaction.id
    begun = Posted() if mine else prefilled(view)
    entry = Entry(
        Proof("", "", proof, fresh=False),
        said.posted if mine else begun,
        said.errors if mine else {},
        said.problem if mine else "",
        begun=bool(begun),
    )
    id = view.interaction.id
    html = part(
        "asked.html",
        view.language,
        level="h2",
        pre=f"r{number}-",
        action=id if below else f"inbox/{id}",
        **asked_context(view, entry),
    )
    label = f"r{number}-q0-label" if len(view.interaction.questions) == 1 else f"r{number}-all"
    sent = [_told(each, view) for each in row.sent]
    return {"html": html, "label": label, "sent": sent, "problem": entry.problem}


def _told(sent: Sent, view: "FormView") -> str:
    """ "Ana, Telegram: read 14:02"."""
    status = sent.status if sent.status in STATUSES else "unknown"
    said = word(f"sent_{status}", view.language)
    at = "" if sent.at is None else " " + moment(sent.at, view.language, view.timezone, view.now)
    to = ", ".join(filter(None, (sent.to, render.provider_name(sent.provider))))
    why = f" ({render.line(sent.error)})" if sent.error else ""
    return f"{to}: {said}{at}{why}"
