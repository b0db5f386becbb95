"""The error tree: every error a caller can meet, drawn here.

    AnswerbackError
    ├── ConfigurationError      the configuration cannot be used; names file, line and remedy
    ├── StoreUnavailable        the database cannot be reached or written; try again later
    ├── Refused                 a request that cannot be carried out as it stands
    │   ├── NotFound            no such run, interaction, agent or contact
    │   ├── NotAllowed          the caller may not do this
    │   ├── Conflict            it clashes with the present state (thread waiting, key reused)
    │   ├── AlreadyAnswered     somebody else's answer won
    │   ├── Closed              expired or cancelled: no answer is accepted any more
    │   ├── Gone                a file that its service does not keep or does not give any more
    │   ├── TooLarge            a file that is larger than what is allowed here
    │   └── DoesNotFit          the value does not answer the question, or cannot be stored
    ├── ProviderError           raised by a provider plugin
    │   ├── Undeliverable       permanent: this message will never arrive at this address
    │   ├── TryLater            temporary: try again, not before `seconds`
    │   ├── Moved               the place has a new external id
    │   └── Unverified          an inbound event that did not prove where it comes from
    └── AgentError              raised by an agent adapter
        ├── NotPending          the interrupt is not pending with that digest (any more)
        ├── NotYet              something else that waits on the thread has to be answered first
        └── AgentUnavailable    the agent cannot be reached or started now; try again later
            └── AgentCrashed    its process ended while it was at this; try again, but not for ever

The text of an error is written for the person who meets it: what happened, then what to do.
It never contains tokens, answers or phone numbers.
"""


class AnswerbackError(Exception):
    """The root: `except AnswerbackError` catches all that answerback raises on purpose."""


class ConfigurationError(AnswerbackError):
    """The configuration cannot be used."""

    def __init__(self, message: str, *, file: str = "", line: int = 0) -> None:
        self.message, self.file, self.line = message, file, line
        where = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        super().__init__(where + message)


class StoreUnavailable(AnswerbackError):
    """The database cannot be reached or written; nothing was accepted."""


class Refused(AnswerbackError):
    """A request that cannot be carried out as it stands. `code` is stable; `detail` is a sentence."""

    status = 400
    code = "refused"

    def __init__(self, detail: str) -> None:
        self.detail = detail
        super().__init__(detail)


class NotFound(Refused):
    status, code = 404, "not-found"


class NotAllowed(Refused):
    status, code = 403, "not-allowed"


class Conflict(Refused):
    status, code = 409, "conflict"


class AlreadyAnswered(Refused):
    status, code = 409, "already-answered"


class Closed(Refused):
    status, code = 410, "closed"


class Gone(Refused):
    status, code = 410, "gone"


class TooLarge(Refused):
    status, code = 413, "too-large"


class DoesNotFit(Refused):
    status, code = 422, "does-not-fit"


class ProviderError(AnswerbackError):
    """Raised by a provider plugin; anything else that it raises is a bug, logged and retried."""


class Undeliverable(ProviderError):
    """Permanent: this message will never arrive. `address_dead`: nor will any other to this address."""

    def __init__(self, reason: str, *, address_dead: bool = False) -> None:
        self.reason, self.address_dead = reason, address_dead
        super().__init__(reason)


class TryLater(ProviderError):
    """Temporary: try again, not before `seconds`. `maybe_sent`: it is unknown whether it arrived."""

    def __init__(self, seconds: float, reason: str = "", *, maybe_sent: bool = False) -> None:
        self.seconds, self.reason, self.maybe_sent = seconds, reason, maybe_sent
        super().__init__(reason or f"try again in {seconds:g} s")


class Moved(ProviderError):
    """The place has a new external id (a Telegram group became a supergroup)."""

    def __init__(self, external_id: str) -> None:
        self.external_id = external_id
        super().__init__("the place has a new id")


class Unverified(ProviderError):
    """An inbound event that did not prove where it comes from; `status` is the HTTP answer."""

    def __init__(self, reason: str, *, status: int = 403) -> None:
        self.reason, self.status = reason, status
        super().__init__(reason)


class AgentError(AnswerbackError):
    """Raised by an agent adapter."""


class NotPending(AgentError):
    """The interrupt is not pending with that digest (any more): nothing was resumed."""


class NotYet(AgentError):
    """The interrupt waits, but something else on its thread has to be answered first: nothing was resumed."""


class AgentUnavailable(AgentError):
    """The agent cannot be reached or started now; try again later."""


class AgentCrashed(AgentUnavailable):
    """The agent's process ended while it was at this, perhaps because of it: try again, but not for ever."""
