"""Webhook: every message as signed JSON to an address of yours, and signed replies back.

    hook: {use: webhook, url: "https://chat.example.org/answerback", secret: "${HOOK_SECRET}"}

Both ways are Standard Webhooks (https://www.standardwebhooks.com). What a message looks like stands in
`body`, what a reply must look like in `replies`.
"""

from answerback_providers.webhook.provider import Webhook, WebhookSettings

__all__ = ["Webhook", "WebhookSettings"]
