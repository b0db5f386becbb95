"""`make live`: every step with the real services that the environment has credentials for."""

import asyncio
import contextlib
import os
import socket
import sys
import tempfile

from answerback.errors import AnswerbackError
from tests.live.services import SERVICES, lacking, needed, settings_of
from tests.live.steps import Wrong, live

FAILED = "FAILED"
PATIENCE = 300.0  # seconds for whoever runs this to answer


async def main() -> int:
    """0 if all that is configured works. Half of a configuration is a mistake, and so is none at all."""
    lacks = {service: lacking(service, os.environ) for service in SERVICES}
    for service, names in lacks.items():
        if names:
            print(f"{service}: NOT TRIED, as these are not set: {', '.join(names)}")
    partly = any(0 < len(names) < len(needed(service)) for service, names in lacks.items())
    if partly or all(lacks.values()):
        print("Nothing was tested. docs/proof.md says what to set.")
        return 1
    worked = {service: await works(service) for service, names in lacks.items() if not names}
    print(", ".join(f"{service}: {how}" for service, how in worked.items()))
    return 1 if FAILED in worked.values() else 0


async def works(service: str) -> str:
    """How it went."""

    def say(line: str) -> None:
        print(f"{service}: {line}", flush=True)

    async def you(question: str, label: str) -> None:
        say(f"NOW answer “{question}” there with “{label}”. You have {PATIENCE / 60:.0f} minutes.")

    with tempfile.TemporaryDirectory(prefix="answerback-live-") as folder, contextlib.ExitStack() as stack:
        try:
            settings = settings_of(service, os.environ, folder)
            listener = None
            if service == "whatsapp" and os.environ.get("LIVE_PUBLIC_URL"):
                say(f"Twilio must post to {settings.public_url}/in/whatsapp, and so to {settings.listen}.")
                host, _, port = settings.listen.rpartition(":")
                listener = stack.enter_context(socket.create_server((host, int(port))))
            async with live(settings, you, PATIENCE, listener) as here:
                await here.every_step(say)
        except (Wrong, AnswerbackError, OSError) as error:  # TimeoutError is an OSError
            say(str(error) or "The service took too long to take a message.")
            return FAILED
        return "passed" if here.hears else "passed in part"


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main()))
    except KeyboardInterrupt:
        sys.exit(130)
