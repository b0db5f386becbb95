"""The provider in memory keeps the contract too, but for the proof that it does not ask for."""

from typing import Any, ClassVar

from answerback.provider import Button, Inbound, Provider, Sent
from answerback.testing import MemoryProvider, ProviderContract

PROOFS = (
    "test_what_is_not_proved_is_refused",
    "test_a_request_is_believed_with_its_proof_only",
    "test_a_request_that_was_changed_is_refused",
)


class TestMemory(ProviderContract):
    provider_class = MemoryProvider
    leaves_out: ClassVar = dict.fromkeys(PROOFS, "it believes everything: it is for tests")
    memory: MemoryProvider

    def make(self, there: Any) -> Provider:
        self.memory = MemoryProvider("contract")
        return self.memory

    async def reply(self, there: Any, sent: Sent, text: str) -> Inbound:
        return self.memory.typed(self.place, text, references=sent.message_ids)

    async def tap(self, there: Any, sent: Sent, button: Button) -> Inbound:
        return self.memory.tapped(self.place, button.label)

    async def sees(self, there: Any) -> list[str]:
        return self.memory.titles(self.place)
