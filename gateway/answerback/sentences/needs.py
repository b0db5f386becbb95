"""What an answer has to be, as a person is told it: with the question, and again when it is not that."""

from collections.abc import Iterable

from answerback.demands import Need, inline
from answerback.model import Json
from answerback.sentences.catalogue import worded
from answerback.sentences.moments import number

SAME = {"kind": "like", "keys": "items"}  # what is said alike
MOST_SHOWN = 200  # characters of what an agent wrote, in one of these sentences


def need(wanted: Need, language: str) -> str:
    """One need, with the place within the answer if it is not about all of it."""
    key = SAME.get(wanted.key, wanted.key)
    if key == "characters" and [each for each in wanted.args.values() if each is not None][-1:] == [1]:
        key = "character"
    said = worded(f"need_{key}", language, **_gaps(wanted, language))
    return f"{wanted.at}: {said}" if wanted.at else said


def all_needs(wanted: Iterable[Need], language: str) -> str:
    """Several, one after the other."""
    return together((need(each, language) for each in wanted), language)


def together(sentences: Iterable[str], language: str) -> str:
    """Sentences, one after the other; those that are "" are left out."""
    return ("" if language.startswith("zh") else " ").join(filter(None, sentences))


def _gaps(wanted: Need, language: str) -> dict[str, str]:
    args = wanted.args
    if wanted.key in ("characters", "number", "items", "keys"):
        return {"range": _range(args, language)}
    if wanted.key == "step":
        return {"step": _figure(args["step"], language)}
    if wanted.key == "one_of":
        return {"options": _short(", ".join(map(inline, args["options"])))}
    return {name: _short(text) for name, text in args.items() if isinstance(text, str)}


def _range(args: dict[str, Json], language: str) -> str:
    low, high = args.get("low"), args.get("high")
    above, below = args.get("above"), args.get("below")
    if None not in (low, high) and above is None and below is None:
        key = "range_exactly" if low == high else "range_between"
        return worded(key, language, low=_figure(low, language), high=_figure(high, language))
    limits = (
        ("least", "low", low),
        ("above", "low", above),
        ("most", "high", high),
        ("below", "high", below),
    )
    parts = [
        worded(f"range_{key}", language, **{gap: _figure(limit, language)})
        for key, gap, limit in limits
        if limit is not None
    ]
    said = parts[0]
    for part in parts[1:]:
        said = worded("range_both", language, one=said, other=part)
    return said


def _figure(value: Json, language: str) -> str:
    return number(int(value) if float(value).is_integer() else value, language)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_SHOWN else line[: MOST_SHOWN - 1] + "…"
