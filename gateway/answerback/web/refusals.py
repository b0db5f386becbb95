"""What is refused before anything is stored: counted, and said in one line without a word of what came."""

import logging

from starlette.types import Scope

from answerback.metrics import Metric, Metrics

log = logging.getLogger("answerback.web")
UNKNOWN = (404, 405)  # then the name behind /in/ may be anybody's invention


def refused(metrics: Metrics, scope: Scope, status: int) -> None:
    """Count and log a request that was answered with an error: by its door and status, never by its path."""
    intake = intake_of(scope["path"], status)
    metrics.count(Metric.REFUSED, intake, str(status))
    log.info("a request was refused", extra={"intake": intake, "status": status})


def intake_of(path: str, status: int) -> str:
    """Which door a request came to: a provider's name, `api`, `form`, `inbox`, or `other`."""
    first, _, rest = path.lstrip("/").partition("/")
    if first == "in":
        return rest if status not in UNKNOWN else "unknown"
    return {"v1": "api", "f": "form", "inbox": "inbox"}.get(first, "other")
