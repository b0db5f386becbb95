"""A mailbox as one client was told of it: numbers, what came and went, searching, fetching, flags.

Numbers count from 1 and change when a mail goes; UIDs never change (RFC 3501, section 2.3.1).
"""

from collections.abc import Iterator

from answerback_sandbox.changes import Changes
from answerback_sandbox.mail.imap_fetch import flag_of, item_of, items_of, marks_seen
from answerback_sandbox.mail.imap_words import Bad, No, Words, atom, numbers, search
from answerback_sandbox.mail.letters import SEEN
from answerback_sandbox.mail.state import Kept, Mailbox

FLAGS = r"(\Answered \Flagged \Deleted \Seen \Draft)"


class View:
    """`writable` is False for whoever opened it with EXAMINE."""

    def __init__(self, box: Mailbox, changes: Changes, *, writable: bool) -> None:
        self._box, self._changes, self.writable = box, changes, writable
        self._kept = box.inbox

    def greeting(self) -> list[str]:
        """What SELECT is answered with."""
        return [
            f"* {len(self._kept)} EXISTS",
            "* 0 RECENT",
            f"* FLAGS {FLAGS}",
            f"* OK [PERMANENTFLAGS {FLAGS if self.writable else '()'}] kept",
            f"* OK [UIDVALIDITY {self._box.validity}] UIDs are valid",
            f"* OK [UIDNEXT {self._box.next_uid}] the next",
        ]

    def news(self, *, gone: bool) -> list[str]:
        """What came, and (with `gone`) what went since the client was told last."""
        rows: list[str] = []
        if gone:
            for number in range(len(self._kept), 0, -1):
                if self._kept[number - 1].uid not in self._box.kept:
                    del self._kept[number - 1]
                    rows.append(f"* {number} EXPUNGE")
        known = {kept.uid for kept in self._kept}
        last = self._kept[-1].uid if self._kept else 0
        new = [kept for kept in self._box.inbox if kept.uid > last and kept.uid not in known]
        self._kept += new
        return [*rows, f"* {len(self._kept)} EXISTS", "* 0 RECENT"] if new else rows

    def search(self, name: str, rest: Words) -> str:
        """Numbers, or UIDs, of what is meant. Raises Bad, No."""
        if rest and str(rest[0]).upper() == "CHARSET":
            if len(rest) < 2 or atom(rest[1]).upper() not in ("US-ASCII", "UTF-8"):
                raise No("[BADCHARSET (US-ASCII UTF-8)] unknown charset")
            rest = rest[2:]
        if not rest:
            raise Bad("SEARCH takes a criterion")
        found = search(rest, self._kept)
        shown = [kept.uid if name.startswith("UID") else number for number, kept in found]
        return " ".join(["* SEARCH", *map(str, shown)])

    def fetch(self, name: str, rest: Words) -> Iterator[bytes]:
        """An answer for each mail that is meant, its line end too. Raises Bad."""
        if len(rest) != 2:
            raise Bad("FETCH takes a set and what to fetch")
        items = items_of(rest[1])
        if name.startswith("UID") and "UID" not in items:
            items = ["UID", *items]
        marks = self.writable and any(marks_seen(item) for item in items)
        for number, kept in self._meant(name, atom(rest[0])):
            parts = [item_of(item, kept) for item in items]
            if marks and SEEN not in kept.flags:
                kept.flags.add(SEEN)
                self._changes.touch()
            yield f"* {number} FETCH (".encode() + b" ".join(parts) + b")\r\n"

    def store(self, name: str, rest: Words) -> list[str]:
        """Set flags; what the flags are now, unless that is not asked for. Raises Bad, No."""
        self._require_writable()
        if len(rest) < 3:
            raise Bad("STORE takes a set, what to do, and flags")
        deed, silent = atom(rest[1]).upper().removesuffix(".SILENT"), "SILENT" in atom(rest[1]).upper()
        if deed not in ("FLAGS", "+FLAGS", "-FLAGS"):
            raise Bad("STORE takes FLAGS, +FLAGS or -FLAGS")
        flags = {flag_of(atom(word)) for word in (rest[2] if isinstance(rest[2], list) else rest[2:])}
        rows = []
        for number, kept in self._meant(name, atom(rest[0])):
            kept.flags = {"+": kept.flags | flags, "-": kept.flags - flags}.get(deed[0], flags)
            uid = f"UID {kept.uid} " if name.startswith("UID") else ""
            rows.append(f"* {number} FETCH ({uid}FLAGS ({' '.join(sorted(kept.flags))}))")
        self._changes.touch()
        return [] if silent else rows

    def expunge(self) -> None:
        """Take out what is flagged as deleted; `news` says so. Raises No."""
        self._require_writable()
        for kept in [kept for kept in self._box.inbox if r"\Deleted" in kept.flags]:
            del self._box.kept[kept.uid]
        self._changes.touch()

    def _meant(self, name: str, text: str) -> list[tuple[int, Kept]]:
        """The mails of a set of numbers or of UIDs; UIDs that are not there are passed over."""
        if name.startswith("UID"):
            return search(["UID", text], self._kept)
        ranges = numbers(text, len(self._kept))
        if any(not 1 <= number <= len(self._kept) for pair in ranges for number in pair):
            raise Bad("there is no mail of that number")
        return search([text], self._kept)

    def _require_writable(self) -> None:
        if not self.writable:
            raise No("[READ-ONLY] the mailbox was opened with EXAMINE")
