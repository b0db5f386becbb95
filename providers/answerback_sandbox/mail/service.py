"""What SMTP and IMAP share: the mailboxes, the passwords, the faults."""

import hmac

from answerback_sandbox.changes import Changes
from answerback_sandbox.faults import Faults
from answerback_sandbox.mail.letters import letter
from answerback_sandbox.mail.state import Kept
from answerback_sandbox.mail.world import World


class Service:
    """One mail server. Every mailbox has the same password, which is no secret."""

    def __init__(self, world: World, faults: Faults, changes: Changes, password: str) -> None:
        self.world, self.faults, self.changes = world, faults, changes
        self._password = password

    def signs_in(self, name: str, password: str) -> bool:
        """Whether there is a mailbox of that address, and this is its password."""
        right = hmac.compare_digest(password.encode(), self._password.encode())
        return right and name.lower() in self.world.boxes

    @staticmethod
    def is_from(raw: bytes, account: str) -> bool:
        """Whether the From of a mail is the account that it was handed in with."""
        return letter(Kept(0, raw, 0)).sender.lower() == account.lower()

    async def wait(self, seconds: float) -> None:
        """Let time pass, unless the sandbox closes."""
        try:
            await self.changes.wait_for(lambda: self.changes.closed, seconds)
        except TimeoutError:
            return
