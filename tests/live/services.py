"""The configurations of `make live`, one a service; what stands in ${…} comes from the environment."""

import re
from collections.abc import Mapping

from answerback import settings
from answerback.settings import Settings

SERVICES = {
    "telegram": """
providers: {telegram: {use: telegram, token: "${LIVE_TELEGRAM_TOKEN}", api_base: "${LIVE_TELEGRAM_API}"}}
contacts: {you: {addresses: {telegram: "${LIVE_TELEGRAM_ID}"}}}
""",
    "whatsapp": """
public_url: "${LIVE_PUBLIC_URL}"
listen: "${LIVE_LISTEN}"
providers:
  whatsapp:
    {use: whatsapp, account_sid: "${LIVE_TWILIO_ACCOUNT_SID}", auth_token: "${LIVE_TWILIO_AUTH_TOKEN}",
     sender: "${LIVE_WHATSAPP_SENDER}", content_sid: "${LIVE_WHATSAPP_TEMPLATE}",
     api_base: "${LIVE_TWILIO_API}"}
contacts: {you: {addresses: {whatsapp: "${LIVE_WHATSAPP_TO}"}}}
""",
    "email": """
providers:
  email:
    use: email
    address: "${LIVE_MAIL_ADDRESS}"
    authserv_id: "${LIVE_MAIL_AUTHSERV_ID}"
    smtp: &account
      {host: "${LIVE_SMTP_HOST}", port: "${LIVE_SMTP_PORT}", security: "${LIVE_SMTP_SECURITY}",
       username: "${LIVE_MAIL_USERNAME}", password: "${LIVE_MAIL_PASSWORD}"}
    imap:
      {<<: *account, host: "${LIVE_IMAP_HOST}", port: "${LIVE_IMAP_PORT}", security: "${LIVE_IMAP_SECURITY}"}
contacts: {you: {addresses: {email: "${LIVE_MAIL_TO}"}}}
""",
}
DEFAULTS = {
    "LIVE_TELEGRAM_API": "https://api.telegram.org",
    "LIVE_TWILIO_API": "https://api.twilio.com",
    "LIVE_PUBLIC_URL": "http://127.0.0.1:8700",
    "LIVE_LISTEN": "127.0.0.1:8700",
    "LIVE_MAIL_AUTHSERV_ID": "",
    "LIVE_SMTP_PORT": "587",
    "LIVE_SMTP_SECURITY": "starttls",
    "LIVE_IMAP_PORT": "993",
    "LIVE_IMAP_SECURITY": "tls",
}


def needed(service: str) -> list[str]:
    """The variables without which it cannot be tried."""
    return [name for name in re.findall(r"\$\{(\w+)\}", SERVICES[service]) if name not in DEFAULTS]


def lacking(service: str, environ: Mapping[str, str]) -> list[str]:
    return [name for name in needed(service) if not environ.get(name)]


def settings_of(service: str, environ: Mapping[str, str], folder: str) -> Settings:
    """Everything that a gateway keeps goes into `folder`."""
    given = {name: value for name, value in environ.items() if value}
    return settings.parse(SERVICES[service], file=f"{folder}/{service}.yaml", environ={**DEFAULTS, **given})
