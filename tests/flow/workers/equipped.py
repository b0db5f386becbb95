"""A graph that needs a package of its own environment."""

import only_there  # type: ignore[import-not-found]
from graphs import State, ask, line_of  # type: ignore[import-not-found] # as users' files import each other


def tell(state: State) -> State:
    return {"heard": [only_there.SPEAKS]}


well_equipped = line_of(ask, tell)
