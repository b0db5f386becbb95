"""The command: its arguments, and its exit codes: 0, 1 (not proved, or an error), 2 (usage), 130 (Ctrl-C)."""

import argparse
import asyncio
import sys
from collections.abc import Sequence

TOPIC = "which question a massage is for"
ABOUT = (
    "An agent asks; you answer on a phone in the browser, in the terminal or on a form; the agent goes on."
)
WITHOUT = (
    "Without a terminal somebody else answers on the phone, and the exit code says whether all went well."
)


def main(arguments: Sequence[str]) -> int:
    """Run the demo. Never raises but for mistakes in its own code."""
    options = _parser().parse_args(arguments)
    alone = options.say or options.json
    interactive = sys.stdin.isatty() and sys.stdout.isatty() and not alone
    try:
        if interactive:  # what follows imports a lot
            sys.stdout.write("· starting …")
            sys.stdout.flush()
        from answerback_demo.play import play

        return asyncio.run(play(options, interactive=interactive))
    except KeyboardInterrupt:
        sys.stdout.write("\n")
        return 130
    except ModuleNotFoundError as error:
        return _failed(f"the package {error.name} is missing: pip install 'answerback[all]'")
    except OSError as error:
        return _failed(f"{error.filename or 'the system'}: {error.strerror}")


def _failed(why: str) -> int:
    sys.stderr.write(f"answerback demo: {why}\n")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="answerback demo", description=f"{ABOUT} {WITHOUT}")
    parser.add_argument("--topic", default=TOPIC, help="what the research agent is asked for")
    parser.add_argument(
        "--seed", type=int, help="which term somebody answers with, where there is no terminal"
    )
    parser.add_argument("--say", metavar="TEXT", help="let somebody answer with this, as without a terminal")
    parser.add_argument(
        "--app", choices=("telegram", "whatsapp", "mail"), help="in which app somebody answers [default: any]"
    )
    parser.add_argument(
        "--json", action="store_true", help="as without a terminal, and only what came out, as JSON"
    )
    parser.add_argument("--data-dir", default="var/demo", metavar="DIR", help="where its database is kept")
    return parser
