"""Whose mail decides: one that a domain vouches for, and that domain is the one of its only From."""

import pytest

from answerback_providers.email.head import split
from answerback_providers.email.reading import Kind, read
from answerback_providers.email.trust import lookups, verified
from tests.providers.email.replies import OURS, OWN, PASSED, SIGNED, Signer, reply, vouched


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer()


def proved(mail: bytes, records: dict[str, str], domain: str = "x.org") -> bool:
    return verified(mail, split(mail), domain, records)


def told(*results: str, **headers: str | None) -> bool:
    above = "".join(f"Authentication-Results: {result}\n" for result in results)
    return read(reply(above=above, **headers), OWN, OURS).trusted


# What our own server found


@pytest.mark.parametrize(
    "result",
    [
        PASSED,
        f"{OURS}; dmarc=pass (p=none dis=none) header.from=x.org",
        f"{OURS.upper()} 1; dmarc=pass header.from=X.ORG; spf=fail smtp.mailfrom=x.org",
    ],
)
def test_what_our_own_server_found_counts(result: str) -> None:
    assert told(result)


@pytest.mark.parametrize(
    "result",
    [
        "",
        OURS,
        f"{OURS}; none",
        f"{OURS}; dmarc=fail header.from=x.org",
        f"{OURS}; dmarc=pass header.from=evil.org",
        f"{OURS}; dmarc=pass",
        f"{OURS}; spf=pass smtp.mailfrom=x.org",
        f"{OURS}; dkim=pass header.d=x.org",  # but the mail has no such signature
        f"{OURS}; dkim=fail (dmarc=pass header.from=x.org) header.d=x.org",
        "mx.evil.org; dmarc=pass header.from=x.org",
        f"evil.{OURS}; dmarc=pass header.from=x.org",
        "; ; =",
        "(" * 500 + PASSED,
    ],
)
def test_anything_else_in_that_header_does_not(result: str) -> None:
    assert not told(result)


def test_only_the_topmost_result_counts() -> None:
    assert not told(f"{OURS}; dmarc=fail header.from=x.org", PASSED)
    assert not told("mx.evil.org; dmarc=pass header.from=x.org", PASSED)
    assert told(PASSED, f"{OURS}; dmarc=fail header.from=x.org")


def test_without_the_name_of_our_server_its_header_is_anybodys() -> None:
    assert not read(vouched(), OWN).trusted


def test_a_signature_that_our_server_believed_must_be_whole(signer: Signer) -> None:
    above = f"Authentication-Results: {OURS}; dkim=pass header.d=x.org\r\n".encode()
    assert read(above + signer.sign(reply()), OWN, OURS).trusted
    assert not read(above + signer.sign(reply(), length=True), OWN, OURS).trusted
    assert not read(above + signer.sign(reply(), [b"from", b"date"]), OWN, OURS).trusted


def test_a_mail_that_was_written_to_somebody_else_is_not_ours_to_believe() -> None:
    assert not read(vouched(To="ben@x.org"), OWN, OURS).trusted
    assert read(vouched(To="ben@x.org, Agent <agent@example.org>"), OWN, OURS).trusted


# What a signature proves


def test_a_signature_of_the_domain_of_from_proves_it(signer: Signer) -> None:
    mail = signer.sign(reply())
    assert lookups(split(mail), "x.org") == ["one._domainkey.x.org"]
    assert proved(mail, signer.records)


def test_a_signature_does_not_survive_a_change(signer: Signer) -> None:
    mail = signer.sign(reply("no"))
    assert not proved(mail.replace(b"\r\n\r\nno", b"\r\n\r\nyes"), signer.records)
    assert not proved(mail.replace(b"Ana Lima <ana@", b"Ana Lima <ben@"), signer.records)


def test_without_its_key_a_signature_proves_nothing(signer: Signer) -> None:
    mail = signer.sign(reply())
    assert not proved(mail, {})
    assert not proved(mail, Signer().records)
    assert not proved(mail, {"one._domainkey.x.org": "v=DKIM1; p="})


@pytest.mark.parametrize("left_out", SIGNED[1:])
def test_a_signature_that_does_not_cover_what_matters_does_not_count(signer: Signer, left_out: bytes) -> None:
    mail = signer.sign(reply(), [name for name in SIGNED if name != left_out])
    assert lookups(split(mail), "x.org") == []
    assert not proved(mail, signer.records)


def test_a_signature_of_a_part_of_the_body_does_not_count(signer: Signer) -> None:
    mail = signer.sign(reply(), length=True)
    assert not proved(mail, signer.records)


@pytest.mark.parametrize("name", ["Subject", "To", "Date", "From"])
def test_a_header_that_was_put_above_the_signed_one_is_noticed(signer: Signer, name: str) -> None:
    mail = f"{name}: ana@x.org\r\n".encode() + signer.sign(reply())
    assert not proved(mail, signer.records)


def test_a_signature_of_another_domain_proves_nothing(signer: Signer) -> None:
    mail = signer.sign(reply(From="ana@y.org"))
    assert lookups(split(mail), "y.org") == []
    assert not proved(mail, signer.records, "y.org")


@pytest.mark.parametrize(
    ("policy", "counts"),
    [
        ("v=DMARC1; p=none", True),
        ("v=DMARC1; p=reject; adkim=r", True),
        ("v=DMARC1; adkim=s", False),
        ("v=DMARC1; psd=y", False),
        ("", False),
        ("p=none", False),
    ],
)
def test_the_domain_above_vouches_where_its_policy_allows_it(policy: str, counts: bool) -> None:
    signer = Signer("x.org")
    mail = signer.sign(reply(From="ana@mail.x.org"))
    assert lookups(split(mail), "mail.x.org") == ["one._domainkey.x.org", "_dmarc.x.org"]
    assert proved(mail, signer.records | {"_dmarc.x.org": policy}, "mail.x.org") is counts


# Who wrote


@pytest.mark.parametrize(
    ("written", "who"),
    [
        ("ana@x.org", "ana@x.org"),
        ("<ana@x.org>", "ana@x.org"),
        ("Ana Lima <Ana@X.org>", "ana@x.org"),
        ('"Lima, Ana" <ana@x.org>', "ana@x.org"),
        ('"alice@corp.example" <evil@x.org>', "evil@x.org"),
        ("=?utf-8?q?Ana_L=C3=ADma?= <ana@x.org>", "ana@x.org"),
        ("Ana Líma <ana@x.org>", "ana@x.org"),
    ],
)
def test_one_address_is_read_as_it_is_meant(written: str, who: str) -> None:
    assert read(reply(From=written), OWN).sender == who


@pytest.mark.parametrize(
    "written",
    [
        "alice@corp.example <evil@x.org>",
        "alice@corp.example (IT) <evil@x.org>",
        "ana@x.org.corp.example <ana@x.org>",
        "alice@corp.example, evil@x.org",
        "<alice@corp.example> <evil@x.org>",
        "alice@corp.example (<evil@x.org>)",
        "ana@x.org (Ana)",
        "Team: ana@x.org;",
        "<@relay.example:ana@x.org>",
        "=?utf-8?q?ana=40x.org?=",
        "ana@x.org\x00",
        "",
        None,
    ],
)
def test_what_could_be_read_in_two_ways_is_from_nobody(written: str | None) -> None:
    assert read(vouched(From=written), OWN, OURS).kind is Kind.NOTHING


def test_two_froms_are_from_nobody() -> None:
    assert read(b"From: alice@corp.example\r\n" + vouched(), OWN, OURS).kind is Kind.NOTHING


def test_what_is_not_proved_is_given_on_as_such_for_the_core_to_refuse() -> None:
    (found,) = read(reply("stop"), OWN).found(0)
    assert (found.trusted, found.text, found.sent_at) == (False, "stop", None)
    (found,) = read(vouched("stop"), OWN, OURS).found(0)
    assert (found.trusted, found.text, found.private, found.quoted) == (True, "stop", True, True)
