"""Numbers and dates that were typed into a field, read the way they are read in a message."""

from typing import TYPE_CHECKING

from answerback.model import Json, Question
from answerback.read import Unclear, read
from answerback.sentences import say
from answerback.web.fields import TextReader

if TYPE_CHECKING:
    from answerback.forms import FormView


def text_reader(view: "FormView") -> TextReader:
    """Reads a typed text for one question, in the language and time zone of who is asked."""

    def read_typed(question: Question, text: str, language: str) -> tuple[Json, str]:
        found = read(question, text, language=language, timezone=view.timezone, now=view.now)
        if isinstance(found, Unclear):
            return None, say(found.key, language, **found.args)
        return found.value, ""

    return read_typed
