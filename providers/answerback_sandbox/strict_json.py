"""JSON as it may travel on: no NaN, no lone surrogates, not too deep."""

import json
from typing import Any


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def loads(raw: str | bytes) -> Any:
    """The value in `raw`. Raises ValueError for what is no JSON or could not be written as UTF-8 again."""
    try:
        value = json.loads(raw, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("too deep") from None
    return value
