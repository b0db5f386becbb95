"""What an answer has to be, said before somebody writes it."""

import json

from answerback.demands import Need, needs, sample
from answerback.model import Question, QuestionKind, Written
from answerback.render.visible import line
from answerback.sentences import all_needs, together, worded

OF_DATES = {"date": Need("day"), "date-time": Need("clock")}


def wanted(question: Question, language: str, *, limits: bool = True) -> str:
    """A sentence for each thing; "" where nothing is demanded, or where the question itself shows it.

    `limits`: also between which numbers a number has to be.
    """
    lines = worded("need_lines", language) if question.written is Written.LINES else ""
    return line(together((lines, all_needs(_needs(question, limits=limits), language)), language))


def _needs(question: Question, *, limits: bool) -> tuple[Need, ...]:
    found = needs(question.demands)
    match question.kind:
        case QuestionKind.REVIEW:  # its arguments are seen
            return ()
        case QuestionKind.TEXT if question.written is Written.JSON:
            return (_json(question),)
        case QuestionKind.DATE:
            known = OF_DATES.get(str((question.demands or {}).get("format")))
            return (known,) if known else ()
        case QuestionKind.NUMBER if limits:
            return _with_limits(question, found)
    return found


def _json(question: Question) -> Need:
    """By an example: nobody needs to know what JSON is."""
    if question.demands is None:
        return Need("json")
    like = json.dumps(sample(question.demands, question.demands), ensure_ascii=False)
    return Need("like", {"like": like})


def _with_limits(question: Question, found: tuple[Need, ...]) -> tuple[Need, ...]:
    """All limits of a number in one, whether its kind or its demands have them."""
    set_ = {key: value for need in found if need.key == "number" for key, value in need.args.items()}
    set_ |= {"low": question.minimum, "high": question.maximum}
    others = tuple(need for need in found if need.key != "number")
    return (
        others if not any(limit is not None for limit in set_.values()) else (Need("number", set_), *others)
    )
