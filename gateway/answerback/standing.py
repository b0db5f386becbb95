"""Stand-ins: who may answer in place of a person, in which order, and what they never decide (law 6)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from answerback.errors import ConfigurationError
from answerback.model import Address, Interaction, Json, OnError, Question, QuestionKind, StandsIn
from answerback.provider import Provider
from answerback.settings import Settings
from answerback.settings.values import HUMAN

FREELY = (False, None)  # what a confirmation may be answered with by anybody


@dataclass(frozen=True, slots=True)
class StandIn:
    """One that is configured. `by` is what records say of who answered: no contact has such an id.

    `attempts`: how often it is asked until it counts as failed; None: as long as any provider is tried.
    """

    name: str
    by: str
    may_approve: bool = False
    sees_sensitive: bool = False
    listens: bool = False  # whether it is told what became of a question, as people are
    on_error: OnError = OnError.RETRY
    attempts: int | None = None

    def address(self, record: Interaction) -> Address:
        """Where it is asked: a program in a place of its own for each question, so that none waits."""
        return Address(self.name, self.name, self.name if self.listens else record.id)


@dataclass(frozen=True, slots=True)
class StandIns:
    """All that are configured, by the name of their provider.

    `mode` is asked first, "" for people; `people`: whether any person is asked; `fallback`: the provider that
    shows a question's link when nobody can be reached, "" for none; `unaddressed`: those that need nobody's
    address to be told of a question; `alone`: the agents that ask no person.
    """

    known: Mapping[str, StandIn] = field(default_factory=dict)
    mode: str = ""
    people: bool = True
    fallback: str = ""
    unaddressed: frozenset[str] = frozenset()
    alone: frozenset[str] = frozenset()

    def planned(self, route: Json, *, sensitive: bool, human_only: bool) -> Json:
        """The route of one question, with the stand-ins that may be asked it: `first`, and `stand_ins`.

        Those of its `refused` are not: its agent does not take what they say.
        """
        human_only = human_only or bool(route.get("human_only"))
        wanted = dict.fromkeys((self.mode, *route.get("stand_ins", ())))
        wanted = {name: None for name in wanted if name not in route.get("refused", ())}
        may = [name for name in wanted if not human_only and self._may_see(name, sensitive)]
        first = self.mode if self.mode in may else ""
        after = [name for name in may if name != first]
        return route | {"first": first, "stand_ins": after, "human_only": human_only}

    def _may_see(self, name: str, sensitive: bool) -> bool:
        found = self.known.get(name)
        return found is not None and (found.sees_sensitive or not sensitive)

    def asks_people(self, agent: str) -> bool:
        """Whether people are asked what this agent asks (`hitl.enabled`, its `hitl_enabled`)."""
        return self.people and agent not in self.alone

    def told_instead(self, route: Json) -> str:
        """The provider that is told of a question on this route when nobody can be reached, "" for none."""
        ways = (name for name in route.get("providers", ()) if name in self.unaddressed)
        return next(ways, self.fallback)

    def is_nobody(self, route: Json, agent: str) -> bool:
        """Whether nobody at all is asked on a planned route: then it ends at once, as silence does."""
        return not self.asks_people(agent) and not route["first"] and not route["stand_ins"]


def stand_ins(settings: Settings, providers: Mapping[str, Provider], fallback: str = "") -> StandIns:
    """The stand-ins among the providers, as the configuration uses them."""
    mode = "" if settings.hitl.mode == HUMAN else settings.hitl.mode
    alone = frozenset(name for name, agent in settings.agents.items() if not agent.hitl_enabled)
    unaddressed = frozenset(name for name, provider in providers.items() if not provider.needs_address)
    found = dict(_found(providers.values()))
    return StandIns(found, mode, settings.hitl.enabled, fallback, unaddressed, alone)


def _found(providers: Iterable[Provider]) -> Iterable[tuple[str, StandIn]]:
    for provider in providers:
        if provider.stand_in is StandsIn.NOBODY:
            continue
        settings = provider.settings
        on_error = OnError(getattr(settings, "on_error", OnError.RETRY))
        once = None if on_error is OnError.RETRY else 1
        yield (
            provider.name,
            StandIn(
                provider.name,
                by=f"{provider.stand_in}:{provider.stands_as}",
                may_approve=getattr(settings, "may_approve", False) is True,
                sees_sensitive=getattr(settings, "sees_sensitive", False) is True,
                listens=provider.stand_in is StandsIn.TERMINAL,
                on_error=on_error,
                attempts=getattr(settings, "attempts", None) or once,
            ),
        )


def check(settings: Settings, providers: Mapping[str, Provider]) -> None:
    """Raise ConfigurationError where a stand-in is named for a person's way, or the other way round.

    A provider that could not be made is a problem of its own and is passed over.
    """
    for name, provider in providers.items():
        stands = provider.stand_in is not StandsIn.NOBODY
        if settings.hitl.mode == name and not stands:
            raise _error(settings, f"hitl.mode: {name} reaches people; a mode names a stand-in, or human.")
        for route in settings.routes.values():
            if name in route.stand_ins and not stands:
                raise _error(settings, f"routes.{route.name}.stand_ins: {name} is no stand-in.")
            if name in route.providers and stands:
                message = f"{name} answers in place of a person: name it under stand_ins."
                raise _error(settings, f"routes.{route.name}.providers: {message}")
        for contact in settings.contacts.values():
            if stands and any(address.provider == name for address in contact.addresses):
                message = f"{name} reaches nobody, it answers itself."
                raise _error(settings, f"contacts.{contact.id}.addresses: {message}")


def _error(settings: Settings, message: str) -> ConfigurationError:
    return ConfigurationError(message, file=settings.file)


def is_stand_in(by: str) -> bool:
    """Whether `answered_by` names a stand-in."""
    return by.partition(":")[0] in (StandsIn.PROGRAM, StandsIn.TERMINAL) and ":" in by


def is_program(by: str) -> bool:
    """Whether `answered_by` names a stand-in that is no person either, as whoever sits at a terminal is."""
    return by.startswith(f"{StandsIn.PROGRAM}:")


def may_not(questions: Sequence[Question], values: Mapping[str, Json], stand_in: StandIn) -> bool:
    """Whether an answer decides what only a person may: it confirms, approves or edits (law 6)."""
    return not stand_in.may_approve and decides(questions, values)


def decides(questions: Sequence[Question], values: Mapping[str, Json]) -> bool:
    """Whether values confirm, approve or edit."""
    return any(_decides(question, values.get(question.id)) for question in questions)


def _decides(question: Question, value: Json) -> bool:
    if question.kind is QuestionKind.CONFIRM:
        return not any(value is free for free in FREELY)
    if question.kind is QuestionKind.REVIEW and value is not None:
        return not isinstance(value, dict) or value.get("decision") not in ("reject", "respond")
    return False
