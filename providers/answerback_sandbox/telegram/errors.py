"""The Bot API's refusals: an HTTP status, a description, and sometimes `parameters`.

Descriptions are those that the Bot API server sends (https://github.com/tdlib/telegram-bot-api), because
clients tell errors apart by them.
"""

from collections.abc import Mapping


class ApiError(Exception):
    """A call that failed: `{"ok": false, "error_code": status, "description": …, "parameters": …}`."""

    def __init__(self, status: int, description: str, parameters: Mapping[str, int] | None = None) -> None:
        super().__init__(description)
        self.status = status
        self.description = description
        self.parameters = parameters


def bad_request(reason: str) -> ApiError:
    """400: what was asked for cannot be done."""
    return ApiError(400, f"Bad Request: {reason}")


def forbidden(reason: str) -> ApiError:
    """403: the person or the group does not let the bot in."""
    return ApiError(403, f"Forbidden: {reason}")


def conflict(reason: str) -> ApiError:
    """409: someone else takes the updates."""
    return ApiError(409, f"Conflict: {reason}")


def too_many_requests(seconds: int) -> ApiError:
    """429: try again after so many whole seconds (https://core.telegram.org/bots/api#responseparameters)."""
    return ApiError(429, f"Too Many Requests: retry after {seconds}", {"retry_after": seconds})
