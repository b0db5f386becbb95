"""The gateway over HTTP: the API for agents and keys, the providers' webhooks, and the form for people."""

from answerback.web.access import RedactTokens, redact_path
from answerback.web.application import create_app
from answerback.web.services import Services

__all__ = ["RedactTokens", "Services", "create_app", "redact_path"]
