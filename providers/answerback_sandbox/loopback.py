"""Loopback and nothing else: the listen address, and which requests a browser may bring here."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class NotLoopback(ValueError):
    """The sandbox believes whoever talks to it, so it listens on 127.0.0.0/8 or ::1 and nowhere else."""


def is_loopback(host: str) -> bool:
    """Whether `host` is a loopback address or the name `localhost`.

    Other names are refused even if they resolve to loopback today: a name can point elsewhere tomorrow.
    """
    host = host.strip("[]")
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def require_loopback(host: str) -> str:
    """The address to bind for `host`. Raises NotLoopback for any but 127.0.0.0/8, ::1 and localhost."""
    if not is_loopback(host):
        raise NotLoopback(f"the sandbox listens on loopback only (127.0.0.1 or ::1), not on {host!r}")
    return "127.0.0.1" if host.lower() == "localhost" else host.strip("[]")


def host_of(authority: str) -> str:
    """The host in a Host header such as `127.0.0.1:8710` or `[::1]:8710`; empty if there is none."""
    try:
        return urlsplit(f"//{authority}").hostname or ""
    except ValueError:
        return ""


class LoopbackGuard:
    """Refuses what another site could make a browser send here.

    The Host header must be loopback (DNS rebinding), an Origin must be this server's own, and of what a
    browser marks as started by another site (Fetch Metadata, Sec-Fetch-Site) only opening the page by a link
    is let in. Clients that are no browsers send neither header and pass.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reason = _refusal(scope, Headers(scope=scope)) if scope["type"] == "http" else None
        if reason is None:
            return await self._app(scope, receive, send)
        status, text = reason
        refused = JSONResponse({"ok": False, "error_code": status, "description": text}, status)
        await refused(scope, receive, send)


def _refusal(scope: Scope, headers: Headers) -> tuple[int, str] | None:
    authority = headers.get("host", "")
    if not is_loopback(host_of(authority)):
        return 421, "Misdirected Request: the Host header must be a loopback address"
    origin = headers.get("origin")
    if origin is not None and origin != f"{scope['scheme']}://{authority}":
        return 403, "Forbidden: another site may not send requests to the sandbox"
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return None
    opens_page = scope["method"] == "GET" and scope["path"] in ("/", "/phone")
    if opens_page and headers.get("sec-fetch-mode") == "navigate":
        return None
    return 403, "Forbidden: another site may not send requests to the sandbox"
