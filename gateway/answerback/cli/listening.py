"""The socket that the gateway listens on, taken before anything else is started."""

import contextlib
import errno
import socket

from answerback.errors import ConfigurationError
from answerback.settings import Settings, units

BACKLOG = 2048


def bind(settings: Settings) -> socket.socket:
    """A listening socket: who connects now is served when everything stands. Raises `ConfigurationError`."""
    return _bound(settings, settings.listen, "listen", " --listen")


def bind_metrics(settings: Settings) -> contextlib.AbstractContextManager[socket.socket | None]:
    """The same for whoever reads the metrics; None where nobody may. Raises `ConfigurationError`."""
    if not settings.metrics:
        return contextlib.nullcontext()
    return _bound(settings, settings.metrics, "metrics.listen", "")


def _bound(settings: Settings, listen: str, key: str, option: str) -> socket.socket:
    listener: socket.socket | None = None
    host, port = units.split_listen(listen)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)  # at once: two sockets may be bound to one port, but only one listens
    except OSError as error:
        if listener is not None:
            listener.close()
        raise ConfigurationError(f"{key}: {_why(error, listen, option)}", file=settings.file) from None
    listener.setblocking(False)
    return listener


def _why(error: OSError, listen: str, option: str) -> str:
    host, _, port = listen.rpartition(":")
    if error.errno == errno.EADDRINUSE:
        another = f"{option} {host}:{int(port) + 1}" if int(port) < 65535 else option
        return f"{listen} is in use by another program. Stop it, or choose another port:{another}."
    if error.errno == errno.EACCES:
        return f"{listen} needs more rights. Choose a port from 1024 on:{option} {host}:8700."
    if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
        return f"{host} is no address of this machine. For all it has:{option} 0.0.0.0:{port}."
    return f"{listen} cannot be listened on: {error.strerror}."
