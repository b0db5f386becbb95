"""The settings as the rest of answerback sees them: complete, cross-checked, immutable."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import SecretStr

from answerback.model import Contact, OnExpire
from answerback.settings import units

FormAuth = Literal["code", "link"]
HUMAN = "human"  # the mode in which people answer
FALLBACK = "link"  # the provider that shows the form's link where none is configured
BUILT_IN = frozenset({"console", "llm", "default", "scripted"})  # the stand-ins that come with answerback
SCOPES = ("ask", "read", "answer", "admin")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key for the HTTP API: given as it is, or as its SHA-256 (64 hex digits). Empty sets mean all."""

    name: str
    key: SecretStr | None = None
    key_sha256: str = field(default="", repr=False)
    scopes: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()
    contact: str = ""  # whom answers given with this key count for

    @property
    def sha256(self) -> str:
        """The key's SHA-256 in lower-case hex, however it was given; "" for none."""
        if self.key is None:
            return self.key_sha256
        return hashlib.sha256(self.key.get_secret_value().encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Plugin:
    """A provider or an agent as it is configured; `options` are checked by the plugin's own Settings.

    `use` is the name of an entry point or `package.module:Class`. `options` hold `str`, `dict` and `list`,
    and None where nothing stands behind a key. `lines` maps dotted keys (`smtp.port`) to lines.
    What stands from `worker` on is for agents.
    """

    name: str
    use: str
    options: dict[str, Any] = field(default_factory=dict, repr=False)
    file: str = ""
    line: int = 0
    lines: dict[str, int] = field(default_factory=dict, repr=False)
    base_dir: str = "."
    hidden: frozenset[str] = field(default=frozenset(), repr=False)  # values that no error may show
    worker: bool = True
    python: str = ""  # an absolute path, or a name to look up in PATH; "": the gateway's own
    memory_limit: int = 0  # bytes of address space; 0: no limit
    human_only: bool = False  # no stand-in is asked what this agent asks
    hitl_enabled: bool = True  # False: no person is
    route: str = ""  # "": the default
    may_start: tuple[str, ...] = ()  # the contacts who start it by a message
    input_key: str = "text"  # what their message is called in the input; "messages": a chat's list of them


@dataclass(frozen=True, slots=True)
class Route:
    """Who is asked (contact ids), through which providers, in that order, and until when."""

    name: str
    ask: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    at_once: bool = False  # through all providers at the same time, instead of one after the other
    expires_in: float | None = None  # seconds; None: never
    on_expire: OnExpire = OnExpire.AUTO
    reminders: tuple[float, ...] = ()  # seconds after asking, ascending
    form_auth: FormAuth | None = None  # None: as `Settings.form_auth`
    delegates: tuple[str, ...] = ()  # to whom those who are asked may hand a question on (contact ids)
    stand_ins: tuple[str, ...] = ()  # asked one after the other, when nobody of `ask` can be reached
    stand_ins_after: float | None = None  # seconds after asking; None: only when nobody can be reached
    human_only: bool = False  # no stand-in is asked, whatever `hitl.mode` says


@dataclass(frozen=True, slots=True)
class Hitl:
    """Who answers: people, or first a stand-in (`mode` names its provider)."""

    enabled: bool = True  # False: no person is asked
    mode: str = HUMAN
    max_interactions: int | None = None  # of one run; None: no limit
    may_approve: bool = False  # whether a deadline's default may (law 6); stand-ins have a key of their own


@dataclass(frozen=True, slots=True)
class Limits:
    """What is refused because it is too much; sizes in bytes."""

    body_bytes: int = 1 << 20  # one HTTP request
    answer_bytes: int = 256 << 10  # one answer as JSON
    attachment_bytes: int = 20 << 20  # one file that came with an answer, when it is fetched
    answer_depth: int = 64  # levels of nesting in it; LangGraph's savers give up at about 600


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole configuration. Paths are absolute; `public_url` ends without a slash."""

    file: str = ""
    base_dir: str = "."
    listen: str = "127.0.0.1:8700"
    public_url: str = "http://127.0.0.1:8700"
    data_dir: str = "var"
    database: str = field(default="sqlite", repr=False)  # may hold a password
    secret: SecretStr | None = None
    api_keys: tuple[ApiKey, ...] = ()
    authenticate: str = ""  # my_package.module:function, which says who a request is from; "": keys alone
    agents: dict[str, Plugin] = field(default_factory=dict)
    providers: dict[str, Plugin] = field(default_factory=dict)
    contacts: dict[str, Contact] = field(default_factory=dict, repr=False)  # hold phone numbers
    routes: dict[str, Route] = field(default_factory=dict)
    hitl: Hitl = Hitl()
    form_auth: FormAuth = "link"
    limits: Limits = Limits()
    retention: float | None = None  # seconds for which is kept what was said; None: for good
    metrics: str = ""  # where the counters can be read; "": nowhere
    outgoing: tuple[str, ...] = ()  # who may be called besides the services; none: whoever is public
    signing_secret: SecretStr | None = None  # of what is posted to others; None: derived from `secret`

    @property
    def host(self) -> str:
        return units.split_listen(self.listen)[0]

    @property
    def port(self) -> int:
        return units.split_listen(self.listen)[1]

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine is served: a public address in front (a reverse proxy) undoes it."""
        return units.only_here(self.listen, self.public_url)

    @property
    def default_route(self) -> Route:
        """`routes.default`, or all contacts through all providers in the file's order."""
        derived = Route("default", ask=tuple(self.contacts), providers=reaching(self.providers))
        return self.routes.get("default", derived)


def reaching(providers: Mapping[str, Plugin]) -> tuple[str, ...]:
    """The names of the providers that reach people, in their order."""
    return tuple(name for name, plugin in providers.items() if plugin.use not in BUILT_IN)
