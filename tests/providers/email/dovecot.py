"""A real Dovecot on loopback for one test: IMAP for reading, LMTP for delivering into the mailbox."""

import asyncio
import contextlib
import os
import shutil
import smtplib
import socket
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator
from pathlib import Path

import imap_tools

from tests.support.missing import require

PASSWORD = "correct_horse"
OWN = "agent@example.org"
PROGRAM = "/usr/sbin/dovecot"
CONFIG = """
protocols = imap lmtp
listen = 127.0.0.1
base_dir = {root}/run
state_dir = {root}/state
log_path = {root}/log
ssl = no
disable_plaintext_auth = no
default_internal_user = {internal}
default_internal_group = {internal_group}
default_login_user = {login}
first_valid_uid = 1
mail_location = maildir:{root}/mail/%Ln
auth_username_format = %Ln
recipient_delimiter = +
lmtp_save_to_detail_mailbox = no
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={root}/mail/%Ln
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service anvil {{
  chroot =
}}
service lmtp {{
  user = {owner}
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {lmtp}
  }}
}}
service stats {{
  chroot =
}}
"""


class Dovecot:
    """A server whose one mailbox is `agent`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.imap, self.lmtp = free_port(), free_port()
        self.process: Process | None = None

    def configure(self) -> None:
        root = os.geteuid() == 0
        me = os.environ.get("USER") or str(os.geteuid())
        owner = ("nobody", 65534, 65534) if root else (me, os.geteuid(), os.getegid())
        (self.root / "mail").mkdir()
        if root:
            os.chown(self.root / "mail", *owner[1:])
        text = CONFIG.format(
            root=self.root,
            internal="dovecot" if root else me,
            internal_group="dovecot" if root else os.getegid(),
            login="dovenull" if root else me,
            owner=owner[0],
            uid=owner[1],
            gid=owner[2],
            password=PASSWORD,
            imap=self.imap,
            lmtp=self.lmtp,
        )
        (self.root / "conf").write_text(text)

    async def start(self) -> None:
        """Run it, and wait until it answers."""
        self.process = await asyncio.create_subprocess_exec(
            PROGRAM, "-F", "-c", str(self.root / "conf"), stdout=DEVNULL, stderr=DEVNULL
        )
        for _ in range(600):
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", self.lmtp)
                writer.close()
                await writer.wait_closed()
                return
            await asyncio.sleep(0.05)
        raise AssertionError((self.root / "log").read_text())

    async def stop(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.terminate()
            await self.process.wait()

    async def deliver(self, *mails: bytes, to: str = OWN, sender: str = "ana@x.org") -> None:
        """As a mail server hands over what came in."""
        await asyncio.to_thread(self._deliver, mails, to, sender)

    def _deliver(self, mails: tuple[bytes, ...], to: str, sender: str) -> None:
        with smtplib.LMTP("127.0.0.1", self.lmtp) as server:
            for mail in mails:
                server.sendmail(sender, [to], mail)

    async def flags(self) -> list[bool]:
        """Of every mail, oldest first, whether it was flagged as seen."""
        return await asyncio.to_thread(self._flags)

    def _flags(self) -> list[bool]:
        with imap_tools.MailBoxUnencrypted("127.0.0.1", self.imap).login("agent", PASSWORD) as box:
            return [r"\Seen" in mail.flags for mail in box.fetch(mark_seen=False)]

    async def made_anew(self) -> None:
        """The mailbox with the same mails under another UIDVALIDITY, as after a restore from a backup."""
        await self.stop()
        kept = self.root / "mail" / "agent"
        for name in [*kept.glob("dovecot*")]:
            name.unlink()
        await self.start()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.asynccontextmanager
async def dovecot() -> AsyncIterator[Dovecot]:
    """A started server in a folder of its own."""
    require(Path(PROGRAM).exists(), "Dovecot is missing: apt-get install dovecot-imapd dovecot-lmtpd")
    root = Path(tempfile.mkdtemp(prefix="dovecot-"))
    root.chmod(0o755)
    server = Dovecot(root)
    try:
        server.configure()
        await server.start()
        yield server
    finally:
        await server.stop()
        shutil.rmtree(root, ignore_errors=True)
