"""Options: values of an agent's own as choices with ids that are texts, each once."""

from collections.abc import Iterable, Sequence

from answerback.model import Choice, Json
from answerback_agents.dialects.reading import inline

Option = tuple[Choice, Json]
"""A choice, and the value that it stands for in the agent."""


def listed(items: Json) -> Sequence[Option]:
    """Strings, or objects with id and label, each beside its id as it stands; none if one is unusable."""
    options: dict[str, Option] = {}
    for item in items if isinstance(items, list) else []:
        original, label = _option(item)
        if not label:
            return ()
        unique = _unique(str(original), options)
        options[unique] = (Choice(unique, label), original)
    return tuple(options.values())


def of_values(values: Iterable[Json]) -> Sequence[Option]:
    """One choice a value, whatever the values are."""
    options: dict[str, Option] = {}
    for value in values:
        unique = _unique(inline(value), options)
        options[unique] = (Choice(unique, inline(value)), value)
    return tuple(options.values())


def _option(item: Json) -> tuple[Json, str]:
    if not isinstance(item, dict):
        label = "" if item is None or isinstance(item, list) else inline(item).strip()
        return item, label
    original = next((item[key] for key in ("id", "value", "label") if item.get(key) is not None), None)
    label = next((item[key] for key in ("label", "text", "title", "id", "value") if item.get(key)), "")
    return (None, "") if isinstance(original, dict | list) else (original, inline(label).strip())


def _unique(wanted: str, taken: Iterable[str]) -> str:
    number, name = 1, wanted
    while name in taken:
        number, name = number + 1, f"{wanted}#{number + 1}"
    return name
