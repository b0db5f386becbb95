"""The settings of the mail provider."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from answerback.provider import SecretStr, Settings
from answerback_providers.email.addresses import Mailbox, mailbox

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

    @property
    def mailbox(self) -> Mailbox:
        return mailbox(self.address)
