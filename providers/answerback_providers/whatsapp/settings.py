"""The settings of a WhatsApp provider, checked before anything is sent."""

import re
from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from answerback.provider import SecretStr, Settings

ACCOUNT = re.compile(r"AC[0-9a-fA-F]{32}")
CONTENT = re.compile(r"HX[0-9a-fA-F]{32}")
NUMBER = re.compile(r"\+[1-9][0-9]{6,14}")  # E.164
OFFICIAL = "https://api.twilio.com"
OFFICIAL_CONTENT = "https://content.twilio.com"
PREFIX = "whatsapp:"


class WhatsAppSettings(Settings):
    """The account, and the templates that WhatsApp approved; times in seconds.

    `sender` is your WhatsApp number at Twilio. `content_sid` is a template for people who have not
    written within 24 hours: its variable 1 is who asks and about what, 2 the question, 3 the form's link.
    `confirm_content_sid` is one with two quick replies for questions of yes or no: 1 to 3 likewise, 4 and
    5 are the ids of its buttons. `shared_key` is the secret of a Twilio SharedKey, for webhooks that are
    signed with SHA-256. `list_seconds` is how often messages are looked for that no webhook
    brought within a minute. The list does not say what they answer, so the person is asked.
    """

    account_sid: str
    auth_token: SecretStr
    sender: str
    content_sid: str = ""
    confirm_content_sid: str = ""
    shared_key: SecretStr | None = None
    buttons: bool = True
    api_base: str = OFFICIAL
    content_base: str = ""
    timeout: float = Field(default=15.0, gt=0, le=300)
    list_seconds: int = Field(default=300, ge=10, le=86_400)

    @field_validator("account_sid")
    @classmethod
    def _is_an_account(cls, value: str) -> str:
        if not ACCOUNT.fullmatch(value.strip()):
            raise ValueError(
                "is not an account SID: AC and 32 digits, from the start page of Twilio's console"
            )
        return value.strip()

    @field_validator("auth_token")
    @classmethod
    def _is_there(cls, value: SecretStr) -> SecretStr:
        token = value.get_secret_value().strip()
        if not token:
            raise ValueError("is empty: it stands beside the account SID in Twilio's console")
        return SecretStr(token)

    @field_validator("sender")
    @classmethod
    def _is_a_number(cls, value: str) -> str:
        number = value.strip().removeprefix(PREFIX)
        if not NUMBER.fullmatch(number):
            raise ValueError("is not a number like +15550001111")
        return number

    @field_validator("content_sid", "confirm_content_sid")
    @classmethod
    def _is_a_template(cls, value: str) -> str:
        if value and not CONTENT.fullmatch(value.strip()):
            raise ValueError("is not a content SID: HX and 32 digits, from the Content Template Builder")
        return value.strip()

    @field_validator("api_base", "content_base")
    @classmethod
    def _is_a_base(cls, value: str) -> str:
        address = urlsplit(value)
        beyond = address.query or address.fragment
        if value and (address.scheme not in ("http", "https") or not address.hostname or beyond):
            raise ValueError(f"must be an address like {OFFICIAL}")
        return value.rstrip("/")

    @model_validator(mode="after")
    def _confirmations_have_a_plain_one_too(self) -> Self:
        if self.confirm_content_sid and not self.content_sid:
            raise ValueError("confirm_content_sid is for yes and no only: give content_sid for the others")
        return self

    @property
    def content_api(self) -> str:
        """Where templates are made: beside `api_base`, unless that is Twilio's own."""
        if self.content_base:
            return self.content_base
        return OFFICIAL_CONTENT if self.api_base == OFFICIAL else self.api_base

    @property
    def sender_address(self) -> str:
        """The sender as Twilio writes it."""
        return PREFIX + self.sender
