"""A real Dovecot on loopback: IMAP with and without TLS, LMTP for delivering; a mailbox for each test."""

import asyncio
import contextlib
import datetime
import itertools
import os
import shutil
import smtplib
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import imap_tools
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.missing import require
from tests.support.ports import free_port

PASSWORD = "correct_horse"
OWN = "agent@example.org"
PROGRAM = "/usr/sbin/dovecot"
GOOD, EXPIRED, SELF_SIGNED = "127.0.0.1", "127.0.0.2", "127.0.0.3"  # which certificate an address shows
LONG_AGO = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
YEAR = datetime.timedelta(days=365)
BEFORE_24 = """
ssl_cert = <{root}/{good}.pem
ssl_key = <{root}/{good}.pem
local {expired} {{
  ssl_cert = <{root}/{expired}.pem
  ssl_key = <{root}/{expired}.pem
}}
local {self_signed} {{
  ssl_cert = <{root}/{self_signed}.pem
  ssl_key = <{root}/{self_signed}.pem
}}
disable_plaintext_auth = no
mail_location = maildir:{root}/mail/%Ln
auth_username_format = %Ln
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={root}/mail/%Ln
}}
"""
SINCE_24 = """
dovecot_config_version = 2.4.0
dovecot_storage_version = 2.4.0
ssl_server_cert_file = {root}/{good}.pem
ssl_server_key_file = {root}/{good}.pem
local {expired} {{
  ssl_server_cert_file = {root}/{expired}.pem
  ssl_server_key_file = {root}/{expired}.pem
}}
local {self_signed} {{
  ssl_server_cert_file = {root}/{self_signed}.pem
  ssl_server_key_file = {root}/{self_signed}.pem
}}
auth_allow_cleartext = yes
mail_driver = maildir
mail_path = {root}/mail/%{{user | username | lower}}
auth_username_format = %{{user | username | lower}}
passdb static {{
  password = {password}
}}
userdb static {{
  fields {{
    uid = {uid}
    gid = {gid}
    home = {root}/mail/%{{user | username | lower}}
  }}
}}
"""
CONFIG = """
protocols = imap lmtp
listen = {good}, {expired}, {self_signed}
base_dir = {root}/run
state_dir = {root}/state
log_path = {root}/log
ssl = yes
default_internal_user = {internal}
default_internal_group = {internal_group}
default_login_user = {login}
first_valid_uid = 1
recipient_delimiter = +
lmtp_save_to_detail_mailbox = no
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = {imaps}
    ssl = yes
  }}
}}
service anvil {{
  chroot =
}}
service lmtp {{
  user = {owner}
  inet_listener lmtp {{
    {listens} = {good}
    port = {lmtp}
  }}
}}
service stats {{
  chroot =
}}
"""


class Dovecot:
    """A server that knows everybody, by one password. `authority` vouches for its name localhost."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.imap, self.imaps, self.lmtp = free_port(), free_port(), free_port()
        self.authority = trustme.CA()
        self._numbers = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def ca_file(self) -> str:
        """The certificate to trust."""
        return str(self.root / "ca.pem")

    def box(self) -> "Box":
        """A mailbox that nobody has used."""
        return Box(self, f"agent{next(self._numbers)}")

    def configure(self) -> None:
        root = os.geteuid() == 0
        me = os.environ.get("USER") or str(os.geteuid())
        owner = ("nobody", 65534, 65534) if root else (me, os.geteuid(), os.getegid())
        (self.root / "mail").mkdir()
        if root:
            os.chown(self.root / "mail", *owner[1:])
        self._certify()
        dialect = self._dialect()
        text = (dialect + CONFIG).format(
            listens="listen" if dialect is SINCE_24 else "address",
            root=self.root,
            good=GOOD,
            expired=EXPIRED,
            self_signed=SELF_SIGNED,
            internal="dovecot" if root else me,
            internal_group="dovecot" if root else os.getegid(),
            login="dovenull" if root else me,
            owner=owner[0],
            uid=owner[1],
            gid=owner[2],
            password=PASSWORD,
            imap=self.imap,
            imaps=self.imaps,
            lmtp=self.lmtp,
        )
        (self.root / "conf").write_text(text)

    def _dialect(self) -> str:
        """What version 2.4 writes in another way (https://doc.dovecot.org/2.4.0/installation/upgrade/)."""
        known = subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, text=True).stdout
        major, minor = known.split(".")[:2]
        return SINCE_24 if (int(major), int(minor)) >= (2, 4) else BEFORE_24

    def _certify(self) -> None:
        self.authority.cert_pem.write_to_path(self.ca_file)
        good = self.authority.issue_cert("localhost")
        expired = self.authority.issue_cert(EXPIRED, not_before=LONG_AGO - YEAR, not_after=LONG_AGO)
        for name, certificate in ((GOOD, good), (EXPIRED, expired)):
            certificate.private_key_and_cert_chain_pem.write_to_path(str(self.root / f"{name}.pem"))
        (self.root / f"{SELF_SIGNED}.pem").write_bytes(self_signed(SELF_SIGNED))

    def start(self) -> None:
        """Run it, and wait until it answers."""
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            [PROGRAM, "-F", "-c", str(self.root / "conf")], stdout=quiet, stderr=quiet
        )
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection((GOOD, self.lmtp)):
                return
            time.sleep(0.05)
        raise AssertionError((self.root / "log").read_text())

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()


@dataclass(frozen=True, slots=True)
class Box:
    """One person's mailbox, by the name that signs in there. What is written to `agent` comes to it."""

    server: Dovecot
    user: str

    async def deliver(self, *mails: bytes, to: str = OWN, sender: str = "ana@x.org") -> None:
        """As a mail server hands over what came in."""
        await asyncio.to_thread(self._deliver, mails, to.replace("agent", self.user, 1), sender)

    def _deliver(self, mails: tuple[bytes, ...], to: str, sender: str) -> None:
        with smtplib.LMTP(GOOD, self.server.lmtp) as server:
            for mail in mails:
                server.sendmail(sender, [to], mail)

    async def flags(self) -> list[bool]:
        """Of every mail, oldest first, whether it was flagged as seen."""
        return await asyncio.to_thread(self._flags)

    def _flags(self) -> list[bool]:
        with imap_tools.MailBoxUnencrypted(GOOD, self.server.imap).login(self.user, PASSWORD) as box:
            return [r"\Seen" in mail.flags for mail in box.fetch(mark_seen=False)]

    async def made_anew(self) -> None:
        """The same mails under another UIDVALIDITY, as after a restore from a backup."""
        await asyncio.to_thread(self.server.stop)
        for name in [*(self.server.root / "mail" / self.user).glob("dovecot*")]:
            if not name.name.startswith("dovecot-uidvalidity"):  # it says which one was the last
                name.unlink()
        await asyncio.to_thread(self.server.start)


def self_signed(address: str) -> bytes:
    """A key, and a certificate that only itself vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, address)])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    dated = builder.serial_number(1).not_valid_before(now - YEAR).not_valid_after(now + YEAR)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ) + dated.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


@contextlib.contextmanager
def running_dovecot() -> Iterator[Dovecot]:
    """A started server in a folder of its own."""
    require(Path(PROGRAM).exists(), "Dovecot is missing: apt-get install dovecot-imapd dovecot-lmtpd")
    root = Path(tempfile.mkdtemp(prefix="dovecot-"))
    root.chmod(0o755)
    server = Dovecot(root)
    try:
        server.configure()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(root, ignore_errors=True)
