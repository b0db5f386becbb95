"""What keys do to a line that is being typed. Pure: keys in, lines out."""

from dataclasses import dataclass, field

LONGEST = 10_000  # characters of one line; what comes after them is not taken
END = None  # stands for Ctrl-D on an empty line


@dataclass(slots=True)
class Editor:
    """One line. `typed` is what stands in it now."""

    typed: str = ""
    _escape: str = field(default="")

    def feed(self, keys: str) -> list[str | None]:
        """The lines that these keys complete, in order; `END` where the person wants to give none."""
        done: list[str | None] = []
        for key in keys:
            if self._escape:
                self._in_sequence(key)
            elif key in "\r\n":
                done.append(self.typed)
                self.typed = ""
            elif key == "\x04":
                done += [END] if not self.typed else []
            else:
                self._edit(key)
        return done

    def clear(self) -> None:
        """Forget what was typed."""
        self.typed, self._escape = "", ""

    def _edit(self, key: str) -> None:
        match key:
            case "\x7f" | "\x08":
                self.typed = self.typed[:-1]
            case "\x15":  # Ctrl-U: the line
                self.typed = ""
            case "\x17":  # Ctrl-W: the last word
                head, blank, _ = self.typed.rstrip().rpartition(" ")
                self.typed = head + blank
            case "\x1b":
                self._escape = key
            case _ if key.isprintable() and len(self.typed) < LONGEST:
                self.typed += key

    def _in_sequence(self, key: str) -> None:
        """An arrow or the like: nothing of it is typed. ECMA-48: ESC [, parameters, one final character."""
        self._escape += key
        if self._escape == "\x1b[" or self._escape == "\x1bO":
            return
        is_final = "\x40" <= key <= "\x7e" or not self._escape.startswith(("\x1b[", "\x1bO"))
        if is_final or len(self._escape) > 32:
            self._escape = ""
