"""The play: start everything, let the agent ask, wait for whoever answers first, show what came out."""

import argparse
import asyncio
import html
import io
import json
import random
import secrets
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import aiohttp

from answerback.errors import ConfigurationError
from answerback.model import Interaction, Json, RunStatus
from answerback.run import Run, RunRequest
from answerback_agents.research.collection import documents
from answerback_demo.person import Person, Seen, draw
from answerback_demo.proof import flaws
from answerback_demo.screen import Screen
from answerback_demo.world import World, world

FOREVER = 10.0**9
READS = 2.5  # seconds: what quotes nothing and comes sooner is asked about, as nobody can have read so fast
NAMES = {"telegram": "Telegram", "whatsapp": "WhatsApp", "mail": "mail"}
AGAIN = "Enter: ask again · or write a topic of your own · q: quit"


async def play(options: argparse.Namespace, *, interactive: bool) -> int:
    """The demo; its exit code."""
    screen = Screen(io.StringIO() if options.json else sys.stdout, interactive=interactive)
    try:
        async with world(Path(options.data_dir), screen) as running:
            if interactive:
                return await _with_terminal(running, screen, options.topic)
            played = await _without_terminal(running, screen, options)
    except ConfigurationError as error:
        sys.stderr.write(f"answerback demo: {error}\n")
        return 1
    if options.json:
        sys.stdout.write(json.dumps(asdict(played), ensure_ascii=False, indent=2) + "\n")
    return 1 if played.flaws else 0


async def _with_terminal(running: World, screen: Screen, topic: str) -> int:
    screen.listen()
    try:
        while True:
            screen.line(f"{_phone(running)}, in a browser: {running.phone}/")
            run, _ = await _ask(running, screen, topic)
            if run.status is RunStatus.COMPLETED:
                _show(running, screen, run)
            chosen = await screen.choice(AGAIN)
            if chosen is None or chosen.lower() in ("q", "quit", "exit"):
                return 0
            topic = chosen or topic
            screen.line()
    finally:
        screen.deaf()


@dataclass(frozen=True, slots=True)
class Played:
    """What came out when somebody on the phone answered; `flaws`: what is wrong with it, a sentence each."""

    seed: int
    app: str
    answered: str
    status: str
    result: Json
    flaws: list[str]


async def _without_terminal(running: World, screen: Screen, options: argparse.Namespace) -> Played:
    seed = secrets.randbits(32) if options.seed is None else options.seed
    chance = random.Random(seed)  # noqa: S311 - which word is said is no secret
    term = options.say or draw(chance)
    screen.line(f"No terminal, so somebody answers on the phone (--seed {seed}): {running.phone}/")
    app = options.app if options.app in running.apps else chance.choice(running.apps)
    async with aiohttp.ClientSession() as session:
        phone = Phone(running, session, app, term, chance.random() < 0.5)
        run, interaction = await _ask(running, screen, options.topic, phone)
        if run.status is RunStatus.COMPLETED:
            _show(running, screen, run)
        found = _verdict(run, interaction, term)
        async with session.get(screen.form_url) as page:
            if f"“{term}”" not in html.unescape(await page.text()):
                found.append("The form does not say what was answered.")
    for flaw in found:
        screen.line(f"✗ {flaw}")
    if not found:
        screen.line(
            f"✓ Checked: every passage stands in the documents, word for word, and contains “{term}”."
        )
    return Played(seed, app, term, run.status, run.result, found)


async def _ask(
    running: World, screen: Screen, topic: str, phone: "Phone | None" = None
) -> tuple[Run, Interaction | None]:
    """Start a run and follow it to its end."""
    app = running.app
    screen.step(f"the research agent looks for search terms in “{topic}”")
    started = await app.runner.start(RunRequest("research", input={"topic": topic}))
    await app.idle()
    run, interaction = await app.runner.get(started.id), None
    while run.status in (RunStatus.RUNNING, RunStatus.WAITING):
        if run.status is RunStatus.WAITING:
            message = await screen.asked.get()
            if phone is not None:
                await phone.answers(screen, message.title)
            interaction = await app.reader.wait(message.interaction_id, FOREVER)
        await app.idle()
        run = await app.runner.get(started.id)
    if run.status is not RunStatus.COMPLETED:
        screen.line(f"The run is {run.status}. {run.error}".strip())
    return run, interaction


@dataclass(frozen=True, slots=True)
class Phone:
    """Alice's phone, on which she answers with `term` in one app and looks at the others."""

    running: World
    session: aiohttp.ClientSession
    app: str
    term: str
    as_reply: bool

    async def answers(self, screen: Screen, title: str) -> None:
        """Alice reads the question, answers, and sees what became of it, in each of her apps."""
        alice = self._looks_at(self.app)
        asked = await alice.sees(title)
        for app in self.running.apps:
            await self._looks_at(app).sees(title)
        await self.running.app.idle()  # nobody answers before the gateway knows that the messages arrived
        screen.line(f"\nAlice's phone, {NAMES[self.app]}:")
        _indented(screen, asked)
        replies = self.as_reply or self.app == "mail"
        if not replies:
            await asyncio.sleep(READS)
        await alice.answers(self.term, asked if replies else None)
        screen.line(f"Alice writes{', replying to it' if replies else ''}: “{self.term}”")
        for app in self.running.apps:
            answered = await self._looks_at(app).sees("✅")
            screen.line(f"Alice's phone, {NAMES[app]}: {_outcome(answered)}")

    def _looks_at(self, app: str) -> Person:
        return Person(self.running.phone, self.running.person, app, self.session)


def _phone(running: World) -> str:
    *others, last = (NAMES[app] for app in running.apps)
    return f"A phone with {', '.join(others)} and {last}" if others else "A phone for you"


def _outcome(seen: Seen) -> str:
    return next(line for line in seen.text.splitlines() if "✅" in line)


def _indented(screen: Screen, message: Seen) -> None:
    for text in message.text.strip().splitlines():
        screen.line(f"  {text}".rstrip())
    if message.labels:
        screen.line("  " + "  ".join(f"[ {label} ]" for label in message.labels))


def _show(running: World, screen: Screen, run: Run) -> None:
    report = str(run.result["report"])
    file = running.data_dir / "report.md"
    file.write_text(report)
    screen.report(report, str(file))


def _verdict(run: Run, interaction: Interaction | None, term: str) -> list[str]:
    answer = interaction.answer if interaction is not None else None
    if answer is None or answer.text != term:
        return ["The agent was not resumed with what was written."]
    return flaws(run.result, term, documents())
