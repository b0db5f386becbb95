"""Ports for servers that cannot be given a socket."""

import socket


def free_port() -> int:
    """One that nobody has just now on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
