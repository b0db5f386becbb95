"""Mail keeps the contract: a real SMTP server takes what is sent, a real Dovecot has the replies."""

import contextlib
import email
import email.policy
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import pytest

from answerback.model import Json
from answerback.provider import Sent
from answerback.testing import ProviderContract
from answerback.testing.contract.sending import Sending
from answerback_providers.email import Email
from tests.providers.email.dovecot import PASSWORD, Box
from tests.providers.email.replies import OURS, vouched
from tests.providers.email.support import Mailroom, mail_server


@dataclass(frozen=True, slots=True)
class Post:
    """Both servers; the number of replies so far."""

    room: Mailroom
    box: Box | None = None


class TestSending(ProviderContract):
    provider_class = Email
    place: ClassVar[str] = "ana@x.org"
    far_side_logs: ClassVar[Sequence[str]] = ("mail.log",)  # aiosmtpd's

    @contextlib.asynccontextmanager
    async def far_side(self) -> AsyncIterator[Post]:
        async with mail_server(utf8=True) as room:
            yield Post(room)

    def options_for(self, there: Post) -> Mapping[str, Json]:
        smtp = {"host": "localhost", "port": str(there.room.port), "security": "plain"}
        return {"address": "agent@example.org", "authserv_id": OURS, "smtp": smtp}

    async def sees(self, there: Post) -> list[str]:
        return [text_of(mail.content) for mail in there.room.mails]


class TestReading(TestSending):
    leaves_out: ClassVar = {
        name: "nothing is read: see TestSending" for name in dir(Sending) if name.startswith("test_")
    } | {"test_its_settings_refuse_what_they_do_not_know": "see TestSending"}

    @pytest.fixture(autouse=True)
    def of_a_real_server(self, mailbox: Box) -> None:
        self.mailbox = mailbox

    @contextlib.asynccontextmanager
    async def far_side(self) -> AsyncIterator[Post]:
        async with mail_server(utf8=True) as room:
            yield Post(room, self.mailbox)

    def options_for(self, there: Post) -> Mapping[str, Json]:
        imap: dict[str, Json] = {
            "host": "127.0.0.1", "port": str(there.box.server.imap), "security": "plain",
            "username": there.box.user,
            "password": PASSWORD,
        }  # fmt: skip
        return {**super().options_for(there), "imap": imap}

    async def reply(self, there: Post, sent: Sent, text: str) -> None:
        asked = email.message_from_bytes(there.room.mails[-1].content, policy=email.policy.default)
        await there.box.deliver(
            vouched(
                text, From=f"Ana Lima <{self.place}>", To=str(asked["reply-to"]),
                Message_ID=f"<{len(text)}@x.org>",
                In_Reply_To=sent.message_ids[0], MIME_Version="1.0",
                Content_Type="text/plain; charset=utf-8", Content_Transfer_Encoding="8bit",
            )
        )  # fmt: skip


def text_of(content: bytes | str) -> str:
    mail = email.message_from_bytes(content, policy=email.policy.default)
    return mail.get_body(("plain",)).get_content()
