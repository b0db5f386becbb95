"""How a question stands in the terminal: as a person reads it, with nothing that could steer the terminal."""

import json

from answerback.provider import Asked, Message, Question, QuestionKind

PROMPT = "› "


def shown(message: Message, asked: Asked, index: int) -> str:
    """One question: who asks, the question, the call, the reason, the choices, what silence does."""
    question, count = asked.questions[index], len(asked.questions)
    place = f" · {index + 1} of {count}" if count > 1 else ""
    lines = ["", f"{'🟥' if question.action else '🟦'} {asked.title or asked.agent or 'An agent'}{place}"]
    if question.action is not None:
        lines.append(f"wants to run {question.action.name}")
        lines += [f"  {name}   {_argument(value)}" for name, value in question.action.args.items()]
    lines += question.text.splitlines()
    if asked.context and index == 0:
        lines += asked.context.splitlines()
    lines += [f"  {number}  {choice.label}" for number, choice in enumerate(question.choices, start=1)]
    lines.append(f"({hint(question)})")
    if index == 0:
        lines += message.footer.splitlines()
    return "\n".join(printable(line) for line in lines)


def hint(question: Question) -> str:
    """What can be typed."""
    ways = {
        QuestionKind.CONFIRM: "yes or no",
        QuestionKind.CHOICE: "a number, or something else" if question.free_text else "a number",
        QuestionKind.CHOICES: "numbers, e.g. 1, 3",
        QuestionKind.NUMBER: "a number",
        QuestionKind.DATE: "a date, e.g. 3 Dec, tomorrow, Friday 9:00",
        QuestionKind.REVIEW: "approve or reject",
    }
    skip = "" if question.required else ", or Enter to leave it out"
    return f"{ways.get(question.kind, 'your answer in a line')}{skip}; Ctrl-D to pass it on"


def printable(text: str) -> str:
    """Without escapes and other characters that have no glyph: what is left cannot steer a terminal."""
    return "".join(each for each in text.replace("\t", "    ") if each.isprintable())


def _argument(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
