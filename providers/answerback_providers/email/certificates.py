"""Whom to believe that they are the mail server, and what to do where that fails."""

import functools
import ssl

from answerback.provider import ConfigurationError
from answerback_providers.email.settings import Server

# By the number that OpenSSL gives the fault (x509_vfy.h): what is wrong, and what to do about it.
UNKNOWN = (
    "nobody whom this machine trusts vouches for it",
    "If it is your own, name the certificate of its authority in ca_file.",
)
ANOTHER = ("it is for another name", "Write the name that it was issued for as host.")
FAULTS = {
    9: ("it is not valid yet", "Check the clocks of both machines."),
    10: ("it has expired", "Have it renewed on the mail server."),
    18: UNKNOWN,  # self-signed
    19: UNKNOWN,  # self-signed at the top of its chain
    20: UNKNOWN,
    21: UNKNOWN,
    62: ANOTHER,
    64: ANOTHER,  # an IP address
}


def trust(name: str, server: Server) -> ssl.SSLContext:
    """Whom to believe: the certificates of `ca_file`, or the system's. ConfigurationError: unreadable."""
    try:
        return ssl.create_default_context(cafile=server.ca_file) if server.ca_file else _systems()
    except OSError as error:
        why = error.strerror or "it holds no certificate"
        raise ConfigurationError(f"providers.{name}.ca_file cannot be used: {why}.") from None


@functools.cache
def _systems() -> ssl.SSLContext:
    """Of the system's certificates there are many, so they are read once."""
    return ssl.create_default_context()


def refusal(where: str, error: BaseException | None) -> str:
    """Why the certificate of `where` was not accepted, and what to do; "" if something else is wrong."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            why, remedy = FAULTS.get(error.verify_code, (str(error.verify_message).rstrip("."), ""))
            told = f"The certificate of {where} is not accepted: {why}. Nothing was sent. {remedy}"
            return told.rstrip()
        error = error.__cause__
    return ""
