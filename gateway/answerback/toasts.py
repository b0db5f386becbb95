"""toasts: tells services that replies were handled. Best effort: nobody waits long for one that hangs."""

import asyncio
import logging
from collections import Counter

from answerback.background import Background
from answerback.model import Outcome
from answerback.provider import Provider, Reply

log = logging.getLogger("answerback.receive")
PATIENCE = 2.0  # seconds that whoever brought the replies waits for their toasts
SECONDS = 15.0  # for one
MOST = 128  # under way on one provider: its service hangs, and further ones are left out


class Toasts(Background):
    """Those of all providers."""

    def __init__(self, patience: float = PATIENCE) -> None:
        super().__init__()
        self._patience = patience
        self._under_way: Counter[str] = Counter()

    async def show(self, plugin: Provider, handled: list[tuple[Reply, Outcome, str]]) -> None:
        """What became of replies, each with its toast: side by side, begun in their order."""
        if not handled or not type(plugin).can("acknowledge"):
            return
        room = MOST - self._under_way[plugin.name]
        begun = [self._spawn(self._one(plugin, *each)) for each in handled[: max(0, room)]]
        if len(begun) < len(handled):
            log.warning("%d replies are not acknowledged: %s hangs", len(handled) - len(begun), plugin.name)
        if begun:
            await asyncio.wait(begun, timeout=self._patience)

    async def _one(self, plugin: Provider, reply: Reply, outcome: Outcome, text: str) -> None:
        self._under_way[plugin.name] += 1
        try:
            async with asyncio.timeout(SECONDS):
                await plugin.acknowledge(reply, outcome, text)
        except (Exception, SystemExit):  # raised here, the latter would end the gateway
            log.warning("a reply could not be acknowledged on %s", plugin.name)
        finally:
            self._under_way[plugin.name] -= 1
