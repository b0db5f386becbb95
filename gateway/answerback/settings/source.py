"""Where a setting stands, so that an error can point there without repeating a secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from answerback.errors import ConfigurationError
from answerback.settings import sentences

SHORTEST_HIDDEN = 4  # masking shorter values would mask every other word instead


@dataclass(frozen=True, slots=True)
class Source:
    """A file, or a part of it. `lines`: dotted path (`smtp.port`) → line from 1; 0: not in the file."""

    file: str
    base_dir: str
    lines: Mapping[str, int]
    prefix: str = ""  # how a path of this part begins when a person is told of it: "providers.telegram"
    line: int = 0
    hidden: frozenset[str] = field(default=frozenset(), repr=False)  # values that no text may show

    def line_of(self, path: str) -> int:
        """The line of `path`, or of the nearest thing around it."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path.rpartition(".")[0]
        return self.line

    def full(self, path: str) -> str:
        """`path` from the top of the file, for people; "" for the top itself."""
        steps = [part for part in (self.prefix, path) if part]
        return sentences.shown(".".join(steps)) if steps else ""

    def error(self, path: str, message: str) -> ConfigurationError:
        """The error to raise: `message`, without hidden values, at the line of `path`."""
        line = self.line_of(path)
        return ConfigurationError(self.masked(message), file=self.file if line else "", line=line)

    def masked(self, text: str) -> str:
        for value in sorted(self.hidden, key=len, reverse=True):
            if len(value) >= SHORTEST_HIDDEN:
                text = text.replace(value, "…")
        return text

    def hiding(self, values: frozenset[str]) -> "Source":
        return replace(self, hidden=self.hidden | values)
