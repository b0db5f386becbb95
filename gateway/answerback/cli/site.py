"""The web layer over a started app, and how healthy that is."""

import asyncio

from starlette.types import ASGIApp

from answerback.app import FALLBACK, App
from answerback.errors import StoreUnavailable
from answerback.store import meta
from answerback.web import Services, create_app
from answerback.web.people import WELL, People

PATIENCE = 5.0  # seconds for the database: whoever asks may not wait for long, and nobody accepts meanwhile


class Health:
    """Ready as long as the store answers; what else does not work is said, and stops nothing else."""

    def __init__(self, app: App, patience: float = PATIENCE) -> None:
        self._app, self._patience = app, patience

    async def ready(self) -> tuple[bool, dict[str, str]]:
        """Whether requests can be taken, and a sentence for each part."""
        store = await self._store()
        parts = {"store": store}
        parts |= {_shown(self._app, name): state for name, state in provider_states(self._app).items()}
        parts |= {f"agent:{name}": state for name, state in agent_states(self._app).items()}
        if store == WELL and (letters := await self._app.letters.count()):
            parts["dead-letters"] = f"{letters} to look at: answerback dead-letters list"
        return store == WELL, parts

    async def _store(self) -> str:
        try:
            async with asyncio.timeout(self._patience):
                await self._app.context.store.write(meta.probe)
        except TimeoutError:
            return f"The database has not answered for {self._patience:g} s."
        except StoreUnavailable as error:
            return str(error)
        return WELL


def _shown(app: App, provider: str) -> str:
    """What an operator knows a provider as; the one that steps in where none is configured has no name."""
    built_in = provider == FALLBACK and provider not in app.settings.providers
    return "links printed here" if built_in else f"provider:{provider}"


def provider_states(app: App) -> dict[str, str]:
    """Each provider's state in a sentence, those that cannot be used included."""
    sending = app.deliverer.outages.said()
    running = {name: state or sending.get(name, WELL) for name, state in app.intake.state.items()}
    wrong = {problem.name: str(problem) for problem in app.problems if problem.kind == "provider"}
    return {**dict.fromkeys(app.providers, WELL), **running, **wrong}


def agent_states(app: App) -> dict[str, str]:
    """Each agent's state in a sentence, those that cannot be used included."""
    wrong = {problem.name: str(problem) for problem in app.problems if problem.kind == "agent"}
    states = {name: getattr(agent, "state", "") for name, agent in app.agents.items()} | app.state
    away = {name: why for name, why in states.items() if why}
    return {**dict.fromkeys(app.agents, WELL), **wrong, **away}


def site(app: App) -> ASGIApp:
    """The HTTP interface of an app."""
    return create_app(
        Services(
            settings=app.settings,
            asker=app.asker,
            receiver=app.receiver,
            forms=app.forms,
            endings=app.endings,
            runner=app.runner,
            reader=app.reader,
            health=Health(app),
            metrics=app.context.metrics,
            files=app.attachments,
            eraser=app.eraser,
            remover=app.remover,
            erasure=app.erasure,
            auditor=app.auditor,
            feed=app.feed,
            historian=app.historian,
            inbox=app.inbox,
            planner=app.planner,
            identifier=app.identifier,
            letters=app.letters,
            notices=app.notices,
            people=People(
                context=app.context,
                reader=app.reader,
                linker=app.linker,
                providers=app.providers,
                provider_states=lambda: provider_states(app),
                agent_states=lambda: agent_states(app),
                hint=app.adopter.hint,
            ),
        )
    )
