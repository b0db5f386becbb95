"""Who reads updates at Telegram, and beside whom: seen from there."""

from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(slots=True, eq=False)
class Poll:
    """One call of getUpdates, as Telegram sees it."""

    reader: str  # the token that it came with: each replica has one of its own
    beside: set[str] = field(default_factory=set)  # who else was reading while it waited
    status: int = 0  # 0: it waits


class Watch:
    """Stands before the sandbox's Bot API and keeps a list of who reads updates, and of what came of it."""

    def __init__(self, app: ASGIApp, polls: list[Poll]) -> None:
        self._app, self._polls = app, polls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope.get("path", ""))
        if not path.endswith("/getUpdates"):
            return await self._app(scope, receive, send)
        reader = path.split("/")[1].removeprefix("bot")
        poll = Poll(reader)
        for other in self._polls:
            if not other.status and other.reader != reader:
                poll.beside.add(other.reader)
                other.beside.add(reader)
        self._polls.append(poll)

        async def seen(message: Message) -> None:
            if message["type"] == "http.response.start":
                poll.status = message["status"]
            await send(message)

        await self._app(scope, receive, seen)
