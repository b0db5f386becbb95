"""Asks a model, once more where its answer does not fit, and passes the question on after that."""

import asyncio
import importlib
import importlib.util
import sys
from typing import Any, ClassVar

from answerback.provider import (
    Asked,
    ConfigurationError,
    Json,
    Message,
    Provider,
    ProviderContext,
    Sent,
    Settings,
    StandsIn,
    Undeliverable,
    answering,
)
from answerback_providers.llm import asking, faults
from answerback_providers.llm.settings import LLMSettings

TRIES = 2
NOTHING = "That was no answer."


class LLM(Provider):
    """One chat model; it is made when the provider opens, so that nothing of LangChain is imported before."""

    Settings: ClassVar[type[Settings]] = LLMSettings
    stand_in = StandsIn.PROGRAM

    def __init__(self, name: str, settings: LLMSettings, context: ProviderContext) -> None:
        super().__init__(name, settings, context)
        self.patience = settings.timeout * TRIES + 10
        self._model: Any = None
        package = settings.init.partition(":")[0].partition(".")[0]
        if package == "langchain" and importlib.util.find_spec(package) is None:
            raise ConfigurationError(
                f"The provider {name} needs the package langchain: pip install 'answerback[agents]'."
            )

    @property
    def stands_as(self) -> str:
        """With the model, since that is who answers."""
        return f"{self.name} ({self.settings.model})"

    async def open(self) -> None:
        """Make the model. Raises `ConfigurationError`."""
        if self._model is None:
            self._model = await asyncio.to_thread(self._made)

    async def send(self, message: Message) -> Sent:
        """Ask the model. Raises `TryLater` and `Undeliverable` as its service says."""
        if message.asked is None:
            return Sent()
        try:
            await self.open()
        except ConfigurationError as error:  # whoever is next is asked at once
            raise Undeliverable(error.message) from None
        asked = message.asked
        said: list[Any] = [
            ("system", self.settings.system),
            ("human", asking.prompt_of(self.settings, asked)),
        ]
        for _ in range(TRIES):
            value, raw = await self._ask(said, asked)
            problem = asked.problem(value) if value is not None else NOTHING
            if not problem:
                return Sent(replies=(answering(message, value),))
            wanted = f"{problem} {asking.instruction(asked)}"
            said = [*said, ("ai", raw or "(nothing)"), ("human", wanted)]
        return Sent(declined=f"{self.settings.model} gave no answer that fits and that it may give")

    async def probe(self) -> str:
        await self.open()
        return f"{self.settings.model} is set up; it is asked when somebody is"

    async def _ask(self, said: list[Any], asked: Asked) -> tuple[Json, str]:
        """The model's answer as a value, and as it stood."""
        form = None if asking.is_free(asked) else self._formed(asked)
        try:
            async with asyncio.timeout(self.settings.timeout):
                found = await (form or self._model).ainvoke(said)
        except Exception as error:
            meant = faults.meant(error)
            if meant is error:
                raise
            raise meant from None
        if form is None:
            text = found.text if isinstance(getattr(found, "text", None), str) else str(found.content)
            return asking.read(asked, text), text
        text = str(getattr(found["raw"], "content", ""))
        value = asking.value_of(asked, found["parsed"])
        if value is None:  # it did not use the form
            return asking.read(asked, text), text
        return value, str(value)

    def _formed(self, asked: Asked) -> Any:
        """The model bound to a form for its answer; None where it takes none."""
        try:
            return self._model.with_structured_output(asking.schema_of(asked), include_raw=True)
        except NotImplementedError:
            return None

    def _made(self) -> Any:
        settings = self.settings
        options = {
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "timeout": settings.timeout,
            "api_key": settings.api_key.get_secret_value() if settings.api_key else None,
            "base_url": settings.base_url or None,
        }
        module, _, path = settings.init.partition(":")
        if self.context.base_dir not in sys.path:
            sys.path.append(self.context.base_dir)
        try:
            make: Any = importlib.import_module(module)
            for part in path.split("."):
                make = getattr(make, part)
            return make(settings.model, **{name: each for name, each in options.items() if each is not None})
        except ImportError as error:
            raise ConfigurationError(
                f"providers.{self.name}.model: {settings.model} needs what is not installed: {error}"
            ) from None
        except Exception as error:  # its text may quote the key
            name = type(error).__name__
            raise ConfigurationError(
                f"providers.{self.name}.model: {settings.model} cannot be set up ({name}). "
                "Is its name right, and is its key set?"
            ) from None
