"""Telegram: questions with buttons, replies by tap or text; long polling or webhook.

    telegram: {use: telegram, token: "${TELEGRAM_TOKEN}", mode: polling}

`settings` are checked first, `line` speaks HTTP, `wording` builds texts and keyboards, `incoming` reads
updates, `faults` names what went wrong, `provider` joins them behind the provider contract.
"""

from answerback_providers.telegram.provider import Telegram
from answerback_providers.telegram.settings import TelegramSettings

__all__ = ["Telegram", "TelegramSettings"]
