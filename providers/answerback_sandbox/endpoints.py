"""What is to be put into a bot's settings so that it talks to the sandbox."""

from typing import Any, Protocol

from answerback_sandbox.mail.far import Mail
from answerback_sandbox.people import Reach
from answerback_sandbox.twilio.far import Twilio

Json = dict[str, Any]


class Served(Protocol):
    """What is needed of a sandbox."""

    url: str
    token: str
    twilio: Twilio
    mail: Mail

    @property
    def bot_api_base(self) -> str: ...
    @property
    def file_api_base(self) -> str: ...
    @property
    def everyone(self) -> tuple[Reach, ...]: ...


def endpoints(box: Served) -> Json:
    """Addresses, names and passwords, which are no secrets, and who is there."""
    twilio, mail = box.twilio, box.mail
    return {
        "phone": f"{box.url}/",
        "control": f"{box.url}/sandbox",
        "telegram": {
            "api_base": box.url,
            "bot_api": box.bot_api_base,
            "file_api": box.file_api_base,
            "token": box.token,
        },
        "whatsapp": {
            "api_base": box.url,
            "account_sid": twilio.account_sid,
            "auth_token": twilio.auth_token,
            "sender": twilio.sender,
            "content_sid": twilio.content_sid,
            "confirm_content_sid": twilio.confirm_content_sid,
        },
        "mail": {
            "address": mail.address,
            "authserv_id": mail.authserv_id,
            "smtp": {"host": mail.host, "port": mail.smtp_port, "security": "plain"},
            "imap": {"host": mail.host, "port": mail.imap_port, "security": "plain"},
            "username": mail.address,
            "password": mail.password,
        },
        "people": [
            {"id": item.id, "name": item.name, "whatsapp": item.whatsapp, "mail": item.mail}
            for item in box.everyone
        ],
    }
