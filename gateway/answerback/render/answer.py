"""An answer as people hear of it: the labels of what was chosen, the words of what was written."""

import datetime

from answerback.model import Interaction, Json, Question, QuestionKind
from answerback.render.visible import brief
from answerback.sentences import day, isolated, number, say

INNER = str.maketrans("“”„«»", "‘’‚‹›")
SHOWN = 60  # characters of an answer in a sentence


def answer_text(question: Question, value: Json, language: str, most: int = SHOWN) -> str:
    """One canonical value in words, short: a choice by its label, a confirmation as yes or no."""
    if question.kind is QuestionKind.REVIEW and isinstance(value, dict):
        return _decision(value, language, most)
    return _quotable(_words(question, value, language), most)


def answer_line(question: Question, value: Json, language: str) -> str:
    """One of several answers for a list of them: of a review, what was decided and what was said to it."""
    said = answer_text(question, value, language)
    if question.kind is not QuestionKind.REVIEW or not isinstance(value, dict):
        return said
    decided = _decision({"decision": value.get("decision")}, language, SHOWN)
    return decided if said == decided else f"{decided}: “{isolated(said)}”"


def interaction_answer(interaction: Interaction, language: str) -> str:
    """The answer to an interaction in a few words; "" if there is none to tell, or it is sensitive."""
    answer = interaction.answer
    if answer is None or interaction.sensitive or len(interaction.questions) != 1:
        return ""
    question = interaction.questions[0]
    if question.id not in answer.values:
        return ""
    return answer_text(question, answer.values[question.id], language)


def default_text(interaction: Interaction, language: str) -> str:
    """The asker's default in words; "" if it cannot be told in a line, or is sensitive."""
    if interaction.sensitive or interaction.default is None or len(interaction.questions) != 1:
        return ""
    question, value = interaction.questions[0], interaction.default
    if isinstance(value, dict) and set(value) == {question.id}:
        value = value[question.id]
    return answer_text(question, value, language, 40)


def _quotable(text: str, most: int) -> str:
    """In one line, its own quotation marks single, because it will stand between double ones."""
    return brief(text, most).translate(INNER)


def _decision(value: dict[str, Json], language: str, most: int) -> str:
    if isinstance(value.get("message"), str) and value["message"].strip():
        return _quotable(value["message"], most)
    decision = value.get("decision")
    known = decision in ("approve", "reject", "edit", "respond")
    return say(str(decision), language).rstrip("…") if known else brief(str(decision), most)


def _words(question: Question, value: Json, language: str) -> str:
    labels = {choice.id: choice.label for choice in question.choices}
    if isinstance(value, bool):
        return say("yes" if value else "no", language)
    if isinstance(value, (int, float)):
        return number(value, language)
    if isinstance(value, list):
        return ", ".join(labels.get(each, each) if isinstance(each, str) else str(each) for each in value)
    if question.kind is QuestionKind.DATE and isinstance(value, str):
        return _date(value, language)
    return labels.get(value, value) if isinstance(value, str) else str(value)


def _date(value: str, language: str) -> str:
    """A day in words, with the time and offset that it was given with."""
    try:
        found = datetime.datetime.fromisoformat(value)
    except ValueError:
        return value
    # The year is always shown: this is what will be acted upon.
    words = day(found.date(), language, datetime.date.min)
    return words if len(value) == len("2026-12-03") else f"{words}, {found:%H:%M}"
