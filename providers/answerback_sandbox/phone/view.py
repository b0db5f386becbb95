"""What a person's phone shows, as JSON for the page: every app on it, and everybody who has one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from answerback_sandbox.changes import Changes
from answerback_sandbox.people import Reach
from answerback_sandbox.phone.http import Json
from answerback_sandbox.phone.mail import Mail
from answerback_sandbox.phone.switches import Breakable, panel
from answerback_sandbox.phone.telegram import Telegram
from answerback_sandbox.phone.whatsapp import WhatsApp
from answerback_sandbox.telegram import wire
from answerback_sandbox.telegram.world import World


class Phones(Breakable, Protocol):
    """What the page needs of the sandbox besides its apps."""

    world: World

    @property
    def changes(self) -> Changes: ...
    @property
    def everyone(self) -> Sequence[Reach]: ...


@dataclass(frozen=True, slots=True)
class Apps:
    """What is on a phone."""

    telegram: Telegram
    whatsapp: WhatsApp
    mail: Mail


def phone(box: Phones, person: int, apps: Apps) -> Json:
    """Everything a person sees now. Times are seconds since the Unix epoch. Raises SandboxError."""
    return {
        "version": box.changes.version,
        "now": wire.seconds(box.world.clock()),
        "people": [{"id": item.id, "name": item.name} for item in box.everyone],
        "person": person,
        **apps.telegram.shows(person),
        "whatsapp": apps.whatsapp.shows(person),
        "mail": apps.mail.shows(person),
        "faults": panel(box),
    }
