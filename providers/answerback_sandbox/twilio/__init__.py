"""Twilio's side of WhatsApp: messages, content templates, media, signed webhooks and status callbacks."""
