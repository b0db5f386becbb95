"""routing: which route a question takes, and that those whom it names are known."""

from answerback.errors import NotFound
from answerback.model import Json
from answerback.settings import Route, Settings
from answerback.store import Tx, contacts


def require_people(tx: Tx, settings: Settings, ids: tuple[str, ...]) -> None:
    """Raise `NotFound` for somebody who is neither configured nor was added later."""
    for id in ids:
        if id not in settings.contacts and not contacts.is_there(tx, id):
            known = ", ".join(sorted(person.id for person in contacts.contacts(tx))) or "none"
            raise NotFound(f"There is no contact {id!r}. Known: {known}.")


def route_of(settings: Settings, name: str, ask: tuple[str, ...], *, agent: str = "") -> Json:
    """The snapshot of a route that is kept with what is asked on it; without a name, of the agent's own."""
    configured = settings.agents.get(agent)
    name = name or (configured.route if configured is not None else "")
    if name and name not in settings.routes:
        raise NotFound(f"There is no route {name!r}. Known: {', '.join(sorted(settings.routes)) or 'none'}.")
    route: Route = settings.routes[name] if name else settings.default_route
    return {
        "ask": list(dict.fromkeys(ask or route.ask)),
        "providers": list(route.providers),
        "at_once": route.at_once,
        "reminders": list(route.reminders),
        "expires_in": route.expires_in,
        "on_expire": str(route.on_expire),
        "form_auth": route.form_auth or settings.form_auth,
        "delegates": list(route.delegates),
        "stand_ins": list(route.stand_ins),
        "stand_ins_after": route.stand_ins_after,
        "human_only": route.human_only,
    }
