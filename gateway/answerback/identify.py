"""identify: asks the operator's own function who a request is from, and checks what it says.

Deny by default (law 7): what it raises, what takes too long and what cannot be used refuses the request. Only
None leaves it to the API keys. The log says why, without a word of the request or of what came back (law 11).
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from answerback import functions
from answerback.caller import EVERY_AGENT, Caller, Request
from answerback.calling import Calls, Failed, TooLate
from answerback.context import Context
from answerback.errors import NotAllowed
from answerback.settings import Settings
from answerback.settings.values import SCOPES
from answerback.store import Tx, contacts

log = logging.getLogger("answerback.identify")
SECONDS = 5.0  # for one call
AT_ONCE = 32  # calls
LONGEST_NAME = 200


def function_of(settings: Settings) -> Callable[..., Any] | None:
    """The function that the configuration names, if it names one. Raises `ConfigurationError`."""
    if not settings.authenticate:
        return None
    return functions.load(settings, "authenticate", settings.authenticate, "the request")


class Unidentified(Exception):
    """Nobody can say who a request is from. `late`: that was not known in time, and may be another time."""

    def __init__(self, *, late: bool) -> None:
        self.late = late
        super().__init__("it is not known who this request is from")


@dataclass(frozen=True, slots=True)
class Identified:
    """Somebody whom the function knows, with the powers of a key. No `agents` are all of them."""

    name: str
    scopes: frozenset[str]
    agents: frozenset[str]
    contact: str


class Identifier:
    """Asks one function. `form_key` is a secret with which pages are marked as made for somebody."""

    def __init__(self, function: Callable[..., Any], context: Context, seconds: float = SECONDS) -> None:
        self.form_key = context.tokens.form_key
        self._calls, self._context = Calls(function, seconds, AT_ONCE), context

    async def of(self, request: Request) -> Identified | None:
        """Who it is; None: nobody whom the function knows.

        Raises `NotAllowed` for somebody who may do nothing here, `Unidentified` and `StoreUnavailable`.
        """
        try:
            found = await self._calls(request)
        except (TooLate, Failed) as error:
            log.error("authenticate: %s", error)
            raise Unidentified(late=isinstance(error, TooLate)) from None
        if found is None:
            return None
        if why := unusable(found, self._context.settings):
            log.error("authenticate: %s", why)
            raise Unidentified(late=False)
        assert isinstance(found, Caller)  # or it were not usable
        if why := powerless(found) or await self._context.store.read(partial(_stranger, found)):
            log.warning("authenticate: %s", why)
            raise NotAllowed("It is known who you are, but you may do nothing here. Ask whoever runs this.")
        every = set(found.agents) >= EVERY_AGENT
        agents = frozenset[str]() if every else frozenset(found.agents)
        return Identified(found.name, frozenset(found.scopes), agents, found.contact)


def unusable(found: object, settings: Settings) -> str:
    """Why nothing can be made of what the function returned, which is its mistake; "" if something can."""
    if not isinstance(found, Caller):
        return f"the function must return a Caller or None; it returned a {type(found).__name__}"
    if not _are_texts([found.name, found.contact]):
        return "name and contact must be texts"
    if not _is_name(found.name):
        return f"a name must be one line of at most {LONGEST_NAME} characters, without a colon"
    if not (_are_texts(found.scopes) and set(found.scopes) <= set(SCOPES)):
        return f"scopes must be a set of these: {', '.join(SCOPES)}"
    if not (_are_texts(found.agents) and set(found.agents) <= {*settings.agents, *EVERY_AGENT}):
        return "agents must be a set of agents that are configured, or EVERY_AGENT"
    if found.operator not in (True, False):
        return "operator must be True or False"
    if any(key.name == found.name for key in settings.api_keys):
        return "a name must not be that of an API key, or records could not tell the two apart"
    return ""


def _is_name(name: str) -> bool:
    """Whether it can stand in records, where what has a colon is a stand-in."""
    return 0 < len(name) <= LONGEST_NAME and name.isprintable() and name == name.strip() and ":" not in name


def _are_texts(given: object) -> bool:
    """A text is none: it would be taken for the collection of its letters."""
    return isinstance(given, set | frozenset | list | tuple) and all(isinstance(each, str) for each in given)


def powerless(found: Caller) -> str:
    """Why somebody may do nothing, though the function knows them; "" if they may do something."""
    if not found.scopes:
        return "the function named somebody without scopes, who may do nothing"
    if not found.agents:
        return "the function named somebody without agents, who may do nothing"
    if "answer" in found.scopes and not (found.contact or found.operator):
        return "somebody may answer who is no contact; say operator=True for who may in anybody's place"
    return ""


def _stranger(found: Caller, tx: Tx) -> str:
    """Why somebody is not the person that they are said to be; "" if they are."""
    if found.contact and not contacts.is_there(tx, found.contact):
        return "the function named a contact that is not known here"
    if found.name != found.contact and contacts.person(tx, found.name) is not None:
        return "the function gave somebody a name that is another contact's id"
    return ""
