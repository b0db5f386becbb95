"""The journal: what a graph's nodes were told, kept where a killed process leaves it behind."""

import json
from pathlib import Path


class Journal:
    """One line for each answer that reached a node."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def note(self, line: str) -> None:
        with (self._folder / "journal.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")

    def lines(self) -> list[str]:
        file = self._folder / "journal.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def first_time(self, what: str) -> bool:
        """True once, also across restarts."""
        try:
            (self._folder / f"once-{what}").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def count(self, what: str) -> int:
        """How often this has been called, also across restarts."""
        number = 1
        while not self.first_time(f"{what}-{number}"):
            number += 1
        return number
