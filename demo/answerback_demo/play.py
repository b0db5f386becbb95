"""The play: start everything, let the agent ask, wait for whoever answers first, show what came out."""

import argparse
import html
import random
import secrets
from pathlib import Path
from typing import Any

import aiohttp

from answerback.errors import ConfigurationError
from answerback.model import Interaction, RunStatus
from answerback.run import Run, RunRequest
from answerback_agents.research.collection import documents
from answerback_demo.person import Person, draw
from answerback_demo.proof import flaws
from answerback_demo.screen import Screen
from answerback_demo.world import World, world

FOREVER = 10.0**9
AGAIN = "Enter: ask again · or write a topic of your own · q: quit"


async def play(options: argparse.Namespace, *, interactive: bool) -> int:
    """The demo; its exit code."""
    screen = Screen(interactive=interactive)
    try:
        async with world(Path(options.data_dir), screen) as running:
            if interactive:
                return await _with_terminal(running, screen, options.topic)
            return await _without_terminal(running, screen, options)
    except ConfigurationError as error:
        screen.line(f"answerback demo: {error}")
        return 1


async def _with_terminal(running: World, screen: Screen, topic: str) -> int:
    screen.listen()
    try:
        while True:
            screen.line(f"A phone for you, in a browser: {running.phone}/")
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


async def _without_terminal(running: World, screen: Screen, options: argparse.Namespace) -> int:
    seed = secrets.randbits(32) if options.seed is None else options.seed
    chance = random.Random(seed)  # noqa: S311 - which word is said is no secret
    term = options.say or draw(chance)
    screen.line(f"No terminal, so somebody answers on the phone (--seed {seed}): {running.phone}/")
    async with aiohttp.ClientSession() as session:
        ana = Person(running.phone, running.person, session)
        run, interaction = await _ask(running, screen, options.topic, ana, term, chance.random() < 0.5)
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
    return 1 if found else 0


async def _ask(
    running: World,
    screen: Screen,
    topic: str,
    ana: Person | None = None,
    term: str = "",
    as_reply: bool = False,
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
            if ana is not None:
                await _answers(running, screen, ana, message.title, term, as_reply)
            interaction = await app.reader.wait(message.interaction_id, FOREVER)
        await app.idle()
        run = await app.runner.get(started.id)
    if run.status is not RunStatus.COMPLETED:
        screen.line(f"The run is {run.status}. {run.error}".strip())
    return run, interaction


async def _answers(
    running: World, screen: Screen, ana: Person, title: str, term: str, as_reply: bool
) -> None:
    """Somebody reads the question on the phone, answers, and sees what became of it."""
    asked = await ana.sees(title)
    await running.app.idle()  # nobody answers before the gateway knows that the message arrived
    screen.line("\nAna's phone:")
    _indented(screen, asked)
    await ana.writes(term, asked["id"] if as_reply else None)
    screen.line(f"Ana writes{', replying to it' if as_reply else ''}: “{term}”")
    answered = await ana.sees("✅", message_id=asked["id"])
    screen.line("Ana's phone:")
    _indented(screen, answered)


def _indented(screen: Screen, message: dict[str, Any]) -> None:
    for text in message["text"].splitlines():
        screen.line(f"  {text}".rstrip())
    buttons = [button["text"] for row in message["rows"] for button in row]
    if buttons:
        screen.line("  " + "  ".join(f"[ {label} ]" for label in buttons))


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
