"""Telegram for tests that do not wait: the provider as it is, without its limits of one message a second."""

from answerback.provider import Pace
from answerback_providers.telegram.provider import Telegram


class Unhurried(Telegram):
    """Against the sandbox, which keeps no limits either unless it is told to."""

    pace = Pace()
