"""The driver of langgraph-external-hitl: its Telegram bot, fed raw updates; its Telegram is a file."""

# It is installed in an environment of its own, never in ours.
# mypy: disable-error-code="import-not-found, misc"

import contextlib
import json
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command
from langgraph_external_hitl import ApprovalOption, ApprovalStore, ConnectionManager
from langgraph_external_hitl.bridge import HitlBridge, request_approval
from langgraph_external_hitl.digest import payload_digest
from langgraph_external_hitl.telegram import TelegramApprovalBot, TelegramConfig

from tests.conformance import graphs
from tests.conformance.driver import AUTHORS_SAVER, Asked, Driver, Event, NotApplicable

ALICE, STRANGERS = 1001, {"ben": 2002, "mallory": 9009}
APPROVER = "alice"
LIFE = 300  # seconds that an approval stays valid, its default


class FileTelegram:
    """What the bot calls, kept in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    async def call(self, method: str, **params: Any) -> Any:
        if method != "sendMessage":
            return {}
        id = len(self.sent()) + 1
        with self._file.open("a") as out:
            out.write(json.dumps({"id": id, **params}) + "\n")
        return {"message_id": id}

    def sent(self) -> list[Any]:
        return (
            [json.loads(line) for line in self._file.read_text().splitlines()] if self._file.exists() else []
        )


async def asks(question: str, choices: tuple[str, ...]) -> str:
    if not choices:
        raise NotApplicable("It asks with buttons only.")
    options = [ApprovalOption(choice, choice) for choice in choices]
    return str(request_approval(question, None, options).option_id)


class ExternalHitl(Driver):
    """One worker, as its documents say; updates come through `handle_update`."""

    name, version = "langgraph-external-hitl", version("langgraph-external-hitl")
    # `request_approval` "must be the first statement of its node" (README).
    limit = 1
    left_out: ClassVar[dict[str, str]] = {
        **AUTHORS_SAVER,
        "killed inside the next node": (
            "It reports a crash inside a later node and leaves it to the operator, and says so."
        ),
    }

    async def open(self, folder: Path, database: str, graph: str, *, again: bool) -> None:
        self._folder, self._stack = folder, contextlib.AsyncExitStack()
        self._file_clock = folder / "clock"
        self._telegram = FileTelegram(folder / "telegram.jsonl")
        saver = await self._stack.enter_async_context(
            AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.db"))
        )
        self._graph = graphs.compiled(graph, folder, asks, saver)
        self._store = ApprovalStore(str(folder / "hitl.db"))
        connections = ConnectionManager(self._store)
        if not again:
            connections.seed(APPROVER, ALICE, ALICE, self._now())
        self._bot = TelegramApprovalBot(
            TelegramConfig("123456:test", approval_ttl_s=LIFE, bot_username="bot"),
            HitlBridge(self._graph, self._store),
            api=self._telegram,
            clock=self._now,
            connections=connections,
        )
        await self._bot.recover()

    async def close(self) -> None:
        if hasattr(self, "_store"):
            self._store.close()
            await self._stack.aclose()

    def _now(self) -> int:
        return int(time.time()) + (int(self._file_clock.read_text()) if self._file_clock.exists() else 0)

    async def start(self, thread: str, **how: Any) -> None:
        """The three steps of the README's example, which is "safe to call again"."""
        self.only_plain(how, "deadline")
        config: Any = {"configurable": {"thread_id": thread}}
        await self._bot.track(thread, APPROVER)
        if "anew" in how or not (await self._graph.aget_state(config)).values:
            await self._graph.ainvoke(graphs.given("anew" in how), config, durability="sync")
        await self._bot.deliver_pending(thread)

    async def pending(self) -> list[Asked]:
        found = []
        for sent in self._telegram.sent():
            title = sent["text"].partition("</b>")[0].removeprefix("<b>")
            if "reply_markup" in sent:
                found.append(Asked(str(sent["id"]), title))
        return found

    async def deliver(self, event: Event) -> None:
        sent = next(sent for sent in self._telegram.sent() if str(sent["id"]) == event.asked)
        buttons = [button for row in sent["reply_markup"]["inline_keyboard"] for button in row]
        data = next((one["callback_data"] for one in buttons if one["text"] == event.answer), None)
        if data is None:  # an option that was never there: the highest index and one
            data = buttons[0]["callback_data"].rpartition(":")[0] + f":{len(buttons)}"
        await self._tap(event.key, STRANGERS.get(event.who, ALICE), sent["id"], data)

    async def forge(self) -> None:
        await self._tap("forged", ALICE, self._telegram.sent()[0]["id"], f"v2:{'x' * 22}:1")

    async def settle(self) -> None:
        """Delivering again is allowed at any time; what changed meanwhile could be sent then."""
        with contextlib.suppress(ValueError):  # the thread is not tracked yet
            await self._bot.deliver_pending("thread-1")

    async def expire(self) -> None:
        self._file_clock.write_text(str(LIFE + 1))

    async def elsewhere(self, answer: str) -> None:
        config: Any = {"configurable": {"thread_id": "thread-1"}}
        (waiting,) = (await self._graph.aget_state(config)).interrupts
        bound = {"option_id": answer, "payload_digest": payload_digest(waiting.value)}
        await self._graph.ainvoke(Command(resume=bound), config, durability="sync")

    async def _tap(self, key: str, user: int, message: int, data: str) -> None:
        await self._bot.handle_update(
            {
                "update_id": abs(hash(key)),
                "callback_query": {
                    "id": key,
                    "from": {"id": user, "first_name": "x"},
                    "message": {"message_id": message, "chat": {"id": ALICE, "type": "private"}},
                    "data": data,
                },
            }
        )
