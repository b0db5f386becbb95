"""Mail: questions go out by SMTP as text and HTML; replies come in by IMAP or LMTP, or through the link.

What stands here is imported when it is asked for: the process that reads mail needs little of it, and is
started anew after every mail that had to be given up.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from answerback_providers.email.provider import Email
    from answerback_providers.email.settings import EmailSettings, Imap, Lmtp, Security, Smtp

__all__ = ["Email", "EmailSettings", "Imap", "Lmtp", "Security", "Smtp"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    where = "provider" if name == "Email" else "settings"
    return getattr(import_module(f"{__name__}.{where}"), name)
