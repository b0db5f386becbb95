"""What happens if nobody answers, said truly, and the short code."""

from answerback.model import Interaction, OnExpire, QuestionKind
from answerback.render.answer import default_text
from answerback.sentences import duration, moment, say


def footer(interaction: Interaction, *, language: str, timezone: str, now: int) -> str:
    """One quiet line: "If you do nothing by 18:00 I stop. · #K7Q2"."""
    code = f"#{interaction.code}" if interaction.code else ""
    if interaction.sensitive:
        return code
    said = consequence(interaction, language=language, timezone=timezone, now=now)
    return " · ".join(part for part in (said, code) if part)


def consequence(interaction: Interaction, *, language: str, timezone: str, now: int) -> str:
    """The true consequence of silence; "" if nothing expires, or that moment is over."""
    if interaction.expires_at is None or interaction.expires_at <= now:
        return ""
    time = moment(interaction.expires_at, language, timezone, now)
    match interaction.on_expire:
        case OnExpire.CANCEL:
            return say("silence_stop", language, time=time)
        case OnExpire.DEFAULT:
            value = default_text(interaction, language)
            key = "silence_default" if value else "silence_preset"
            return say(key, language, time=time, value=value)
        case OnExpire.LEAVE:
            return say("silence_wait", language, time=time)
        case OnExpire.AUTO if not interaction.expirable:
            return say("silence_wait", language, time=time)
        case _:
            return say(_without_answer(interaction), language, time=time)


def waiting(interaction: Interaction, *, language: str, timezone: str, now: int) -> str:
    """What stands above a reminder: "Still waiting, 40 min left."."""
    if interaction.expires_at is None:
        return say("still_waiting_open", language)
    left = interaction.expires_at - now
    if left <= 0:
        return say("overdue", language, time=moment(interaction.expires_at, language, timezone, now))
    return say("still_waiting", language, left=duration(left, language))


def _without_answer(interaction: Interaction) -> str:
    """Where permission is asked for, going on without an answer means going on without permission."""
    kinds = {each.kind for each in interaction.questions}
    if kinds and kinds <= {QuestionKind.REVIEW}:
        return "silence_refused"
    return "silence_unconfirmed" if kinds <= {QuestionKind.CONFIRM, QuestionKind.REVIEW} else "silence_go_on"
