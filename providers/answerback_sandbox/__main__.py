"""The sandbox alone: `python -m answerback_sandbox --listen 127.0.0.1:8710`."""

import argparse
import asyncio
import contextlib
import signal
import sys

from answerback_sandbox.loopback import NotLoopback
from answerback_sandbox.sandbox import Sandbox


def main(arguments: list[str] | None = None) -> int:
    """Serve until Ctrl-C. Returns 0, or 1 if it cannot listen there, 2 for wrong usage."""
    about = "A Telegram Bot API and a phone, on loopback."
    parser = argparse.ArgumentParser(prog="answerback_sandbox", description=about)
    parser.add_argument("--listen", default="127.0.0.1:8710", metavar="HOST:PORT", help="a loopback address")
    parser.add_argument("--token", help="the bot's token (default: any that looks like one)")
    parser.add_argument("--rates", action="store_true", help="keep Telegram's sending rates")
    options = parser.parse_args(arguments)
    host, _, port = options.listen.rpartition(":")
    try:
        box = Sandbox(options.token, rates=options.rates)
        asyncio.run(_serve(box, host or "127.0.0.1", int(port)))
    except (NotLoopback, ValueError) as error:
        print(f"answerback_sandbox: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"answerback_sandbox: cannot listen on {options.listen}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


async def _serve(box: Sandbox, host: str, port: int) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stopped.set)
    async with box.serve(host, port):
        print(f"phone    {box.url}/\nbot api  {box.bot_api_base}<token>/<method>", flush=True)
        await stopped.wait()


if __name__ == "__main__":
    sys.exit(main())
