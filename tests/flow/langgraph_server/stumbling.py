"""A dialect that fails at some payloads, for as long as they stand in `odd`."""

from answerback.model import Json

odd: set[str] = set()


def own(payload: Json) -> None:
    if payload in odd:
        raise RuntimeError("this payload is too odd")
