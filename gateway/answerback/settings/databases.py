"""The URL of a database, read as strictly as PostgreSQL's own library does, before that names a part of it.

Its errors, and those of whatever looks the host up, repeat what they take for a host, a port or an option:
where a password has a sign of its own that is a piece of the password (law 11).
"""

import re

_ENCODED = re.compile(r"%(?!00)[0-9A-Fa-f]{2}")
_PORT = re.compile(r"[0-9]{0,5}")
ENCODE = (
    "this URL cannot be read. In a name or a password write @ as %40, : as %3A, / as %2F, ? as %3F and % as "
    "%25, or leave the password out and set PGPASSWORD."
)


def is_readable(url: str) -> bool:
    """Whether all that may be a password stands where every reader of the URL takes it for one.

    https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
    """
    rest = url.partition("://")[2]
    if "%" in _ENCODED.sub("", rest) or any(mark.isspace() for mark in rest):
        return False
    before, _, query = rest.partition("?")
    where, _, name = before.partition("/")
    who, _, hosts = where.rpartition("@")
    options = query.split("&") if query else []
    return (
        "@" not in who + name
        and who.count(":") <= 1
        and all(_PORT.fullmatch(_port(host)) for host in hosts.split(","))
        and all(option.count("=") == 1 for option in options)
    )


def _port(host: str) -> str:
    """What stands behind the colon of a host; an address of IPv6 has brackets."""
    return host.rpartition("]")[2].partition(":")[2]
