"""What holds for every session on PostgreSQL, whatever the server, the database or the user has been set to.

A machine that vanishes closes nothing. Without keep-alives a client waits for its server for a quarter of an
hour, and for two hours where nothing was sent; and a server keeps a client's locks for two hours. A commit
that is not on the disk when it is confirmed can be lost, and what is read under a lock must be what is there
then.
"""

from collections.abc import Mapping

# Seconds but for the last: milliseconds in which what was sent must have arrived.
ALIVE = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 15_000}
LASTING = 4  # times as long, for what must end after all else of its machine
# Who has it write to more than the own disk (remote_apply) has it so.
_DURABLE = """SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'"""


def attentive(url: str) -> str:
    """The same URL, with what makes a client notice that its server is gone, unless it says that itself.

    https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS
    """
    if not url.startswith("postgres"):
        return url
    where, _, query = url.partition("?")
    options = query.split("&") if query else []
    said = {option.partition("=")[0] for option in options}
    options += [f"{name}={value}" for name, value in ALIVE.items() if name not in said]
    return f"{where}?{'&'.join(options)}"


def begun(parameters: Mapping[str, str], times: int = 1) -> str:
    """Statements for a new session, to be sent as one that is not prepared.

    By `parameters`, those of the connection, its server notices as soon as the client that the other is gone,
    or after `times` as long; on a Unix socket that does nothing.

    https://www.postgresql.org/docs/current/runtime-config-connection.html#RUNTIME-CONFIG-TCP
    """
    given = {name: int(parameters.get(name) or usual) for name, usual in ALIVE.items()}
    return (
        f"SET tcp_keepalives_idle = {given['keepalives_idle']}; "
        f"SET tcp_keepalives_interval = {given['keepalives_interval']}; "
        f"SET tcp_keepalives_count = {given['keepalives_count'] * times}; "
        f"SET tcp_user_timeout = {given['tcp_user_timeout'] * times}; "
        "SET default_transaction_isolation = 'read committed'; SET client_encoding = 'UTF8'; "
        f"{_DURABLE}"
    )
