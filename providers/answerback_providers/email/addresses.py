"""Mail addresses: `local@domain` and nothing that a header or a command line could read otherwise."""

import re
from dataclasses import dataclass

# A dot-atom of RFC 5322 section 3.2.3, with the letters beyond ASCII of RFC 6531 section 3.3.
ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\x80-\U0010ffff-]+"
LOCAL = re.compile(rf"{ATOM}(\.{ATOM})*")
DOMAIN = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*")
LONGEST_LOCAL = 64  # octets, RFC 5321 section 4.5.3.1.1
LONGEST_DOMAIN = 253


@dataclass(frozen=True, slots=True)
class Mailbox:
    """An address in two halves; the domain is lower-case ASCII (its `xn--` form where it needs one)."""

    local: str
    domain: str

    def __str__(self) -> str:
        return f"{self.local}@{self.domain}"

    @property
    def ascii(self) -> bool:
        return self.local.isascii()

    def holds(self, other: "Mailbox") -> bool:
        """Whether mail to `other` arrives here: the same address, or with something behind a plus.

        Without regard to case, as practically every mail server has it (RFC 5321 section 2.4 would allow
        another server to tell `Ana` from `ana`; of our own we know better).
        """
        local, mine = other.local.lower(), self.local.lower()
        return other.domain == self.domain and (local == mine or local.startswith(f"{mine}+"))

    def plus(self, tag: str) -> "Mailbox":
        """`local+tag@domain`, which arrives in the same mailbox. ValueError: too long for a mailbox."""
        longer = Mailbox(f"{self.local}+{tag}", self.domain)
        if len(longer.local.encode()) > LONGEST_LOCAL:
            raise ValueError("the part before the @ is too long")
        return longer


def mailbox(text: str) -> Mailbox:
    """Read one bare address. ValueError, without the address in it, for everything else."""
    local, at, domain = text.strip().rpartition("@")
    if not at or not local.isprintable() or "=?" in local or not LOCAL.fullmatch(local):
        raise ValueError("this is not a mail address of the form name@example.org")
    if len(local.encode()) > LONGEST_LOCAL:
        raise ValueError("the part before the @ is too long")
    return Mailbox(local, _domain(domain))


def _domain(text: str) -> str:
    name = text.lower()
    if not name.isascii():
        name = _international(name)
    if len(name) > LONGEST_DOMAIN or not DOMAIN.fullmatch(name):
        raise ValueError("the part after the @ is not a domain")
    return name


def _international(name: str) -> str:
    """The `xn--` form, where both generations of the standard agree on it (they differ for ß)."""
    try:
        wire = name.encode("idna").decode("ascii")
        if wire.encode("ascii").decode("idna") == name:
            return wire
    except UnicodeError:
        pass  # said below, without the address
    raise ValueError("write the domain of this address in its xn-- form")
