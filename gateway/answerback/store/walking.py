"""A walk through a whole table by its key, some rows at a time."""
# ruff: noqa: S608 - what is put in comes from the constants of its callers

from collections.abc import Sequence

from sqlalchemy import text

from answerback.store.query import Query


def stretch(table: str, keys: Sequence[str], columns: str, joined: str = "") -> Query:
    """The rows of `table`, as `it`, behind a key, wanted or not: a look reads no more, however few are.

    `columns`: what is read beside the key, often a `flag`. The key's names and `most` are parameters.
    """
    names = ", ".join(f"it.{key}" for key in keys)
    behind = ", ".join(f":{key}" for key in keys)
    return Query(
        text(
            f"SELECT {names}, {columns} FROM {table} it {joined} WHERE ({names}) > ({behind}) "
            f"ORDER BY {names} LIMIT :most"
        )
    )


def flag(condition: str) -> str:
    """A column that is 1 where the condition holds, 0 elsewhere."""
    return f"CASE WHEN {condition} THEN 1 ELSE 0 END"
