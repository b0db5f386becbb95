"""A question to somebody's accounts, and the links that were sent there."""

import pytest

from answerback.ask import AskRequest
from answerback.errors import NotFound
from answerback.model import InteractionStatus, Question
from answerback.settings import Route
from answerback.testing import MemoryProvider
from tests.support.gateway import Gateway

WHICH = Question("q1", "Which city?")
HOUR = 3600.0


def route(*ask: str, **more: object) -> dict[str, Route]:
    """Each of these is asked on "memory" first, then on "other"."""
    values = {"providers": ("memory", "other"), "reminders": (HOUR,), **more}
    return {"default": Route("default", ask, **values)}


async def asked(g: Gateway, *who: str, agent: str = "") -> str:
    """The question is asked; its id."""
    found = await g.app.asker.ask(AskRequest((WHICH,), ask=who, agent=agent))
    await g.app.idle()
    return found.interaction.id


def link_of(phone: MemoryProvider, who: str) -> str:
    """The newest link to the form on somebody's phone."""
    links = [shown.message.form_url for shown in phone.shown if shown.message.to.place == who]
    return [link for link in links if link][-1].rpartition("/")[2]


async def decides_nothing(g: Gateway, link: str, id: str) -> None:
    """The link leads nowhere, and the question is open."""
    with pytest.raises(NotFound):
        await g.app.forms.view(link)
    with pytest.raises(NotFound):
        await g.app.forms.submit(link, {"q1": "Graz"}, text="Graz")
    assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING
