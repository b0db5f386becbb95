"""The sandbox alone: `python -m answerback_sandbox --listen 127.0.0.1:8710`."""

import argparse
import asyncio
import json
import sys

from answerback_sandbox.endpoints import Json
from answerback_sandbox.loopback import NotLoopback
from answerback_sandbox.sandbox import Sandbox
from answerback_sandbox.standing import IMAP_PORT, PORT, SMTP_PORT, equipped, lines, stand


def main(arguments: list[str] | None = None) -> int:
    """Serve until Ctrl-C. Returns 0, or 1 if it cannot listen there, 2 for wrong usage."""
    about = "Telegram, WhatsApp by Twilio and mail, with people on a phone in the browser; on loopback."
    parser = argparse.ArgumentParser(prog="answerback_sandbox", description=about)
    parser.add_argument(
        "--listen", default=f"127.0.0.1:{PORT}", metavar="HOST:PORT", help="a loopback address"
    )
    parser.add_argument("--smtp-port", type=int, default=SMTP_PORT, help=f"default: {SMTP_PORT}")
    parser.add_argument("--imap-port", type=int, default=IMAP_PORT, help=f"default: {IMAP_PORT}")
    parser.add_argument("--token", help="the bot's token (default: any that looks like one)")
    parser.add_argument("--person", action="append", default=[], metavar="NAME", help="one more beside Ana")
    parser.add_argument("--webhook", default="", metavar="URL", help="where WhatsApp messages are posted")
    parser.add_argument("--rates", action="store_true", help="keep Telegram's sending rates")
    parser.add_argument("--json", action="store_true", help="print what to connect to as JSON")
    options = parser.parse_args(arguments)
    host, _, port = options.listen.rpartition(":")

    def tell(found: Json) -> None:
        print(json.dumps(found) if options.json else "\n".join(lines(found)), flush=True)

    try:
        box = equipped(Sandbox(options.token, rates=options.rates), options.person, options.webhook)
        asyncio.run(stand(box, host or "127.0.0.1", int(port), options.smtp_port, options.imap_port, tell))
    except (NotLoopback, ValueError, OverflowError) as error:
        print(f"answerback_sandbox: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"answerback_sandbox: cannot listen on {options.listen}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
