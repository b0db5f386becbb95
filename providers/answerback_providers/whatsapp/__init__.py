"""WhatsApp by Twilio: buttons inside the 24-hour window, an approved template outside it.

    whatsapp: {use: whatsapp, account_sid: AC…, auth_token: "${TWILIO_TOKEN}", sender: "+15550001111"}

`settings` are checked first, `line` speaks HTTP, `wording` fits a message to what WhatsApp takes, `proof`
checks signatures, `incoming` reads what Twilio sends, `missed` lists what it could not deliver, `faults`
names what went wrong, `provider` joins them behind the provider contract.
"""

from answerback_providers.whatsapp.provider import WhatsApp
from answerback_providers.whatsapp.settings import WhatsAppSettings

__all__ = ["WhatsApp", "WhatsAppSettings"]
