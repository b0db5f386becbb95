"""What `check` looks at: the settings, every plugin's own settings, each agent's graph, each service."""

import asyncio
import contextlib
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from answerback import owners, registry, standing
from answerback.agent import Agent, AgentContext
from answerback.cli import reaching
from answerback.cli.places import placed
from answerback.errors import AnswerbackError, ConfigurationError
from answerback.identify import function_of
from answerback.model import OnExpire
from answerback.provider import Provider
from answerback.settings import Route, Settings
from answerback.store import choose, disks
from answerback.workers import in_workers

BY_THE_ASKER = "on_expire: default is for questions whose asker sets a default; others end as with auto"
SECONDS = 20.0  # for one service, or to load one agent


@dataclass(slots=True)
class Found:
    """`facts` are name and sentence; `problems` and `notes` begin with the file and the line.

    With problems the gateway does not work as configured; a note is for whoever wrote what it is about.
    """

    facts: list[tuple[str, str]]
    problems: list[str]
    notes: list[str] = field(default_factory=list)


async def check(settings: Settings, *, online: bool) -> Found:
    """Everything that can be known without starting. Agents are loaded beside an empty data directory."""
    found = Found(_about(settings), [])
    with tempfile.TemporaryDirectory(prefix="answerback-check-") as empty:
        offered = registry.offered(settings, empty)
        known = registry.build(settings, provider_context=offered, agent_context=None)
        found.problems += [placed(settings, one.kind, one.name, one.error) for one in known.problems]
        for agrees in (owners.settled, standing.check):
            try:
                agrees(settings, known.providers)
            except ConfigurationError as error:
                found.problems.append(str(error))
        _authenticate(settings, found)
        around = AgentContext(empty, "sqlite", settings.base_dir)
        for agent in in_workers(settings, around).values():
            await _agent(settings, agent, found)
        found.notes += reaching.notes(settings, known.providers)
        for provider in known.providers.values():
            await _provider(settings, provider, found, online=online)
        await offered.http.close()
    await _database(settings, found, online=online)
    return found


async def _database(settings: Settings, found: Found, *, online: bool) -> None:
    """A SQLite may be in use; whether its disk will do can be known all the same."""
    if settings.database == "sqlite":
        if kind := disks.another_machines(Path(settings.data_dir)):
            found.notes.append(f"{settings.file}: {disks.NOT_HERE.format(kind=kind)}")
    elif online:
        try:
            backend = choose(settings.database, settings.data_dir)
            await asyncio.to_thread(backend.lock)
            backend.unlock()
        except AnswerbackError as error:
            found.problems.append(f"{settings.file}: {error}")
        else:
            found.facts.append(("postgresql", "takes connections"))


def _about(settings: Settings) -> list[tuple[str, str]]:
    people = ", ".join(contact.name for contact in settings.contacts.values())
    routes = ", ".join(settings.routes)
    return [
        ("configuration", settings.file),
        ("listen", settings.listen),
        ("public_url", settings.public_url),
        ("data_dir", settings.data_dir),
        ("database", settings.database.partition(":")[0]),  # the rest may hold a password
        ("api_keys", ", ".join(key.name for key in settings.api_keys) or "none: serve makes one in data_dir"),
        ("contacts", people or "none"),
        ("routes", routes),
        *((f"route {route.name}", BY_THE_ASKER) for route in settings.routes.values() if _presets(route)),
    ]


def _presets(route: Route) -> bool:
    return route.on_expire is OnExpire.DEFAULT


def _authenticate(settings: Settings, found: Found) -> None:
    try:
        if function_of(settings) is not None:
            found.facts.append(("authenticate", f"{settings.authenticate}, loads"))
    except ConfigurationError as error:
        found.problems.append(str(error))


async def _agent(settings: Settings, agent: Agent, found: Found) -> None:
    name = f"agent {agent.name}"
    try:
        async with asyncio.timeout(SECONDS):
            await agent.open()
    except ConfigurationError as error:
        found.problems.append(placed(settings, "agent", agent.name, error))
    except (AnswerbackError, TimeoutError) as error:
        found.facts.append((name, f"cannot be reached now: {str(error) or 'no answer'}"))
    else:
        state = getattr(agent, "state", "")
        use = settings.agents[agent.name].use
        found.facts.append((name, f"cannot be started now: {state}" if state else f"{use}, loads"))
        found.notes += await agent.notes()
    finally:
        await agent.close()


async def _provider(settings: Settings, provider: Provider, found: Found, *, online: bool) -> None:
    said = "settings are fine"
    try:
        if online or provider.probes_here:
            async with asyncio.timeout(SECONDS):
                said = await provider.probe()
    except (AnswerbackError, TimeoutError) as error:
        why = ConfigurationError(str(error) or f"no answer within {SECONDS:g} s")
        found.problems.append(placed(settings, "provider", provider.name, why, "is not working"))
    except (Exception, SystemExit) as error:  # a bug of the plugin's: the others are checked all the same
        why = ConfigurationError(f"its probe raised {type(error).__name__}")
        found.problems.append(placed(settings, "provider", provider.name, why, "is not working"))
    else:
        found.facts.append((f"provider {provider.name}", said))
    finally:
        with contextlib.suppress(Exception):
            await provider.close()
