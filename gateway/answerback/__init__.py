"""answerback: an agent asks, a person answers, and only that question gets that answer.

The public names are the errors that callers meet. What speaks to a running gateway is
`answerback.client`; a provider imports `answerback.provider`, an agent adapter `answerback.agent`, a
function that says who calls `answerback.caller`, a test `answerback.testing`.
"""

from answerback.errors import (
    AlreadyAnswered,
    AnswerbackError,
    Closed,
    ConfigurationError,
    Conflict,
    DoesNotFit,
    Gone,
    NotAllowed,
    NotFound,
    Refused,
    StoreUnavailable,
    TooLarge,
)

__version__ = "0.1.0"
__all__ = [
    "AlreadyAnswered",
    "AnswerbackError",
    "Closed",
    "ConfigurationError",
    "Conflict",
    "DoesNotFit",
    "Gone",
    "NotAllowed",
    "NotFound",
    "Refused",
    "StoreUnavailable",
    "TooLarge",
    "__version__",
]
