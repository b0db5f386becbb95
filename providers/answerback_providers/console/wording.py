"""How a question stands in the terminal: as a person reads it, with nothing that could steer the terminal."""

import json
import re
from dataclasses import dataclass

from answerback.provider import Asked, Message, Question, QuestionKind

PROMPT = "› "
SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")  # of other widths: a space has no glyph
MORE = "?"  # typed alone it shows all again


@dataclass(frozen=True, slots=True)
class Look:
    """How much of a question is shown: its `reason` and what silence does, and the `words` that it takes."""

    reason: bool = True
    words: bool = True

    @property
    def leaves_out(self) -> bool:
        return not (self.reason and self.words)


ALL = Look()


def shown(message: Message, asked: Asked, index: int, look: Look = ALL) -> str:
    """One question: who asks, the question, the call, the reason, the choices, what silence does.

    Who asks, the question, the call and the choices are there in every look: they are what is answered.
    """
    question, count = asked.questions[index], len(asked.questions)
    place = f" · {index + 1} of {count}" if count > 1 else ""
    lines = ["", f"{'🟥' if question.action else '🟦'} {asked.title or asked.agent or 'An agent'}{place}"]
    if question.action is not None:
        lines.append(f"wants to run {question.action.name}")
        lines += [f"  {name}   {_argument(value)}" for name, value in question.action.args.items()]
    lines += question.text.splitlines()
    if look.reason and asked.context and index == 0:
        lines += asked.context.splitlines()
    lines += [f"  {number}  {choice.label}" for number, choice in enumerate(question.choices, start=1)]
    if look.words:
        lines += asked.wanted(question).splitlines()
        lines.append(f"({hint(question, look)})")
    if look.reason and index == 0:
        lines += message.footer.splitlines()
    return "\n".join(printable(line) for line in lines)


def hint(question: Question, look: Look = ALL) -> str:
    """What can be typed."""
    ways = {
        QuestionKind.CONFIRM: "yes or no",
        QuestionKind.CHOICE: "a number, or something else" if question.free_text else "a number",
        QuestionKind.CHOICES: "numbers, e.g. 1, 3",
        QuestionKind.NUMBER: "a number",
        QuestionKind.DATE: "a date, e.g. 3 Dec, tomorrow, Friday 9:00",
        QuestionKind.REVIEW: _decisions(question),
    }
    skip = "" if question.required else ", or Enter to leave it out"
    more = "; ? for the rest" if look.leaves_out else ""
    return f"{ways.get(question.kind, 'your answer in a line')}{skip}{more}; Ctrl-D to pass it on"


def _decisions(question: Question) -> str:
    named = [each for each in ("approve", "reject") if each in (question.decisions or ("approve", "reject"))]
    own = ["a reply in your own words"] if "respond" in question.decisions else []
    return ", or ".join([each for each in (" or ".join(named), *own) if each])


def printable(text: str) -> str:
    """Without escapes and other characters that have no glyph: what is left cannot steer a terminal."""
    spaced = SPACES.sub(" ", text.replace("\t", "    "))
    return "".join(each for each in spaced if each.isprintable())


def _argument(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
