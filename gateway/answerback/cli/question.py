"""A question in the terminal: who asks, the question, the reason, its choices numbered, until when."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from answerback.cli import terminal

if TYPE_CHECKING:
    from answerback.client import Interaction
    from answerback.errors import DoesNotFit

LISTED = ("choice", "choices")


def show(record: "Interaction") -> None:
    """Print a question as a person is asked it."""
    from answerback.messages import hanging
    from answerback.render.visible import line

    for question in record["questions"]:
        terminal.note(_heading(record, question))
        terminal.note(title(question), bold=True)
        for name, value in ((question.get("action") or {}).get("args") or {}).items():
            shown = _argument(value)
            gap = "" if shown.startswith("\n") else "   "
            terminal.note(f"  {line(name)}{gap}{hanging(shown)}")
        if record["context"]:
            claim = f"The agent says: “{record['context']}”" if question.get("action") else record["context"]
            terminal.note(claim)
        for number, choice in enumerate(question.get("choices") or (), start=1):
            terminal.note(f"  {number}  {choice['label']}")
        if wanted := _wanted(question):
            terminal.note(wanted)
    terminal.note(_footer(record), dim=True)


def hint(question: Mapping[str, Any]) -> str:
    """What may be typed, for the prompt."""
    match question["kind"]:
        case "confirm":
            return "yes or no"
        case "choice":
            return "a number, or something else" if question["free_text"] else "a number"
        case "choices":
            return "numbers, e.g. 1, 3"
        case "number":
            return "a number"
        case "date":
            return "a date, e.g. 3 Dec, tomorrow, Friday 9:00"
        case "review":
            named = " or ".join(name for name in question["decisions"] if name in ("approve", "reject"))
            own = "a reply in your own words" if "respond" in question["decisions"] else ""
            return ", or ".join(filter(None, (named, own)))
    return "your answer"


def typed(question: Mapping[str, Any], text: str) -> str:
    """What is sent for a typed text: the id of the choice that it names, or else the text, for the gateway.

    What is shown, the words and the numbers, goes before an id, which is not. Among numbered choices "4" is
    the fourth, also beside "4 GB".
    """
    if question["kind"] != "choice":
        return text
    from answerback.model import Choice
    from answerback.read.choices import candidates
    from answerback.read.places import place

    choices = [Choice(each["id"], each["label"]) for each in question["choices"]]
    called = [choice for choice in choices if choice.label == text] or candidates(choices, text)
    if len(called) > 1 and (at := place(text)) is not None and 1 <= at <= len(choices):
        called = [choices[at - 1]]
    return called[0].id if len(called) == 1 else text


def unclear(record: "Interaction", error: "DoesNotFit") -> str:
    """Why an answer was not taken, for whoever has typed it."""
    kinds = [each["kind"] for each in record["questions"]]
    return "I need a clear yes or no." if kinds == ["confirm"] else str(error)


def answer_text(record: "Interaction") -> str:
    """The answer in one text: what was written or chosen; yes or no; JSON for anything else."""
    import json

    answer = record["answer"]
    if answer is None:
        return ""
    value = answer["value"] if len(record["questions"]) == 1 else answer["values"]
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def files(record: "Interaction") -> list[str]:
    """What came with the answer, a line each: number, name, type, size."""
    found = record["answer"]["attachments"] if record["answer"] is not None else []
    return [
        f"file {number}  {file['name'] or '(no name)'}  {file['content_type'] or '?'}"
        + (f"  {file['size']} bytes" if file["size"] is not None else "")
        for number, file in enumerate(found)
    ]


def ended(record: "Interaction") -> str:
    """How it ended, in a sentence; and in another one that no more is known of it."""
    what = "What was answered" if record.get("questions") else "What was asked and answered"
    erased = terminal.erased(what, record.get("erased_at"))
    return f"{_ended(record)} {erased}".rstrip()


def _ended(record: "Interaction") -> str:
    if record["status"] == "completed":
        kind, _, name = record["answered_by"].partition(":")
        if name and kind == "stand-in":
            return f"Answered by the stand-in {name}, not by a person."
        who = "Somebody in the terminal" if name else record["answered_by"] or "Somebody"
        when = terminal.local_time(record["answered_at"])
        return f"{who} answered through {record['answered_via']} at {when}."
    if record["status"] == "expired":
        return f"This closed at {terminal.local_time(record['expires_at'])} without an answer."
    if record["status"] == "cancelled":
        return f"This was {became(record['status'], record['reason'] or 'no reason was given')}"
    return "This is still open."


def became(status: str, why: str) -> str:
    """The end of a sentence that says what became of something: "cancelled by the asker.", "failed: …"."""
    if not why or why == status:
        return f"{status}."
    said = why if why.startswith(f"{status} by ") else f"{status}: {why}"
    return said if said.endswith((".", "!", "?", "…")) else f"{said}."


def _heading(record: "Interaction", question: Mapping[str, Any]) -> str:
    who = record["title"] or record["agent"].replace("_", " ").capitalize() or "An agent"
    if question.get("action"):
        return f"🟥 {who.split(' · ')[0]} · wants to run"
    return f"{'🟥' if question['kind'] == 'review' else '🟦'} {who}"


def title(question: Mapping[str, Any]) -> str:
    """What is asked; of a review, the name of the call."""
    action = question.get("action")
    return str(action["name"] if action else question["text"])


def _argument(value: Any) -> str:
    """A text as it is, unless it could be taken for something else, and what is nested in lines."""
    from answerback.render.nested import exact, nested
    from answerback.render.visible import visible

    if isinstance(value, str):
        shown = visible(value)
        return exact(value) if shown[:1] in ("\n", *'[{"') else shown
    return nested(value, "", lambda each, _: _argument(each)) or exact(value)


def _wanted(question: Mapping[str, Any]) -> str:
    """What the answer has to be beyond its kind."""
    if not any(question.get(key) not in (None, "") for key in ("demands", "min", "max", "written")):
        return ""
    from answerback.model import Question, QuestionKind, Written
    from answerback.render import wanted

    asked = Question(
        question["id"],
        question["text"],
        QuestionKind(question["kind"]),
        minimum=question.get("min"),
        maximum=question.get("max"),
        demands=question.get("demands"),
        written=Written(question.get("written", "")),
    )
    return wanted(asked, "en")


def _footer(record: "Interaction") -> str:
    until = ""
    if record["status"] == "pending" and record["expires_at"]:
        until = f"Open until {terminal.local_time(record['expires_at'])}. · "
    return f"{until}#{record['code']}"
