"""Questions in a real pseudo-terminal, through a whole gateway."""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from answerback.ask import AskRequest
from answerback.model import Action, Choice, Interaction, InteractionStatus, Question, QuestionKind, RunStatus
from answerback.provider import ProviderContext
from answerback.run import RunRequest
from answerback.settings import Hitl
from answerback.testing import ManualClock, ScriptedAgent
from answerback_providers.console import Console, ConsoleSettings
from tests.providers.console.person import Person, is_cooked, person
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

NAME = Question("q", "What shall it be called?")
CHOICE = Question("q", "Which one?", QuestionKind.CHOICE, (Choice("a", "Alpha"), Choice("b", "Beta")))
WIPE = Question("q", "Wipe production?", QuestionKind.CONFIRM)
NUMBER = Question("q", "How many?", QuestionKind.NUMBER, whole=True)
REFUND = Question(
    "q", "", QuestionKind.REVIEW, action=Action("refund", {"amount": 100}), decisions=("approve", "reject")
)


class Clock:
    """Monotonic time that a test moves on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def console(who: Person, clock: Clock | None = None, **settings: Any) -> Console:
    extra = {"terminal": (who.terminal, who.terminal), "monotonic": clock or Clock()}
    return Console("console", ConsoleSettings(**settings), ProviderContext(extra=extra))


@asynccontextmanager
async def at_terminal(
    tmp_path: Path, *agents: ScriptedAgent, clock: Clock | None = None, **settings: Any
) -> AsyncIterator[tuple[Gateway, Person]]:
    with person() as who:
        provider = console(who, clock, **settings)
        database = Database("sqlite", tmp_path)
        async with gateway(
            database, *agents, providers={"console": provider}, hitl=Hitl(mode="console")
        ) as g:
            yield g, who


async def ask(g: Gateway, *questions: Question, **more: object) -> str:
    return (await g.app.asker.ask(AskRequest(questions, **more))).interaction.id


async def ended(g: Gateway, id: str) -> Interaction:
    return await g.app.reader.wait(id, 20.0)


async def test_a_question_is_asked_and_answered_in_the_terminal(tmp_path: Path) -> None:
    async with at_terminal(tmp_path) as (g, who):
        id = await ask(g, NAME, context="It is a harbour.", title="Research · names")
        await who.sees("› ")
        assert "🟦 Research · names\nWhat shall it be called?\nIt is a harbour.\n" in who.screen
        who.types("Haven\r")
        record = await ended(g, id)
        assert record.answer is not None and (record.answer.values, record.answer.text) == (
            {"q": "Haven"},
            "Haven",
        )
        assert (record.answered_by, record.answered_via) == ("terminal:console", "console")
        await who.sees("✅ Somebody in the terminal wrote “Haven”")


@pytest.mark.parametrize(
    ("question", "typed", "value"),
    [
        (CHOICE, "2", "b"),
        (CHOICE, "alpha", "a"),
        (WIPE, "no", False),
        (NUMBER, "1,000", 1000),
        (REFUND, "reject", {"decision": "reject"}),
        (Question("q", "When?", QuestionKind.DATE), "2026-12-03", "2026-12-03"),
        (Question("q", "Which?", QuestionKind.CHOICES, CHOICE.choices), "1, 2", ["a", "b"]),
    ],
)
async def test_every_kind_of_question_is_answered_as_in_a_message(
    tmp_path: Path, question: Question, typed: str, value: object
) -> None:
    async with at_terminal(tmp_path) as (g, who):
        id = await ask(g, question)
        await who.sees("› ")
        who.types(f"{typed}\r")
        record = await ended(g, id)
        assert record.answer is not None and record.answer.values == {"q": value}


async def test_choices_are_numbered_and_a_call_is_shown_from_the_call(tmp_path: Path) -> None:
    async with at_terminal(tmp_path) as (g, who):
        await ask(g, CHOICE)
        await who.sees("  1  Alpha\n  2  Beta\n(a number; Ctrl-D to pass it on)\n")
        who.types("1\r")
        await ask(g, REFUND, title="Billing")
        await who.sees("🟦 Billing\nwants to run refund\n  amount   100\n".replace("🟦", "🟥"))


async def test_it_can_be_brief_and_the_rest_is_a_question_mark_away(tmp_path: Path) -> None:
    async with at_terminal(tmp_path, style="brief") as (g, who):
        id = await ask(g, CHOICE, context="Two are left.", title="Research", expires_in=3600.0)
        await who.sees("› ")
        assert (
            "🟦 Research\nWhich one?\n  1  Alpha\n  2  Beta\n(a number; ? for the rest; Ctrl-D" in who.screen
        )
        assert "Two are left." not in who.screen and "#" not in who.screen
        who.types("?\r")
        await who.sees("Which one?\nTwo are left.\n  1  Alpha\n  2  Beta\n(a number; Ctrl-D to pass it on)\n")
        await who.sees("#")
        who.types("2\r")
        record = await ended(g, id)
        assert record.answer is not None and record.answer.values == {"q": "b"}


async def test_a_call_and_its_arguments_are_shown_however_brief_it_is(tmp_path: Path) -> None:
    async with at_terminal(tmp_path, style="brief", suggestions=False) as (g, who):
        await ask(g, REFUND, title="Billing")
        await who.sees("🟥 Billing\nwants to run refund\n  amount   100\n")


async def test_the_words_that_it_takes_can_be_left_out(tmp_path: Path) -> None:
    async with at_terminal(tmp_path, suggestions=False) as (g, who):
        id = await ask(g, WIPE, context="It is old.", title="Ops")
        await who.sees("› ")
        assert "🟦 Ops\nWipe production?\nIt is old.\n#" in who.screen and "yes or no" not in who.screen
        who.types("?\r")
        await who.sees("(yes or no; Ctrl-D to pass it on)")
        who.types("no\r")
        record = await ended(g, id)
        assert record.answer is not None and record.answer.values == {"q": False}


async def test_a_question_mark_shows_the_question_again_and_answers_none(tmp_path: Path) -> None:
    async with at_terminal(tmp_path) as (g, who):
        id = await ask(g, NAME)
        await who.sees("› ")
        who.types("?\r")
        await who.sees("What shall it be called?", times=2)
        who.types("Haven\r")
        record = await ended(g, id)
        assert record.answer is not None and record.answer.text == "Haven"


async def test_a_question_mark_that_is_a_choice_chooses(tmp_path: Path) -> None:
    async with at_terminal(tmp_path) as (g, who):
        id = await ask(
            g, Question("q", "Which key?", QuestionKind.CHOICE, (Choice("a", "!"), Choice("b", "?")))
        )
        await who.sees("› ")
        who.types("?\r")
        record = await ended(g, id)
        assert record.answer is not None and record.answer.values == {"q": "b"}


@pytest.mark.parametrize(("typed", "chosen"), [("1", "0"), ("2", "1"), ("Ground", "0")])
async def test_law_1_a_number_is_the_one_on_the_screen_whatever_the_ids_are(
    tmp_path: Path, typed: str, chosen: str
) -> None:
    floors = Question("q", "Which floor?", QuestionKind.CHOICE, (Choice("0", "Ground"), Choice("1", "First")))
    async with at_terminal(tmp_path) as (g, who):
        id = await ask(g, floors)
        await who.sees("  1  Ground\n  2  First\n")
        who.types(f"{typed}\r")
        record = await ended(g, id)
        assert record.answer is not None
        assert (record.answer.values, record.answer.text) == ({"q": chosen}, typed)


async def test_a_review_that_takes_a_reply_says_so(tmp_path: Path) -> None:
    decisions = ("approve", "reject", "respond")
    async with at_terminal(tmp_path) as (g, who):
        id = await ask(
            g, Question("q", "", QuestionKind.REVIEW, action=Action("refund", {}), decisions=decisions)
        )
        await who.sees("(approve or reject, or a reply in your own words; Ctrl-D to pass it on)\n")
        who.types("ask him first\r")
        record = await ended(g, id)
        assert record.answer is not None
        assert record.answer.values == {"q": {"decision": "respond", "message": "ask him first"}}


async def test_what_does_not_fit_is_said_and_asked_again(tmp_path: Path) -> None:
    async with at_terminal(tmp_path) as (g, who):
        id = await ask(g, CHOICE)
        await who.sees("› ")
        who.types("gamma\r")
        await who.sees("“gamma” is not one of the choices.")
        who.types("\r")
        await who.sees("I found no answer")
        who.types("b\r")
        record = await ended(g, id)
        assert record.answer is not None and record.answer.values == {"q": "b"}


async def test_law_6_the_terminal_does_not_approve_unless_it_may(tmp_path: Path) -> None:
    async with at_terminal(tmp_path) as (g, who):
        id = await ask(g, WIPE)
        await who.sees("› ")
        who.types("yes\r")
        await who.sees(
            "You cannot approve, confirm or change this in the terminal: console has no may_approve"
        )
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING
        who.types("no\r")
        assert (await ended(g, id)).status is InteractionStatus.COMPLETED


async def test_it_approves_where_the_configuration_grants_it_that(tmp_path: Path) -> None:
    async with at_terminal(tmp_path, may_approve=True) as (g, who):
        id = await ask(g, WIPE)
        await who.sees("› ")
        who.types("yes\r")
        record = await ended(g, id)
        assert record.answer is not None and record.answer.values == {"q": True}


async def test_several_come_one_after_the_other(tmp_path: Path) -> None:
    async with at_terminal(tmp_path) as (g, who):
        ids = [await ask(g, Question("q", f"Question {number}?")) for number in (1, 2, 3)]
        for number, id in enumerate(ids, start=1):
            await who.sees(f"Question {number}?\n")
            assert f"Question {number + 1}?\n" not in who.screen
            await who.sees("› ", times=1)
            who.types(f"answer {number}\r")
            record = await ended(g, id)
            assert record.answer is not None and record.answer.text == f"answer {number}"


async def test_several_in_one_are_asked_in_turn_and_an_optional_one_can_be_left_out(tmp_path: Path) -> None:
    questions = (
        Question("a", "Colour?"),
        Question("b", "Size?", QuestionKind.NUMBER, required=False),
        Question("c", "Which?", QuestionKind.CHOICE, CHOICE.choices),
    )
    async with at_terminal(tmp_path) as (g, who):
        id = await ask(g, *questions, title="The fence")
        await who.sees("🟦 The fence · 1 of 3\nColour?")
        await who.sees("› ")
        who.types("blue\r")
        await who.sees("Enter to leave it out")
        who.types("\r")
        await who.sees("3 of 3")
        who.types("2\r")
        record = await ended(g, id)
        assert record.answer is not None and record.answer.values == {"a": "blue", "c": "b"}


async def test_a_whole_run_is_answered_and_its_end_is_told(tmp_path: Path) -> None:
    agent = ScriptedAgent(NAME, CHOICE)
    async with at_terminal(tmp_path, agent) as (g, who):
        run = await g.app.runner.start(RunRequest("scripted"))
        await who.sees("What shall it be called?")
        await who.sees("› ")
        who.types("Haven\r")
        await who.sees("Which one?")
        who.types("1\r")
        await who.sees("Scripted is done")
        found = await g.settled(run.id)
        assert (found.status, found.result) == (RunStatus.COMPLETED, ["Haven", "a"])


async def test_a_question_that_was_answered_elsewhere_is_taken_back_while_somebody_types(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with at_terminal(tmp_path, clock=clock) as (g, who):
        first, second = await ask(g, Question("q", "Delete it?")), await ask(g, Question("q", "Keep it?"))
        await who.sees("Delete it?")
        await who.sees("› ")
        who.types("yes, del")
        await g.app.receiver.respond(first, "by api", by="alice", via="api")
        await who.sees("Keep it?")
        who.types("ete\r")  # meant for the first one
        await who.sees("The question has just changed.")
        assert (await g.app.reader.interaction(second)).status is InteractionStatus.PENDING
        clock.now += 2
        who.types("of course\r")
        record = await ended(g, second)
        assert record.answer is not None and record.answer.text == "of course"


async def test_ctrl_d_passes_a_question_on_to_people(tmp_path: Path) -> None:
    async with at_terminal(tmp_path) as (g, who):
        id = await ask(g, NAME)
        await who.sees("› ")
        who.types("\x04")
        await who.sees("Passed on.")
        await g.app.idle()
        assert g.memory.titles("1001") == ["What shall it be called?"]
        await g.types("1001", "mine")
        assert (await ended(g, id)).answered_by == "alice"


@pytest.mark.parametrize("word", ["stop", "quit", "exit", "/cancel", "/stop scripted"])
async def test_a_word_stops_the_run_that_asks(tmp_path: Path, word: str) -> None:
    agent = ScriptedAgent(NUMBER)
    async with at_terminal(tmp_path, agent) as (g, who):
        run = await g.app.runner.start(RunRequest("scripted"))
        await who.sees("› ")
        who.types(f"{word}\r")
        await who.sees("Scripted was stopped, as you asked.")
        assert (await g.settled(run.id)).status is RunStatus.CANCELLED


async def test_the_name_of_another_agent_stops_nothing(tmp_path: Path) -> None:
    agent = ScriptedAgent(NUMBER)
    async with at_terminal(tmp_path, agent) as (g, who):
        run = await g.app.runner.start(RunRequest("scripted"))
        await who.sees("› ")
        who.types("/stop research\r")
        await who.sees("What asks here is Scripted. Write stop to stop it.")
        assert (await g.settled(run.id)).status is RunStatus.WAITING


async def test_what_was_answered_of_several_stands_after_a_stop_that_stops_nothing(tmp_path: Path) -> None:
    async with at_terminal(tmp_path) as (g, who):
        id = await ask(g, Question("a", "Colour?"), Question("b", "Size?", QuestionKind.NUMBER))
        await who.sees("› ")
        who.types("blue\r")
        await who.sees("2 of 2")
        who.types("stop\r")
        await who.sees("No run asks this")
        await who.sees("2 of 2", times=2)
        who.types("3\r")
        record = await ended(g, id)
        assert record.answer is not None and record.answer.values == {"a": "blue", "b": 3}


async def test_nobody_is_told_to_tap_where_nothing_can_be_tapped(tmp_path: Path) -> None:
    sizes = tuple(Choice(f"s{size}", f"{size} GB") for size in (1, 2, 4, 8))
    async with at_terminal(tmp_path) as (g, who):
        id = await ask(g, Question("q", "Which size?", QuestionKind.CHOICE, sizes))
        await who.sees("› ")
        who.types("16\r")
        await who.sees("“16” is not one of the choices. Write one of the numbers.")
        who.types("4\r")
        await who.sees("“4” fits more than one choice. Write the one you mean in full.")
        who.types("4 GB\r")
        record = await ended(g, id)
        assert record.answer is not None and record.answer.values == {"q": "s4"}


async def test_without_a_run_there_is_nothing_to_stop(tmp_path: Path) -> None:
    async with at_terminal(tmp_path) as (g, who):
        id = await ask(g, NAME)
        await who.sees("› ")
        who.types("stop\r")
        await who.sees("No run asks this, so there is nothing to stop. Ctrl-D passes it on.")
        who.types("Haven\r")
        assert (await ended(g, id)).answered_via == "console"


async def test_logs_do_not_tear_the_prompt_apart(tmp_path: Path) -> None:
    with person() as who, os.fdopen(os.dup(who.terminal), "w", encoding="utf-8") as stream:
        handler = logging.StreamHandler(stream)
        logging.getLogger().addHandler(handler)
        try:
            async with gateway(
                Database("sqlite", tmp_path), providers={"console": console(who)}, hitl=Hitl(mode="console")
            ) as g:
                id = await ask(g, NAME)
                await who.sees("› ")
                who.types("Ha")
                await who.sees("› Ha")
                await asyncio.to_thread(logging.getLogger("elsewhere").warning, "something happened")
                await who.sees("something happened")
                await who.sees("› Ha", times=2)
                assert who.lines[-2:] == ["something happened", "› Ha"]
                who.types("ven\r")
                record = await ended(g, id)
                assert record.answer is not None and record.answer.text == "Haven"
            assert handler.stream is stream
        finally:
            logging.getLogger().removeHandler(handler)


async def test_what_an_agent_writes_cannot_steer_the_terminal(tmp_path: Path) -> None:
    async with at_terminal(tmp_path) as (g, who):
        await ask(g, Question("q", "Safe\x1b[2J\x1b]0;title\x07 \u202eevil?"), context="a\x9bb")
        await who.sees("› ")
        assert "\x1b[2J" not in who.screen and "\x1b]" not in who.screen and "\u202e" not in who.screen


async def test_after_a_restart_what_was_open_is_asked_again(database: Database) -> None:
    clock = ManualClock()
    with person() as who:
        async with gateway(
            database, providers={"console": console(who)}, hitl=Hitl(mode="console"), clock=clock
        ) as g:
            id = await ask(g, NAME)
            await who.sees("What shall it be called?")
            await g.app.idle()
    with person() as who:
        async with gateway(
            database, providers={"console": console(who)}, hitl=Hitl(mode="console"), clock=clock
        ) as g:
            await g.sweep()
            await who.sees("What shall it be called?")
            await who.sees("› ")
            who.types("Haven\r")
            assert (await ended(g, id)).answered_via == "console"


async def test_without_a_terminal_it_says_so_and_people_are_asked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ends = os.pipe()
    provider = Console("console", ConsoleSettings(), ProviderContext(extra={"terminal": ends}))
    async with gateway(
        Database("sqlite", tmp_path), providers={"console": provider}, hitl=Hitl(mode="console")
    ) as g:
        await ask(g, NAME)
        await g.app.idle()
        assert g.memory.titles("1001") == ["What shall it be called?"]
        (letter,) = (await g.app.letters.list()).items
        assert "there is no terminal to ask in" in letter.reason
    assert "run answerback serve in one" in caplog.text
    for end in ends:
        os.close(end)


async def test_a_terminal_that_hangs_up_stops_nothing(tmp_path: Path) -> None:
    async with at_terminal(tmp_path) as (g, who):
        id = await ask(g, NAME)
        await who.sees("› ")
        who.hang_up()
        other = await ask(g, CHOICE)
        await g.app.idle()
        assert g.memory.titles("1001") == ["Which one?"]
        await g.types("1001", "1")
        assert (await ended(g, other)).answered_by == "alice"
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING


async def test_a_terminal_that_takes_nothing_holds_up_nobody(tmp_path: Path) -> None:
    """As when the connection to it hangs: more is written than it has room for."""
    async with at_terminal(tmp_path) as (g, who):
        who.looks_away()
        id = await ask(g, NAME, context="a long story\n" * 5000)
        other = await ask(g, CHOICE, human_only=True)
        await g.app.idle()
        await g.types("1001", "1")
        assert (await ended(g, other)).answered_by == "alice"
        who.looks()
        await who.sees("› ")
        assert who.screen.count("a long story\n") == 5000
        who.types("Haven\r")
        assert (await ended(g, id)).answered_via == "console"


async def test_the_terminal_is_given_back_as_it_was(tmp_path: Path) -> None:
    with person() as who:
        provider = console(who)
        assert is_cooked(who.terminal)
        await provider.open()
        assert not is_cooked(who.terminal)
        await provider.close()
        assert is_cooked(who.terminal)


async def test_what_is_sensitive_is_shown_unless_it_must_not_be(tmp_path: Path) -> None:
    async with at_terminal(tmp_path) as (g, who):
        await ask(g, NAME, sensitive=True)
        await who.sees("What shall it be called?")
    async with at_terminal(tmp_path / "other", sees_sensitive=False) as (g, who):
        await ask(g, NAME, sensitive=True)
        await g.app.idle()
        assert g.memory.titles("1001") == ["A question is waiting for you."]
        assert who.screen == ""


async def test_a_gateway_in_a_terminal_asks_there_and_ctrl_c_stops_it(tmp_path: Path) -> None:
    """The real command, in a terminal that is its own: asked over HTTP, answered by keys, ended by Ctrl-C."""
    (tmp_path / "answerback.yaml").write_text("listen: 127.0.0.1:0\ndata_dir: var\nhitl: {mode: console}\n")
    with person() as who:
        before = is_cooked(who.terminal)
        serve = await asyncio.create_subprocess_exec(
            sys.executable, "-c", SERVE, str(tmp_path / "answerback.yaml"),
            stdin=who.terminal, stdout=who.terminal, stderr=who.terminal, start_new_session=True,
        )  # fmt: skip
        try:
            await who.sees("Ready at ")
            url = who.screen.partition("Ready at ")[2].split()[0]
            key = (tmp_path / "var" / "api-key").read_text().strip()
            asking = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "answerback.cli", "ask", "Which port?", "--wait",
                env={**os.environ, "ANSWERBACK_URL": url, "ANSWERBACK_KEY": key},
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
            await who.sees("Which port?")
            await who.sees("› ")
            who.types("8700\r")
            out, _ = await asking.communicate()
            assert (asking.returncode, out.decode().strip()) == (0, "8700")
            who.types("\x03")
            assert await serve.wait() == 0
            assert (before, is_cooked(who.terminal)) == (True, True)
        finally:
            if serve.returncode is None:
                serve.kill()
                await serve.wait()


SERVE = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from answerback.cli import main
sys.argv = ["answerback", "serve", "--config", sys.argv[1]]
main()
"""
