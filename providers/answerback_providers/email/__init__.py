"""Mail: questions go out by SMTP as text and HTML; replies come in by IMAP, or through the link."""

from answerback_providers.email.provider import Email
from answerback_providers.email.settings import EmailSettings, Imap, Security, Smtp

__all__ = ["Email", "EmailSettings", "Imap", "Security", "Smtp"]
