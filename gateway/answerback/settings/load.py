"""A configuration file → `Settings`: read, checked key by key, then cross-checked."""

import importlib.resources
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from answerback.errors import ConfigurationError
from answerback.model import Address, Contact
from answerback.sessions import attentive
from answerback.settings import agree, document, units
from answerback.settings.checked import checked
from answerback.settings.schema import ContactShape, FileShape, RouteShape, WorkerShape
from answerback.settings.source import Source
from answerback.settings.values import ApiKey, Hitl, Limits, Plugin, Route, Settings, reaching

CONSOLE = "console"  # the one stand-in that a mode may name without configuring it
DEFAULT_FILE = str(Path("config", "answerback.yaml"))  # where the embedded default stands in for a file


def load(
    path: str | None, *, environ: Mapping[str, str], overrides: Mapping[str, Any] | None = None
) -> Settings:
    """The settings in the file at `path`; None: the embedded default, as if it were config/answerback.yaml.

    `overrides` (from the command line) replace what the file says: dotted keys to values, as in
    `{"listen": "0.0.0.0:80", "providers.telegram.api_base": "http://127.0.0.1:81"}`; None is no override.
    An overriding `data_dir` starts at the working directory. Raises ConfigurationError.
    """
    if path is None:
        return _read(embedded(), DEFAULT_FILE, environ, overrides or {})
    try:
        with Path(path).open("rb") as file:
            raw = file.read(document.MAX_BYTES + 1)
    except FileNotFoundError:
        message = "There is no such configuration file. `answerback serve` without --config uses a default."
        raise ConfigurationError(message, file=path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", "") or "not a path"
        raise ConfigurationError(f"The configuration cannot be read: {reason}.", file=path) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = "The configuration is not UTF-8 text; save it as UTF-8."
        raise ConfigurationError(message, file=path, line=line) from None
    return _read(text, path, environ, overrides or {})


def parse(text: str, *, file: str, environ: Mapping[str, str]) -> Settings:
    """The settings in `text`, which came from `file`. Raises ConfigurationError."""
    return _read(text, file, environ, {})


def embedded() -> str:
    """The configuration that is used where there is none."""
    return importlib.resources.files("answerback").joinpath("default.yaml").read_text("utf-8")


def _read(text: str, file: str, environ: Mapping[str, str], overrides: Mapping[str, Any]) -> Settings:
    base_dir = str(Path(file).absolute().parent)
    data, lines, source = document.read(text, file=file, base_dir=base_dir, environ=environ)
    for path, value in overrides.items():
        if value is not None:
            _override(data, lines, path, value)
    shape = checked(FileShape, data, source)
    start = str(Path.cwd()) if lines.get("data_dir") == 0 else base_dir
    public_url = shape.public_url or _own_url(shape.listen)
    providers = _plugins("providers", shape.providers, source)
    if shape.hitl.mode == CONSOLE and CONSOLE not in providers:  # it needs no settings
        providers[CONSOLE] = Plugin(CONSOLE, CONSOLE, file=file, base_dir=base_dir)
    settings = Settings(
        file=file,
        base_dir=base_dir,
        listen=shape.listen,
        public_url=public_url,
        data_dir=os.path.normpath(Path(start, shape.data_dir)),
        database=attentive(shape.database.get_secret_value()),
        secret=shape.secret,
        api_keys=tuple(
            ApiKey(k.name, k.key, k.key_sha256, frozenset(k.scopes), frozenset(k.agents), k.contact)
            for k in shape.api_keys
        ),
        authenticate=shape.authenticate,
        agents={name: _agent(agent) for name, agent in _plugins("agents", shape.agents, source).items()},
        providers=providers,
        contacts={id: _contact(id, contact) for id, contact in shape.contacts.items()},
        routes=_routes(shape, reaching(providers)),
        hitl=Hitl(**dict(shape.hitl)),
        limits=Limits(**dict(shape.limits)),
        retention=shape.retention,
        metrics=shape.metrics.listen or "",
        outgoing=shape.outgoing.allow,
        signing_secret=shape.outgoing.signing_secret,
        form_auth=shape.form_auth or ("link" if units.only_here(shape.listen, public_url) else "code"),
    )
    agree.check(settings, shape, source)
    return settings


def _override(data: dict[str, Any], lines: dict[str, int], path: str, value: Any) -> None:
    """Put `value` at a dotted path; line 0 says that it does not stand in the file."""
    *parents, key = path.split(".")
    for parent in parents:
        inner = data.get(parent)
        data[parent] = data = inner if isinstance(inner, dict) else {}
    data[key] = _plain(value)
    for stale in [known for known in lines if known.startswith(f"{path}.")]:
        del lines[stale]
    lines[path] = 0


def _plain(value: Any) -> Any:
    """A value of the program as if it had been read from YAML."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def _own_url(listen: str) -> str:
    host, port = units.split_listen(listen)
    return f"http://{units.reachable(host)}:{port}"


def _plugins(section: str, configured: Mapping[str, Mapping[str, Any]], source: Source) -> dict[str, Plugin]:
    return {name: _plugin(f"{section}.{name}", name, options, source) for name, options in configured.items()}


def _plugin(path: str, name: str, configured: Mapping[str, Any], source: Source) -> Plugin:
    options = dict(configured)
    use = options.pop("use", None) or name
    if not isinstance(use, str):
        message = f"{path}.use: this must be the name of a plugin, or package.module:Class."
        raise source.error(f"{path}.use", message)
    start = f"{path}."
    inner = {key.removeprefix(start): line for key, line in source.lines.items() if key.startswith(start)}
    return Plugin(
        name, use, options, source.file, source.line_of(path), inner, source.base_dir, source.hidden
    )


def _agent(plugin: Plugin) -> Plugin:
    """Take what is said of an agent's worker out of the options of its adapter."""
    options = dict(plugin.options)
    said = {key: options.pop(key) for key in WorkerShape.model_fields if key in options}
    prefix = f"agents.{plugin.name}"
    source = Source(plugin.file, plugin.base_dir, plugin.lines, prefix, plugin.line, plugin.hidden)
    shape = checked(WorkerShape, said, source)
    python = shape.python
    if os.sep in python:  # not resolved: the Python of a virtual environment is a link
        python = os.path.normpath(Path(plugin.base_dir, python))
    return replace(
        plugin,
        options=options,
        worker=shape.worker,
        python=python,
        memory_limit=shape.memory_limit,
        human_only=shape.human_only,
        hitl_enabled=shape.hitl_enabled,
        route=shape.route,
        may_start=shape.may_start,
        input_key=shape.input_key,
    )


def _contact(id: str, shape: ContactShape) -> Contact:
    addresses = tuple(
        Address(provider, address.id, address.place or address.id, contact=id)
        for provider, address in shape.addresses.items()
        if address.id
    )
    return Contact(id, shape.name or id, shape.language, shape.timezone, shape.quiet_hours, addresses)


def _routes(shape: FileShape, reaching: tuple[str, ...]) -> dict[str, Route]:
    shapes = {**shape.routes} if "default" in shape.routes else {**shape.routes, "default": RouteShape()}
    return {name: _route(name, route, shape, reaching) for name, route in shapes.items()}


def _route(name: str, route: RouteShape, shape: FileShape, reaching: tuple[str, ...]) -> Route:
    return Route(
        name,
        ask=tuple(shape.contacts) if route.ask is None else route.ask,
        providers=reaching if route.providers is None else route.providers,
        expires_in=route.expires_in,
        on_expire=route.on_expire,
        reminders=tuple(sorted(set(route.reminders))),
        at_once=route.at_once,
        form_auth=route.form_auth,
        delegates=route.delegates,
        stand_ins=route.stand_ins,
        stand_ins_after=route.stand_ins_after,
        human_only=route.human_only,
    )
