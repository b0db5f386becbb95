"""One test of the suite at work: an opened provider at its far side, watched."""

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar

import pytest

from answerback.provider import Address, Message, Provider, ProviderError, Sent
from answerback.testing.contract.hooks import Hooks
from answerback.testing.contract.samples import TOKEN
from answerback.testing.contract.watching import Log, secrets_of, shown_in, told_by

SECONDS = 45.0  # for one test; the gateway waits 30 for one message
P = ParamSpec("P")
T = TypeVar("T")
Alive = Callable[Concatenate[Any, "Case", P], Coroutine[Any, Any, None]]


@dataclass(slots=True)
class Case:
    """What a test is given. `secrets` must appear in no log and no error."""

    provider: Provider
    there: Any
    to: Address
    secrets: set[str] = field(default_factory=set)
    polled: set[bytes] = field(default_factory=set)  # the events that were fetched already

    async def send(self, message: Message) -> Sent:
        """What `send` returned; a message of the suite must be taken."""
        sent = await self.does(self.provider.send(message))
        assert not isinstance(sent, ProviderError), f"send() refuses a message that it must take: {sent}"
        assert isinstance(sent, Sent), f"send() must return a Sent, and returned {type(sent).__name__}"
        return sent

    async def does(self, call: Awaitable[T]) -> T | ProviderError:
        """The result of a call, or the error of the contract that it raised; anything else is a bug."""
        try:
            return await call
        except ProviderError as error:
            self.is_discreet(error)
            return error
        except Exception as error:
            told = "" if shown_in(told_by(error), self.secrets) else f": {error}"
            pytest.fail(
                f"{type(error).__name__} came out of the provider{told}. The gateway takes that for a bug: "
                "raise Undeliverable, TryLater, Moved or Unverified, from None, outside the except block."
            )

    def is_discreet(self, error: BaseException) -> None:
        """Fail if an error, or one that it came from, holds a secret."""
        assert not shown_in(told_by(error), self.secrets), (
            f"a secret, a token or an address stands in a {type(error).__name__}, or in an error below it: "
            "raise it `from None`, with a sentence of your own"
        )


def alive(test: Alive[P]) -> Callable[Concatenate[Hooks, P], None]:
    """A test of an opened provider, in an event loop of its own; logs are held against the secrets."""

    @functools.wraps(test)
    def played(self: Hooks, /, *args: P.args, **kwargs: P.kwargs) -> None:
        with Log(self.far_side_logs) as log:
            secrets = asyncio.run(_play(self, functools.partial(_given, test, args, kwargs)))
        assert not shown_in(log.lines, secrets), (
            "a secret, a token or an address stands in a log line, perhaps of the library that is used"
        )

    del played.__wrapped__  # or pytest takes `case` for a fixture
    parameters = [each for name, each in inspect.signature(test).parameters.items() if name != "case"]
    played.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return played


async def _given(test: Any, args: Any, kwargs: Any, suite: Hooks, case: Case) -> None:
    await test(suite, case, *args, **kwargs)


async def _play(suite: Hooks, test: Callable[[Hooks, Case], Awaitable[None]]) -> set[str]:
    failure: BaseException | None = None
    async with asyncio.timeout(SECONDS), suite.far_side() as there:
        provider = suite.make(there)
        to = suite.address_for(there)
        case = Case(provider, there, to, secrets_of(provider.settings) | {TOKEN, to.external_id, to.place})
        try:
            await provider.open()
            await test(suite, case)
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
            failure = error
        finally:
            try:
                await provider.close()
            except Exception as error:
                failure = failure or error
            await provider.context.http.close()
    if failure is not None:  # not within: a far side with a task group would wrap it
        raise failure
    return case.secrets
