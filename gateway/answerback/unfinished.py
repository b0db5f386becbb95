"""unfinished: how far an erasure is, and with whose accounts; kept in the database until it is done."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from answerback.store import Row, Tx, meta
from answerback.store.personal import Step
from answerback.values import dumps
from answerback.whose import Account

UNDER_WAY, DONE = "erasing:", "was erased:"  # before a contact's id, in `meta`
STEPS = tuple(Step)


@dataclass(frozen=True, slots=True)
class Job:
    """What is known of an erasure until it is done. `name` and `accounts` are forgotten before its last step.

    `waits`: the agents that could not forget something when they were last told.
    """

    by: str
    began: int
    name: str
    step: Step = Step.ACCOUNTS
    behind: Row | None = None  # None: before the first
    accounts: tuple[Account, ...] = ()
    erased: Mapping[str, int] = field(default_factory=dict)
    waits: tuple[str, ...] = ()

    def plus(self, number: int) -> "Job":
        """With so many more rows of the present step."""
        return replace(self, erased=dict(Counter(self.erased) + Counter({str(self.step): number})))


@dataclass(frozen=True, slots=True)
class Ended:
    """When somebody was erased, microseconds, and how much of each kind there was."""

    at: int
    erased: Mapping[str, int]


def job(tx: Tx, id: str) -> Job | None:
    """None: nothing is under way."""
    return _read(meta.get(tx, UNDER_WAY + id))


def held(tx: Tx, id: str) -> Job | None:
    """The same; until the commit no other process goes on with it."""
    return _read(meta.held(tx, UNDER_WAY + id))


def begin(tx: Tx, id: str, job: Job) -> None:
    """Unless another process has begun just now."""
    if meta.keep_first(tx, UNDER_WAY + id, dumps(asdict(job))):
        meta.drop(tx, DONE + id)


def anew(tx: Tx, id: str, job: Job) -> None:
    """From the beginning, with what was erased so far: somebody came back meanwhile, and went again.

    Only of one that is at its last step, which nothing of what has come since is left for.
    """
    before = held(tx, id)
    if before is not None and before.step is STEPS[-1]:
        _put(tx, id, replace(job, erased=before.erased))


def keep(tx: Tx, id: str, job: Job, behind: Row | None) -> None:
    """How far it is: behind a row, or at the beginning of the next step."""
    if behind is None:
        job = replace(job, step=STEPS[STEPS.index(job.step) + 1])
    if job.step is STEPS[-1]:  # agents may be away for long, and know nobody by name
        job = replace(job, name="", accounts=())
    _put(tx, id, replace(job, behind=behind))


def again(tx: Tx, id: str, job: Job) -> None:
    """The present step is begun anew, later."""
    _put(tx, id, replace(job, behind=None))


def end(tx: Tx, id: str, job: Job) -> None:
    """It is done."""
    meta.drop(tx, UNDER_WAY + id)
    meta.keep(tx, DONE + id, dumps({"at": tx.now, "erased": job.erased}))


def ended(tx: Tx, id: str) -> Ended | None:
    """None: nobody was erased who was called so."""
    text = meta.get(tx, DONE + id)
    return None if text is None else Ended(**json.loads(text))


def all_of_them(tx: Tx) -> list[str]:
    """Whose erasure is not done."""
    return [key.removeprefix(UNDER_WAY) for key in meta.named(tx, UNDER_WAY)]


def _put(tx: Tx, id: str, job: Job) -> None:
    meta.keep(tx, UNDER_WAY + id, dumps(asdict(job)))


def _read(text: str | None) -> Job | None:
    if text is None:
        return None
    row = json.loads(text)
    accounts = tuple(Account(**each) for each in row.pop("accounts"))
    waits = tuple(row.pop("waits", ()))  # an older version did not know of it
    return Job(**{**row, "step": Step(row["step"]), "accounts": accounts, "waits": waits})
