"""The form's pages: what the templates are given, and the headers that every page carries."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from starlette.responses import HTMLResponse

from answerback import render
from answerback.messages import outline
from answerback.model import InteractionStatus, Question, QuestionKind
from answerback.sentences import say
from answerback.web.arguments import arguments, touched
from answerback.web.assets import versioned
from answerback.web.csrf import Proof
from answerback.web.fields import bounds, decisions, keyboard
from answerback.web.posted import MOST_BYTES, MOST_FILES, Posted
from answerback.web.wording import marked, word

if TYPE_CHECKING:
    from answerback.forms import FormView
    from answerback.notices import Shown

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
BY_BUTTON = (QuestionKind.CONFIRM, QuestionKind.CHOICE, QuestionKind.REVIEW)
IN_TITLE = 60  # characters of a question in a page's title
TITLE = 500  # characters of one of several questions that have ended
CLAIM = 1000  # characters of what an agent says about its own action
_templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters["apart"] = marked
_templates.globals.update(
    style=versioned("style.css"),
    script=versioned("form.js"),
    inbox_script=versioned("inbox.js"),
    arguments=arguments,
    touched=touched,
    decisions=decisions,
    bounds=bounds,
    wanted=render.wanted,
    keyboard=keyboard,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a page shows beside the question: what was typed, what is wrong with it, and the proof."""

    proof: Proof
    posted: Posted = field(default_factory=Posted)
    errors: dict[str, str] = field(default_factory=dict)
    problem: str = ""  # a sentence above everything
    code_sent: bool = False
    begun: bool = False  # it shows what was answered elsewhere, and nobody has typed here yet


def question_page(view: "FormView", entry: Entry, status: int = 200) -> HTMLResponse:
    """The question with the inputs that fit, or, for law 7, first the button that sends a code."""
    return page(
        "question.html",
        view.language,
        status,
        level="h1",
        pre="",
        action="",
        title=_title(view),
        **asked_context(view, entry),
    )


def outcome_page(
    view: "FormView", status: int = 200, *, late: bool = False, here: bool = False
) -> HTMLResponse:
    """How it ended: the question and one sentence, no form.

    `late`: the reader has just tried to answer. `here`: this browser gave the answer, through a link that
    belongs to nobody in particular, so "you" is right although nobody has a name.
    """
    record, viewer = view.interaction, view.contact.id if view.you and view.contact else ""
    if here and not record.answered_by:
        viewer = "this browser"
        record = replace(record, answered_by=viewer)
    say_it = render.already_text if late else render.outcome_text
    sentence = say_it(
        record,
        viewer=viewer,
        who=view.answerer,
        language=view.language,
        timezone=view.timezone,
        now=view.now,
    )
    only = record.questions[0] if len(record.questions) == 1 else None
    titles = [render.question_title(only)] if only else render.asked_lines(record, view.language, TITLE)
    return page(
        "outcome.html",
        view.language,
        status,
        title=_title(view),
        heading=_heading(view),
        titles=titles,
        sentence=sentence,
        anew=render.asked_anew(
            view.anew.via, view.anew.at, language=view.language, timezone=view.timezone, now=view.now
        )
        if view.anew
        else "",
    )


def notice_page(shown: "Shown") -> HTMLResponse:
    """All of a notice; it asks nothing, so there is nothing to press."""
    notice = shown.notice
    heading = render.line(notice.title) or render.called(notice.agent)
    return page("notice.html", shown.language, 200, heading=heading, text=notice.text)


def unknown_page(language: str, sentence: str, status: int = 404) -> HTMLResponse:
    """The same page for whatever cannot be shown, with one sentence."""
    return page("unknown.html", language, status, sentence=sentence, gone=status == 404)


def docs_page(schema: dict[str, Any], operations: list[dict[str, Any]]) -> HTMLResponse:
    """The API's description for people."""
    return page("docs.html", "en", 200, schema=schema, operations=operations)


def page(name: str, language: str, status: int, **context: object) -> HTMLResponse:
    """A template in a language, with the headers of a page that holds a secret link."""
    html = part(name, language, **context)
    content = html.encode("utf-8", "replace")  # what an agent sent may hold what UTF-8 cannot
    return HTMLResponse(content, status, {"content-security-policy": POLICY, "cache-control": "no-store"})


def part(name: str, language: str, **context: object) -> str:
    """A template in a language, escaped: it can stand in another one."""

    def t(key: str, **args: object) -> str:
        return word(key, language, **args)

    def s(key: str, **args: object) -> str:
        return say(key, language, **args)

    context |= {"language": language, "t": t, "s": s, "visible": render.visible}
    return _templates.get_template(name).render(context)


def asked_context(view: "FormView", entry: Entry) -> dict[str, Any]:
    """What `asked.html` is given about a question."""
    record = view.interaction
    review = any(question.kind is QuestionKind.REVIEW for question in record.questions)
    claim = render.visible(record.context)
    return {
        "record": record,
        "entry": entry,
        "heading": _heading(view),
        "single": record.questions[0] if len(record.questions) == 1 else None,
        "claim": render.brief(claim, CLAIM) if review else claim,
        "review": review,
        "guarded": guarded(record.questions, view.needs_code),
        "step": _step(view, entry),
        "consequence": _consequence(view),
        "most_bytes": MOST_BYTES if takes_files(view) else 0,
        "most_files": MOST_FILES,
        "rows": lambda action: [
            (label, value, outline(value))
            for label, value in render.action_rows(
                action, language=view.language, timezone=view.timezone, now=view.now
            )
        ],
    }


def takes_files(view: "FormView") -> bool:
    """Whether files can come with the answer."""
    return view.interaction.takes_files


def in_place(view: "FormView", errors: dict[str, str]) -> dict[str, str]:
    """For a question that is answered by a button, "press one" says more than "answer this"."""
    questions = view.interaction.questions
    by_button = len(questions) == 1 and questions[0].kind in BY_BUTTON
    if by_button and errors.get("q0") == word("missing", view.language):
        return errors | {"q0": word("pick", view.language)}
    return errors


def guarded(questions: tuple[Question, ...], needs_code: bool) -> bool:
    """Whether Enter in a field must not press a button, because the first one would decide something."""
    if len(questions) != 1:
        return False
    question = questions[0]
    decides = question.kind in (QuestionKind.CONFIRM, QuestionKind.REVIEW)
    return decides or (question.kind is QuestionKind.CHOICE and (question.free_text or needs_code))


def _heading(view: "FormView") -> str:
    """Who asks; the coloured square before it is drawn by the stylesheet, so that nobody hears it read."""
    questions = view.interaction.questions
    only = questions[0] if len(questions) == 1 else None
    return render.heading(view.interaction, only, view.language).partition(" ")[2]


def _title(view: "FormView") -> str:
    """What is asked and by whom, for the browser's list of pages; it is kept there, so nothing of what is

    sensitive.
    """
    questions, pending = view.interaction.questions, view.interaction.status is InteractionStatus.PENDING
    if view.interaction.sensitive:
        return say("sensitive", view.language) if pending else render.asker(view.interaction, view.language)
    if len(questions) == 1:
        asked = render.brief(render.question_title(questions[0]), IN_TITLE)
    else:
        asked = say("questions", view.language, count=len(questions))
    return " · ".join(filter(None, (asked, _heading(view))))


def _consequence(view: "FormView") -> str:
    """What silence does, or that it is overdue."""
    tell = render.consequence if view.interaction.overdue_at is None else render.waiting
    return tell(view.interaction, language=view.language, timezone=view.timezone, now=view.now)


def _step(view: "FormView", entry: Entry) -> str:
    """answer, or for law 7: ask for a code first, answer with the code, or not through this link at all."""
    if not view.needs_code:
        return "answer"
    if not view.can_send_code:
        return "elsewhere"
    return "answer with code" if entry.code_sent else "code"
