"""The table that is printed, and the file that is written."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.bench.measure import Figure
from tests.bench.targets import TARGETS


def missed(figure: Figure) -> bool:
    """If it has a target that it does not reach."""
    target = TARGETS.get(figure.key)
    return target is not None and not target.met(figure.value)


def table(figures: Iterable[Figure], expected: Iterable[str] = ()) -> str:
    """One row a figure: value, lowest and highest alternation, what was divided, target, if it is met.

    Of `expected` keys, those that no figure has are shown as not measured.
    """
    found = list(figures)
    rows: list[tuple[str, ...]] = [("figure", "value", "from", "to", "ours", "theirs", "target", "")]
    for each in found:
        verdict = "" if each.key not in TARGETS else "MISSED" if missed(each) else "met"
        numbers = (each.value, *each.spread, *(each.absolute or ("", "")))
        shown = [f"{number:.3g}" if isinstance(number, float) else number for number in numbers]
        rows.append((each.key, *shown, str(TARGETS.get(each.key, "")), verdict))
    absent = [key for key in expected if key not in {each.key for each in found}]
    rows += [(key, "", "", "", "", "", str(TARGETS[key]), "NOT MEASURED") for key in absent]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def write(path: Path, figures: Iterable[Figure], about: Mapping[str, Any]) -> None:
    """As JSON: `figures` are the values by key; beside them, by key, what they were made of."""
    found = list(figures)
    content = {
        **about,
        "figures": {each.key: round(each.value, 4) for each in found},
        "spread": {each.key: [round(end, 4) for end in each.spread] for each in found},
        "absolute": {each.key: [round(n, 6) for n in each.absolute] for each in found if each.absolute},
        "alternations": {each.key: len(each.samples) for each in found},
        "missed": [each.key for each in found if missed(each)],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
