"""A Python function as a provider: it is told of each question, and the form takes the answer.

    mine: {use: callback, function: "my_package:notify"}

The function gets `interaction_id`, `agent_message`, `form_url` and `expiry_time` (a datetime in UTC, or
None), by name as far as it has parameters of these names, or all of them as one dictionary when it has a
single parameter of another name. One that also has a parameter `kind` is told of everything: outcomes and
notices too. It may be `async`; a plain one runs in a thread.
"""

import asyncio
import datetime
import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any, ClassVar

from pydantic import field_validator

from answerback.provider import (
    ConfigurationError,
    Message,
    MessageKind,
    Provider,
    ProviderContext,
    Sent,
    Settings,
    TryLater,
    Undeliverable,
    in_thread,
)

LATER = 60.0  # seconds until a function that cannot be imported is looked for again, or has room again
ROOM = 8  # calls of a plain function at the same time
ASKING = (MessageKind.QUESTION, MessageKind.REMINDER)


class CallbackSettings(Settings):
    """`function`: `package.module:name`; modules beside the configuration file are found too."""

    function: str

    @field_validator("function")
    @classmethod
    def _names_a_function(cls, value: str) -> str:
        module, colon, name = value.partition(":")
        if not colon or not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
            raise ValueError("is not of the form my_package.module:function")
        return value


class Callback(Provider):
    """Calls the function once a message; what it raises is a failure of that message alone."""

    Settings: ClassVar[type[Settings]] = CallbackSettings
    probes_here = True
    needs_address = False

    def __init__(self, name: str, settings: Any, context: ProviderContext) -> None:
        super().__init__(name, settings, context)
        self._function: Callable[..., Any] | None = None
        self._calls = 0  # in threads that have not ended

    async def open(self) -> None:
        """Import the function. Raises ConfigurationError when there is none."""
        self._function = await asyncio.to_thread(self._found)

    async def send(self, message: Message) -> Sent:
        if self._function is None:
            try:
                self._function = await asyncio.to_thread(self._found)
            except ConfigurationError as error:
                raise TryLater(LATER, "The function cannot be imported.") from error
        function = self._function
        parameters = inspect.signature(function).parameters
        if message.kind not in ASKING and "kind" not in parameters:
            if message.kind is MessageKind.NOTICE and not message.reply_to:  # it would be told to nobody
                raise Undeliverable("The function is called for questions only: it has no parameter `kind`.")
            return Sent()
        positional, named = arguments(parameters, facts(message))
        if inspect.iscoroutinefunction(function):
            await function(*positional, **named)
        else:
            returned = await self._in_thread(functools.partial(function, *positional, **named))
            if inspect.isawaitable(returned):
                await returned
        return Sent((message.delivery_id,) if message.delivery_id else ())

    async def _in_thread(self, call: Callable[[], Any]) -> Any:
        """A thread cannot be stopped: while so many hang, no further one is begun."""
        if self._calls >= ROOM:
            raise TryLater(LATER, f"{ROOM} calls of the function have not ended.")
        self._calls += 1
        return await in_thread(call, over=self._ended)

    def _ended(self) -> None:
        self._calls -= 1

    async def probe(self) -> str:
        found = await asyncio.to_thread(self._found)
        return f"{found.__module__}.{found.__qualname__} is there"

    def _found(self) -> Callable[..., Any]:
        module_name, _, path = self.settings.function.partition(":")
        if self.context.base_dir not in sys.path:
            sys.path.append(self.context.base_dir)
        try:
            importlib.invalidate_caches()  # it may have come since
            found: Any = importlib.import_module(module_name)
            for part in path.split("."):
                found = getattr(found, part)
        except (Exception, SystemExit) as error:  # a script ends with the latter
            why = f"{type(error).__name__}: {error}"
            if isinstance(error, ModuleNotFoundError) and error.name == module_name:
                why = f"there is no module {module_name} in {self.context.base_dir}, nor where Python looks"
            raise ConfigurationError(f"providers.{self.name}.function cannot be imported: {why}") from error
        if not callable(found):
            raise ConfigurationError(f"providers.{self.name}.function is no function.")
        function: Callable[..., Any] = found
        return function


def facts(message: Message) -> dict[str, Any]:
    """What a function may be told."""
    expires = None
    if message.expires_at is not None:
        expires = datetime.datetime.fromtimestamp(message.expires_at / 1e6, datetime.UTC)
    return {
        "interaction_id": message.interaction_id,
        "agent_message": message.text,
        "form_url": message.form_url,
        "expiry_time": expires,
        "kind": str(message.kind),
        "to": message.to.place,
    }


def arguments(parameters: Any, known: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """How to call a function with these parameters."""
    kinds = {each.kind for each in parameters.values()}
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return (), known
    names = [name for name in parameters if name in known]
    others = [
        each
        for name, each in parameters.items()
        if name not in known and each.default is each.empty and each.kind is not each.VAR_POSITIONAL
    ]
    if len(others) == 1 and not names:
        return (known,), {}
    return (), {name: known[name] for name in names}
