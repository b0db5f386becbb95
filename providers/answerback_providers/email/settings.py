"""The settings of the mail provider."""

import ipaddress
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from answerback.provider import SecretStr, Settings
from answerback_providers.email.addresses import Mailbox, mailbox

LONGEST_PATH = 107  # octets of the path of a unix socket on Linux
SHORT_LOCAL = 24  # leaves room for "+bounce-" and a token of 32 characters in the 64 of a local part


class Security(StrEnum):
    """How a connection is protected. There is no "if the server offers it"."""

    STARTTLS = "starttls"  # in clear until the greeting, then TLS or nothing
    TLS = "tls"  # TLS from the first byte
    PLAIN = "plain"  # no protection: a relay on this machine


def own_address(text: str) -> str:
    box = mailbox(text)
    if not box.ascii:
        raise ValueError("the address that mail is sent from must be ASCII")
    if len(box.local) > SHORT_LOCAL:
        raise ValueError(f"the part before the @ may have {SHORT_LOCAL} characters: replies add a token")
    return str(box)


def host_name(text: str) -> str:
    host = text.strip()
    if not host or not host.isprintable() or any(mark in host for mark in " /@[]") or host.count(":") == 1:
        raise ValueError("a host name or an IP address, without a scheme or a port")
    return host


OwnAddress = Annotated[str, AfterValidator(own_address)]
Host = Annotated[str, AfterValidator(host_name)]
Port = Annotated[int, Field(ge=1, le=65535)]
Seconds = Annotated[float, Field(gt=0, le=28)]  # the core stops waiting for one send after 30


class Server(Settings):
    """What SMTP and IMAP have in common. `ca_file`: trust these certificates instead of the system's."""

    host: Host
    port: Port | None = None
    security: Security
    username: str = ""
    password: SecretStr = SecretStr("")
    ca_file: str = ""

    @model_validator(mode="after")
    def _both_or_none(self) -> Self:
        if bool(self.username) != bool(self.password.get_secret_value()):
            raise ValueError("username and password go together: give both or neither")
        return self


class Smtp(Server):
    """Where mail is handed over. `timeout`: seconds for one whole mail, from connecting to the receipt."""

    security: Security = Security.STARTTLS
    timeout: Seconds = 25

    @property
    def at(self) -> int:
        """The port, or the one that goes with the security (RFC 8314, RFC 6409, RFC 5321)."""
        usual = {Security.STARTTLS: 587, Security.TLS: 465, Security.PLAIN: 25}
        return self.port or usual[self.security]


class Imap(Server):
    """Where answers are read: the INBOX of one account."""

    security: Security = Security.TLS

    @model_validator(mode="after")
    def _signed_in(self) -> Self:
        if not self.username:
            raise ValueError("a mailbox needs a username and a password")
        return self

    @property
    def at(self) -> int:
        """The port, or the one that goes with the security (RFC 8314, RFC 9051)."""
        return self.port or (993 if self.security is Security.TLS else 143)


def nearby(text: str) -> str:
    """Where LMTP may listen: it asks nobody who they are, so only this machine may speak to it."""
    place = text.strip()
    if place.startswith("/"):
        if len(place.encode()) > LONGEST_PATH or not place.isprintable() or place.endswith("/"):
            raise ValueError(f"the path of a socket has at most {LONGEST_PATH} octets, and names a file")
        return place
    host, _, port = place.rpartition(":")
    host = "127.0.0.1" if host == "localhost" else host
    if not port.isascii() or not port.isdigit() or not 1 <= int(port) <= 65535 or not host:
        raise ValueError("write the path of a unix socket (/run/answerback/lmtp), or 127.0.0.1:PORT")
    try:
        here = ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        here = False
    if not here:
        raise ValueError(
            "LMTP asks nobody who they are, so it listens on this machine only: "
            "write the path of a unix socket (/run/answerback/lmtp), or 127.0.0.1:PORT"
        )
    return f"{host}:{port}"


class Lmtp(Settings):
    """Where a mail server on this machine hands over the mail that came for us."""

    listen: Annotated[str, AfterValidator(nearby)]


class EmailSettings(Settings):
    """`address`: mail comes from it, and replies go to `local+TOKEN@domain`, so plus addresses must work.

    `authserv_id`: the name of our own mail server in Authentication-Results. It must take this name out of
    what comes from elsewhere (RFC 8601 section 5). Without it, signatures are verified here.
    """

    address: OwnAddress
    name: Annotated[str, Field(max_length=100)] = ""
    authserv_id: str = ""
    smtp: Smtp
    imap: Imap | None = None
    lmtp: Lmtp | None = None

    @model_validator(mode="after")
    def _one_intake(self) -> Self:
        if self.imap and self.lmtp:
            raise ValueError("mail is read by imap, or taken by lmtp: give one of the two")
        return self

    @property
    def reads(self) -> bool:
        """Whether somebody reads what is mailed back."""
        return bool(self.imap or self.lmtp)

    @property
    def mailbox(self) -> Mailbox:
        return mailbox(self.address)
