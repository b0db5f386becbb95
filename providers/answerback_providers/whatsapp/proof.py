"""Whether a webhook comes from Twilio: its signature over the URL and every parameter.

https://www.twilio.com/docs/usage/security#validating-requests. The signature has no delimiters and no
time, so that names may not repeat, the account is compared too, and message ids are kept for good.
"""

import hmac
from urllib.parse import parse_qsl, urlsplit

from twilio.request_validator import HMAC_SHA256, RequestValidator, add_port, remove_port

from answerback.provider import Inbound, Unverified

SIGNATURE = "x-twilio-signature"
SETTINGS = "x-twilio-webhooks-signature-settings"
FORM = "application/x-www-form-urlencoded"
MOST_FIELDS = 200
Fields = dict[str, str]


def fields(inbound: Inbound) -> Fields:
    """The form's fields, empty ones too. Raises `Unverified` for what cannot be a form of Twilio's."""
    if inbound.headers.get("content-type", FORM).partition(";")[0].strip().lower() != FORM:
        raise Unverified("Twilio sends forms, and this is none.", status=415)
    try:
        pairs = parse_qsl(
            inbound.body.decode(),
            keep_blank_values=True,
            strict_parsing=bool(inbound.body),
            max_num_fields=MOST_FIELDS,
            errors="strict",
        )
    except ValueError:
        raise Unverified("The form cannot be read.", status=400) from None
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unverified("A field of the form is repeated.", status=400)
    return found


def check(inbound: Inbound, found: Fields, auth_token: str, shared_key: str) -> None:
    """Raise `Unverified` unless one of our two secrets made the signature."""
    given = inbound.headers.get(SIGNATURE, "")
    if not given:
        raise Unverified("The request is not signed.")
    algorithm = _algorithm(inbound.headers.get(SETTINGS, ""))
    secret = shared_key if algorithm == HMAC_SHA256 else auth_token
    if not secret:
        raise Unverified("The request is signed with a shared key, and none is configured (shared_key).")
    validator = RequestValidator(secret)
    address = urlsplit(inbound.url)
    for url in (
        inbound.url,
        remove_port(address),
        add_port(address),
    ):  # which one it was, Twilio does not say
        if hmac.compare_digest(
            validator.compute_signature(url, found, algorithm).encode(), given.encode("utf-8", "replace")
        ):
            return
    raise Unverified(
        "The signature does not fit: public_url must be exactly the address that Twilio is given, "
        "and auth_token that of the account."
    )


def _algorithm(settings: str) -> str | None:
    """None: SHA-1. The header is `key=ID,algorithm=HMAC_SHA256`."""
    for part in settings.split(","):
        name, _, value = part.partition("=")
        if name.strip() == "algorithm" and value.strip():
            if value.strip() != HMAC_SHA256:
                raise Unverified("The request is signed in a way that is not known here.")
            return value.strip()
    return None
