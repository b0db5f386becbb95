"""Connections to PostgreSQL on which either side notices within half a minute that the other is gone.

A machine that vanishes closes nothing. Without these a client waits for its server for a quarter of an hour,
and for two hours where nothing was sent; and a server keeps a client's locks for two hours.
"""

from collections.abc import Mapping

# Seconds but for the last: milliseconds in which what was sent must have arrived.
ALIVE = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 15_000}
LASTING = 4  # times as long, for what must end after all else of its machine


def attentive(url: str) -> str:
    """The same URL, with what makes a client notice, unless it says that itself.

    https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS
    """
    if not url.startswith("postgres"):
        return url
    where, _, query = url.partition("?")
    options = query.split("&") if query else []
    said = {option.partition("=")[0] for option in options}
    options += [f"{name}={value}" for name, value in ALIVE.items() if name not in said]
    return f"{where}?{'&'.join(options)}"


def noticed(parameters: Mapping[str, str], times: int = 1) -> str:
    """SQL by which the server notices after as long as the client, whose connection has these parameters, or

    after `times` as long. On a Unix socket it does nothing.

    https://www.postgresql.org/docs/current/runtime-config-connection.html#RUNTIME-CONFIG-TCP
    """
    given = {name: int(parameters.get(name) or usual) for name, usual in ALIVE.items()}
    return (
        f"SET tcp_keepalives_idle = {given['keepalives_idle']}; "
        f"SET tcp_keepalives_interval = {given['keepalives_interval']}; "
        f"SET tcp_keepalives_count = {given['keepalives_count'] * times}; "
        f"SET tcp_user_timeout = {given['tcp_user_timeout'] * times}"
    )
