"""Every page that the form can be, by name."""

from dataclasses import replace

from answerback.forms import FormView
from answerback.model import Action, Choice, InteractionStatus, OnExpire
from tests.unit.web.fakes import (
    CHOICE,
    CONFIRM,
    DATE,
    HOUR,
    NOW,
    NUMBER,
    OPEN_CHOICE,
    REVIEW,
    SEVERAL,
    TEXT,
    answered,
    interaction,
    view,
)

WORD = "Donaudampfschifffahrtsgesellschaftskapitänskajütenschlüssel" * 2
TO = {"name": "Ana Lima", "iban": "AT61 1904 3002 3457 3201", "address": {"city": "Graz", "zip": "8010"}}
LINES = [{"sku": "A-100", "name": "Desk lamp", "quantity": 2}, {"sku": WORD, "name": WORD, "quantity": 1}]
NESTED = replace(
    REVIEW, action=Action("pay_order", {"to": TO, "amount": 1234.5, "lines": LINES, "tags": ["x"]})
)
UNTIL = {"expires_at": NOW + 4 * HOUR}
EXPIRED = {"status": InteractionStatus.EXPIRED, "expires_at": NOW - HOUR}
LONG = replace(OPEN_CHOICE, text=WORD, choices=(Choice("1", WORD), Choice("2", "no")))

OPEN: dict[str, FormView] = {
    "text": view(interaction(TEXT, context="I found 0 documents with “costing”.", **UNTIL)),
    "choice": view(interaction(CHOICE, on_expire=OnExpire.CANCEL, **UNTIL)),
    "open choice": view(interaction(OPEN_CHOICE)),
    "long words": view(interaction(LONG, title=WORD, context=WORD)),
    "confirm": view(interaction(CONFIRM)),
    "confirm by code": view(interaction(CONFIRM), needs_code=True),
    "no way to a code": view(interaction(CONFIRM), needs_code=True, can_send_code=False),
    "several choices": view(interaction(SEVERAL)),
    "number": view(interaction(NUMBER)),
    "date": view(interaction(DATE), language="de"),
    "review": view(interaction(REVIEW, title="Billing", context="The order was charged twice.", **UNTIL)),
    "review of a nested call": view(interaction(NESTED, title="Billing", context="As agreed.", **UNTIL)),
    "several questions": view(
        interaction(TEXT, CONFIRM, OPEN_CHOICE, SEVERAL, NUMBER, replace(DATE, required=False), REVIEW)
    ),
}
CLOSED: dict[str, FormView] = {
    "answered by you": view(answered(interaction(CHOICE), "coding"), answerer="Ana", you=True),
    "answered by another": view(
        answered(interaction(CHOICE), "coding", by="ben", via="whatsapp"), answerer="Ben"
    ),
    "expired": view(interaction(CHOICE, **EXPIRED)),
}
PAGES = OPEN | CLOSED
