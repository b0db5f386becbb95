"""Mail: questions go out by SMTP as text and HTML; replies come in by IMAP or LMTP, or through the link."""

from answerback_providers.email.provider import Email
from answerback_providers.email.settings import EmailSettings, Imap, Lmtp, Security, Smtp

__all__ = ["Email", "EmailSettings", "Imap", "Lmtp", "Security", "Smtp"]
