"""The settings of a Telegram provider, checked before anything is sent."""

import re
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from answerback.provider import SecretStr, Settings

TOKEN = re.compile(r"[0-9]{1,19}:[A-Za-z0-9_-]+")
SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")  # core.telegram.org/bots/api#setwebhook
OFFICIAL = "https://api.telegram.org"


class TelegramSettings(Settings):
    """`token` as @BotFather gives it; times in seconds.

    `mode: webhook` needs `webhook_secret` and a `public_url` that Telegram can reach. `timeout` is for
    one call; `poll_seconds` is how long Telegram keeps a call for updates open when there are none.
    """

    token: SecretStr
    mode: Literal["polling", "webhook"] = "polling"
    webhook_secret: SecretStr | None = None
    api_base: str = OFFICIAL
    timeout: float = Field(default=15.0, gt=0, le=300)
    poll_seconds: int = Field(default=30, ge=1, le=50)

    @field_validator("token")
    @classmethod
    def _looks_like_a_token(cls, value: SecretStr) -> SecretStr:
        token = value.get_secret_value().strip()
        if not TOKEN.fullmatch(token):
            raise ValueError("is not a bot token: @BotFather gives one like 123456789:AAE… for every bot")
        return SecretStr(token)

    @field_validator("webhook_secret")
    @classmethod
    def _can_be_a_header(cls, value: SecretStr | None) -> SecretStr | None:
        secret = value.get_secret_value().strip() if value else ""
        if secret and not SECRET.fullmatch(secret):
            raise ValueError("may have 1 to 256 characters of A-Z, a-z, 0-9, _ and -")
        return SecretStr(secret) if secret else None

    @field_validator("api_base")
    @classmethod
    def _is_a_base(cls, value: str) -> str:
        address = urlsplit(value)
        beyond = address.query or address.fragment
        if address.scheme not in ("http", "https") or not address.hostname or beyond:
            raise ValueError(f"must be an address like {OFFICIAL}")
        return value.rstrip("/")

    @model_validator(mode="after")
    def _webhook_has_a_secret(self) -> Self:
        if self.mode == "webhook" and self.webhook_secret is None:
            raise ValueError("mode: webhook needs webhook_secret: a long random text of A-Z, a-z, 0-9, _, -")
        return self

    @property
    def bot_id(self) -> int:
        """The bot's own numeric id: the first part of every token."""
        return int(self.token.get_secret_value().partition(":")[0])
