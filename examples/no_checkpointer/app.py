"""Asks two things, one after the other, and remembers nothing between a question and its answer."""

import asyncio
import os
import sys
from typing import Any

from aiohttp import web
from standardwebhooks import Webhook, WebhookVerificationError

from answerback.client import Client

SIGNED = Webhook(os.environ["SIGNING_SECRET"])


class App:
    """`url` is where answers are posted; `ended` is set at the end of this example."""

    def __init__(self, client: Client) -> None:
        self.client, self.url, self.ended = client, "", asyncio.Event()

    async def go_on(self, state: dict[str, Any], key: str) -> None:
        """The next step. The same key again asks nothing again: a post may come twice."""
        if "audience" not in state:
            question = {"id": "audience", "text": f"Who is the mail about {state['topic']} for?"}
        elif "send" not in state:
            question = {"id": "send", "text": f"Send it to {state['audience']}?", "kind": "confirm"}
        else:
            print("Sent." if state["send"] is True else "Not sent.")
            return self.ended.set()
        await self.client.ask(
            question,
            state=state,
            callback_url=self.url,
            idempotency_key=key,
            expires_in="1h",
            title="Newsletter",
        )

    async def answered(self, request: web.Request) -> web.Response:
        """How a question ended, with the state that it was asked with."""
        try:
            event = SIGNED.verify(await request.text(), dict(request.headers))
        except WebhookVerificationError:
            raise web.HTTPUnauthorized from None
        if event["type"] == "interaction.completed":
            data = event["data"]
            await self.go_on(data["state"] | data["answer"]["values"], key=data["id"])
        else:  # it expired, or somebody withdrew it
            print("Not sent: nobody answered.")
            self.ended.set()
        return web.Response()


async def main(topic: str) -> None:
    async with Client() as client:
        app = App(client)
        routes = web.Application()
        routes.router.add_post("/answered", app.answered)
        runner = web.AppRunner(routes, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        app.url = f"http://127.0.0.1:{runner.addresses[0][1]}/answered"
        await app.go_on({"topic": topic}, key=app.url)
        await app.ended.wait()
        await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
