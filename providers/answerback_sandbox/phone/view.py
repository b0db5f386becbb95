"""What a person's phone shows, as JSON for the page: every app on it, and everybody who has one."""

from collections.abc import Sequence
from typing import Protocol

from answerback_sandbox.changes import Changes
from answerback_sandbox.phone.http import Json
from answerback_sandbox.phone.owners import Owners
from answerback_sandbox.phone.switches import Panel
from answerback_sandbox.phone.telegram import Telegram
from answerback_sandbox.phone.whatsapp import WhatsApp
from answerback_sandbox.telegram import wire
from answerback_sandbox.telegram.state import Person
from answerback_sandbox.telegram.world import World


class Phones(Protocol):
    """What the page needs of the sandbox besides its apps."""

    world: World
    owners: Owners

    @property
    def changes(self) -> Changes: ...
    @property
    def people(self) -> Sequence[Person]: ...


def phone(box: Phones, person: int, telegram: Telegram, whatsapp: WhatsApp, panel: Panel) -> Json:
    """Everything a person sees now. Times are seconds since the Unix epoch. Raises SandboxError."""
    return {
        "version": box.changes.version,
        "now": wire.seconds(box.world.clock()),
        "people": [{"id": item.id, "name": item.first_name} for item in box.people],
        "person": person,
        **telegram.shows(person),
        "whatsapp": whatsapp.shows(person),
        "mail": {"address": box.owners.of(person).mail, "letters": []},
        "faults": panel.shows(),
    }
