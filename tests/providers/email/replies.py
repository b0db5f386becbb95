"""Replies as people's programs write them, a domain that signs them, and a DNS that knows its key."""

import dkim
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from answerback_providers.email.addresses import Mailbox
from tests.providers.email.support import TOKEN

OWN = Mailbox("agent", "example.org")
OURS = "mx.example.org"
DATE = "Sun, 22 Nov 2026 02:00:00 +0000"
SIGNED = [b"from", b"to", b"subject", b"date"]
PASSED = f"{OURS}; dkim=pass header.d=x.org; dmarc=pass header.from=x.org"

GMAIL = f"""Coding, please.

On Sun, Nov 22, 2026 at 2:00 AM <agent@example.org> wrote:

> --- write above this line ---
>
> Search for "PSR best costing practices"?
>
> 1. Yes
> 2. No
>
> https://ask.example.org/f/{TOKEN}
"""


def reply(body: str = "coding", *, above: str = "", **headers: str | None) -> bytes:
    """A reply from Ana; `above` are lines that servers wrote on top. None leaves a header out."""
    usual: dict[str, str | None] = {
        "From": "Ana Lima <ana@x.org>",
        "To": f"agent+{TOKEN}@example.org",
        "Subject": "Re: Search for it? [#K7Q2]",
        "Date": DATE,
        "Message-ID": "<one@x.org>",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    rows = [f"{name}: {value}" for name, value in usual.items() if value is not None]
    return (above + "\n".join(rows) + "\n\n" + body).replace("\n", "\r\n").encode()


def vouched(body: str = "coding", **headers: str | None) -> bytes:
    """The same, when our own server found that it comes from x.org."""
    return reply(body, above=f"Authentication-Results: {PASSED}\n", **headers)


class Signer:
    """A domain's mail server: signs mail, and publishes the key."""

    def __init__(self, domain: str = "x.org", bits: int = 2048) -> None:
        key = rsa.generate_private_key(65537, bits)
        self.domain = domain
        self._private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        lines = public.decode().splitlines()[1:-1]
        self.records = {f"one._domainkey.{domain}": f"v=DKIM1; k=rsa; p={''.join(lines)}"}

    def sign(self, mail: bytes, covers: list[bytes] = SIGNED, *, length: bool = False) -> bytes:
        domain = self.domain.encode()
        header: bytes = dkim.sign(mail, b"one", domain, self._private, include_headers=covers, length=length)
        return header + mail

    async def lookup(self, name: str) -> str:
        return self.records.get(name, "")
