"""evidence: what a reply carries, looked up: which of its sender's questions it may be for."""

from dataclasses import dataclass

from answerback.match import Evidence, Open, find_codes
from answerback.model import Interaction, Question
from answerback.provider import Reply
from answerback.receipts import ASKS
from answerback.steps import is_about_one
from answerback.store import Row, Tx, deliveries, gone, interactions, restored
from answerback.store.codec import loads
from answerback.tokens import hashed

OPEN_LIMIT = 10  # questions offered at "which one?"
UNREAD = 2_000_000  # microseconds in which nobody gets a question, reads it and has an answer back here
MOST_CODES = 10  # in a text: each is looked up, and anybody can write a mail with thousands


@dataclass(slots=True)
class Gathered:
    """The evidence, and what was looked up for it, by id, so that nothing is looked up twice."""

    evidence: Evidence
    records: dict[str, Interaction]
    rows: dict[str, Row]
    about_notice: bool = False  # it names a message that asked nothing, and no question
    below: str = ""  # the message that was tapped or replied to, where nobody knew that it is there

    @property
    def questions(self) -> list[Question]:
        """All that a text could answer: a word that is one of their choices is no command."""
        found = [self.records[candidate.interaction_id] for candidate in self.evidence.open_for_sender]
        return [question for record in found for question in record.questions]


def gather(tx: Tx, provider: str, reply: Reply, contact: str) -> Gathered | None:
    """The evidence; None when the reply is about something that this sender may not answer (law 7)."""
    token, asked = _asked_by(tx, reply)
    referenced = [row for id in reply.references if (row := _by_message(tx, provider, id, token))]
    if not reply.private:
        own = {row["id"]: _own_copy(tx, row, provider, reply, contact) for row in referenced}
        referenced = [*own.values()]
        token = own.get(token["id"], token) if token is not None else None  # tapped under the question itself
    named = [*([token] if token else []), *referenced]
    if any(not may_answer(row, provider, reply, contact) or is_taken_back(tx, row) for row in named):
        return None
    codes = find_codes(reply.text)
    coded = [
        row
        for code in (codes if len(codes) <= MOST_CODES else ())  # a list of them names no question
        for row in tx.all(deliveries.BY_CODE, code=code, provider=provider, external_id=reply.sender)
        if may_answer(row, provider, reply, contact) and not is_taken_back(tx, row)
    ]
    coded.sort(key=lambda row: bool(row["open"]))  # of several one by one, the one that is asked now is last
    open_: list[Row] = []
    if token is None or not reply.data:  # a tap names its question: nothing else can be meant
        open_ = tx.all(deliveries.OPEN_FOR, **_at(provider, reply), limit=OPEN_LIMIT)
    elsewhere = [] if open_ or reply.data else open_elsewhere(tx, provider, reply, contact)
    open_ = open_ or elsewhere
    seen = _Seen(tx, {asked.id: asked} if asked is not None else {}, {})
    about_questions = seen.all(referenced)
    evidence = Evidence(
        token_delivery=seen.one(token) if token and token["interaction_id"] else None,
        referenced_deliveries=about_questions,
        codes=seen.all(coded),
        open_for_sender=seen.all(open_),
        doubtful=reply.partial
        or bool(_token(reply) and token is None)  # of something that asks nothing any more
        or bool(codes and not coded)
        or bool(elsewhere)  # nobody writes here to what stands there
        or (token is not None and not token["interaction_id"])
        or bool(reply.references and not about_questions)
        or any(not _was_read(reply, row, tx.now) or not seen.is_readable(row) for row in open_)
        or (not named and not coded and bool(open_) and restored.may_mislead(tx, open_)),
    )
    asks = evidence.token_delivery or about_questions or evidence.codes
    is_shown = bool(reply.data) or reply.shows
    below = "".join(reply.references[:1]) if is_shown and not referenced else ""
    about_notice = not asks and any(row["notice_id"] for row in named)
    return Gathered(evidence, seen.records, seen.rows, about_notice, below)


@dataclass(slots=True)
class _Seen:
    tx: Tx
    records: dict[str, Interaction]
    rows: dict[str, Row]

    def one(self, row: Row) -> Open:
        """What a delivery asked."""
        id = row["interaction_id"]
        if id not in self.records:
            record = interactions.get(self.tx, id)
            assert record is not None
            self.records[id] = record
        self.rows[row["id"]] = row
        asked = self.records[id]
        texts = tuple(question.text for question in asked.questions)
        return Open(id, row["id"], asked.code, texts, asked.status)

    def is_readable(self, row: Row) -> bool:
        """Whether the question of a delivery can be told."""
        self.one(row)
        return self.records[row["interaction_id"]].readable

    def all(self, rows: list[Row]) -> tuple[Open, ...]:
        """The newest delivery of each interaction (a reminder repeats its question)."""
        newest = {row["interaction_id"]: row for row in rows if row["interaction_id"]}
        found = tuple(self.one(row) for row in newest.values())
        return tuple(one for one in found if self.records[one.interaction_id].readable)


def is_for_us(reply: Reply) -> bool:
    """Where others read too, people also talk to each other: only what turns to us is read."""
    return bool(
        reply.private
        or reply.data
        or reply.token
        or reply.references
        or reply.called
        or reply.text.lstrip().startswith("/")
        or find_codes(reply.text)
    )


def uncalled(reply: Reply, text: str) -> str:
    """What is read of a text: all but what calls us."""
    return text.replace(reply.called, "").strip().lstrip(",: ") if reply.called else text


def by_token(tx: Tx, reply: Reply) -> Row | None:
    """The delivery whose token came back, in a tapped button or a reply address."""
    token = _token(reply)
    return tx.one(deliveries.BY_TOKEN, hash=hashed(token)) if token else None


def _asked_by(tx: Tx, reply: Reply) -> tuple[Row | None, Interaction | None]:
    """The delivery whose token came back, with what it asks."""
    token = _token(reply)
    return deliveries.asked_by(tx, hashed(token)) if token else (None, None)


def _token(reply: Reply) -> str:
    return reply.data.partition(":")[0] or reply.token


def _by_message(tx: Tx, provider: str, message_id: str, known: Row | None) -> Row | None:
    """The delivery that became a message. A tap names the one that its token names: that is `known`."""
    if known is not None and known["provider"] == provider and message_id in loads(known["message_ids"]):
        return known
    row = tx.one(deliveries.BY_MESSAGE, provider=provider, message_id=message_id)
    return _whose_step(tx, row) if row is not None else None


def _whose_step(tx: Tx, row: Row) -> Row:
    """The delivery itself, or that of one of several questions, where a sentence of ours was about it."""
    while is_about_one(row):
        about = tx.one(deliveries.GET, id=row["of_delivery"])
        if about is None or about["interaction_id"] != row["interaction_id"]:
            break
        row = about
    return row


def _own_copy(tx: Tx, row: Row, provider: str, reply: Reply, contact: str) -> Row:
    """A copy of a question; where the copy beside it is another person's, it is taken for one's own.

    Only the question itself: what was said to one of them is about what that one wrote.
    """
    if row["kind"] not in ASKS or row["place"] != reply.place or may_answer(row, provider, reply, contact):
        return row
    copies = tx.all(deliveries.OF, interaction_id=row["interaction_id"])
    own = [each for each in copies if each["kind"] in ASKS and may_answer(each, provider, reply, contact)]
    return own[-1] if own else row


def open_elsewhere(tx: Tx, provider: str, reply: Reply, contact: str) -> list[Row]:
    """What was asked where others read too, of whoever writes in their own chat."""
    if not _is_own(reply):
        return []
    found = tx.all(deliveries.OPEN_ELSEWHERE, **_at(provider, reply), limit=OPEN_LIMIT)
    return [row for row in found if may_answer(row, provider, reply, contact)]


def _at(provider: str, reply: Reply) -> dict[str, str]:
    return {"provider": provider, "external_id": reply.sender, "place": reply.place}


def may_answer(row: Row, provider: str, reply: Reply, contact: str) -> bool:
    """Only the account that was asked, while it is still that person's: there, or in its own chat."""
    asked = row["provider"], row["external_id"], row["contact_id"]
    there = row["place"] == reply.place or _is_own(reply)
    return bool(there and asked == (provider, reply.sender, contact))


def _is_own(reply: Reply) -> bool:
    """Whether it was written in the chat that is called as its sender is: nobody else can write there."""
    return reply.private and reply.place == reply.sender


def is_taken_back(tx: Tx, row: Row) -> bool:
    """Whether its question was taken back from this person: not who handed it on, who hears whose it is."""
    if not gone.taken_back(tx, row):
        return False
    record = interactions.get(tx, row["interaction_id"])
    return record is None or row["contact_id"] not in record.route.get("delegated", ())


def _was_read(reply: Reply, row: Row, now: int) -> bool:
    """Whether the question can have been seen by whoever wrote this: a text that waited at the service

    since before it was asked was meant for something else, and so may one of the same second. (Services tell
    times in whole seconds; nobody reads and writes in less.) Our clock and the service's may differ by hours:
    what it says of both is compared, or else a text that it takes for later than now shows that they do.
    """
    if row["sent_at"] is None:
        return False
    if reply.untimed:
        return bool(now >= row["sent_at"] + UNREAD)
    if reply.sent_at is None:
        return True
    if row["service_at"] is not None:
        return bool(reply.sent_at > row["service_at"])
    return bool(row["sent_at"] <= reply.sent_at <= now + UNREAD)
