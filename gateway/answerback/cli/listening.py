"""The socket that the gateway listens on, taken before anything else is started."""

import errno
import socket

from answerback.errors import ConfigurationError
from answerback.settings import Settings

BACKLOG = 2048


def bind(settings: Settings) -> socket.socket:
    """A listening socket: who connects now is served when everything stands. Raises `ConfigurationError`."""
    listener: socket.socket | None = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)  # at once: two sockets may be bound to one port, but only one listens
    except OSError as error:
        if listener is not None:
            listener.close()
        raise ConfigurationError(_why(error, settings.listen), file=settings.file) from None
    listener.setblocking(False)
    return listener


def _why(error: OSError, listen: str) -> str:
    host, _, port = listen.rpartition(":")
    if error.errno == errno.EADDRINUSE:
        another = f"--listen {host}:{int(port) + 1}" if int(port) < 65535 else "--listen"
        return f"listen: {listen} is in use by another program. Stop it, or choose another port: {another}."
    if error.errno == errno.EACCES:
        return f"listen: {listen} needs more rights. Choose a port from 1024 on: --listen {host}:8700."
    if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
        return f"listen: {host} is no address of this machine. For all it has: --listen 0.0.0.0:{port}."
    return f"listen: {listen} cannot be listened on: {error.strerror}."
