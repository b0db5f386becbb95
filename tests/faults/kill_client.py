"""The client of a gateway that is struck: another process, which writes down every 2xx that it got."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from answerback_sandbox import Sandbox
from answerback_sandbox.telegram.state import Message
from tests.faults.kill_life import PATIENCE
from tests.faults.victim import KEY, QUESTIONS

ANA = 1001
TAKEN, CLOSED = "taken", "closed"


@dataclass(slots=True)
class Client:
    """Asks, starts, answers and cancels; each call is one attempt, and says "" when nothing was heard.

    `journal`: question → the answer that a 2xx was got for. `links` are the forms' addresses.
    """

    box: Sandbox
    url: str
    session: aiohttp.ClientSession
    journal: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)  # interactions by question
    links: dict[str, str] = field(default_factory=dict)
    run: str = ""
    _tapped: set[str] = field(default_factory=set)

    async def ask(self, question: str) -> str:
        """Through the API, under a key of this question's own."""
        choices = [{"id": choice, "label": choice} for choice in QUESTIONS[question]]
        body = {"question": {"text": question, "choices": choices}}
        status, answer = await self._call("POST", "/v1/interactions", body, {"Idempotency-Key": question})
        if status in (200, 201):
            self.ids[question], self.links[question] = answer["id"], answer["form_url"]
        return self.ids.get(question, "")

    async def start(self) -> str:
        """A run; a thread of its own tells whether an earlier attempt was taken."""
        body = {"agent": "graph", "input": {"answers": []}, "thread_id": "thread"}
        status, _ = await self._call("POST", "/v1/runs", body)
        if status in (202, 409):  # from now on it is there, whenever somebody is there to say so
            status, page = await self._call("GET", "/v1/runs")
            self.run = page["items"][0]["id"] if status == 200 else ""
        return self.run

    async def find(self, question: str) -> str:
        """The interaction that asks this."""
        for record in await self._items("/v1/interactions"):
            self.ids[record["questions"][0]["text"]] = record["id"]
        return self.ids.get(question, "")

    async def cancel(self, path: str) -> str:
        """Take a question or a run back. 409 and 410: an earlier attempt did."""
        status, _ = await self._call("POST", f"{path}/cancel", {})
        return CLOSED if status in (200, 409, 410) else ""

    async def answer(self, question: str, intake: str) -> str:
        """With the first of its answers; a 2xx goes into the journal."""
        heard = await getattr(self, f"_by_{intake}")(question, QUESTIONS[question][0])
        if heard == TAKEN:
            self.journal[question] = QUESTIONS[question][0]
        return str(heard)

    async def answer_late(self, question: str, intake: str) -> str:
        """With the other answer, to a question that is closed. What is heard of it is not an acceptance."""
        if intake == "telegram":
            return await self._reply(question, QUESTIONS[question][1])
        heard = await getattr(self, f"_by_{intake}")(question, QUESTIONS[question][1])
        assert heard != TAKEN, f"a late answer to {question} was taken"
        return str(heard)

    async def _by_api(self, question: str, value: str) -> str:
        path = f"/v1/interactions/{self.ids[question]}/respond"
        status, _ = await self._call("POST", path, {"response": value})
        return {200: TAKEN, 409: CLOSED, 410: CLOSED}.get(status, "")

    async def _by_form(self, question: str, value: str) -> str:
        link = self.links[question]
        cookies = aiohttp.CookieJar(unsafe=True)  # a jar keeps none for an address otherwise
        try:
            async with aiohttp.ClientSession(cookie_jar=cookies) as browser:
                async with browser.get(link) as page:
                    proof = re.search(r'name="proof" value="([0-9a-f]{64})"', await page.text())
                    if proof is None:
                        return CLOSED if page.status == 200 else ""
                place = str(QUESTIONS[question].index(value))
                async with browser.post(
                    link,
                    data={"proof": proof[1], "q0": place},
                    headers={"sec-fetch-site": "same-origin"},
                    allow_redirects=False,
                ) as answer:
                    return {303: TAKEN, 409: CLOSED, 410: CLOSED}.get(answer.status, "")
        except aiohttp.ClientError:
            return ""

    async def _by_telegram(self, question: str, value: str) -> str:
        """One tap; Telegram repeats it until it gets a 2xx."""
        if question not in self._tapped:
            message = self.message(question)
            assert message is not None
            self.box.tap(ANA, message.id, value)
            self._tapped.add(question)
        return await self._acknowledged()

    async def _reply(self, question: str, value: str) -> str:
        """A closed question has no buttons any more: what is left is a text under it."""
        key = f"late {question}"
        if key not in self._tapped:
            message = next(item for item in self.box.received(ANA) if question in item.text)
            self.box.type(ANA, value, reply_to=message.id)
            self._tapped.add(key)
        return await self._acknowledged()

    async def _acknowledged(self) -> str:
        await self.box.wait_for(lambda: len(self.box.world.updates) == 0, PATIENCE)
        return TAKEN

    def message(self, question: str) -> Message | None:
        """A message on Ana's phone that asks this and can be tapped."""
        asked = (item for item in self.box.received(ANA) if question in item.text and item.buttons)
        return next(asked, None)

    async def _items(self, path: str) -> list[dict[str, Any]]:
        status, page = await self._call("GET", path)
        return page["items"] if status == 200 else []

    async def _call(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        try:
            async with self.session.request(method, self.url + path, json=body, headers=headers) as answer:
                return answer.status, await answer.json(content_type=None)
        except (aiohttp.ClientError, ValueError):
            return 0, None


@contextlib.asynccontextmanager
async def client_of(box: Sandbox, url: str) -> AsyncIterator[Client]:
    """A connection for each request: what was sent to a dead process is not taken for another's answer."""
    async with aiohttp.ClientSession(
        headers={"Authorization": f"Bearer {KEY}"},
        connector=aiohttp.TCPConnector(force_close=True),
        timeout=aiohttp.ClientTimeout(PATIENCE),
    ) as session:
        yield Client(box, url, session)
        await asyncio.sleep(0)  # closed connections are let go in the loop's next turn
