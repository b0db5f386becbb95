"""Whether a mail is from whom it says: by what our own mail server found, or by its own signature.

A mail decides nothing unless a domain vouches for it that is the domain of its From. The signature that
vouches must cover From, To, Subject and Date, each as often as the mail has it, and the whole body.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import authres
import dkim

from answerback_providers.email.head import Head

COVERED = ("from", "to", "subject", "date")
ALGORITHMS = frozenset({"rsa-sha256", "ed25519-sha256"})  # RFC 8301, RFC 8463
MOST_SIGNATURES = 3
NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]+(\.[a-z0-9_-]+)+")
Dns = Callable[[bytes, int], bytes | None]


@dataclass(frozen=True, slots=True)
class Signature:
    """One DKIM-Signature (RFC 6376 section 3.5): where it stands, who signed, and whether it is whole."""

    place: int
    domain: str
    selector: str
    whole: bool

    @property
    def key(self) -> str:
        """Where the domain publishes the key."""
        return f"{self.selector}._domainkey.{self.domain}"


def signatures(head: Head) -> list[Signature]:
    """Every signature of a mail, topmost first."""
    return [_signature(head, place, value) for place, value in enumerate(head.all("dkim-signature"))]


def _signature(head: Head, place: int, value: str) -> Signature:
    pairs = [tag.partition("=") for tag in value.split(";")]
    tags = {name.strip(): re.sub(r"\s+", "", text) for name, _, text in pairs}
    signed = [name.lower() for name in tags.get("h", "").split(":")]
    covers = all(signed.count(name) >= max(1, len(head.all(name))) for name in COVERED)
    whole = covers and "l" not in tags and tags.get("a", "").lower() in ALGORITHMS
    return Signature(place, tags.get("d", "").lower(), tags.get("s", "").lower(), whole)


def found_by(authserv_id: str, head: Head, domain: str) -> bool:
    """Whether our own server vouches, by its Authentication-Results and only on top (RFC 8601 section 5)."""
    try:
        told = authres.AuthenticationResultsHeader.parse(
            f"Authentication-Results: {head.first('authentication-results')}"
        )
    except Exception:  # whatever a stranger wrote there, it is no result of ours
        return False
    if str(told.authserv_id).lower() != authserv_id.lower():
        return False
    ours = [signature for signature in signatures(head) if related(signature.domain, domain)]
    if not all(signature.whole for signature in ours):
        return False  # the server does not say which of them it believed
    return any(_passed(result, domain, ours) for result in told.results)


def _passed(result: authres.AuthenticationResult, domain: str, ours: list[Signature]) -> bool:
    if str(result.result).lower() != "pass":
        return False
    said = {(each.type, each.name): str(each.value).lower() for each in result.properties}
    if result.method == "dmarc":
        return said.get(("header", "from")) == domain
    signed = any(signature.domain == domain for signature in ours)
    return result.method == "dkim" and said.get(("header", "d")) == domain and signed


def lookups(head: Head, domain: str) -> list[str]:
    """The names that must be looked up in the DNS before `verified` can tell; none: nobody vouches."""
    useful = _useful(head, domain)
    names = [each.key for each in useful]
    policies = [f"_dmarc.{min(each.domain, domain, key=len)}" for each in useful if each.domain != domain]
    return [name for name in dict.fromkeys([*names, *policies]) if NAME.fullmatch(name)]


def verified(raw: bytes, head: Head, domain: str, records: Mapping[str, str]) -> bool:
    """Whether a signature holds and is aligned, given the TXT records of the DNS by name."""

    def ask(name: bytes, timeout: int = 0) -> bytes | None:
        found = records.get(name.decode("ascii", "replace").rstrip(".").lower())
        return found.encode() if found else None

    useful = _useful(head, domain)
    return any(_aligned(each, domain, records) and _holds(raw, each, ask) for each in useful)


def _useful(head: Head, domain: str) -> list[Signature]:
    found = [each for each in signatures(head) if each.whole and related(each.domain, domain)]
    return found[:MOST_SIGNATURES]


def _holds(raw: bytes, signature: Signature, ask: Dns) -> bool:
    try:
        return bool(dkim.DKIM(raw).verify(idx=signature.place, dnsfunc=ask))
    except Exception:  # whatever a stranger's signature makes of it, it is not proved
        return False


def related(one: str, other: str) -> bool:
    """Whether two domains are the same, or one is below the other."""
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")


def _aligned(signature: Signature, domain: str, records: Mapping[str, str]) -> bool:
    """The same domain; or one below the other, if the upper one publishes a DMARC policy that allows it.

    A registry's suffix publishes none, or says `psd=y` (RFC 7489 section 3.1, draft-ietf-dmarc-dmarcbis).
    """
    if signature.domain == domain:
        return True
    upper = min(signature.domain, domain, key=len)
    policy = re.sub(r"\s+", "", records.get(f"_dmarc.{upper}", "")).lower().split(";")
    known = policy[0] == "v=dmarc1" and "adkim=s" not in policy and "psd=y" not in policy
    return known and related(signature.domain, domain)
