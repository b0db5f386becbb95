"""What one part of the configuration says about another: every name must lead somewhere."""

from collections.abc import Iterable
from pathlib import Path

from answerback.errors import ConfigurationError
from answerback.settings import sentences
from answerback.settings.schema import FileShape
from answerback.settings.source import Source
from answerback.settings.values import BUILT_IN, HUMAN, Settings


def check(settings: Settings, shape: FileShape, source: Source) -> None:
    """Raise ConfigurationError for the first name that leads nowhere or belongs to two."""
    _Agreement(settings, shape, source).check()


class _Agreement:
    def __init__(self, settings: Settings, shape: FileShape, source: Source) -> None:
        self.settings, self.shape, self.source = settings, shape, source

    def check(self) -> None:
        self.data_dir()
        self.api_keys()
        self.addresses()
        self.routes()
        self.agents()
        self.stand_ins()

    def error(self, path: str, message: str) -> ConfigurationError:
        return self.source.error(path, f"{self.source.full(path)}: {message}")

    def known(self, path: str, name: str, names: Iterable[str], what: str) -> None:
        names = list(names)
        if name not in names:
            hint = sentences.suggestion(name, names)
            raise self.error(path, f"there is no {what} {sentences.named(name)}. {hint}")

    def all_known(self, path: str, given: Iterable[str], names: Iterable[str], what: str) -> None:
        seen: set[str] = set()
        names = list(names)
        for index, name in enumerate(given):
            self.known(f"{path}.{index}", name, names, what)
            if name in seen:
                raise self.error(f"{path}.{index}", f"{sentences.named(name)} stands here twice.")
            seen.add(name)

    def data_dir(self) -> None:
        folder = Path(self.settings.data_dir)
        if folder.exists() and not folder.is_dir():
            raise self.error("data_dir", f"{folder} is a file; name a folder.")

    def api_keys(self) -> None:
        names: set[str] = set()
        digests: dict[str, str] = {}
        for index, key in enumerate(self.settings.api_keys):
            path = f"api_keys.{index}"
            self.all_known(f"{path}.agents", self.shape.api_keys[index].agents, self.settings.agents, "agent")
            if key.contact:
                self.known(f"{path}.contact", key.contact, self.settings.contacts, "contact")
            if key.name in names:
                raise self.error(f"{path}.name", f'another key is called "{key.name}" too.')
            if key.sha256 in digests:
                raise self.error(path, f'"{digests[key.sha256]}" has the same key; make another one.')
            names.add(key.name)
            digests[key.sha256] = key.name

    def addresses(self) -> None:
        owners: dict[tuple[str, str], str] = {}
        for id, contact in self.settings.contacts.items():
            for provider in self.shape.contacts[id].addresses:
                path = f"contacts.{id}.addresses.{provider}"
                self.known(path, provider, self.settings.providers, "provider")
            for address in contact.addresses:
                other = owners.setdefault((address.provider, address.external_id), id)
                if other != id:  # else it would be open who answered
                    message = f'"{other}" has the same address; an address belongs to one contact.'
                    raise self.error(f"contacts.{id}.addresses.{address.provider}", message)

    def agents(self) -> None:
        for name, agent in self.settings.agents.items():
            if agent.route:
                self.known(f"agents.{name}.route", agent.route, self.settings.routes, "route")
            self.all_known(f"agents.{name}.may_start", agent.may_start, self.settings.contacts, "contact")

    def stand_ins(self) -> None:
        """Whether what they name is a stand-in at all is known only when the plugins are loaded."""
        mode = self.settings.hitl.mode
        if mode != HUMAN and mode not in self.settings.providers:
            names = [HUMAN, *(name for name in self.settings.providers if self.is_built_in(name))]
            hint = sentences.suggestion(mode, names)
            message = f"no provider is called {sentences.named(mode)}: configure that stand-in. {hint}"
            raise self.error("hitl.mode", message)

    def is_built_in(self, name: str) -> bool:
        return self.settings.providers[name].use in BUILT_IN

    def routes(self) -> None:
        for name, route in self.settings.routes.items():
            path = f"routes.{name}"
            self.all_known(f"{path}.ask", route.ask, self.settings.contacts, "contact")
            self.all_known(f"{path}.delegates", route.delegates, self.settings.contacts, "contact")
            self.all_known(f"{path}.providers", route.providers, self.settings.providers, "provider")
            self.all_known(f"{path}.stand_ins", route.stand_ins, self.settings.providers, "provider")
            late = route.expires_in is not None and (route.stand_ins_after or 0) >= route.expires_in
            if late:
                message = "the stand-ins are asked when the question has already expired (expires_in)."
                raise self.error(f"{path}.stand_ins_after", message)
            if route.expires_in is not None and route.reminders and route.reminders[-1] >= route.expires_in:
                message = "a reminder comes when the question has already expired (expires_in)."
                raise self.error(f"{path}.reminders", message)
