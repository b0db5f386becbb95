"""How plugins are found, checked and made, and that one that cannot be used stops no other."""

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from pydantic import BaseModel, Field, field_validator, model_validator

import answerback.provider
from answerback import discovery, registry
from answerback.agent import Agent, AgentContext, Paused, Pending, State, Target
from answerback.discovery import PROVIDER, installed
from answerback.errors import ConfigurationError
from answerback.model import Answer, Json
from answerback.provider import Message, Provider, ProviderContext, SecretStr, Sent
from answerback.registry import Registry, build_agent, build_provider
from answerback.settings import Plugin, load, parse
from answerback_providers.llm import LLMSettings

TOKEN = "correct-horse-battery"


class Server(answerback.provider.Settings):
    host: str
    port: int = 587
    password: SecretStr | None = None


class PigeonSettings(answerback.provider.Settings):
    token: SecretStr
    mode: Literal["homing", "racing"] = "homing"
    fast: bool = False
    server: Server | None = None
    relays: list[Server] = Field(default=[])
    headers: dict[str, str] = Field(default={})

    @field_validator("token")
    @classmethod
    def _quotes_what_it_got(cls, value: SecretStr) -> SecretStr:
        if value.get_secret_value().startswith("bad"):
            raise ValueError(f"{value.get_secret_value()} is no pigeon's token")
        return value

    @model_validator(mode="after")
    def _racing_needs_a_server(self) -> "PigeonSettings":
        if self.mode == "racing" and self.server is None:
            raise ValueError("mode: racing needs server")
        return self


class Pigeon(Provider):
    Settings = PigeonSettings

    async def send(self, message: Message) -> Sent:
        return Sent(("1",))


class Smoke(Provider):
    """Without settings of its own."""

    async def send(self, message: Message) -> Sent:
        return Sent()


class Newer(Smoke):
    contract_version = 2


class Older(Smoke):
    contract_version = 0


class Hasty(Smoke):
    pace: ClassVar[Any] = 10


class Many(Smoke):
    max_choices: ClassVar[Any] = "10"


class Wide(Smoke):
    max_label: ClassVar[Any] = -1


class Boundless(Smoke):
    max_length: ClassVar[Any] = None


class Backward(Smoke):
    patience = -1.0


class Changeable(Smoke):
    @property
    def patience(self) -> float:  # type: ignore[override]
        return 3.0


class Mute(Provider):
    """Forgot to send."""


class Explosive(Smoke):
    def __init__(self, name: str, settings: Any, context: ProviderContext) -> None:
        raise RuntimeError(TOKEN)


class Picky(Smoke):
    def __init__(self, name: str, settings: Any, context: ProviderContext) -> None:
        raise ConfigurationError("Pigeons need a public_url.")


class Careless(Smoke):
    class Settings(answerback.provider.Settings):
        @model_validator(mode="before")
        @classmethod
        def _bug(cls, data: Any) -> Any:
            return data["nowhere"]


class Advisor(Smoke):
    Settings = LLMSettings


class Odd(Smoke):
    Settings: ClassVar[Any] = dict


class Echo(Agent):
    class Settings(BaseModel):
        times: int = 1

    async def start(self, thread: str, input: Json, run: str = "") -> State:
        return Paused(())

    async def pending(self, thread: str) -> tuple[Pending, ...]:
        return ()

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        return Paused(())

    async def retry(self, thread: str) -> State:
        return Paused(())


def point(name: str, attribute: str, group: str = "answerback.providers") -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{attribute}", group)


POINTS = [
    point("pigeon", "Pigeon"),
    point("smoke", "Smoke"),
    point("echo", "Echo", "answerback.agents"),
    EntryPoint("pigeon", "nowhere:Pigeon", "something.else"),
]


def configured(yaml: str, name: str = "", *, base_dir: str = ".") -> Plugin:
    settings = parse(
        yaml, file=str(Path(base_dir, "a.yaml")), environ={"TOKEN": TOKEN, "BAD": f"bad-{TOKEN}"}
    )
    plugins = {**settings.providers, **settings.agents}
    return plugins[name or next(iter(plugins))]


def made(yaml: str, base_dir: str = ".") -> Provider:
    return build_provider(configured(yaml, base_dir=base_dir), ProviderContext(), POINTS)


def refused(yaml: str) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        made(yaml)
    return caught.value


def use(path: str) -> str:
    return f'providers:\n  p:\n    use: "{path}"\n'


def own(attribute: str) -> str:
    return use(f"{__name__}:{attribute}")


@pytest.fixture
def packages(tmp_path: Path) -> Iterator[Path]:
    """A folder from which modules can be imported for the length of a test."""
    before = set(sys.modules)
    sys.path.insert(0, str(tmp_path))
    yield tmp_path
    sys.path.remove(str(tmp_path))
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def beside(tmp_path: Path) -> Iterator[str]:
    """The name of a module beside a configuration; it is found for the length of a test."""
    path, name = list(sys.path), f"beside_{tmp_path.name}"
    yield name
    sys.path[:] = path
    sys.modules.pop(name, None)


class TestFinding:
    def test_installed_plugins_are_listed_without_being_imported(self):
        nowhere = EntryPoint("ghost", "no_such_package:Ghost", "answerback.providers")
        listed = [(plugin.kind, plugin.name) for plugin in installed([*POINTS, nowhere])]
        assert listed == [
            ("provider", "ghost"),
            ("provider", "pigeon"),
            ("provider", "smoke"),
            ("agent", "echo"),
        ]

    def test_our_own_arrive_like_anyones(self):
        ours = {(plugin.kind, plugin.name) for plugin in installed() if plugin.package == "answerback"}
        assert {("provider", "telegram"), ("provider", "email"), ("agent", "langgraph")} <= ours

    def test_a_name_is_an_entry_point(self):
        assert discovery.load(PROVIDER, Plugin("mine", "pigeon"), POINTS).__name__ == "Pigeon"

    def test_a_path_is_a_class(self):
        assert discovery.load(PROVIDER, Plugin("mine", f"{__name__}:Smoke"), []).__name__ == "Smoke"

    def test_a_limit_may_be_told_later_by_each_provider(self):
        assert discovery.load(PROVIDER, Plugin("mine", f"{__name__}:Changeable"), []) is Changeable

    def test_an_unknown_name_has_a_line_and_a_suggestion(self):
        error = refused(use("pidgeon"))
        assert error.line == 3
        assert 'Did you mean "pigeon"?' in error.message
        assert "package.module:Class" in error.message

    def test_kinds_are_not_confused(self):
        assert "no provider" in refused(use("echo")).message
        assert "answerback.provider.Provider" in refused(own("Echo")).message

    def test_two_packages_with_one_name_are_told_apart_by_path(self):
        with pytest.raises(ConfigurationError, match="Two packages offer"):
            discovery.load(PROVIDER, Plugin("p", "smoke"), [*POINTS, point("smoke", "Pigeon")])

    def test_the_same_entry_point_twice_is_one(self):
        assert discovery.load(PROVIDER, Plugin("p", "smoke"), [*POINTS, *POINTS]).__name__ == "Smoke"


class TestImporting:
    def test_a_class_beside_the_configuration_is_found(self, tmp_path: Path, beside: str):
        (tmp_path / f"{beside}.py").write_text(f"from {__name__} import Smoke\nclass Own(Smoke): ...\n")
        assert type(made(use(f"{beside}:Own"), str(tmp_path))).__name__ == "Own"

    @pytest.mark.parametrize(
        ("path", "words"),
        [
            ("no_such_package.module:Class", "there is no module no_such_package"),
            (f"{__name__}:Nothing", "has no Nothing"),
            (f"{__name__}:TOKEN", "is no provider"),
            (f"{__name__}:configured", "is no provider"),
            (f"{__name__}:Mute", "does not implement send"),
            (
                f"{__name__}:Newer",
                "version 2 of the contract, and this answerback has version 1: update answerback",
            ),
            (f"{__name__}:Older", "update the plugin"),
            (f"{__name__}:Hasty", "its pace must be Pace(account=…, place=…)"),
            (f"{__name__}:Many", "its max_choices must be a number of buttons"),
            (f"{__name__}:Wide", "its max_label must be a number of characters"),
            (
                f"{__name__}:Boundless",
                "its max_length must be a number of characters",
            ),
            (f"{__name__}:Backward", "its patience must be a number of seconds"),
        ],
    )
    def test_what_is_no_provider_is_refused_with_a_sentence(self, path, words):
        error = refused(use(path))
        assert error.line == 3
        assert words in error.message

    @pytest.mark.parametrize(
        ("source", "words"),
        [
            ("import no_such_service", "needs the module no_such_service"),
            ("1 / 0", "ZeroDivisionError"),
            ("def:", "SyntaxError"),
            ("raise SystemExit('bye')", "SystemExit: bye"),
            ("import os; os.nothing_like_this", "nothing_like_this"),
            ("from os import nothing_like_this", "ImportError"),
            ("raise ModuleNotFoundError('of its own')", "of its own"),
        ],
    )
    def test_one_that_cannot_be_imported_names_itself(self, packages, source, words):
        (packages / "broken.py").write_text(source)
        error = refused(use("broken:Class"))
        assert error.line == 3
        assert "The provider p" in error.message
        assert words in error.message

    @pytest.mark.parametrize("extras", ["", " [pigeon]"])
    def test_a_missing_extra_is_named_with_its_remedy(self, packages, extras):
        (packages / "loft.py").write_text("import no_such_service")
        (packages / "loft-1.dist-info").mkdir()
        (packages / "loft-1.dist-info" / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: loft\nVersion: 1\nProvides-Extra: pigeon\n"
            "Requires-Dist: python-no-such-service>=2; extra == 'pigeon'\n"
            "Requires-Dist: pytest; extra == 'pigeon'\n"
            "Requires-Dist: corn; extra == 'pigeon'\nRequires-Dist: mice; extra == 'hawk'\n"
        )
        points = f"[answerback.providers]\npigeon = loft:Pigeon{extras}\n"
        (packages / "loft-1.dist-info" / "entry_points.txt").write_text(points)
        loft = Distribution.at(packages / "loft-1.dist-info")
        with pytest.raises(ConfigurationError) as caught:
            discovery.load(PROVIDER, configured("providers: {pigeon: }"), loft.entry_points)
        assert caught.value.message == (
            "The provider pigeon needs the package python-no-such-service: pip install 'loft[pigeon]'."
        )

    def test_only_what_is_named_is_imported(self):
        code = (
            "import sys; from answerback import discovery; discovery.installed();"
            "print({'langgraph', 'telegram', 'aiosmtplib', 'answerback_providers', 'answerback_agents'}"
            " & set(sys.modules) or 'nothing')"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "nothing"


class TestOptions:
    def test_they_are_converted_by_the_plugins_own_settings(self):
        provider = made(
            "providers: {p: {use: pigeon, token: '${TOKEN}', fast: yes, headers: {a: 1, b: },"
            " server: {host: h, port: 25}, relays: [{host: i}], mode: }}"
        )
        settings: PigeonSettings = provider.settings
        assert provider.name == "p"
        assert settings.token.get_secret_value() == TOKEN
        assert (settings.fast, settings.mode, settings.headers) == (True, "homing", {"a": "1", "b": ""})
        assert settings.server == Server(host="h", port=25)
        assert settings.relays == [Server(host="i")]

    def test_secrets_come_from_files_at_any_depth(self, tmp_path):
        (tmp_path / "t").write_text(f"{TOKEN}\n")
        settings = made(
            "providers: {pigeon: {token_file: t, server: {host: h, password_file: t},"
            " relays: [{host: i, password_file: t}]}}",
            base_dir=str(tmp_path),
        ).settings
        assert settings.token == settings.server.password == settings.relays[0].password == SecretStr(TOKEN)

    @pytest.mark.parametrize(
        ("options", "line", "words"),
        [
            ("tokn: a", 3, 'Unknown key "tokn" in providers.pigeon. Did you mean "token"?'),
            ("token: a\n    mode_file: x", 4, 'Unknown key "mode_file"'),
            ("token: a\n    server:\n      hst: h", 5, 'in providers.pigeon.server. Did you mean "host"?'),
            ("token: a\n    relays:\n      - host: h\n      - {host: h,\n         prt: 1}", 7, '"port"?'),
            ("token: a\n    server:\n      port: 1", 4, "providers.pigeon.server.host: this is missing."),
            (
                "token: a\n    server:\n      host: h\n      port: x",
                6,
                "server.port: this must be a whole number.",
            ),
            ("token: a\n    server: h", 4, "must be a mapping"),
            ("token: a\n    mode: racin", 4, "'homing' or 'racing'. Did you mean 'racing'?"),
            ("token: a\n    mode: racing", 2, "providers.pigeon: mode: racing needs server."),
            ("token: a\n    fast: perhaps", 4, "true or false"),
            ("token:\n      - a", 3, "providers.pigeon.token: this must be a single value."),
            ("token:\n    fast: no", 3, "providers.pigeon.token: this is missing."),
            ("fast: no", 2, "providers.pigeon.token: this is missing."),
            ("token: ''", 3, "this is empty"),
            ("token_file: nowhere", 3, "cannot be read: No such file"),
            ("token: a\n    token_file: b", 4, "one of the two"),
        ],
    )
    def test_what_is_wrong_has_a_line_and_a_sentence(self, options, line, words):
        error = refused(f"providers:\n  pigeon:\n    {options}\n")
        assert error.line == line
        assert words in error.message

    @pytest.mark.parametrize(
        ("option", "words"),
        [
            ("on_error: nxt", "on_error: this must be 'retry', 'next' or 'fail'. Did you mean 'next'?"),
            ("attempts: 0", "attempts: this must be 1 or more."),
            ("attempts: 101", "attempts: this must be 100 or less."),
            ("attempts: some", "attempts: this must be a whole number."),
            ("temperature: 2.1", "temperature: this must be 2 or less."),
            ("temperature: -1", "temperature: this must be 0 or more."),
            ("timeout: 0", "timeout: this must be more than 0."),
        ],
    )
    def test_what_a_stand_in_cannot_be_told_is_refused_in_words(self, option, words):
        error = refused(f"{own('Advisor')}    model: some:model\n    {option}\n")
        assert (error.line, error.message) == (5, f"providers.p.{words}")

    def test_no_secret_is_repeated_even_if_a_validator_does(self, tmp_path):
        (tmp_path / "t").write_text(f"bad-{TOKEN}")
        for option in (f"token: bad-{TOKEN}", "token: '${BAD}'", f"token_file: {tmp_path / 't'}"):
            error = refused(f"providers: {{pigeon: {{{option}}}}}")
            assert "is no pigeon's token" in error.message
            assert TOKEN not in str(error)

    @pytest.mark.parametrize(
        ("attribute", "words"),
        [
            ("Explosive", "its class raised RuntimeError"),
            ("Picky", "Pigeons need a public_url."),
            ("Careless", "cannot be checked: KeyError"),
            ("Odd", "must be a subclass of answerback.provider.Settings"),
        ],
    )
    def test_a_plugin_with_a_bug_is_told_from_a_wrong_configuration(self, attribute, words):
        error = refused(own(attribute))
        assert error.line in (2, 3)
        assert words in error.message
        assert TOKEN not in error.message

    def test_one_without_settings_takes_no_options(self):
        assert 'Unknown key "token"' in refused(own("Smoke") + "    token: a\n").message

    def test_agents_are_made_the_same_way(self):
        context = AgentContext(data_dir="var")
        agent = build_agent(configured("agents: {echo: {times: 3}}"), context, POINTS)
        assert (agent.name, agent.settings.times, agent.context) == ("echo", 3, context)


class TestRegistry:
    YAML = (
        "providers:\n  good: {use: smoke}\n  bad: {use: nothing}\n  other: {use: pigeon, token: a}\n"
        "agents:\n  echo: {times: x}\n  fine: {use: echo}\n"
    )

    def built(self, **contexts: Any) -> Registry:
        settings = parse(self.YAML, file="a.yaml", environ={})
        both = {"provider_context": ProviderContext(), "agent_context": AgentContext(data_dir="var")}
        return registry.build(settings, **{**both, **contexts}, entry_points=POINTS)

    def test_one_bad_plugin_stops_no_other(self):
        made = self.built()
        assert list(made.providers) == ["good", "other"]
        assert list(made.agents) == ["fine"]
        assert [(problem.kind, problem.name) for problem in made.problems] == [
            ("provider", "bad"),
            ("agent", "echo"),
        ]
        assert str(made.problems[0]).startswith("a.yaml:3: providers.bad: no provider")

    @pytest.mark.needs_extra("telegram", "email", "langgraph")
    def test_the_example_with_everything_can_be_built_from_what_is_installed(self):
        environ = {
            "TELEGRAM_TOKEN": "123456789:AAEc",
            "SMTP_PASSWORD": "hunter22",
            "OPS_KEY": "0123456789abcdef",
        }
        settings = load("config/example-everything.yaml", environ=environ)
        contexts = ProviderContext(public_url=settings.public_url), AgentContext(data_dir="var")
        made = registry.build(settings, provider_context=contexts[0], agent_context=contexts[1])
        assert made.problems == ()
        assert (list(made.providers), list(made.agents)) == (["telegram", "email", "usual"], ["research"])

    @pytest.mark.bare_core
    def test_without_extras_the_example_says_what_to_install(self):
        settings = parse("providers: {telegram: , email: }\nagents: {langgraph: }", file="a.yaml", environ={})
        contexts = ProviderContext(), AgentContext(data_dir="var")
        made = registry.build(settings, provider_context=contexts[0], agent_context=contexts[1])
        for problem, package in zip(
            made.problems, ["python-telegram-bot", "aiosmtplib", "langgraph"], strict=True
        ):
            assert "needs the package" in str(problem)
            assert package in str(problem)
            assert f"pip install 'answerback[{problem.name}]'." in str(problem)

    def test_what_is_built_elsewhere_can_be_left_out(self):
        made = self.built(agent_context=None)
        assert (list(made.providers), made.agents) == (["good", "other"], {})
        assert self.built(provider_context=None).providers == {}
