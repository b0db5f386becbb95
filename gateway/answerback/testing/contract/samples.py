"""The messages that a gateway may hand over, each under the name of what is special about it."""

from collections.abc import Callable
from typing import Any

from answerback.provider import Address, Button, Message, MessageKind, Provider

TOKEN = "k3c9x7m2q8w4e6r1t5y0u2b7n4"  # as long as a real one: 128 bits in base 32
FORM = f"https://ask.example.org/f/{TOKEN}"
NO_LIMIT = 20_000  # characters of the longest message to a provider without a limit
DATA_LENGTH = 64  # bytes: the most that a button's data may have
YES_NO = (
    Button("Yes", f"{TOKEN}:0.y", means="yes"),
    Button("No", f"{TOKEN}:0.n", means="no"),
)
REVIEW = (
    Button("Approve", f"{TOKEN}:0.a"),
    Button("Reject", f"{TOKEN}:0.r"),
    Button("Change…", url=FORM),
)
CALL = (
    ("customer", "Ana Lima (c_8812)"),
    ("amount", "€ 100.00"),
    ("note", ""),
    ("reason", "charged twice; " * 40),
    ("dry run", "no"),
)


def question(to: Address, title: str = "Deploy now?", **fields: Any) -> Message:
    """A question as the gateway words one."""
    known: dict[str, Any] = {
        "heading": "🟦 Ops · release",
        "body": "All 214 tests passed.",
        "footer": "If you do nothing by 18:00 I stop. · #K7Q2",
        "subject": "Deploy now? [#K7Q2]",
        "form_url": FORM,
        "token": TOKEN,
        "code": "K7Q2",
        "delivery_id": "0192-d1",
        "interaction_id": "0192-i1",
        "placeholder": "Your answer",
    }
    return Message(to, MessageKind.QUESTION, title, **{**known, **fields})


def outcome(to: Address, title: str = "✅ You chose “Yes” · 14:02. Going on.") -> Message:
    """What stands in the place of a question that was answered."""
    return Message(to, MessageKind.OUTCOME, title, delivery_id="0192-d9", interaction_id="0192-i1")


def options(count: int) -> tuple[Button, ...]:
    """So many choices; the data of the last has as many bytes as are allowed."""
    made = [Button(f"Option {place}", f"{TOKEN}:0.{place}") for place in range(1, count)]
    return (*made, Button(f"Option {count}", f"{TOKEN}:0.".ljust(DATA_LENGTH, "z")))


def _of_length(to: Address, length: int) -> Message:
    bare = question(to, "", body="", footer="#K7Q2", heading="")
    words = "a long reason and so on ".ljust(24)
    room = length - len(bare.text) - 2 * len("\n\n") - len("Why?")
    body = (words * (room // len(words) + 1))[: max(room, 0)].rstrip().ljust(max(room, 0), ".")
    return question(to, "Why?", body=body, footer="#K7Q2", heading="")


def _limit(provider: type[Provider]) -> int:
    return provider.max_length or NO_LIMIT


Make = Callable[[Address, type[Provider]], Message]
SAMPLES: dict[str, Make] = {
    "a question": lambda to, _: question(to),
    "nothing but a title": lambda to, _: Message(to, MessageKind.NOTICE, "Done.", delivery_id="0192-d1"),
    "a confirmation": lambda to, _: question(to, buttons=YES_NO, placeholder=""),
    "one choice": lambda to, _: question(to, buttons=options(1)),
    "as many choices as fit": lambda to, p: question(to, buttons=options(max(p.max_choices, 1))),
    "more choices than fit": lambda to, p: question(to, buttons=options(p.max_choices + 3)),
    "long labels": lambda to, _: question(
        to, buttons=(Button("Ja, " + "und zwar 👍 " * 20, f"{TOKEN}:0.1"), Button("…", f"{TOKEN}:0.2"))
    ),
    "the same label twice": lambda to, _: question(
        to, buttons=(Button("A", f"{TOKEN}:0.1"), Button("A", f"{TOKEN}:0.2"))
    ),
    "a review of an action": lambda to, _: question(to, "refund_payment", fields=CALL, buttons=REVIEW),
    "only a button that opens a page": lambda to, _: question(to, buttons=(Button("Open", url=FORM),)),
    "as long as the limit": lambda to, p: _of_length(to, _limit(p)),
    "longer than the limit": lambda to, p: _of_length(to, 2 * _limit(p) + 7),
    "a hundred lines": lambda to, _: question(to, body="\n".join(f"line {row}" for row in range(100))),
    "emoji": lambda to, _: question(to, "👩‍👩‍👧‍👦 e\u0301 🇦🇹 👍🏽?", heading="🟥", body="🎉" * 50),
    "right to left": lambda to, _: question(
        to, "هل أنشر الآن؟", heading="שלום", buttons=(Button("نعم", f"{TOKEN}:0.y"),), language="ar"
    ),
    "Chinese": lambda to, _: question(to, "现在部署吗？", heading="运维", language="zh"),
    "control characters": lambda to, _: question(
        to, "a\x07\x1b[2J b\u202ec\u2066d", body="tab\there\r\nand a line\u2028or two\x85\ufeff"
    ),
    "what looks like markup": lambda to, _: question(
        to, "*a* _b_ `c` [d](http://e) <b>&amp;</i> {{1}} {0} %s $f ~g~ |h| \\n #i", body="=?utf-8?q?j?="
    ),
    "a reminder": lambda to, _: Message(
        to, MessageKind.REMINDER, "Deploy now?", heading="⏳ Still waiting, 40 min left.", form_url=FORM,
        token=TOKEN, code="K7Q2", delivery_id="0192-d2", reply_to=("an id that is gone",), buttons=YES_NO,
    ),
    "an outcome": lambda to, _: outcome(to),
    "a notice": lambda to, _: Message(
        to, MessageKind.NOTICE, "📄 Report ready.", body="12 passages.", delivery_id="0192-d3"
    ),
    "a notice with a link and something to tap": lambda to, _: Message(
        to, MessageKind.NOTICE, "⚠️ Research stopped.", form_url=FORM, delivery_id="0192-d5",
        buttons=(Button("Open", url=FORM), Button("Try again", f"{TOKEN}:retry")),
    ),
    "a sentence of the conversation": lambda to, _: Message(
        to, MessageKind.CONVERSATION, "Which one is “yes” for?", buttons=options(2), token=TOKEN,
        delivery_id="0192-d4", form_url=FORM,
    ),
    "with a deadline": lambda to, _: question(to, expires_at=4_000_000_000_000_000),
}  # fmt: skip
