"""Called in the gateway for each question; send the link with whatever you have."""

from datetime import datetime


def notify(agent_message: str, form_url: str, expiry_time: datetime | None) -> None:
    until = f" until {expiry_time:%H:%M} UTC" if expiry_time else ""
    print(f"{agent_message}\n→ {form_url}{until}\n", flush=True)
