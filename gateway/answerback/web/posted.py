"""What a browser posted: the fields of a form, decoded strictly, in the order in which they stand."""

from collections.abc import Iterator
from urllib.parse import parse_qsl

from answerback.web.problems import Problem

MOST_FIELDS = 2000


class Posted:
    """The fields of one post. Line ends are what the person typed: browsers send CRLF for each."""

    def __init__(self, pairs: list[tuple[str, str]] | None = None) -> None:
        self._pairs = [(name, value.replace("\r\n", "\n")) for name, value in pairs or []]

    def one(self, name: str, default: str = "") -> str:
        """The value of a field; one that came more than once, as from no page of ours, says nothing."""
        values = self.all(name)
        return values[0] if len(values) == 1 else default

    def all(self, name: str) -> list[str]:
        """Every value of a field, for check boxes."""
        return [value for field, value in self._pairs if field == name]

    def has(self, name: str) -> bool:
        """Whether the field was posted at all."""
        return name in self

    def __contains__(self, name: str) -> bool:
        return any(field == name for field, _ in self._pairs)

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self._pairs))

    def __bool__(self) -> bool:
        return bool(self._pairs)


def parse(body: bytes) -> Posted:
    """The fields of an `application/x-www-form-urlencoded` body in UTF-8. Raises `Problem` 422."""
    try:
        text = body.decode("utf-8")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError:  # includes what is not UTF-8
        raise Problem(422, "does-not-fit", "This is not a form that was sent in UTF-8.") from None
    return Posted(pairs)
