"""What the failures of a model's service mean, whichever package it is called through."""

from answerback.provider import TryLater, Undeliverable

WAIT = 20.0  # seconds, where the service does not say how long
REFUSED = {
    400: "it does not take what it is asked",
    401: "the key is not valid",
    403: "the key may not use this model",
    404: "there is no such model",
    422: "it does not take what it is asked",
}
MEANT = {  # classes of packages whose errors carry no status
    "AuthenticationError": "the key is not valid",
    "PermissionDeniedError": "the key may not use this model",
    "NotFoundError": "there is no such model",
    "BadRequestError": "it does not take what it is asked",
}
AWAY = ("RateLimit", "Timeout", "Connection", "Connect", "Overloaded", "ServiceUnavailable", "InternalServer")


def meant(error: Exception) -> Exception:
    """`TryLater` or `Undeliverable`; the error itself where it is a bug. Texts of services are not repeated:

    they may quote the key or the question.
    """
    status = _status(error)
    name = type(error).__name__
    if status in REFUSED or name in MEANT:
        return Undeliverable(f"the model cannot be asked: {REFUSED.get(status) or MEANT[name]} ({name})")
    temporary = status in (408, 409, 429) or status >= 500
    if temporary or isinstance(error, OSError | TimeoutError) or any(part in name for part in AWAY):
        said = str(status) if status else name
        return TryLater(_seconds(error), f"the model's service is busy or away ({said})")
    return error


def _status(error: Exception) -> int:
    response = getattr(error, "response", None)
    for found in (getattr(error, "status_code", None), getattr(response, "status_code", None)):
        if isinstance(found, int):
            return found
    code = getattr(error, "code", None)
    return code if isinstance(code, int) else 0


def _seconds(error: Exception) -> float:
    headers = getattr(getattr(error, "response", None), "headers", None)
    try:
        return max(1.0, float(headers["retry-after"])) if headers is not None else WAIT
    except (KeyError, TypeError, ValueError):
        return WAIT
