"""Composes delivery rows: who is told what, where. Runs inside the transaction that decides it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from answerback.disturbing import after_quiet
from answerback.known import Know, known_of
from answerback.model import Address, Interaction, InteractionStatus, Json, MessageKind
from answerback.provider import Pace
from answerback.render import says_less
from answerback.standing import StandIns
from answerback.steps import Step, one_by_one
from answerback.store import Row, Tx, contacts, deliveries, gone, interactions, pace
from answerback.store.codec import dumps
from answerback.store.pace import Turn
from answerback.tokens import Tokens, hashed

FORM = "form"  # the built-in way: a link that anybody may hand on
CALLER = "@callback_url"  # the built-in way back to whoever asked over HTTP; no provider can be called that
CALLBACK = "callback"  # what is posted there
TOLD = 86_400_000_000  # microseconds between two sentences to the same stranger
UNSURE = 60_000_000  # microseconds in which nobody is asked again after a message that may have arrived
SHOWN = frozenset({"sent", "delivered", "read"})


@dataclass(slots=True)
class Follows:
    """What follows from what became of a message: deliveries, whom no address is left for, what ended."""

    rows: list[Row] = field(default_factory=list)
    unreached: list[Row] = field(default_factory=list)  # deliveries that failed at the last address
    dead: list[str] = field(default_factory=list)  # providers that an address turned out to be dead on
    ended: list[str] = field(default_factory=list)  # interactions that were withdrawn because of it


@dataclass(frozen=True, slots=True)
class Outbox:
    """Adds deliveries, already claimed by this process where pace allows, so that no claim is needed."""

    owner: str
    paces: Mapping[str, Pace]  # by provider name: those that this process can send on
    tokens: Tokens
    edits: frozenset[str] = frozenset()  # names of the providers that can edit what they sent
    stand_ins: StandIns = field(default_factory=StandIns)

    alone: Mapping[str, Callable[[str, str], str]] = field(default_factory=dict)  # `Provider.alone`, by name
    chats: frozenset[str] = frozenset()  # names of the providers that ask several questions one by one

    def question(
        self,
        tx: Tx,
        record: Interaction,
        address: Address,
        kind: MessageKind = MessageKind.QUESTION,
        *,
        unless: Row | None = None,
        away: str = "",
        by: str = "",
        step: Step | None = None,
        lost_since: int = 0,
        awake: bool = False,
    ) -> Row:
        """Ask at one address; its token is what a reply will carry back.

        `step`: of several questions, which one is asked now; the first, where they are asked one by one.
        `unless`: a delivery that may have arrived: this one waits a minute, and is not sent if it did.
        `away`: the provider that this one stands in for, because it does not answer.
        `by`: the name of who handed it on.
        `lost_since`: an answer that was given there after that is lost.
        `awake`: they have just asked for it, so it comes at once in their quiet hours too.
        """
        id = interactions.new_id()
        first = kind is MessageKind.QUESTION
        if step is None and one_by_one(record) and address.provider in self.chats:
            step = None if self._is_among(address) else Step()
        if not address.reachable:  # put to the test: if it is still dead, it is marked again
            tx.run(contacts.UNREACHABLE, address=address.id, why="")
        answered = first and step is not None and step.place > 0  # they have just answered the one before
        quiet = 0 if awake or answered else after_quiet(tx, address.contact, record.expires_at)
        return self._add(
            tx,
            not_before=max(quiet, tx.now + UNSURE if unless else 0),
            known=(lambda: known_of(tx, address.contact, record)) if first else None,
            content=dumps(
                ({"unless": unless["id"]} if unless else {})
                | ({"away": away} if away else {})
                | ({"by": by} if by else {})
                | ({"lost_since": lost_since} if lost_since else {})
                | ({"wanted": True} if awake else {})
                | (step.content() if step else {})
            ),
            id=id,
            interaction_id=record.id,
            run_id=record.run_id,
            contact_id=address.contact,
            address_id=address.id,
            provider=address.provider,
            external_id=address.external_id,
            place=address.place,
            kind=str(kind),
            open=1,
            token_hash=hashed(self.tokens.of(id)),
        )

    def link(self, tx: Tx, record: Interaction) -> str:
        """The interaction's own form link: a delivery that nobody has to send. Its id."""
        id = interactions.new_id()
        deliveries.add(
            tx,
            id=id,
            interaction_id=record.id,
            run_id=record.run_id,
            provider=FORM,
            kind="question",
            status="sent",
            open=1,
            token_hash=hashed(self.tokens.of(id)),
            next_attempt_at=None,
        )
        return id

    def outcomes(self, tx: Tx, record: Interaction) -> list[Row]:
        """Tell every copy of a closed question how it ended; where nothing can be edited, each place once."""
        rows = [row for row in deliveries.shut(tx, record.id) if _was_shown(row)]
        rows = [row for row in rows if self._listens(row)]
        latest = {(row["provider"], row["place"]): row["id"] for row in rows}
        told = [row for row in rows if row["provider"] in self.edits or row["id"] in latest.values()]
        return [*(self.outcome(tx, record, row) for row in told), *self.callback(tx, record)]

    def told_again(self, tx: Tx, record: Interaction) -> list[Row]:
        """Whoever was told how a question ended is told again: something else is known of it now."""
        sent = {row["id"]: row for row in tx.all(deliveries.OF, interaction_id=record.id)}
        told = dict.fromkeys(row["of_delivery"] for row in sent.values() if _tells_end(row))
        return [self.outcome(tx, record, sent[id]) for id in told if id in sent]

    def callback(self, tx: Tx, record: Interaction) -> list[Row]:
        """Post how a question ended to its asker, if that is wanted."""
        if not record.callback_url:
            return []
        return [
            self._add(
                tx,
                id=interactions.new_id(),
                interaction_id=record.id,
                provider=CALLER,
                place=(urlsplit(record.callback_url).hostname or "").lower(),
                kind=CALLBACK,
                content=dumps({"at": tx.now}),
            )
        ]

    def notice(self, tx: Tx, notice: Row, address: Address) -> Row:
        """Tell at one address what asks nothing; its token opens the page that shows all of it."""
        id = interactions.new_id()
        content = {"text": notice["content"], "title": notice["title"], "agent": notice["agent"]}
        return self._add(
            tx,
            not_before=after_quiet(tx, address.contact, None),
            known=lambda: known_of(tx, address.contact, None),
            id=id,
            notice_id=notice["id"],
            contact_id=address.contact,
            address_id=address.id,
            provider=address.provider,
            external_id=address.external_id,
            place=address.place,
            kind="notice",
            content=dumps(content | {"sensitive": bool(notice["sensitive"])}),
            token_hash=hashed(self.tokens.of(id)),
        )

    def edited(self, tx: Tx, record: Interaction, row: Row, content: Json) -> Row:
        """Edit a copy of a question that goes on: one of several was answered there, or it was handed on."""
        return self._add(
            tx,
            id=interactions.new_id(),
            interaction_id=record.id,
            run_id=record.run_id,
            kind="outcome",
            of_delivery=row["id"],
            content=dumps(content),
            **_same_place(row),
        )

    def outcome(self, tx: Tx, record: Interaction, row: Row) -> Row:
        """Edit one sent copy to the outcome (or say it, where editing is not possible)."""
        closed = record.status is not InteractionStatus.PENDING  # else the record is older than its end
        return self._add(
            tx,
            known=(lambda: known_of(tx, row["contact_id"], record, row)) if closed else None,
            id=interactions.new_id(),
            interaction_id=record.id,
            run_id=record.run_id,
            kind="outcome",
            of_delivery=row["id"],
            **_same_place(row),
        )

    def conversation(
        self, tx: Tx, to: Row, key: str, args: Json, *, interaction_id: str = "", step: Step | None = None
    ) -> Row:
        """Say something at the place of `to` (a delivery's row, or one made by `place_of`)."""
        return self._add(
            tx,
            id=interactions.new_id(),
            interaction_id=interaction_id,
            kind="conversation",
            of_delivery=to.get("id", ""),
            content=dumps({"key": key, "args": args} | ({"step": step.place} if step else {})),
            **_same_place(to),
        )

    def notices(self, tx: Tx, run_id: str, content: Json, started: str = "") -> list[Row]:
        """Tell everybody who was asked in a run, where they still are; `content` is what `deliver` renders.

        `started` is the message that told whoever started it by one: they hear of it in any case.
        Where the end leaves something to open or to do, the token of each opens the page of the run.
        """
        asked: dict[tuple[str, str], Row] = {}
        row = tx.one(deliveries.GET, id=started) if started else None
        if row is not None and not gone.is_lost(tx, row):
            asked[row["provider"], row["place"]] = row
        for row in gone.told_in_run(tx, run_id):
            if _was_shown(row) and self._listens(row):
                asked[row["provider"], row["place"]] = row
        return [self._notice(tx, run_id, content, row) for row in asked.values()]

    def _listens(self, row: Row) -> bool:
        """A program that answers in place of people is told nothing further."""
        stand_in = self.stand_ins.known.get(row["provider"])
        return stand_in is None or stand_in.listens

    def _notice(self, tx: Tx, run_id: str, content: Json, row: Row) -> Row:
        id = interactions.new_id()
        return self._add(
            tx,
            not_before=after_quiet(tx, row["contact_id"], None),
            known=lambda: known_of(tx, row["contact_id"], None, row),
            id=id,
            run_id=run_id,
            kind="notice",
            of_delivery=row["id"],
            content=dumps(content),
            token_hash=hashed(self.tokens.of(id)) if says_less(content) else "",
            **_same_place(row),
        )

    def stranger(self, tx: Tx, provider: str, external_id: str, place: str) -> list[Row]:
        """One sentence a day to an account that nobody is linked to."""
        if not pace.once(tx, f"stranger:{provider}", external_id, TOLD):
            return []
        to = place_of(provider, external_id, place)
        return [self.conversation(tx, to, "stranger", {})]

    def _add(self, tx: Tx, not_before: int = 0, known: Know | None = None, **row: Json) -> Row:
        if not_before > tx.now:
            return deliveries.add(tx, status="queued", next_attempt_at=not_before, **row)
        if row["provider"] not in self.paces:  # another process may have this provider
            return deliveries.add(tx, status="queued", next_attempt_at=tx.now, **row)
        turn = self._turn(tx, row)
        if turn.at > tx.now:
            waiting = {
                "next_attempt_at": turn.at,
                "lease_owner": deliveries.ITS_TURN if turn.reserved else "",
            }
            return deliveries.add(tx, status="queued", **waiting, **row)
        claimed = {"lease_owner": self.owner, "attempts": 1, "next_attempt_at": tx.now + deliveries.LEASE}
        return deliveries.add(tx, status="queued", **claimed, **row) | {"known": known() if known else None}

    def claim(self, tx: Tx, limit: int) -> list[Row]:
        """Due deliveries whose turn it is, claimed for this process."""
        return deliveries.claim(tx, self.owner, limit, lambda row: self._turn(tx, row))

    def _turn(self, tx: Tx, row: Row) -> Turn:
        """When the provider may be sent this one."""
        allowed = self.paces.get(row["provider"])
        if allowed is None:
            return Turn(tx.now)
        return pace.turn(tx, row["provider"], row["place"], allowed.account, self._rate(allowed, row))

    def _rate(self, allowed: Pace, row: Row) -> float:
        """Messages a second to the place of a delivery."""
        return allowed.shared if allowed.shared and self.is_shared(row) else allowed.place

    def is_shared(self, row: Row) -> bool:
        """Whether others read the place of a delivery or an address too."""
        alone = self.alone.get(row["provider"])
        return alone is not None and alone(row["external_id"], row["place"]) != row["place"]

    def _is_among(self, address: Address) -> bool:
        return self.is_shared(
            {"provider": address.provider, "external_id": address.external_id, "place": address.place}
        )

    def ours(self, rows: list[Row]) -> list[Row]:
        """Those that were born claimed, to be sent right after the commit."""
        return [row for row in rows if row["lease_owner"] == self.owner]


def place_of(provider: str, external_id: str, place: str, contact_id: str = "") -> Row:
    """Somewhere to say something that belongs to no delivery."""
    return {
        "provider": provider,
        "external_id": external_id,
        "place": place,
        "contact_id": contact_id,
        "address_id": "",
    }


def _was_shown(row: Row) -> bool:
    asks = row["kind"] in ("question", "reminder") and row["provider"] != FORM
    return asks and row["status"] in SHOWN


def _tells_end(row: Row) -> bool:
    return bool(row["kind"] == "outcome" and row["content"] == "{}")


def _same_place(row: Row) -> Row:
    return {key: row[key] for key in ("provider", "external_id", "place", "contact_id", "address_id")}
